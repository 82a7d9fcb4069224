"""Models on disk: one file without pickle, written atomically, checked when read."""
