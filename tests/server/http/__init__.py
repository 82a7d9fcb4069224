"""Tests of the labelling service."""
