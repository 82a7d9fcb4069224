"""A learner that was copied or loaded stays equal, bit for bit, also if its model changes before the next row."""

import copy
import pickle

import numpy as np
import pytest
from choices import pairs

from evolabel.active import ActiveLearner
from evolabel.stages.written_rules.edits import rule_edits


def by_file(learner, folder):
    learner.save(folder / "learner.efc")
    return ActiveLearner.load(folder / "learner.efc")


WAYS = {
    "file": by_file,
    "copy": lambda learner, folder: copy.deepcopy(learner),
    "pickle": lambda learner, folder: pickle.loads(pickle.dumps(learner)),
}


def first_rule(learner):
    model = learner.classifier.inner.any_model
    return model, int(model.trained().arrays.identity[1])


CHANGES = {
    "nothing": lambda learner, X, Y: None,
    "partial_fit": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], Y[:3]),
    "many rows": lambda learner, X, Y: learner.classifier.partial_fit(X, Y),
    "labels": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], np.hstack([Y[:3], Y[:3, :1]])),
    "lock": lambda learner, X, Y: rule_edits.lock_rule(*first_rule(learner)),
    "delete": lambda learner, X, Y: rule_edits.delete_rule(*first_rule(learner)),
    "fit": lambda learner, X, Y: learner.classifier.fit(X[::-1], 1.0 - Y[::-1]),
}


def seen(query):
    """The public attributes of a query as bytes."""
    scores = {name: np.asarray(score).tobytes() for name, score in query.scores.items()}
    return query.prediction.tobytes(), query.labels.tobytes(), query.reasons, query.cost, scores


def walked(learner, X, Y):
    """Queries of all rows, every question answered."""
    shown = []
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        shown.append(seen(query))
        learner.update(query, np.pad(y, (0, len(query.prediction) - len(y))) if query.asked else None)
    return shown


@pytest.fixture
def learner(classifier, stream, per):
    """A learner whose model has not changed for so many rows that its weights are cached."""
    learner = ActiveLearner(classifier, 0.3, per)
    for x in np.tile(stream[0], (2, 1))[:90]:
        learner.update(learner.query(x), None)
    assert learner.strategy.rows_unchanged() == 90
    return learner


@pytest.mark.parametrize(("way", "change"), pairs(WAYS, CHANGES))
def test_a_model_that_changes_after_copying_gives_the_same_queries(learner, stream, tmp_path, way, change):
    X, Y = stream
    twin = WAYS[way](learner, tmp_path)
    for each in (learner, twin):
        CHANGES[change](each, X, Y)
    assert twin.strategy.rows_unchanged() == learner.strategy.rows_unchanged()
    assert walked(twin, X[60:], Y[60:]) == walked(learner, X[60:], Y[60:])


@pytest.mark.parametrize(("way", "change"), pairs(WAYS, ["partial_fit", "lock", "fit"]))
def test_a_model_that_changed_before_copying_gives_the_same_queries(learner, stream, tmp_path, way, change):
    CHANGES[change](learner, *stream)
    twin = WAYS[way](learner, tmp_path)
    assert twin.strategy.rows_unchanged() == learner.strategy.rows_unchanged() == 0
    assert walked(twin, stream[0][60:], stream[1][60:]) == walked(learner, stream[0][60:], stream[1][60:])
