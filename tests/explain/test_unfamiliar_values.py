"""Values far outside the range seen and texts never seen are told, and one wild value does not make all known."""

import numpy as np
import pandas as pd
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.engine.values import first_outside, widen_ranges
from evolabel.model.seen_ranges import batch_ranges, merged_ranges, no_ranges

VALUES = st.sampled_from([-5.0, 0.0, 1.0, 2.0, 3.0, 1e9, np.nan])
ROWS = hnp.arrays(np.float64, st.tuples(st.integers(0, 6), st.just(2)), elements=VALUES)


def naive_borders(batch, rows):
    """Lowest and highest value of each feature: of the batch, or the third most extreme of the stream."""
    ends = []
    for j in range(rows.shape[1]):
        known, later = (part[~np.isnan(part[:, j]), j] for part in (batch, rows))
        third = np.sort(later)
        low = min([*known, *third[2:3]], default=np.inf)
        ends.append((low, max([*known, *third[-3:-2]], default=-np.inf)))
    return np.array(ends).T


@settings(max_examples=examples(100), deadline=None)
@given(ROWS, ROWS, ROWS)
def test_a_value_widens_a_range_from_its_third_row_on(batch, rows, more):
    ranges = batch_ranges(batch)
    widen_ranges(rows, ranges)
    widen_ranges(more, ranges)
    low, high = naive_borders(batch, np.vstack([rows, more]))
    assert np.array_equal(-ranges[0, 0], low)
    assert np.array_equal(ranges[1, 0], high)


@settings(max_examples=examples(100), deadline=None)
@given(ROWS, ROWS)
def test_merged_ranges_are_those_of_one_stream(rows, more):
    mine, theirs, both = (no_ranges(2) for _ in range(3))
    widen_ranges(rows, mine)
    widen_ranges(more, theirs)
    widen_ranges(np.vstack([rows, more]), both)
    assert np.array_equal(merged_ranges(mine, theirs), both)


@settings(max_examples=examples(50), deadline=None)
@given(ROWS, hnp.arrays(np.float64, 2, elements=VALUES))
def test_outside_is_by_more_than_half_the_range(batch, x):
    ranges = batch_ranges(batch)
    low, high = -ranges[0, 0], ranges[1, 0]
    far = [j for j in range(2) if low[j] <= high[j] and abs(x[j] - (low[j] + high[j]) / 2) > high[j] - low[j]]
    assert first_outside(x, ranges, 0) == (far[0] if far else -1)


def plant(n=120):
    rng = np.random.default_rng(2)
    heat = np.append(rng.uniform(20, 95, n - 2), [20.0, 95.0])
    frame = pd.DataFrame({"temp_C": heat, "machine": rng.choice(["M-1", "M-2"], n)})
    return frame, pd.DataFrame({"leak": (heat > 60).astype(float)})


@pytest.fixture
def clf():
    return EvolvingFuzzyClassifier(max_rules=3).fit(*plant())


def odd(value=1e6, machine="M-1"):
    return pd.DataFrame({"temp_C": [value], "machine": [machine]})


def test_an_explanation_tells_of_a_value_outside_the_range(clf):
    why = clf.explain(odd())
    assert why.unfamiliar == ("outside the range seen (temp_C = 1,000,000, seen 20 to 95)",)
    assert why.unfamiliar[0] in why.text
    assert "known territory" not in why.text
    assert why.to_dict()["unfamiliar"] == list(why.unfamiliar)
    assert clf.explain(odd(130.0)).unfamiliar == ()


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_an_explanation_tells_of_a_text_never_seen(clf):
    assert clf.explain(odd(50.0, "M-99")).unfamiliar == ("machine = M-99 was never seen",)


def test_one_wild_value_does_not_make_everything_known(clf):
    for wild in (1e9, 1e9):
        clf.partial_fit(odd(wild), [[1.0]])
    assert clf.explain(odd()).unfamiliar
    clf.partial_fit(odd(1e9), [[1.0]])
    assert not clf.explain(odd()).unfamiliar


def test_ranges_are_saved_and_merged(clf, tmp_path):
    clf.partial_fit(odd(1e9), [[1.0]])
    clf.save(tmp_path / "m.safetensors")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")
    for _ in range(2):
        loaded.partial_fit(odd(1e9), [[1.0]])
    assert not loaded.explain(odd()).unfamiliar
    other = clf.sibling()
    for _ in range(2):
        other.partial_fit(odd(1e9), [[1.0]])
    assert other.explain(odd()).unfamiliar
    assert not clf.merge(other).explain(odd()).unfamiliar


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_a_query_tells_of_both(clf):
    learner = ActiveLearner(clf, budget=0.5)
    assert learner.query(odd(50.0)).unfamiliar == ()
    query = learner.query(odd(1e6, "M-99"))
    assert query.unfamiliar[0] == "outside the range seen (temp_C = 1,000,000, seen 20 to 95)"
    assert "machine" in query.unfamiliar[1]
