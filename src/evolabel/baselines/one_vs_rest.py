"""`EvolvingOneVsRest`: one evolving rule base per label, trained independently."""

import numpy as np

from evolabel.baselines.base import StreamLearner
from evolabel.baselines.engine import (
    check_base,
    engine_scores,
    engine_thresholds,
    fitted_engine,
    new_engine,
    total_rules,
)
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.typing import FloatArray


class EvolvingOneVsRest(StreamLearner):
    """One evolving classifier per label, independent of the others (the paper's first rival).

    A row without an annotation of a label does not train that label's classifier. A label that appears mid-stream, or
    that has no annotation in the initial batch, starts with the `warm_up` of its classifier.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier or None
        Parameters of every label's classifier; None for the defaults. The paper's rival updates by recursive least
        squares alone: `EvolvingFuzzyClassifier.paper(alpha=0.0, beta=0.0, prox_steps=0)`.

    Attributes
    ----------
    n_rules_ : int
        Number of rules of all classifiers together (the paper plots this divided by the number of labels).

    Examples
    --------
    >>> from evolabel.baselines import EvolvingOneVsRest
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = EvolvingOneVsRest().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.84
    """

    def __init__(self, base: EvolvingFuzzyClassifier | None = None) -> None:
        self.base = base

    @property
    def n_rules_(self) -> int:
        """Number of rules of all classifiers together."""
        self._check_fitted()
        return total_rules(self._engines)

    def _check_parameters(self) -> None:
        check_base(self.base)

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._engines = [fitted_engine(self.base, rows, column) for column in _columns(labels)]

    def _grow_labels(self, n_labels: int) -> None:
        self._engines += [new_engine(self.base) for _ in range(n_labels - len(self._engines))]

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for engine, column in zip(self._engines, _columns(labels), strict=True):
            engine.partial_fit(rows, column)

    def _thresholds(self) -> FloatArray:
        return engine_thresholds(self._engines)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        return np.hstack([engine_scores(engine, rows) for engine in self._engines])

    def _score_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        pairs = zip(self._engines, _columns(labels), strict=True)
        return np.hstack([engine.test_then_train(rows, column) for engine, column in pairs])


def _columns(labels: FloatArray) -> list[FloatArray]:
    """Label matrices of one column each."""
    return [labels[:, [k]] for k in range(labels.shape[1])]
