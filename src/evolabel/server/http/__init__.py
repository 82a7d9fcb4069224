"""Routes under /api/v1 and what every request passes: limits, tokens, problems, streams of events."""
