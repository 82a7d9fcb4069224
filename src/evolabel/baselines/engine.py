"""The evolving classifier as an engine of rivals that learn every label apart (a label matrix of one column)."""

from collections.abc import Iterable

import numpy as np
from sklearn.base import clone

from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.typing import FloatArray


def check_base(base: object) -> None:
    """Raise ParameterError unless `base` can be an engine."""
    if base is not None and not isinstance(base, EvolvingFuzzyClassifier):
        raise ParameterError(f"base={base!r} is not allowed; use an EvolvingFuzzyClassifier, or None for the default")


def new_engine(base: EvolvingFuzzyClassifier | None) -> EvolvingFuzzyClassifier:
    """A classifier with the parameters of `base` that has learned nothing."""
    engine: EvolvingFuzzyClassifier = EvolvingFuzzyClassifier() if base is None else clone(base)
    return engine


def taught_engine(base: EvolvingFuzzyClassifier | None, X: FloatArray, column: FloatArray) -> EvolvingFuzzyClassifier:
    """An engine after its initial batch; one whose label nobody has annotated yet starts cold later."""
    engine = new_engine(base)
    return engine if np.isnan(column).all() else engine.fit(X, column)


def ask(engine: EvolvingFuzzyClassifier, X: FloatArray) -> FloatArray:
    """Scores (n_samples, 1); 0 from an engine that has learned nothing."""
    return engine.decision_function(X) if engine.__sklearn_is_fitted__() else np.zeros((len(X), 1))


def thresholds(engines: Iterable[EvolvingFuzzyClassifier]) -> FloatArray:
    """Where each engine predicts its label; `threshold` of one that has learned nothing."""
    return np.array([e.thresholds_[0] if e.__sklearn_is_fitted__() else float(e.threshold) for e in engines])


def count_rules(engines: list[EvolvingFuzzyClassifier]) -> int:
    """Rules of all engines together: what a person would have to read."""
    return sum(engine.n_rules_ for engine in engines if engine.__sklearn_is_fitted__())
