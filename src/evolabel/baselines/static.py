"""`StaticClassifier`: learns the initial batch and never again."""

import sys

from evolabel.baselines.wrapper import Wrapper
from evolabel.typing import FloatArray


class StaticClassifier(Wrapper):
    """A classifier that stops learning after its initial batch: what is lost if nobody updates the model.

    Later batches are checked but teach nothing; labels that appear mid-stream score 0.

    Parameters
    ----------
    base : estimator or None
        Any learner of label matrices with `fit` and `decision_function`; None for an EvolvingFuzzyClassifier.

    Examples
    --------
    >>> from evolabel.baselines import StaticClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = StaticClassifier().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.83
    """

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        pass

    def _rows_until_change(self) -> int:
        return sys.maxsize
