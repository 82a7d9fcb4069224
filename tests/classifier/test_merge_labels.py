"""Labels that only one of two merged classifiers has answers to count as not annotated in the other's samples."""

import copy

import numpy as np
import pandas as pd
import pytest
from choices import examples, first_quick
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

NAMES = ["a", "b", "c", "d"]
PROFILES = {"default": EvolvingFuzzyClassifier, "paper": EvolvingFuzzyClassifier.paper}


def named(Y, labels):
    return pd.DataFrame(Y[:, labels], columns=[NAMES[c] for c in labels])


def two_sides(profile, seed=0, rows=800):
    """Two classifiers of one scaling: the second has never heard of label d; and rows to test on."""
    X, Y = DriftingStream(n_features=8, n_labels=4, drift_every=0, seed=seed).take(200 + 3 * rows)
    base = PROFILES[profile]().fit(X[:200], named(Y[:200], [0, 1, 2]))
    first, second, last = (slice(200 + i * rows, 200 + (i + 1) * rows) for i in range(3))
    knows = base.sibling().partial_fit(X[first], named(Y[first], [0, 1, 2, 3]))
    other = base.sibling().partial_fit(X[second], named(Y[second], [0, 1, 2]))
    return knows, other, X[last], Y[last]


def global_weights(clf, label):
    return clf.inner.any_model.rules.weights(0)[:, list(clf.label_names_).index(label)]


@pytest.mark.compiled
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("seed", first_quick(0, 1))
def test_a_merge_keeps_the_accuracy_of_a_label_one_side_does_not_have(profile, seed):
    knows, other, X, Y = two_sides(profile, seed)
    alone = (knows.predict(X)[:, 3] == Y[:, 3]).mean()
    for united in (copy.deepcopy(knows).merge(other), copy.deepcopy(other).merge(knows)):
        assert (united.predict(X)[:, 3] == Y[:, 3]).mean() > alone - 0.03


@pytest.mark.parametrize("profile", PROFILES)
def test_weights_of_the_global_model_stay_exactly_as_they_were(profile):
    knows, other, _, _ = two_sides(profile, rows=200)
    before = global_weights(knows, "d")
    for united in (copy.deepcopy(knows).merge(other), copy.deepcopy(other).merge(knows)):
        np.testing.assert_allclose(global_weights(united, "d"), before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_named_label_without_answers_is_as_unknown_as_a_new_one(profile):
    X, Y = DriftingStream(n_features=4, n_labels=4, drift_every=0, seed=2).take(500)
    base = PROFILES[profile]().fit(X[:100], named(Y[:100], [0, 1, 2, 3]))
    hidden = Y[300:].copy()
    hidden[:, 3] = np.nan
    knows = base.sibling().partial_fit(X[100:300], named(Y[100:300], [0, 1, 2, 3]))
    other = base.sibling().partial_fit(X[300:], named(hidden, [0, 1, 2, 3]))
    before = global_weights(knows, "d")
    for united in (copy.deepcopy(knows).merge(other), copy.deepcopy(other).merge(knows)):
        np.testing.assert_allclose(global_weights(united, "d"), before, rtol=1e-9, atol=1e-9)


def test_rules_that_join_answer_the_label_as_the_other_side_does_there():
    knows, other, _, _ = two_sides("default", rows=200)
    room = copy.deepcopy(knows).set_params(max_rules=100)
    room.inner.any_model.rules.settings = room.inner.any_model.rules.settings._replace(max_rules=100)
    own, united = room.n_rules_, room.merge(other).inner.any_model.rules
    assert united.n_rules == own + other.n_rules_
    mine = knows.inner.any_model.rules
    for slot in range(own + 1, united.n_rules + 1):
        centre = united.arrays.c[slot : slot + 1].copy()
        psi = mine.memberships(centre)[0][0]
        local = sum(share * mine.weights(i + 1)[:, 3] for i, share in enumerate(psi))
        np.testing.assert_allclose(united.arrays.G[slot, 3], united.hessian(slot) @ local, rtol=1e-9, atol=1e-9)


def test_locked_rules_keep_such_weights_and_new_label_dimensions_stay_without_support():
    knows, other, _, _ = two_sides("paper", rows=120)
    other.rulebook.lock(int(other.inner.any_model.rules.arrays.identity[1]))
    united = copy.deepcopy(other).merge(knows).inner.any_model.rules
    locked = int(np.flatnonzero(united.arrays.locked)[0])
    before = other.inner.any_model.rules
    np.testing.assert_array_equal(united.arrays.W[locked, :3], before.arrays.W[1])
    assert np.abs(united.arrays.W[locked, 3]).max() > 0.0
    assert united.arrays.n[locked, united.n_features + 3] == 0.0
    assert (
        united.arrays.c[locked, united.n_features + 3] == knows.inner.any_model.rules.arrays.c[0, united.n_features + 3]
    )


@given(
    sides=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=4),
    profile=st.sampled_from(sorted(PROFILES)),
    seed=st.integers(0, 5),
)
@pytest.mark.compiled
@settings(max_examples=examples(25))
def test_any_labels_on_any_side(sides, profile, seed):
    mine, theirs = ([c for c in range(4) if sides[c][side]] or [3 * side] for side in (0, 1))
    X, Y = DriftingStream(n_features=3, n_labels=4, drift_every=0, seed=seed).take(180)
    made = PROFILES[profile](scaling="none", ridge=1.0, max_rules=5)
    parts = slice(0, 80), slice(80, 160)
    one, other = (
        copy.deepcopy(made).fit(X[part], named(Y[part], labels))
        for part, labels in zip(parts, (mine, theirs), strict=True)
    )
    united = copy.deepcopy(one).merge(other)
    assert set(united.label_names_) == {NAMES[c] for c in mine + theirs}
    for c in set(mine) ^ set(theirs):
        known = one if c in mine else other
        before = global_weights(known, NAMES[c])
        np.testing.assert_allclose(global_weights(united, NAMES[c]), before, rtol=1e-7, atol=1e-9)
    both = copy.deepcopy(made).fit(X[:160], named(Y[:160], [0, 1, 2, 3]))
    for c in set(mine) & set(theirs):
        expected = global_weights(both, NAMES[c])
        np.testing.assert_allclose(global_weights(united, NAMES[c]), expected, rtol=1e-7, atol=1e-9)
    counted = dict(zip(united.label_names_, united.inner.any_model.n_answers, strict=True))
    assert counted == {NAMES[c]: 80 * ((c in mine) + (c in theirs)) for c in set(mine) | set(theirs)}
    united.partial_fit(X[160:], named(Y[160:], [0, 1, 2, 3]))
    assert np.isfinite(united.decision_function(X)).all()


@pytest.mark.parametrize("answers", first_quick(3, 1, 10))
def test_a_side_with_few_answers_hardly_moves_a_label(answers):
    """Its other samples count as not annotated, as if it had no answers at all."""
    kept = []
    for seed in range(5):
        X, Y = DriftingStream(n_features=8, n_labels=4, drift_every=0, seed=seed).take(2600)
        mine = EvolvingFuzzyClassifier().fit(X[:200], Y[:200]).partial_fit(X[200:1000], Y[200:1000])
        few = Y[1000:2000].copy()
        few[answers:, 3] = np.nan
        other = mine.sibling().partial_fit(X[1000:2000], few)
        before = (mine.predict(X[2000:])[:, 3] == Y[2000:, 3]).mean()
        after = (mine.merge(other).predict(X[2000:])[:, 3] == Y[2000:, 3]).mean()
        kept.append(after - before)
    assert np.mean(kept) > -0.03
