"""What the last answers show of the next rows: in streams whose answers persist, beyond what features show."""
