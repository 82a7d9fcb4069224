"""Published data sets by name: catalogue, cache, download."""
