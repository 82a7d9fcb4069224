"""Tiny learners whose answers depend on every label they have learned and on the order, and ways to compare runs."""

from dataclasses import replace

import numpy as np
from sklearn.exceptions import NotFittedError


class MeanLearner:
    """Scores fade towards the labels seen; a label that is NaN leaves its score alone."""

    def __init__(self, rate=0.25):
        self.rate = rate
        self.memory = None

    def fit(self, X, Y):
        self.memory = None
        return self.partial_fit(X, Y)

    def partial_fit(self, X, Y):
        for x, y in zip(X, Y, strict=True):
            before = np.zeros(len(y)) if self.memory is None else self.memory
            target = np.where(np.isnan(y), before, y)
            self.memory = before + self.rate * (1.0 + 0.1 * np.tanh(np.nansum(x))) * (target - before)
        return self

    def decision_function(self, X):
        if self.memory is None:
            raise NotFittedError("nothing learned")
        return self.memory + 0.01 * np.nansum(X, axis=1, keepdims=True)

    def __repr__(self):
        return f"{type(self).__name__}({self.rate})"


class OnePassLearner(MeanLearner):
    """The same, with its own `test_then_train`, and with something it calls rules."""

    def __init__(self, rate=0.25):
        super().__init__(rate)
        self.batches = []
        self.n_rules_ = 0

    def test_then_train(self, X, Y):
        self.batches.append(len(X))
        self.n_rules_ += 1
        scores = np.zeros(Y.shape)
        for row in range(len(X)):
            if self.memory is not None:
                scores[row] = self.decision_function(X[row : row + 1])
            self.partial_fit(X[row : row + 1], Y[row : row + 1])
        return scores


def small_stream(rows, seed=0, n_features=2, n_labels=3):
    """Random samples; some values are missing and some labels not annotated."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(rows, n_features)), (rng.random((rows, n_labels)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y


def without_times(results):
    """All that must be the same in every run, as text: NaN equals NaN, and nothing is rounded."""
    trend = [point for point in results.trend if point.metric != "ms_per_sample"]
    summary = [replace(entry, ms_per_sample=0.0, fit_seconds=0.0) for entry in results.summary.values()]
    scores = {name: array.tobytes() for name, array in results.scores.items()}
    return repr((trend, summary, scores, results.settings))
