"""Outliers, constant features and constant labels leave answers and state finite."""

import numpy as np
import pytest

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.evaluate import partial_accuracy
from evolabel.model.stream_model import StreamModel
from evolabel.stages.first_tree.arrays import ROWS_ANSWERED
from evolabel.streams import DriftingStream

KINDS = ("quantile", "standard", "minmax", "none")


def run(X, Y, **options):
    """A model after a batch of 100 and the rest as a stream, with the stream's answers."""
    model = StreamModel(X.shape[1], Y.shape[1], Options(max_rules=6, **options).check())
    model.fit(Batch(X[:100], Y[:100]))
    out = np.empty((len(X) - 100, Y.shape[1]))
    model.learn(Batch(X[100:], Y[100:], outputs=out))
    return model, out


def assert_finite(model, out):
    assert np.isfinite(out).all()
    for name, array in model.trained().arrays._asdict().items():
        assert np.isfinite(array).all(), name


@pytest.mark.parametrize("scaling", KINDS)
@pytest.mark.parametrize("from_the_start", [False, True])
def test_outliers_of_a_thousand_sigma(scaling, from_the_start):
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(300)
    rng = np.random.default_rng(0)
    wild = rng.random(X.shape) < 0.03
    wild[: 0 if from_the_start else 100] = False
    X = np.where(wild, np.sign(rng.normal(size=X.shape)) * 1e3 * X.std(axis=0), X)
    model, out = run(X, Y, scaling=scaling)
    assert wild.sum() > 10
    assert_finite(model, out)
    calm = ~wild[100:].any(axis=1)
    truth = Y[100:][calm]
    majority = max(truth.mean(), 1.0 - truth.mean())
    if scaling == "quantile":  # the default shrugs them off
        assert partial_accuracy(truth, out[calm]) > majority + 0.1


@pytest.mark.parametrize("scaling", KINDS)
def test_constant_features_do_not_hide_the_others(scaling):
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(300)
    model, out = run(np.hstack([X, np.full((300, 2), 7.5)]), Y, scaling=scaling)
    assert_finite(model, out)
    assert partial_accuracy(Y[100:], out) > max(Y.mean(), 1.0 - Y.mean()) + 0.15


@pytest.mark.parametrize("scaling", KINDS)
def test_nothing_but_constant_features(scaling):
    _, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(300)
    model, out = run(np.full((300, 3), -2.0), Y, scaling=scaling)
    assert_finite(model, out)
    assert model.trained().n_rules == 1
    np.testing.assert_allclose(out[-1], Y.mean(axis=0), atol=0.02)  # all there is to know is the base rate


@pytest.mark.parametrize("scaling", KINDS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_labels_are_answered_constantly(scaling, value):
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(300)
    Y[:, 1] = value
    model, out = run(X, Y, scaling=scaling)
    assert_finite(model, out)
    np.testing.assert_allclose(out[:, 1], value, atol=0.02)
    all_constant, out = run(X, np.full(Y.shape, value), scaling=scaling)
    assert_finite(all_constant, out)
    np.testing.assert_allclose(out, value, atol=0.02)


def test_a_constant_feature_that_starts_to_vary_is_ignored_by_the_rules():
    """The linear members of drift and last answers, whose scores follow the stream, learn it, and the first tree."""
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(300)
    X[:100, 2] = 5.0
    varied, out = run(X, Y, follow_drift=False, memory=None)
    assert_finite(*run(X, Y))
    X[:, 2] = 5.0
    _, expected = run(X, Y, follow_drift=False, memory=None)
    assert_finite(varied, out)
    assert (out[: ROWS_ANSWERED - 100] != expected[: ROWS_ANSWERED - 100]).any()
    np.testing.assert_array_equal(out[ROWS_ANSWERED - 100 :], expected[ROWS_ANSWERED - 100 :])


def test_unscaled_values_too_large_to_square():
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=3).take(200)
    X[150, 0] = 1e200
    assert_finite(*run(X, Y, scaling="none"))
