"""Evolving classifiers for one label each (a label matrix of one column), for the rivals that learn labels apart."""

from collections.abc import Iterable

import numpy as np
from sklearn.base import clone

from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.typing import FloatArray


def check_base(base: object) -> None:
    """Raise ParameterError unless `base` is an EvolvingFuzzyClassifier or None."""
    if base is not None and not isinstance(base, EvolvingFuzzyClassifier):
        raise ParameterError(f"base={base!r} is not allowed; use an EvolvingFuzzyClassifier, or None for the default")


def new_engine(base: EvolvingFuzzyClassifier | None) -> EvolvingFuzzyClassifier:
    """Return an untrained classifier with the parameters of `base`."""
    engine: EvolvingFuzzyClassifier = EvolvingFuzzyClassifier() if base is None else clone(base)
    return engine


def fitted_engine(base: EvolvingFuzzyClassifier | None, X: FloatArray, column: FloatArray) -> EvolvingFuzzyClassifier:
    """Return a classifier with the parameters of `base`, fitted on `X` and `column`; untrained without annotations."""
    engine = new_engine(base)
    return engine if np.isnan(column).all() else engine.fit(X, column)


def engine_scores(engine: EvolvingFuzzyClassifier, X: FloatArray) -> FloatArray:
    """Return the scores (n_samples, 1) of `engine` for the rows `X`; 0 if it is untrained."""
    return engine.decision_function(X) if engine.__sklearn_is_fitted__() else np.zeros((len(X), 1))


def engine_thresholds(engines: Iterable[EvolvingFuzzyClassifier]) -> FloatArray:
    """Return the threshold of each of `engines`; the parameter `threshold` of an untrained one."""
    return np.array([e.thresholds_[0] if e.__sklearn_is_fitted__() else float(e.threshold) for e in engines])


def total_rules(engines: Iterable[EvolvingFuzzyClassifier]) -> int:
    """Return the number of rules of all `engines` together."""
    return sum(engine.n_rules_ for engine in engines if engine.__sklearn_is_fitted__())
