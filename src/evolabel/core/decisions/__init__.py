"""From outputs to decisions: learned thresholds."""
