"""Compiled loop: recent errors."""
