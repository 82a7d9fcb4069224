"""What a person can read: rules, and single predictions in parts."""
