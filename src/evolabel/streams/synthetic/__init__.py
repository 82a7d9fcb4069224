"""Streams that are made up, with known rules and known drift."""
