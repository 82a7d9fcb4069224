"""The whole model: the order of stages, its start, its growth, merging and storage."""
