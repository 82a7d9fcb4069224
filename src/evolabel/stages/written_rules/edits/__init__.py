"""Edits by people, and their undo."""
