"""Routes under /api/v1, and the JSON they take and return."""
