"""Well-known data sets, by name: catalogue, cache, download."""
