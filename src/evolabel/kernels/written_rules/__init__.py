"""Rules that people write: an ordered list of boxes in front of the trees of threshold rules."""
