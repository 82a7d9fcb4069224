"""`EchoingClassifier`: a learner whose recent errors shift its next answers, as far as errors repeat."""

from typing import Any

import numpy as np
from sklearn.base import clone

from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier
from evolabel.baselines.base import StreamLearner
from evolabel.core.echo import Echo
from evolabel.errors import DataError, ParameterError
from evolabel.kernels.state import FloatArray


class EchoingClassifier(StreamLearner):
    """Any learner, its outputs shifted by the echo of its recent errors (`docs/active-learning.md`).

    For streams that are a course of events, in their order, with answers that come before the next sample does. Where
    rows were shuffled the echo is none. The learner inside never knows of it.

    Parameters
    ----------
    base : estimator or None
        Any learner of label matrices with `fit`, `test_then_train` and `decision_function`; None for an
        EvolvingFuzzyClassifier, which also tells whether errors repeated in its initial batch.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.baselines import EchoingClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> wave = np.sin(np.arange(600) / 15)[:, None]  # nobody measures it
    >>> Y = (X[:, :2] + 1.5 * wave > 0).astype(float)
    >>> for learner in (EvolvingFuzzyClassifier(), EchoingClassifier()):
    ...     scores = learner.fit(X[:200], Y[:200]).test_then_train(X[200:], Y[200:])
    ...     print(f"{partial_accuracy(Y[200:], scores):.2f}")
    0.68
    0.81
    """

    def __init__(self, base: Any = None) -> None:
        self.base = base

    @property
    def n_rules_(self) -> int:
        """Rules of the learner inside, if it has any."""
        self._check_fitted()
        rules: int = self._model.n_rules_
        return rules

    @property
    def gain_(self) -> float:
        """The part of the mean recent error that is expected again, in [0, 1]; 0 where errors do not repeat."""
        self._check_fitted()
        return self._echo.gain if self._warm_up is None else 0.0

    def _check_parameters(self) -> None:
        needed = ("fit", "test_then_train", "decision_function", "get_params")
        if self.base is not None and not all(hasattr(self.base, name) for name in needed):
            raise ParameterError(
                f"base={self.base!r} is not allowed; use a learner of evolabel or of evolabel.baselines"
            )

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        learner = EvolvingFuzzyClassifier() if self.base is None else clone(self.base)
        self._model = learner.fit(rows, labels)
        ours = isinstance(self._model, EvolvingFuzzyClassifier)
        self._echo = Echo(labels.shape[1], self._model._model.echo_evidence if ours else np.zeros(4))

    def _grow(self, n_labels: int) -> None:
        pass  # the learner inside grows with the first row that has the labels, the echo as well

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        self._answer_and_learn(rows, labels)

    def _answer(self, rows: FloatArray) -> FloatArray:
        scores: FloatArray = self._model.decision_function(rows)
        shift = self._echo.shift(np.array([self._echo.at + 1.0]), scores.shape[1])
        return self._padded(scores if shift is None else scores + shift)

    def _answer_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        scores = np.array(self._model.test_then_train(rows, labels), np.float64, order="C")
        if scores.shape != labels.shape:
            raise DataError(f"the learner inside gave scores of shape {scores.shape}, expected {labels.shape}")
        self._echo.follow(scores, labels)
        return scores

    def _thresholds(self) -> FloatArray:
        known = getattr(self._model, "thresholds_", None)
        common = super()._thresholds()
        return common if known is None else np.append(known, common[len(known) :])

    def _padded(self, scores: FloatArray) -> FloatArray:
        """Labels the learner inside has not met yet score 0."""
        return np.pad(scores, ((0, 0), (0, self._targets.size - scores.shape[1])))
