"""Rivals made of classifiers are searched like the classifier itself: same folds, same scores, same choice."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import CheckpointError, ParameterError
from evolabel.evaluate import partial_accuracy
from evolabel.paper import EvolvingChain, EvolvingOneVsRest, PaperGridSearch
from evolabel.paper.tuning.folds import folds

GRID = {"base__vigilance": (0.5, 1.5), "base__local_ridge": (0.1, 0.5)}


@pytest.fixture
def batch(stream):
    return stream[0][:60], stream[1][:60]


def rival(kind, **params):
    return kind(EvolvingFuzzyClassifier(max_rules=4, **params))


@pytest.mark.parametrize("kind", [EvolvingOneVsRest, EvolvingChain])
def test_the_surface_is_that_of_separate_fits(kind, batch):
    X, Y = batch
    found = PaperGridSearch(rival(kind), GRID, cv=2).fit(X, Y)
    for point in found.surface_:
        expected = []
        for out in folds(len(X), 2, 0):
            apart = rival(kind, vigilance=point["base__vigilance"], local_ridge=point["base__local_ridge"])
            expected.append(partial_accuracy(Y[out], apart.fit(X[~out], Y[~out]).decision_function(X[out])))
        assert point["folds"] == expected
        assert point["score"] == np.mean(expected)
    assert found.best_score_ == max(point["score"] for point in found.surface_)
    best = rival(kind).set_params(**found.best_params_).fit(X, Y)
    np.testing.assert_array_equal(found.best_estimator_.decision_function(X), best.decision_function(X))


def test_without_refit_nothing_is_trained_on_the_whole_batch(batch):
    found = PaperGridSearch(EvolvingFuzzyClassifier(), {"vigilance": [0.5, 1.5]}, cv=2, refit=False).fit(*batch)
    assert not hasattr(found, "best_estimator_")
    assert found.best_params_["vigilance"] in (0.5, 1.5)


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({"vigilance": [0.5]}, "'vigilance' is no parameter of the estimator; use some of base__"),
        ({"base__vigilance": [-1.0]}, "vigilance=-1.0 is not allowed; use a number >= 0"),
        ({"base__scaling": ["strong"]}, "scaling='strong' is unknown"),
    ],
)
def test_values_a_rival_cannot_take_are_refused(grid, told, batch):
    with pytest.raises(ParameterError) as refusal:
        PaperGridSearch(rival(EvolvingChain), grid, cv=2).fit(*batch)
    assert str(refusal.value).startswith(told)


def test_the_checkpoint_of_one_rival_is_not_that_of_another(batch, tmp_path):
    path, grid = tmp_path / "checkpoint", {"base__vigilance": [0.5, 1.5]}
    once = PaperGridSearch(rival(EvolvingOneVsRest), grid, cv=2, checkpoint=path).fit(*batch)
    again = PaperGridSearch(rival(EvolvingOneVsRest), grid, cv=2, checkpoint=path).fit(*batch)
    assert again.surface_ == once.surface_
    with pytest.raises(CheckpointError, match="estimator"):
        PaperGridSearch(rival(EvolvingChain), grid, cv=2, checkpoint=path).fit(*batch)
