"""Edits of rules by a person, and how they are taken back."""
