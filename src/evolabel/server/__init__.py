"""The labelling service: samples come in over HTTP, questions wait for a person, answers train the model.

| room | holds |
|---|---|
| `store` | tables, the append-only log with its chain, the one writing connection |
| `contexts` | what a record does to a project: apply, worker, replay, limits of questions |
| `security` | tokens, roles, limits of requests |
| `api` | routes and the JSON they take and return |
| `ops` | check of a stored log, logging, disk space |
"""
