"""The stages of an answer, one package each."""
