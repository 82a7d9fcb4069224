"""Check of a stored log."""
