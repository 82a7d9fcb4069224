"""Kernels of the threshold rules: one tree of steps per label behind the members (`core.members.threshold_rules`)."""
