"""People: who may do and see what, tokens, sessions, passwords, invitations, and the audit table."""
