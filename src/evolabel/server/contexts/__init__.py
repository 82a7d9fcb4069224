"""What a record does to a project: state, records, limits of questions, worker, replay."""
