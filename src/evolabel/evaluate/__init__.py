"""How good a model is: scores of multi-label predictions."""

from evolabel.evaluate.scores import average_precision, partial_accuracy

__all__ = ["average_precision", "partial_accuracy"]
