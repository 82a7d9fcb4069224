"""Rules that people write, in front of the threshold rules of each label."""
