"""`Wrapper`: what rivals share that are made of one learner and change when it learns, or what it says."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from evolabel.baselines.base import StreamLearner
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import DataError, ParameterError
from evolabel.typing import FloatArray


class Wrapper(StreamLearner):
    """A learner of label matrices around another one, `base`; None is an EvolvingFuzzyClassifier."""

    needed: ClassVar[tuple[str, ...]] = ("fit", "decision_function")
    """Methods a base must have."""

    def __init__(self, base: Any = None) -> None:
        self.base = base

    @property
    def n_rules_(self) -> int:
        """Rules of the learner inside, if it has any."""
        self._check_fitted()
        rules: int = self._model.n_rules_
        return rules

    def _check_parameters(self) -> None:
        if self.base is not None and not all(hasattr(self.base, name) for name in (*self.needed, "get_params")):
            methods = ", ".join(self.needed)
            raise ParameterError(f"base={self.base!r} is not allowed; use an estimator with {methods}")

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        learner = EvolvingFuzzyClassifier() if self.base is None else clone(self.base)
        self._model = learner.fit(rows, labels)

    def _grow(self, n_labels: int) -> None:
        """Nothing to do: labels the learner inside does not know score 0."""

    def _answer(self, rows: FloatArray) -> FloatArray:
        scores = np.asarray(self._model.decision_function(rows))
        known, missing = scores.shape[1], self._targets.size - scores.shape[1]
        if missing < 0:
            raise DataError(
                f"the learner inside scores {known} labels, {known + missing} were expected; "
                "use one that scores the labels it was told of"
            )
        return np.pad(scores, ((0, 0), (0, missing)))

    def _thresholds(self) -> FloatArray:
        known = getattr(self._model, "thresholds_", None)
        common = super()._thresholds()
        return common if known is None else np.append(known, common[len(known) :])
