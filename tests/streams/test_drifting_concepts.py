"""The rules of a synthetic stream are known, and each kind of drift changes them where it says and how it says."""

from itertools import islice

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.streams.synthetic.drifting import DriftingStream
from evolabel.streams.synthetic.drifts import DRIFT_KINDS

EVERY = 30


def make(drift, **parameters):
    return DriftingStream(**{"drift": drift, "drift_every": EVERY, "n_features": 4, "noise": 0.0, **parameters})


def concepts(stream, samples):
    return [sample.concept for sample in islice(stream.samples(), samples)]


def labels_by_rule(concept, region, x):
    """What the known rules say about a sample, by the linear rule of each label."""
    weights = concept.causes[region] @ concept.mixing
    on = (x - concept.centres[region]) @ weights[:-1] + weights[-1] > 0.0
    return np.where(np.arange(len(on)) < concept.n_known, on, np.nan)


def changed_regions(old, new):
    moved = (old.centres != new.centres).any(axis=1)
    np.testing.assert_array_equal(moved, (old.causes != new.causes).any(axis=(1, 2)))
    np.testing.assert_array_equal(old.mixing, new.mixing)
    return np.flatnonzero(moved).tolist()


def same_rules(one, other):
    return changed_regions(one, other) == [] and one.n_known == other.n_known


@pytest.mark.parametrize("drift", ["none", *DRIFT_KINDS])
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_follow_the_known_rules_at_every_sample(drift, seed):
    stream = make(drift, seed=seed)
    X, Y = stream.take(8 * EVERY)
    for x, y, sample in zip(X, Y, stream.samples(), strict=False):
        np.testing.assert_array_equal(y, labels_by_rule(sample.concept, sample.region, x))
        np.testing.assert_array_equal(y, sample.truth)


@pytest.mark.parametrize("drift", ["none", *DRIFT_KINDS])
def test_noise_flips_its_share_of_labels_and_nothing_else(drift):
    noisy, clean = make(drift, noise=0.1, drift_every=150), make(drift, drift_every=150)
    (X, Y), (clean_X, clean_Y) = noisy.take(1500), clean.take(1500)
    np.testing.assert_array_equal(X, clean_X)
    np.testing.assert_array_equal(np.isnan(Y), np.isnan(clean_Y))
    known = ~np.isnan(Y)
    assert abs(np.mean(Y[known] != clean_Y[known]) - 0.1) < 0.01
    np.testing.assert_array_equal([s.truth for s in islice(noisy.samples(), 1500)], clean_Y)


@pytest.mark.parametrize("drift", ["none", *DRIFT_KINDS])
def test_the_concept_at_a_sample_is_the_one_it_was_drawn_from(drift):
    stream = make(drift)
    drawn = concepts(stream, 4 * EVERY)
    assert all(same_rules(stream.concept_at(n), drawn[n]) for n in range(0, 4 * EVERY, 7))


@pytest.mark.parametrize("drift", ["none", "abrupt", "recurring", "new_label"])
@pytest.mark.parametrize("samples", [1, EVERY, EVERY + 1, 7 * EVERY])
def test_concepts_change_at_the_drift_points_and_nowhere_else(drift, samples):
    stream = make(drift, seed=2)
    drawn = concepts(stream, samples)
    changes = [n for n in range(1, samples) if not same_rules(drawn[n - 1], drawn[n])]
    assert changes == stream.drift_points(samples)


def test_abrupt_drift_moves_one_region_and_invalidates_its_old_rules():
    stream = make("abrupt", drift_every=500, seed=3)
    old = stream.concept_at(499)
    after = list(islice(stream.samples(), 500, 1000))
    (moved,) = changed_regions(old, after[0].concept)
    disagree = {True: [], False: []}
    for sample in after:
        by_old_rules = labels_by_rule(old, sample.region, sample.x)
        disagree[sample.region == moved].append(np.mean(by_old_rules != sample.y))
    assert np.mean(disagree[True]) > 0.2
    assert np.max(disagree[False]) == 0.0


@pytest.mark.parametrize("width", [None, 1, 10, EVERY])
def test_gradual_drift_takes_samples_from_both_concepts_and_then_from_the_new_one(width):
    stream = make("gradual", drift_width=width, seed=4)
    drawn, mixing = concepts(stream, 6 * EVERY), width or EVERY // 2
    assert stream.drift_points(6 * EVERY) == [EVERY, 2 * EVERY, 3 * EVERY, 4 * EVERY, 5 * EVERY]
    assert all(concept is drawn[0] for concept in drawn[:EVERY])
    old = drawn[0]
    for point in stream.drift_points(5 * EVERY):
        new = next(concept for concept in drawn[point:] if concept is not old)
        assert len(changed_regions(old, new)) == 1
        assert {id(concept) for concept in drawn[point : point + mixing]} <= {id(old), id(new)}
        assert all(concept is new for concept in drawn[point + mixing : point + EVERY])
        old = new


@pytest.mark.parametrize("every", [1, 7, 30])
def test_gradual_drift_takes_half_of_the_time_by_default(every):
    by_default, reported = (make("gradual", drift_every=every, drift_width=width) for width in (None, (every + 1) // 2))
    for one, other in zip(by_default.take(5 * every), reported.take(5 * every), strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradual_drift_brings_the_new_concept_more_and_more_often():
    drawn = concepts(make("gradual", drift_every=2000, drift_width=2000, seed=5), 4000)
    is_new = np.array([concept is not drawn[0] for concept in drawn[2000:]])
    shares = is_new.reshape(4, 500).mean(axis=1)
    np.testing.assert_allclose(shares, [0.125, 0.375, 0.625, 0.875], atol=0.06)


def test_incremental_drift_moves_one_region_by_equal_steps_and_arrives():
    drawn = concepts(make("incremental", seed=6), 5 * EVERY)
    assert all(concept is drawn[0] for concept in drawn[:EVERY])
    for point in range(EVERY, 5 * EVERY, EVERY):
        old, new = drawn[point - 1], drawn[point + EVERY - 1]
        (moved,) = changed_regions(old, new)
        for step, concept in enumerate(drawn[point : point + EVERY], 1):
            assert changed_regions(old, concept) == [moved]
            for name in ("centres", "causes"):
                start, end = getattr(old, name), getattr(new, name)
                np.testing.assert_allclose(getattr(concept, name), start + (end - start) * (step / EVERY), atol=1e-12)


def test_recurring_concepts_return_after_three():
    stream = make("recurring", seed=7)
    drawn = concepts(stream, 9 * EVERY)
    first, second, third = drawn[0], drawn[EVERY], drawn[2 * EVERY]
    for one, other in ((first, second), (second, third), (third, first)):
        assert not same_rules(one, other)
    assert all(later is earlier for earlier, later in zip(drawn, drawn[3 * EVERY :], strict=False))
    assert same_rules(stream.concept_at(EVERY), stream.concept_at(4 * EVERY))


@pytest.mark.parametrize("n_labels", [2, 3, 6])
def test_new_labels_are_unknown_until_their_birth_and_known_ever_after(n_labels):
    stream = make("new_label", n_labels=n_labels, noise=0.1, seed=8)
    X, Y = stream.take(6 * EVERY)
    at_start, births = (n_labels + 1) // 2, stream.drift_points(6 * EVERY)
    assert births == [EVERY * (n + 1) for n in range(n_labels - at_start)]
    for label, birth in enumerate([0] * at_start + births):
        assert np.isnan(Y[:birth, label]).all()
        assert not np.isnan(Y[birth:, label]).any()
        assert stream.concept_at(birth).n_known > label
    still_X, still_Y = make("none", n_labels=n_labels, noise=0.1, seed=8).take(6 * EVERY)
    np.testing.assert_array_equal(X, still_X)
    np.testing.assert_array_equal(np.where(np.isnan(Y), still_Y, Y), still_Y)


@settings(max_examples=examples(25), deadline=None)
@given(n_labels=st.integers(1, 7), n_regions=st.integers(1, 4), seed=st.integers(0, 10_000))
def test_labels_are_correlated_few_label_sets_ever_occur(n_labels, n_regions, seed):
    _, Y = make("abrupt", n_labels=n_labels, n_regions=n_regions, seed=seed).take(200)
    assert len(np.unique(Y, axis=0)) <= 2 * n_labels


def test_labels_are_correlated_inside_a_region():
    _, Y = DriftingStream(drift="none", n_regions=1, n_labels=6, seed=9).take(2000)
    correlation = np.abs(np.corrcoef(Y.T)[np.triu_indices(6, 1)])
    assert np.median(correlation) > 0.3
    mixed_up = np.array([np.random.default_rng(label).permutation(Y[:, label]) for label in range(6)])
    assert np.abs(np.corrcoef(mixed_up)[np.triu_indices(6, 1)]).max() < 0.1
