"""The drifting streams of the benchmarks: twins share their rows before the drift, and scores are what they say."""

import numpy as np
import pytest
from drift_streams import (
    HALF,
    MORE,
    NINE,
    PLAIN,
    ROWS,
    SCORED_FROM,
    SENSORS,
    Stream,
    make_stream,
    tail_label,
    with_pairs_swapped,
)


def test_names_are_unique():
    names = [*NINE, *PLAIN, *MORE, *SENSORS]
    assert len(set(names)) == len(names)
    assert len(NINE) == len(PLAIN) == 9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sea", "sine", "led"])
def test_twins_are_the_same_until_the_drift(name):
    drifting, plain = make_stream(name, 3), make_stream(f"{name}-plain", 3)
    assert drifting.drifts == (HALF,)
    assert plain.drifts == ()
    np.testing.assert_array_equal(drifting.X[:HALF], plain.X[:HALF])
    np.testing.assert_array_equal(drifting.Y[:HALF], plain.Y[:HALF])
    assert not np.array_equal(drifting.Y[HALF:], plain.Y[HALF:])


@pytest.mark.slow
def test_a_gradual_drift_mixes_both_concepts_around_half():
    gradual, abrupt = make_stream("sine-gradual", 3), make_stream("sine", 3)
    same = (gradual.X == abrupt.X).all(axis=1)
    assert same[:3000].mean() > 0.99
    assert same[-3000:].mean() > 0.99
    assert 0.4 < same[HALF - 200 : HALF + 200].mean() < 0.8


def test_a_flipped_label_and_moved_sensors():
    flip, shift, creep = make_stream("flip", 5), make_stream("shift1", 5), make_stream("creep", 5)
    np.testing.assert_array_equal(flip.Y[:, 1:], shift.Y[:, 1:])
    np.testing.assert_array_equal(flip.Y[HALF:, 0], 1.0 - shift.Y[HALF:, 0])
    moved = (shift.X - flip.X) / flip.X.std(axis=0)
    np.testing.assert_allclose(moved[HALF:, 0], 5.0)
    np.testing.assert_allclose(moved[:HALF], 0.0)
    assert creep.drifts == ()
    assert np.abs(creep.X[-1] - flip.X[-1])[:4].min() > 0.0


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_rare_label_moves_to_the_other_tail(share):
    moving, still = (tail_label(share, 4, moves=moves) for moves in (True, False))
    np.testing.assert_array_equal(moving.X, still.X)
    np.testing.assert_array_equal(moving.Y[:HALF], still.Y[:HALF])
    np.testing.assert_array_equal(moving.Y[:, 1:], still.Y[:, 1:])
    assert not (moving.Y[HALF:, 0] * still.Y[HALF:, 0]).any()
    assert moving.Y[HALF:, 0].mean() == pytest.approx(share, abs=0.01)
    assert still.Y[:, 0].mean() == pytest.approx(share, abs=1e-3)
    assert (moving.drifts, still.drifts) == ((HALF,), ())


def test_the_most_frequent_labels_of_at_most_half_of_the_rows_are_swapped():
    shares = np.array([0.1, 0.9, 0.4, 0.3, 0.2, 0.45])
    Y = np.asarray(np.random.default_rng(0).random((4001, 6)) < shares, np.float64)
    swapped = with_pairs_swapped(Y)
    np.testing.assert_array_equal(swapped[:2000], Y[:2000])
    np.testing.assert_array_equal(swapped[2000:], Y[2000:][:, [0, 1, 5, 4, 3, 2]])


@pytest.mark.parametrize("name", ["ds-plain", "ds-rescale", "travel", "stagger"])
def test_streams_have_their_length_and_labels(name):
    stream = make_stream(name, 2)
    assert len(stream.X) == len(stream.Y) == ROWS
    assert set(np.unique(stream.Y)) == {0.0, 1.0}
    assert np.isfinite(stream.X).all()
    assert stream.one_label == (stream.Y.sum(axis=1) == 1.0).all()


def test_scores_count_rows_from_the_first_on_that_counts():
    Y = np.tile([1.0, 0.0], (3000, 1))
    outputs = Y.copy()
    outputs[:SCORED_FROM] = 1.0 - outputs[:SCORED_FROM]  # not scored
    outputs[2000:2500] = [0.0, 0.4]  # classes: wrong; labels: half of them right
    of_classes, of_labels = (Stream(Y, Y, (2000,), one_label=one).score(outputs) for one in (True, False))
    assert of_classes == pytest.approx((1.0 - 500 / 2500, 0.5))
    assert of_labels == pytest.approx((1.0 - 250 / 2500, 0.75))
    assert np.isnan(Stream(Y, Y, (), one_label=True).score(outputs)[1])
