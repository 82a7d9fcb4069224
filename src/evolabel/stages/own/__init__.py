"""Stages of users: what they do inside a model is checked."""
