"""Check of a stored log, crash points for tests, disk space."""
