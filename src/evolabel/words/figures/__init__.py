"""What all figures share."""
