"""Which labels are predicted."""
