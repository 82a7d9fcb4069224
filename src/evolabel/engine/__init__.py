"""What every compiled loop needs: compilation, sums in lanes, packed symmetric matrices, inverses."""
