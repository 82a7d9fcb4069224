"""Compiled loop: rows that are scaled."""
