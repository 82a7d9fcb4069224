"""Streams whose order matters, and learners that were trained on them."""

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.feedback.stage import feedback_of


def ordered_stream(n=500, seed=0):
    """Labels depend on the features and on a slow wave that is no feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    wave = np.sin(np.arange(n) / 15.0)[:, None] * np.array([1.5, -1.5, 1.5])
    return X, (X[:, :3] + wave + 0.3 * rng.normal(size=(n, 3)) > 0.0).astype(float)


def trained(X, Y, rows=200):
    return EvolvingFuzzyClassifier(max_rules=4).fit(X[:rows], Y[:rows])


def feedback_of_classifier(clf):
    return feedback_of(clf.inner.any_model)


def walked(learner, X, Y):
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    return learner
