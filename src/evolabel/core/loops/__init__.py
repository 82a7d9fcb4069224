"""Compiled loops that stages share."""
