"""Answers of annotators: reading, votes, record."""
