"""How much a label of a row would help."""
