"""Corrections of sensors that have moved."""
