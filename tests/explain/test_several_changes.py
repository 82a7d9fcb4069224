"""Several smallest changes per label: each of another feature, each confirmed, none missed within the range seen."""

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.streams import DriftingStream
from evolabel.words.text_columns import column_and_value

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore:X does not have valid feature names")]

OPTIMISE = ["accuracy", "balanced"]


def features_that_turn(clf, x, low, high):
    """For each label the features of which one of 30 values of the range turns it, by predictions alone."""
    steps = np.linspace(low, high, 30)
    rows = np.repeat(x[None], 30 * len(x), axis=0)
    for j in range(len(x)):
        rows[30 * j : 30 * (j + 1), j] = steps[:, j]
    turned = (clf.predict(rows) != clf.predict(x[None])).reshape(len(x), 30, -1).any(axis=1)
    return [set(np.flatnonzero(of_label).tolist()) for of_label in turned.T]


@pytest.mark.parametrize("optimise", OPTIMISE)
def test_a_change_within_the_range_seen_is_found(optimise):
    X, Y = DriftingStream(n_features=6, n_labels=4, seed=3).take(660)
    clf = EvolvingFuzzyClassifier(max_rules=12, optimise=optimise).partial_fit(X[:600], Y[:600])
    low, high = X[:600].min(axis=0), X[:600].max(axis=0)
    low, high = low + 0.02 * (high - low), high - 0.02 * (high - low)
    missed = several = 0
    for x in X[600:]:
        why = clf.explain(x, changes=3)
        for changes, turning in zip(why.changes, features_that_turn(clf, x, low, high), strict=True):
            missed += len(changes) < min(3, len(turning))
            several += len(changes) > 1
    assert missed <= 3  # of 240: bands narrower than the steps of the search
    assert several > 100


@pytest.mark.parametrize("optimise", OPTIMISE)
def test_each_change_is_of_another_feature_and_turns_the_label(optimise):
    X, Y = pump_rows(2500, missing=0.05)
    clf = EvolvingFuzzyClassifier(optimise=optimise).partial_fit(X, Y).name_columns(FEATURES, LABELS)
    several = 0
    for x in pump_rows(40, seed=5, missing=0.1)[0]:
        why, now = clf.explain(x, changes=3), clf.predict(x[None])[0]
        for c, changes in enumerate(why.changes):
            columns = [column_and_value(change.feature)[0] or change.feature for change in changes]
            assert len(columns) == len(set(columns)) <= 3
            assert [change.size for change in changes] == sorted(change.size for change in changes)
            several += len(changes) > 1
            for change in changes:
                changed, j = x.copy(), FEATURES.index(change.feature)
                if j >= 3:
                    changed[3:] = 0.0
                changed[j] = change.after
                assert clf.predict(changed[None])[0, c] != now[c]
    assert several > 0


def test_one_change_is_the_first_of_several_and_each_has_a_line():
    X, Y = pump_rows(600)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
    for x in pump_rows(10, seed=5)[0]:
        one, three = clf.explain(x), clf.explain(x, changes=3)
        assert three.text.count("would turn") == sum(map(len, three.changes))
        assert [len(changes) for changes in one.changes] == [min(1, len(changes)) for changes in three.changes]
        assert one.to_dict()["labels"][0]["changes"] == three.to_dict()["labels"][0]["changes"][:1]
    with pytest.raises(ParameterError, match="changes"):
        clf.explain(x, changes=0)
