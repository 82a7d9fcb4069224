"""Two edges that nearly are one are printed as one: no gap is left, and every sample is counted once."""

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows
from small_thresholds import random_tree, write_tree
from written_trees import PUMP, read, texts, trees

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.threshold_rules.arrays import LEAF, SUM_1, SUM_Y, allocate_trees
from evolabel.stages.threshold_rules.leaves import join_strips, leaf_of_rows, read_leaves
from evolabel.stages.threshold_rules.read_trees import read_threshold_rules
from evolabel.stages.threshold_rules.words import NOTHING_ELSE

STRIP = ("pressure", 4.913, 0.02, 0), (1, 90), ("pressure", 4.927, 0.01, 0), (0.5, 10), (0, 900)


def with_rows(t, pressure, positive):
    """The tree t with these recent rows."""
    t.X[: len(pressure), 0], t.Y[: len(pressure), 0] = pressure, positive
    t.X[len(pressure) : 40, 0] = 9.0
    return t


def test_the_two_edges_of_a_strip_are_printed_as_one():
    t = with_rows(trees(*STRIP), [4.0, 4.915, 4.918, 4.922, 4.925], [1, 1, 1, 0, 0])
    assert texts(t) == [
        "IF pressure is below 4.92 THEN leak (100 %, 95 samples)",
        "IF pressure is above 4.92 THEN leak in 0 % of 905 samples",
    ]
    ends = [rule.conditions[0] for rule in read(t).rules]
    assert ends[0].high == ends[1].low == pytest.approx(4.92)
    assert len(texts(trees(("pressure", 4.913, 0.01, 0), *STRIP[1:]))) == 3  # as wide as the edges are uncertain


def test_a_strip_with_missing_values_keeps_these():
    t = trees(("pressure", 4.913, 0.02, 0), (1, 90), ("pressure", 4.927, 0.01, 1), (0.6, 10), (0, 900))
    with_rows(t, [4.0, 4.92, 4.924, np.nan, np.nan, np.nan], [1, 1, 0, 1, 0, 1])
    assert texts(t) == [
        "IF pressure is below 4.92 THEN leak (100 %, 92 samples)",
        "IF pressure is missing THEN leak (67 %, 6 samples)",
        "IF pressure is above 4.92 THEN leak in 0 % of 902 samples",
    ]


def test_a_range_of_mostly_missing_values_is_printed_as_missing():
    t = trees(("pressure", 4.0, 0.1, 0), (1, 90), ("pressure", 5.0, 0.1, 1), (0.6, 10), (0, 900))
    with_rows(t, [3.0, 4.6, np.nan, np.nan], [1, 0, 1, 0])
    assert [condition.words() for rule in read(t).rules for condition in rule.conditions] == [
        "pressure is below 4.5",
        "pressure is missing",
        "pressure is above 4.5",
    ]
    with_rows(t, [3.0, 4.6, 4.7, np.nan], [1, 0, 1, 0])
    assert "pressure is missing or between 4.0 and 5.0" in read(t).rules[1].text


def test_neighbours_that_other_features_divide_leave_no_gap():
    t = trees(
        ("pressure", 4.913, 0.02, 0), ("flow", 1.0, 0.1, 0), (1, 50), (0, 40),
        ("pressure", 4.927, 0.01, 0), (0.5, 10), ("noise", 0.0, 0.1, 0), (0, 400), (1, 500),
    )  # fmt: skip
    X = np.zeros((50, len(PUMP)))
    X[:, 0] = np.linspace(4.9, 4.94, 50)
    holding = [[rule for rule in read(t).rules if holds(rule, x)] for x in X]
    assert {len(rules) for rules in holding} == {1}


def holds(rule, x):
    """Whether the printed conditions on numbers hold for the row x."""
    values = [(c, x[PUMP.index(c.feature)]) for c in rule.conditions]
    return all(
        c.missing != "not admitted" if np.isnan(value) else c.missing != NOTHING_ELSE and c.low < value <= c.high
        for c, value in values
    )


@pytest.mark.parametrize("seed", range(20))
def test_boxes_cover_the_space_once_and_have_all_samples(seed):
    rng = np.random.default_rng(seed)
    t = allocate_trees(3, 1)
    write_tree(random_tree(rng, 3, 12), t)
    t.edge[0, :, 1] *= 3.0
    t.X[:300] = rng.normal(size=(300, 3))
    t.X[:300][rng.random((300, 3)) < 0.2] = np.nan
    t.Y[:300, 0], t.weights[:300], t.rows[:300] = rng.integers(0, 2, 300), 1.0, np.arange(300)
    boxes = join_strips(t, 0, np.ones(3, bool))
    for x in t.X[:300]:
        assert sum(box.holds(x) for box in boxes) == 1
    for box in boxes:
        for side in box.sides.values():
            assert not 0.0 < side.high - side.low < max(side.low_width, side.high_width)
    leaves = t.sums[0, t.feature[0] == LEAF]
    assert sum(box.support for box in boxes) == pytest.approx(leaves[:, SUM_1].sum())
    assert sum(box.positives for box in boxes) == pytest.approx(leaves[:, SUM_Y].sum())
    assert all(-1e-9 <= box.positives <= box.support + 1e-9 for box in boxes)


def test_rows_are_in_the_leaf_whose_box_holds_them():
    rng = np.random.default_rng(3)
    t = allocate_trees(3, 1)
    write_tree(random_tree(rng, 3, 12), t)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    found = [[box.leaf for box in read_leaves(t, 0) if box.holds(x)] for x in X]
    np.testing.assert_array_equal(np.ravel(found), leaf_of_rows(t, 0, t.edge[0], X))


@pytest.mark.compiled
def test_shown_rules_and_the_rest_have_all_samples():
    X, Y = pump_rows(3000, missing=0.04)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    found = read_threshold_rules(clf.inner.any_model, FEATURES, LABELS)[0]
    assert found.rest_support > 0.0
    shown, others = found.rules[: found.n_shown], found.rules[found.n_shown :]
    assert found.rest_support == pytest.approx(sum(rule.support for rule in others))
    assert found.rest_share * found.rest_support == pytest.approx(sum(r.share * r.support for r in others))
    t = clf.inner.any_model.trees.arrays
    everything = t.sums[0, t.feature[0] == LEAF, SUM_1].sum()
    assert sum(rule.support for rule in shown) + found.rest_support == pytest.approx(everything)
