"""What the last answers say about the next rows: in streams whose answers persist, beyond what features show."""
