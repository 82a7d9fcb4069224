"""The language of texts: terms, conditions, names, markup."""
