"""Budgeted active learning on recorded streams, with simulated annotators."""
