"""Recent errors of each label."""
