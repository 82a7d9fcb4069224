"""`HalvingSearch`: random points, the worse ones dropped early."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DivergenceError, ParameterError
from evolabel.tuning import HalvingSearch
from evolabel.tuning.halving import ALL_PARAMETERS

VALUES = {"max_rules": [1, 3, 5, 8], "local_ridge": [0.05, 0.2, 1.0]}


@pytest.fixture
def batch(stream):
    return stream[0][:90], stream[1][:90]


def test_a_third_of_the_points_goes_on_with_more_rows(batch):
    found = HalvingSearch(values=VALUES, candidates=9, cv=2).fit(*batch)
    rounds = {}
    for point in found.surface_:
        rounds.setdefault(point["rows"], []).append(point["score"])
    assert {rows: len(scores) for rows, scores in rounds.items()} == {30: 1 + 8, 90: 1 + 3}  # own and drawn
    last = [point for point in found.surface_ if point["rows"] == 90]
    assert found.best_score_ == max(point["score"] for point in last)
    assert {**found.best_params_, "rows": 90, "score": found.best_score_} in last


def test_the_best_is_trained_on_the_whole_batch(batch):
    found = HalvingSearch(values=VALUES, candidates=4, cv=2).fit(*batch)
    fresh = EvolvingFuzzyClassifier(**found.best_params_).fit(*batch)
    np.testing.assert_array_equal(found.best_estimator_.decision_function(batch[0]), fresh.decision_function(batch[0]))


def test_the_own_parameters_are_among_the_points(batch):
    base = EvolvingFuzzyClassifier(max_rules=4, local_ridge=0.3)
    found = HalvingSearch(base, VALUES, candidates=5, cv=2).fit(*batch)
    first = found.surface_[0]
    assert (first["max_rules"], first["local_ridge"]) == (4, 0.3)


def good_where_there_are_many_rows(truth, outputs):
    """Small rounds deceive: they call the worst answers the best."""
    error = float(np.nanmean((truth - outputs) ** 2))
    return -error if len(truth) > 20 else error


def test_the_own_parameters_take_part_in_every_round_however_they_did(batch):
    values = {"global_ridge": [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]}  # all of them too strong
    found = HalvingSearch(values=values, candidates=7, cv=2, score=good_where_there_are_many_rows).fit(*batch)
    own = EvolvingFuzzyClassifier().global_ridge
    judged = {point["rows"]: point["score"] for point in found.surface_ if point["global_ridge"] == own}
    assert judged.keys() == {point["rows"] for point in found.surface_} == {30, 90}
    assert judged[30] == min(point["score"] for point in found.surface_ if point["rows"] == 30)
    assert (found.best_params_, found.best_score_) == ({"global_ridge": own}, judged[90])


def test_of_equals_the_own_parameters_are_the_best(batch):
    found = HalvingSearch(values=VALUES, candidates=9, cv=2, score=lambda truth, outputs: 0.0).fit(*batch)
    assert EvolvingFuzzyClassifier(**found.best_params_).get_params() == EvolvingFuzzyClassifier().get_params()


def test_the_same_seed_finds_the_same(batch):
    one, other = (HalvingSearch(values=VALUES, candidates=5, cv=2, seed=3).fit(*batch) for _ in range(2))
    assert one.surface_ == other.surface_


def test_no_point_is_tried_twice_in_a_round(batch):
    found = HalvingSearch(values={"max_rules": [1, 3]}, candidates=20, cv=2).fit(*batch)
    tried = [point["max_rules"] for point in found.surface_ if point["rows"] == found.surface_[0]["rows"]]
    assert sorted(tried) == [1, 3, 30]


def test_every_value_that_may_be_drawn_is_allowed():
    for name, values in ALL_PARAMETERS.items():
        for value in values:
            EvolvingFuzzyClassifier(**{name: value})._options()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"values": {"luck": [1]}}, "'luck' is no parameter"),
        ({"values": {"max_rules": [0]}}, "max_rules=0"),
        ({"values": {}}, "no values"),
        ({"candidates": 0}, "candidates=0"),
        ({"cv": 1}, "cv=1"),
        ({"score": "luck"}, "luck"),
        ({"estimator": "best"}, "pass an EvolvingFuzzyClassifier"),
    ],
)
def test_wrong_parameters_are_refused(batch, changes, told):
    with pytest.raises(ParameterError, match=told):
        HalvingSearch(**{"values": VALUES, **changes}).fit(*batch)


def test_a_batch_without_labels_is_refused(batch):
    with pytest.raises(DataError):
        HalvingSearch(values=VALUES, candidates=2, cv=2).fit(batch[0], np.full(batch[1].shape, np.nan))


def test_a_search_that_fails_leaves_the_one_before(batch):
    found = HalvingSearch(EvolvingFuzzyClassifier.paper(), {"beta": [0.0, 1.0]}, candidates=3, cv=2).fit(*batch)
    before = found.surface_
    found.estimator, found.values = EvolvingFuzzyClassifier.paper(coupling="paper", beta=1e3), {"beta": [1e3]}
    with pytest.raises(DivergenceError):
        found.fit(*batch)
    assert found.surface_ is before
