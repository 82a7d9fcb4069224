"""Faces of the one model for the libraries people already use."""
