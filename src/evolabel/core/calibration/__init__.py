"""Calibration of the final outputs: probabilities, and sets of labels that hold the truth as often as asked."""
