"""Threshold rules in words: trees become short lists of conditions, and every printed number is that of the tree."""

import json

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS
from written_trees import PUMP, read, texts, trees

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.threshold_rules.arrays import (
    EDGE,
    FREE,
    HALF_WIDTH,
    LEAF,
    MISSING_LEFT,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUM_Y,
    TREE_WEIGHT,
    allocate_trees,
)
from evolabel.stages.threshold_rules.leaves import read_leaves, tree_relevance
from evolabel.stages.threshold_rules.read_trees import TreeReader, read_threshold_rules, tree_reader
from evolabel.stages.threshold_rules.words import (
    ADMITTED_TOO,
    FULL_WEIGHT,
    ThresholdCondition,
    edge_text,
    percent,
    samples,
    weight_text,
)


def test_conditions_on_one_feature_are_joined():
    t = trees(
        ("pressure", 5.0, 0.1, 0), ("pressure", 2.0, 0.1, 0), (0, 9), (1, 30), ("pressure", 7.0, 0.1, 0), (0, 8), (0, 7)
    )
    assert texts(t) == [
        "IF pressure is between 2.0 and 5.0 THEN leak (100 %, 30 samples)",
        "IF pressure is below 2.0 THEN leak in 0 % of 9 samples",
        "IF pressure is between 5.0 and 7.0 THEN leak in 0 % of 8 samples",
        "IF pressure is above 7.0 THEN leak in 0 % of 7 samples",
    ]


def test_missing_values_are_named_only_where_the_ring_has_some():
    splits = ("pressure", 5.0, 0.1, 1), (1, 30), (0, 9)
    assert texts(trees(*splits)) == [
        "IF pressure is below 5.0 THEN leak (100 %, 30 samples)",
        "IF pressure is above 5.0 THEN leak in 0 % of 9 samples",
    ]
    with_gaps = read(trees(*splits, missing=[0])).rules
    assert [rule.conditions[0].words() for rule in with_gaps] == [
        "pressure is missing or below 5.0",
        "pressure is above 5.0",
    ]
    assert [rule.conditions[0].missing for rule in with_gaps] == ["admitted too", "not admitted"]
    known = read(trees(("pressure", np.inf, 0.0, 0), (0, 30), (1, 9), missing=[0])).rules
    assert [rule.conditions[0].words() for rule in known] == ["pressure is missing", "pressure is known"]
    both = ("pressure", np.inf, 0.0, 0), ("flow", 1.0, 0.1, 0), (0, 30), (1, 20), (0, 9)
    assert texts(trees(*both))[0] == "IF flow is above 1.0 THEN leak (100 %, 20 samples)"  # "known" holds always


def test_a_category_is_one_condition():
    not_one = ("machine=M-01", 0.5, 0.5, 0)
    t = trees(not_one, ("machine=M-02", 0.5, 0.5, 0), ("machine=M-03", 0.5, 0.5, 0), (1, 30), (0, 9), (0, 8), (0, 7))
    assert [rule.conditions for rule in read(t).rules if len(rule.conditions) > 1] == []
    assert [rule.conditions[0].words() for rule in read(t).rules] == [
        "machine is M-04",
        "machine is M-03",
        "machine is M-02",
        "machine is M-01",
    ]
    t = trees(not_one, ("machine=M-02", 0.5, 0.5, 0), (1, 30), (0, 9), (0, 8))
    assert read(t).rules[0].conditions[0].words() == "machine is neither M-01 nor M-02"
    t = trees(not_one, (1, 30), (0, 9))
    assert texts(t)[0] == "IF machine is not M-01 THEN leak (100 %, 30 samples)"
    t = trees(not_one, ("pressure", 1.0, 0.1, 0), (1, 9), (1, 8), ("machine=M-02", 0.5, 0.5, 0), (1, 30), (1, 1))
    found = [rule.conditions[0].words() for rule in read(t).rules]
    assert found == ["machine is M-01", "machine is not M-01", "machine is not M-01"]  # no row is on both machines


def test_a_category_may_name_several_values():
    t = trees(
        ("machine=M-01", 0.5, 0.5, 0), ("machine=M-02", 0.5, 0.5, 0), ("machine=M-03", 0.5, 0.5, 0),
        ("machine=M-04", 0.5, 0.5, 0), (0, 3), (1, 9), (0, 8), (0, 7), (0, 6),
    )  # fmt: skip
    found = [rule.conditions[0] for rule in read(t).rules]
    assert found[0].words() == "machine is M-04"
    assert found[-1].words() == "machine is neither M-01 nor M-02 nor M-03 nor M-04"
    binary = np.array([name.startswith("machine") for name in [*PUMP, "machine=M-05"]])
    wide = allocate_trees(len(PUMP) + 1, 1)
    wide.feature[:], wide.child[:] = FREE, 0
    for a, j in ((0, 3), (1, 5), (3, 7)):
        wide.feature[0, a], wide.child[0, a] = j, a + 1 if a == 0 else a + 2
        wide.edge[0, a] = 0.5, 0.5, 0.0
    wide.feature[0, [2, 4, 5, 6]] = LEAF
    reader = TreeReader(wide, 0, [*PUMP, "machine=M-05"], ["leak"], binary, {})
    first = reader.rule(0, reader.boxes(0)[0])
    assert first.conditions[0].words() == "machine is M-02 or M-04"


def test_rules_for_the_label_come_first_and_the_others_in_one_line():
    t = trees(("pressure", -1.0, 0.1, 0), (0.9, 9), ("pressure", 1.0, 0.1, 0), (0, 900), (1, 30))
    found = read(t)
    assert found.text.splitlines() == [
        "Threshold rules for leak",
        "  IF pressure is above 1.0 THEN leak (100 %, 30 samples)",
        "  IF pressure is below -1.0 THEN leak (90 %, 9 samples)",
        "  otherwise: leak 0 % of 900 samples",
    ]
    t.gate[0, TREE_WEIGHT] = 0.8
    assert read(t).text.startswith("Threshold rules for leak (threshold rules count 80 %)\n")


def test_where_no_rule_reaches_half_those_above_the_usual_share_are_printed():
    t = trees(("pressure", 1.0, 0.1, 0), (0.01, 900), (0.3, 30))
    t.Y[:2] = 1
    assert "IF pressure is above 1.0 THEN leak in 30 % of 30 samples" in read(t).text
    assert read(t).n_shown == 1


def test_numbers_are_printed_with_the_digits_that_are_known():
    assert edge_text(4.9134, 0.0153) == "4.91"
    assert edge_text(-0.0004, 0.01) in ("0.00", "-0.00")
    assert edge_text(1.234e-7, 2e-9) == "1.23e-07"
    assert edge_text(12345678901.0, 1e6) == "1.2346e+10"
    assert percent(0.999) == "99.9 %"
    assert (percent(1.0), percent(1.0 - 1e-12), percent(0.0)) == ("100 %", "100 %", "0 %")
    assert (percent(0.99949), percent(0.9996), percent(0.9999)) == ("99.9 %", "over 99.9 %", "over 99.9 %")
    assert (percent(0.00051), percent(0.0004)) == ("0.1 %", "under 0.1 %")
    assert samples(1.2) == "1 sample"


@pytest.mark.compiled
def test_boxes_hold_exactly_the_rows_of_their_leaves(pump):
    t = pump.inner.any_model.trees.arrays
    for k in range(2):
        boxes = read_leaves(t, k)
        for x in t.X[t.rows >= 0][:200]:
            holding = [box for box in boxes if box.holds(x)]
            assert [box.leaf for box in holding] == [leaf_of(t, k, x)]


@pytest.mark.compiled
def test_the_rule_of_the_stream_is_printed(pump):
    found = read_threshold_rules(pump.inner.any_model, FEATURES, LABELS)
    assert [rules.label for rules in found] == ["leak"]
    best = found[0].rules[0]
    assert best.share > 0.95
    parts = {condition.feature: condition for condition in best.conditions}
    assert set(parts) == {"pressure", "flow", "machine"}
    assert abs(parts["pressure"].high + 0.5) < 0.05
    assert abs(parts["flow"].low - 0.4) < 0.05
    assert parts["machine"].words() == "machine is not M-01"
    assert parts["flow"].missing == "never seen"


@pytest.mark.compiled
def test_all_forms_have_the_rules(pump):
    found = read_threshold_rules(pump.inner.any_model, FEATURES, LABELS)[0]
    assert found.rules[0].words(lambda name: f"`{name}`") in found.markdown()
    assert found.html().count("<li>") == found.n_shown + 1
    whole = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert whole["rules"][0]["text"] == found.rules[0].text
    assert str(found) == found.text


def node_below(t, k, a, x):
    """The child of node a that the row x goes to."""
    value, (edge, _, missing_left) = x[t.feature[k, a]], t.edge[k, a]
    left = missing_left > 0.5 if np.isnan(value) else value <= edge
    return t.child[k, a] + (0 if left else 1)


def leaf_of(t, k, x):
    a = 0
    while t.feature[k, a] >= 0:
        a = node_below(t, k, a, x)
    return a


def naive_relevance(t, k):
    """The definition: sum over the topmost nodes that ask about a feature, by the paths of all rows."""
    X = t.X[:2000][(t.rows[:2000] >= t.since[k]) & (t.weights[:2000, k] > 0)]
    out = np.zeros(X.shape[1])
    for a in range(t.feature.shape[1]):
        if t.feature[k, a] < 0:
            continue
        path, b = [], a
        while t.parent[k, b] >= 0:
            b = t.parent[k, b]
            path.append(b)
        if t.feature[k, a] in t.feature[k, path]:
            continue
        reached = 0
        for x in X:
            b = 0
            while b != a and t.feature[k, b] >= 0:
                b = node_below(t, k, b, x)
            reached += b == a
        gain = t.visits[k, a, SUBTREE_GAIN] / max(t.visits[k, a, SUBTREE_COUNT], 1.0)
        out[t.feature[k, a]] += max(0.0, gain) * reached / len(X)
    return out


@pytest.mark.compiled
def test_relevance_is_that_of_its_definition(pump):
    t = pump.inner.any_model.trees.arrays
    np.testing.assert_allclose(tree_relevance(t, 0), naive_relevance(t, 0), rtol=1e-12, atol=1e-15)
    relevant = tree_reader(pump.inner.any_model, FEATURES, LABELS).relevant(0)
    assert relevant[[0, 1, 3, 4, 5]].all()  # the machine as a whole


def test_edges_and_missing_values_are_those_of_the_arrays():
    t = trees(("pressure", 5.0, 0.25, 1), (1, 30), (0, 9), missing=[0])
    condition = read(t).rules[0].conditions[0]
    assert (condition.high, condition.high_width) == tuple(t.edge[0, 0, [EDGE, HALF_WIDTH]])
    assert t.edge[0, 0, MISSING_LEFT] == 1.0


@pytest.mark.parametrize("weight", [0.9499999, 0.949, 0.945, 0.9451])
def test_a_weight_below_the_limit_is_printed_as_one(weight):
    assert weight < FULL_WEIGHT
    assert weight_text(weight) == "94 %"


def test_missing_values_come_first_so_that_not_has_one_meaning():
    condition = ThresholdCondition("machine", -np.inf, np.inf, 0.0, 0.0, ADMITTED_TOO, ("M-01",), excluded=True)
    assert condition.words() == "machine is missing or not M-01"


def test_a_leaf_whose_rows_have_faded_has_the_share_that_it_answers():
    X = np.random.default_rng(0).normal(size=(600, 3))
    clf = EvolvingFuzzyClassifier().partial_fit(X, (X[:, :1] > 0.5).astype(float))
    trees = clf.inner.any_model.trees.arrays
    leaf = next(a for a in np.flatnonzero(trees.feature[0] == LEAF) if trees.sums[0, a, SUM_Y] > 50.0)
    assert clf.predict(X[X[:, 0] > 1.0]).mean() == 1.0
    trees.sums[0, leaf] *= 1e-4  # as several alarms in a row do
    faded = [rule for rule in clf.rules_.threshold_rules[0].rules if rule.support < 1.0]
    assert [rule.share < 0.5 for rule in faded] == [True]
    assert all(rule.support >= 0.5 for label in clf.rules_.threshold_rules for rule in label.rules[: label.n_shown])
    x = X[X[:, 0] > 1.0][0]
    assert clf.predict([x])[0] == 0.0
    assert "THEN label0 (100 %, 0 samples" not in str(clf.explain(x))
