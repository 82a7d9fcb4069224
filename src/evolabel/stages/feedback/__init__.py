"""Recent errors that correct the next outputs."""
