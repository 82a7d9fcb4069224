"""Data sets as files: opening, writing, reading back."""
