"""What a record does to a project: its state, worker, questions and settings, and what is read of it."""
