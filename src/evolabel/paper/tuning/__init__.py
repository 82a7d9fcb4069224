"""The search over the paper's grid, with one structure pass for all alpha and beta."""
