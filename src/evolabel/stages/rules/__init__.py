"""The rule base: memberships, statistics, creating, merging and removing rules."""
