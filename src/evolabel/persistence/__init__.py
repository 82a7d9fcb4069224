"""Models on disk: one file without pickle, written atomically and verified when read."""
