"""The plant's data: for each true rule there is a printed rule that matches it, edges within 1 % of the range."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from concept_conjunctions import FAULTS, MACHINES, SENSORS, plant
from concept_reading import Bounds, edge_errors

from evolabel import EvolvingFuzzyClassifier

pytestmark = pytest.mark.compiled

SEEDS = (15, 16, 17)  # a fault of .8 to .9 % positives in two of them
ROWS = 7000  # 6,500 show all nine rules for the first time
MOST = 1.0  # percent of a feature's range


def matches(rule, label, stream):
    """Whether a printed rule says the same as the true rule of a label, and nothing more."""
    conditions, excepted = FAULTS[label]
    truth = stream.truths[stream.labels.index(label)]
    printed = {condition.feature: condition for condition in rule.conditions}
    machine = printed.pop("machine", None)
    if machine is None or machine.words() != f"machine is not {list(MACHINES)[excepted].partition('=')[2]}":
        return False
    sides = {list(SENSORS)[true.feature]: (true.above, not true.above) for true in conditions}
    if {name: (np.isfinite(c.low), np.isfinite(c.high)) for name, c in printed.items()} != sides:
        return False
    bounds = [Bounds(name, c.low, c.high) for name, c in printed.items()]
    return rule.share > 0.9 and all(error <= MOST for b in bounds for error in edge_errors(stream, b, truth))


@cache
def stream_and_printed(seed):
    """The stream, and the rules that are printed one by one, by label."""
    stream = plant(seed, moves=False)
    X, Y = pd.DataFrame(stream.X, columns=stream.features), pd.DataFrame(stream.Y, columns=stream.labels)
    clf = EvolvingFuzzyClassifier().partial_fit(X[:ROWS], Y[:ROWS])
    return stream, {found.label: found.rules[: found.n_shown] for found in clf.rules_.threshold_rules}


@pytest.mark.parametrize("label", FAULTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_printed_rule_matches_the_true_rule(seed, label):
    stream, printed = stream_and_printed(seed)
    assert [rule for rule in printed[label] if matches(rule, label, stream)], [rule.text for rule in printed[label]]


@pytest.mark.parametrize("label", FAULTS)
def test_a_rule_that_says_something_else_does_not_match(label):
    stream, printed = stream_and_printed(SEEDS[0])
    rule = next(rule for rule in printed[label] if matches(rule, label, stream))
    without = [tuple(c for c in rule.conditions if c is not dropped) for dropped in rule.conditions]
    moved = [
        tuple(replace(c, low=c.low * 1.03, high=c.high * 1.03) if c is one else c for c in rule.conditions)
        for one in rule.conditions
        if not one.texts
    ]
    assert len(moved) == len(FAULTS[label][0])
    for conditions in [*without, *moved]:
        assert not matches(replace(rule, conditions=conditions), label, stream)
