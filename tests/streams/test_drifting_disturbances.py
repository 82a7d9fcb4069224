"""Outliers and gaps come in the share asked for, and spoil only what they hit."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.streams.synthetic.drifting import OUTLIER_DISTANCE, DriftingStream
from evolabel.streams.synthetic.drifts import DRIFT_KINDS

OFF = {"outliers": 0.0, "missing_features": 0.0, "missing_labels": 0.0}


def take(samples=300, **parameters):
    return DriftingStream(**{"n_features": 4, "n_labels": 3, "drift_every": 50, "seed": 1, **parameters}).take(samples)


def outliers_in(X, clean_X):
    """Which rows were thrown far off, by the values that are left."""
    return np.nanmax(np.abs(X - clean_X), axis=1) > OUTLIER_DISTANCE / 2


@settings(max_examples=examples(40), deadline=None)
@given(
    outliers=st.floats(0, 1),
    missing_features=st.floats(0, 1),
    missing_labels=st.floats(0, 1),
    drift=st.sampled_from(["none", *DRIFT_KINDS]),
    seed=st.integers(0, 1000),
)
def test_what_is_not_hit_stays_bit_for_bit(drift, seed, **shares):
    X, Y = take(80, drift=drift, seed=seed, **shares)
    clean_X, clean_Y = take(80, drift=drift, seed=seed)
    thrown, left = outliers_in(X, clean_X), ~np.isnan(X)
    untouched = left & ~thrown[:, None]
    np.testing.assert_array_equal(X[untouched], clean_X[untouched])
    far = left & thrown[:, None]
    np.testing.assert_allclose(np.abs(X - clean_X)[far], OUTLIER_DISTANCE)
    np.testing.assert_array_equal(Y[~np.isnan(Y)], clean_Y[~np.isnan(Y)])
    assert left.any(axis=1).all()


@settings(max_examples=examples(25), deadline=None)
@given(outliers=st.floats(0, 1), missing_features=st.floats(0, 1), missing_labels=st.floats(0, 1))
def test_disturbances_do_not_know_of_each_other(**shares):
    clean_X, _ = take(60)
    X, Y = take(60, **shares)
    alone = {name: take(60, **(OFF | {name: share})) for name, share in shares.items()}
    np.testing.assert_array_equal(outliers_in(X, clean_X), outliers_in(alone["outliers"][0], clean_X))
    np.testing.assert_array_equal(np.isnan(X), np.isnan(alone["missing_features"][0]))
    np.testing.assert_array_equal(Y, alone["missing_labels"][1])


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_shares_are_what_was_asked_for(share):
    X, Y = take(4000, outliers=share, missing_features=share, missing_labels=share)
    clean_X, _ = take(4000)
    assert np.mean(outliers_in(X, clean_X)) == pytest.approx(share, abs=0.02)
    assert np.mean(np.isnan(X)) == pytest.approx(share, abs=0.02)
    assert np.mean(np.isnan(Y)) == pytest.approx(share, abs=0.02)


def test_another_seed_spoils_other_samples():
    (X, Y), (other_X, other_Y) = (take(seed=seed, missing_features=0.5, missing_labels=0.5) for seed in (1, 2))
    assert np.mean(np.isnan(X) == np.isnan(other_X)) == pytest.approx(0.5, abs=0.1)
    assert np.mean(np.isnan(Y) == np.isnan(other_Y)) == pytest.approx(0.5, abs=0.1)


def test_outliers_are_thrown_both_ways_in_every_feature():
    thrown = np.sign(take(outliers=1.0)[0] - take()[0])
    assert np.abs(thrown.mean(axis=0)).max() < 0.2
    assert len(np.unique(thrown, axis=0)) == 2**4


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_a_sample_keeps_one_value_even_if_all_are_to_be_lost(n_features):
    X, Y = take(n_features=n_features, missing_features=1.0, missing_labels=1.0)
    np.testing.assert_array_equal((~np.isnan(X)).sum(axis=1), np.ones(len(X)))
    assert (~np.isnan(X)).any(axis=0).all()
    assert np.isnan(Y).all()
