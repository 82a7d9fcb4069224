"""Trees of thresholds, one per label."""
