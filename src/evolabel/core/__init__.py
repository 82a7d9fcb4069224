"""The method and nothing else: scaling, rule base, batch and incremental phase. No files, no frames."""
