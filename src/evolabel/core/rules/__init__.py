"""The rule base: scaling, antecedents, statistics, weights, and how rules are created, merged and removed."""
