"""The labelling service: samples come in over HTTP, questions wait for a person, answers train the model.

A room imports only from the rooms below it:

| room | holds |
|---|---|
| `pages` | what people see in a browser |
| `http` | routes, the JSON they take and return, what every request passes |
| `ops` | configuration, verification, backups |
| `project` | what a record does to a project: state, worker, questions, replay |
| `people` | roles and policies, tokens, sessions, invitations, the audit table |
| `log` | tables, the append-only log with its chain, the one connection that writes |
"""
