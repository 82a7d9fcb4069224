"""The learners with which the paper compares: one evolving classifier per label."""
