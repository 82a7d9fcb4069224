"""`set_coverage` and `set_size`, against counts written down naively."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import RunningPrior
from evolabel.errors import DataError
from evolabel.evaluate import prequential, set_coverage, set_size
from evolabel.evaluate.metrics import metric_named
from evolabel.evaluate.metrics.prediction_sets import sets_as_scores


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), K=st.integers(1, 4))
def test_labels_are_counted_pair_by_pair(seed, n, K):
    rng = np.random.default_rng(seed)
    Y, sets = rng.choice([0.0, 1.0, np.nan], (n, K)), rng.random((n, K, 2)) < 0.6
    held = [sets[i, k, int(Y[i, k])] for i in range(n) for k in range(K) if not np.isnan(Y[i, k])]
    np.testing.assert_equal(set_coverage(Y, sets), np.mean(held) if held else np.nan)
    assert set_size(sets) == pytest.approx(sum(sets[i, k].sum() for i in range(n) for k in range(K)) / (n * K))


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), K=st.integers(1, 4))
def test_classes_are_counted_row_by_row(seed, n, K):
    rng = np.random.default_rng(seed)
    classes, sets = rng.integers(K, size=n), rng.random((n, K)) < 0.6
    Y = np.eye(K)[classes]
    Y[rng.random(n) < 0.2] = np.nan
    held = [sets[i, classes[i]] for i in range(n) if not np.isnan(Y[i, 0])]
    np.testing.assert_equal(set_coverage(Y, sets), np.mean(held) if held else np.nan)
    assert set_size(sets) == pytest.approx(sets.sum() / n)


@pytest.mark.parametrize("sets", [np.ones((2, 3)), np.ones((2, 3, 3), bool), np.ones(3, bool)])
def test_what_is_no_set_is_refused(sets):
    with pytest.raises(DataError, match="predict_set"):
        set_size(sets)
    with pytest.raises(DataError, match="predict_set"):
        set_coverage(np.zeros((2, 3)), sets)


def test_sets_of_other_rows_are_refused():
    with pytest.raises(DataError, match="shape"):
        set_coverage(np.zeros((3, 2)), np.ones((2, 2, 2), bool))


def test_runs_measure_sets_by_name(stream):
    X, Y = stream
    learners = {"ours": EvolvingFuzzyClassifier(max_rules=4), "prior": RunningPrior()}
    run = prequential(learners, (X, Y), initial=60, metrics=("set_coverage", "set_size", "pa"), every=7)
    sets = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60]).answer_then_train(X[60:], Y[60:]).sets
    found = run.summary["ours"].metrics
    assert found["set_coverage"] == pytest.approx(set_coverage(Y[60:], sets))
    assert found["set_size"] == pytest.approx(set_size(sets))
    others = run.summary["prior"].metrics
    assert np.isnan([others["set_coverage"], others["set_size"]]).all()
    assert others["pa"] > 0.5
    late = prequential(learners["ours"], (X, Y), initial=60, metrics="set_size", delay=3)
    assert all(np.isnan(each.metrics["set_size"]) for each in late.summary.values())


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), K=st.integers(1, 4))
def test_streaming_metrics_of_sets_agree_with_the_functions(seed, n, K):
    rng = np.random.default_rng(seed)
    Y, sets = rng.choice([0.0, 1.0], (n, K)), np.array([[1, 0], [0, 1], [1, 1]], bool)[rng.integers(0, 3, (n, K))]
    for name, expected in (("set_coverage", set_coverage(Y, sets)), ("set_size", set_size(sets))):
        assert metric_named(name).update(Y, sets_as_scores(sets)).get() == pytest.approx(expected)


def test_sets_of_classes_are_no_scores():
    with pytest.raises(DataError, match="those of labels"):
        sets_as_scores(np.ones((3, 2), bool))
