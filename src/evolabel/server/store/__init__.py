"""Tables, log and the one writing connection."""
