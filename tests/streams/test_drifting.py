"""The synthetic stream: the same for the same seed, as it always was, and clear about wrong parameters."""

from itertools import islice

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import ParameterError
from evolabel.streams.synthetic.drifting import DriftingStream
from evolabel.streams.synthetic.drifts import DRIFT_KINDS

ALL_KINDS = ("none", *DRIFT_KINDS)


def naive_twin(samples, n_features, n_labels, n_regions, drift_every, noise, seed):
    """Abrupt drift in one plain loop: numbers all over the test suite rest on these bits."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(n_regions, n_features))
    causes = rng.normal(size=(n_regions, n_features + 1, 2))
    mixing = rng.normal(size=(2, n_labels))
    X, Y = np.empty((samples, n_features)), np.empty((samples, n_labels))
    for sample in range(samples):
        if drift_every and sample and sample % drift_every == 0:
            moved = rng.integers(n_regions)
            centres[moved] = rng.normal(scale=2.0, size=n_features)
            causes[moved] = rng.normal(size=(n_features + 1, 2))
        region = rng.integers(n_regions)
        local = rng.normal(size=n_features)
        on = (np.append(local, 1.0) @ causes[region]) @ mixing > 0.0
        X[sample] = centres[region] + local
        Y[sample] = on ^ (rng.random(n_labels) < noise)
    return X, Y


def same(one, other):
    """Two pairs (X, Y) are equal, bit for bit; NaN equals NaN."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def disturbed(**parameters):
    """A small stream in which everything happens."""
    return DriftingStream(
        n_features=3, n_labels=4, drift_every=20, outliers=0.1, missing_features=0.2, missing_labels=0.2, **parameters
    )


@settings(max_examples=examples(60), deadline=None)
@given(
    n_features=st.integers(1, 9),
    n_labels=st.integers(1, 6),
    n_regions=st.integers(1, 5),
    drift_every=st.integers(0, 40),
    noise=st.floats(0, 1),
    seed=st.integers(0, 2**40),
)
def test_the_default_stream_is_bit_for_bit_the_one_it_always_was(**parameters):
    X, Y = DriftingStream(**parameters).take(90)
    expected_X, expected_Y = naive_twin(90, **parameters)
    assert X.tobytes() == expected_X.tobytes()
    assert Y.tobytes() == expected_Y.tobytes()


def test_defaults_did_not_change():
    expected = naive_twin(1100, n_features=8, n_labels=5, n_regions=4, drift_every=1000, noise=0.02, seed=0)
    assert same(DriftingStream().take(1100), expected)


@pytest.mark.parametrize("drift", ALL_KINDS)
def test_a_short_take_is_the_start_of_a_long_one(drift):
    X, Y = disturbed(drift=drift).take(130)
    for samples in (0, 1, 20, 21, 75):
        assert same(disturbed(drift=drift).take(samples), (X[:samples], Y[:samples]))


@pytest.mark.parametrize("drift", ALL_KINDS)
def test_iterating_brings_what_take_brings_each_time_anew(drift):
    stream = disturbed(drift=drift)
    X, Y = stream.take(50)
    rows = list(islice(stream, 50))
    assert same((np.array([x for x, _ in rows]), np.array([y for _, y in rows])), (X, Y))
    assert same(stream.take(50), (X, Y))


@pytest.mark.parametrize("drift", ALL_KINDS)
def test_another_seed_is_another_stream(drift):
    assert not np.isin(disturbed(drift=drift, seed=1).take(50)[0], disturbed(drift=drift, seed=2).take(50)[0]).any()


@pytest.mark.parametrize("drift", DRIFT_KINDS)
def test_all_kinds_share_the_samples_before_the_first_drift(drift):
    X, Y = DriftingStream(drift=drift, drift_every=40, seed=5).take(80)
    still_X, still_Y = DriftingStream(drift="none", seed=5).take(80)
    np.testing.assert_array_equal(X[:40], still_X[:40])
    born = ~np.isnan(Y[:40])
    np.testing.assert_array_equal(Y[:40][born], still_Y[:40][born])
    assert not same((X, Y), (still_X, still_Y))


@pytest.mark.parametrize("drift", DRIFT_KINDS)
def test_no_drift_points_no_drift(drift):
    stream = DriftingStream(drift=drift, drift_every=0, seed=5)
    assert same(stream.take(60), DriftingStream(drift="none", seed=5).take(60))
    assert stream.drift_points(60) == []


def test_a_data_set_holds_what_take_brings():
    stream = disturbed(drift="gradual")
    data = stream.dataset(60)
    assert same((data.X, data.Y), stream.take(60))
    assert data.name == "drifting-gradual"
    assert stream.dataset(60, name="mine").name == "mine"


def test_numpy_numbers_are_numbers():
    stream = DriftingStream(n_features=np.int64(3), seed=np.uint32(7), noise=np.float32(0.5))
    assert same(stream.take(np.int16(5)), DriftingStream(n_features=3, seed=7, noise=0.5).take(5))


def test_whole_numbers_may_be_floats():
    parameters = {"drift": "gradual", "drift_every": 10, "seed": 1}
    stream, twin = DriftingStream(drift_width=3.0, **parameters), DriftingStream(drift_width=3, **parameters)
    assert same(stream.take(25.0), twin.take(25))
    assert stream.drift_points(25.0) == [10, 20]
    np.testing.assert_array_equal(stream.concept_at(24.0).centres, twin.concept_at(24).centres)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 0}, r"n_features=0 is not allowed; use a whole number >= 1"),
        ({"n_labels": 2.5}, r"n_labels=2\.5 is not allowed; use a whole number >= 1"),
        ({"n_regions": True}, r"n_regions=True is not allowed"),
        ({"drift_every": -1}, r"drift_every=-1 is not allowed; use a whole number >= 0"),
        ({"seed": None}, r"seed=None is not allowed; use a whole number >= 0"),
        ({"noise": 1.1}, r"noise=1\.1 is not allowed; use a number >= 0 and <= 1"),
        ({"outliers": -0.1}, r"outliers=-0\.1 is not allowed"),
        ({"missing_features": float("nan")}, r"missing_features=nan is not allowed"),
        ({"missing_labels": "some"}, r"missing_labels='some' is not allowed"),
        ({"drift": "sudden"}, r"drift='sudden' is unknown; use one of abrupt, gradual, .*, new_label, none"),
        ({"drift_every": 10, "drift_width": 11}, r"drift_width=11 is not allowed; use a whole number >= 1 and <= 10"),
        ({"drift_width": 0}, r"drift_width=0 is not allowed; use a whole number >= 1 and <= 1000"),
        ({"drift": "new_label", "n_labels": 1}, r"n_labels=1 leaves no label to appear later; use at least 2"),
    ],
)
def test_a_wrong_parameter_is_reported_at_once(parameters, message):
    with pytest.raises(ParameterError, match=message):
        DriftingStream(**parameters)


@pytest.mark.parametrize("question", ["take", "dataset", "drift_points", "concept_at"])
def test_a_wrong_number_of_samples_is_reported(question):
    with pytest.raises(ParameterError, match=r"=-1 is not allowed; use a whole number >= 0"):
        getattr(DriftingStream(), question)(-1)
