"""`RiverLearner`: river's multi-label models, which work on dictionaries, as learners of label matrices."""

from typing import Any

import numpy as np

from evolabel._utils import optional
from evolabel.baselines.base import StreamLearner
from evolabel.baselines.scaling import MinMaxScaling
from evolabel.errors import ParameterError
from evolabel.typing import FloatArray

_ARRANGEMENTS = {"per_output": "PerOutputClassifier", "chain": "ClassifierChain"}
_ALGORITHMS = ("logistic", "hoeffding")


class RiverLearner(StreamLearner):
    """Any multi-label model of river; features are scaled to [0, 1] by the initial batch.

    Missing features and labels that are not annotated are left out of the dictionaries. Scores are the probabilities of
    True if the model has them, else its predictions; 0 for a label the model was not trained on.

    Parameters
    ----------
    model : river estimator
        A multi-label classifier, or a pipeline that ends in one. It is not changed: `fit` clones it.

    Examples
    --------
    >>> from evolabel.baselines import RiverLearner, river_model
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = RiverLearner(river_model("chain", "logistic")).fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.66
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def _check_parameters(self) -> None:
        if not all(hasattr(self.model, name) for name in ("learn_one", "predict_one", "clone")):
            raise ParameterError(f"model={self.model!r} is not allowed; use a river model, such as river_model(...)")

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._scaling = MinMaxScaling.of(rows)
        self._trained = self.model.clone()
        self._learn_rows(rows, labels)

    def _grow_labels(self, n_labels: int) -> None:
        pass  # river's models grow with each new key

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for z, y in zip(self._scaling.transform(rows), labels, strict=True):
            known = {name: value == 1.0 for name, value in _named("y", y).items()}
            if known:
                self._trained.learn_one(_named("x", z), known)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        names = [f"y{k}" for k in range(self._targets.size)]
        found = [self._scores(_named("x", z)) for z in self._scaling.transform(rows)]
        return np.array([[scores.get(name, 0.0) for name in names] for scores in found])

    def _scores(self, x: dict[str, float]) -> dict[str, float]:
        try:
            chances = self._trained.predict_proba_one(x)
        except (AttributeError, NotImplementedError):  # a model without probabilities
            return {name: float(value) for name, value in self._trained.predict_one(x).items()}
        return {name: float(chance.get(True, 0.0)) for name, chance in chances.items()}


def river_model(arrangement: str, algorithm: str) -> Any:
    """Return an untrained multi-label model of river.

    Parameters
    ----------
    arrangement : {"per_output", "chain"}
        One model per label (`PerOutputClassifier`), or a `ClassifierChain`.
    algorithm : {"logistic", "hoeffding"}
        Logistic regression on standardised features, or a Hoeffding tree.

    Raises
    ------
    MissingDependencyError
        If river is not installed.
    """
    if arrangement not in _ARRANGEMENTS:
        raise ParameterError(f"arrangement={arrangement!r} is unknown; use one of {', '.join(_ARRANGEMENTS)}")
    if algorithm not in _ALGORITHMS:
        raise ParameterError(f"algorithm={algorithm!r} is unknown; use one of {', '.join(_ALGORITHMS)}")
    arrange = getattr(optional.load("river.multioutput", "river", "this rival"), _ARRANGEMENTS[arrangement])
    if algorithm == "hoeffding":
        return arrange(optional.load("river.tree", "river", "this rival").HoeffdingTreeClassifier())
    scaler = optional.load("river.preprocessing", "river", "this rival").StandardScaler()
    return scaler | arrange(optional.load("river.linear_model", "river", "this rival").LogisticRegression())


def _named(letter: str, values: FloatArray) -> dict[str, float]:
    """Values that are not NaN, by names such as x0, x1, ..."""
    return {f"{letter}{i}": value for i, value in enumerate(values.tolist()) if value == value}
