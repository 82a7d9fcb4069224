"""Tokens, roles and limits of requests."""
