"""Correction of outputs by recent errors."""
