"""Threshold rules: one small tree of steps per label behind the members, let in by a gate where it is better."""
