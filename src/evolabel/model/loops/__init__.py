"""Compiled loops over all stages of the rule base."""
