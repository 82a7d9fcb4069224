"""`EvolvingOneVsRest`: one evolving rule base per label, trained independently; the base class of such rivals."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from evolabel.baselines.base import StreamLearner
from evolabel.baselines.wrapper import without_memory
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.typing import FloatArray


class LabelByLabel(StreamLearner):
    """Base class of rivals with one evolving classifier per label, each for a label matrix of one column.

    `base` has the parameters of all of them, but they have no `memory`; None is the default.
    """

    base: EvolvingFuzzyClassifier | None
    _engines: list[EvolvingFuzzyClassifier]

    @property
    def n_rules_(self) -> int:
        """Number of rules of all classifiers together."""
        self._check_fitted()
        return sum(engine.n_rules_ for engine in self._engines if engine.__sklearn_is_fitted__())

    def _check_parameters(self) -> None:
        if not isinstance(self.base, EvolvingFuzzyClassifier | None):
            raise ParameterError(
                f"base={self.base!r} is not allowed; use an EvolvingFuzzyClassifier, or None for the default"
            )

    def _grow_labels(self, n_labels: int) -> None:
        self._engines += [self._new_engine() for _ in range(n_labels - len(self._engines))]

    def _thresholds(self) -> FloatArray:
        """Thresholds by label; the parameter `threshold` of a classifier that is untrained."""
        engines = self._engines
        return np.array([e.thresholds_[0] if e.__sklearn_is_fitted__() else float(e.threshold) for e in engines])

    def _new_engine(self) -> EvolvingFuzzyClassifier:
        engine: EvolvingFuzzyClassifier = EvolvingFuzzyClassifier() if self.base is None else clone(self.base)
        return without_memory(engine)

    def _fitted_engine(self, rows: FloatArray, column: FloatArray) -> EvolvingFuzzyClassifier:
        """A classifier fitted on `rows` and `column`; untrained without annotations."""
        engine = self._new_engine()
        return engine if np.isnan(column).all() else engine.fit(rows, column)


def engine_scores(engine: EvolvingFuzzyClassifier, X: FloatArray) -> FloatArray:
    """Return the scores (n_samples, 1) of `engine` for the rows `X`; 0 if it is untrained."""
    return engine.decision_function(X) if engine.__sklearn_is_fitted__() else np.zeros((len(X), 1))


class EvolvingOneVsRest(LabelByLabel):
    """One evolving classifier per label, independent of the others (the paper's first rival).

    A row without an annotation of a label does not train that label's classifier. A label that appears mid-stream, or
    that has no annotation in the initial batch, starts with the `warm_up` of its classifier.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier or None
        Parameters of every label's classifier; None for the defaults. The paper's rival updates by recursive least
        squares alone: `PaperClassifier(alpha=0.0, beta=0.0, prox_steps=0)`.

    Attributes
    ----------
    n_rules_ : int
        Number of rules of all classifiers together (the paper plots this divided by the number of labels).

    Examples
    --------
    >>> from evolabel.paper import EvolvingOneVsRest
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = EvolvingOneVsRest().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.84
    """

    def __init__(self, base: EvolvingFuzzyClassifier | None = None) -> None:
        self.base = base

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._engines = [self._fitted_engine(rows, column) for column in _columns(labels)]

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for engine, column in zip(self._engines, _columns(labels), strict=True):
            engine.partial_fit(rows, column)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        return np.hstack([engine_scores(engine, rows) for engine in self._engines])

    def _score_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        pairs = zip(self._engines, _columns(labels), strict=True)
        return np.hstack([engine.test_then_train(rows, column) for engine, column in pairs])


def _columns(labels: FloatArray) -> Iterator[FloatArray]:
    """Label matrices of one column each."""
    return (labels[:, [k]] for k in range(labels.shape[1]))
