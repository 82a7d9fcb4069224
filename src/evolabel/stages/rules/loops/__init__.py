"""Compiled loops of the rule base."""
