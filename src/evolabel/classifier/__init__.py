"""The classifier: parameters, checks of input, targets, rules, storage."""
