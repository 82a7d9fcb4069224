"""A fixed stream must go on being learned as well as it is today: catches what changes answers silently."""

import numpy as np
import pytest

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.evaluate import partial_accuracy
from evolabel.model.stream_model import StreamModel
from evolabel.streams import DriftingStream

# Partial accuracy of five windows of 200 samples each, the warm-up in the first, by `follow_drift` and `local_ridge`.
# If a change of the method is meant to move these numbers, put the new ones here and say so in the change log.
TREND: dict[tuple[bool, float | str], list[float]] = {
    (True, "loo"): [0.735, 0.8125, 0.86625, 0.82, 0.8125],
    (False, "loo"): [0.76375, 0.8125, 0.86625, 0.82, 0.81125],
    (False, 0.2): [0.6975, 0.7725, 0.84, 0.79, 0.805],
}


# The same with threshold rules, on a conjunction that changes after 1,200 samples, and on a product of signs.
THRESHOLDS = [0.90375, 0.9975, 1.0, 0.95, 1.0]


@pytest.mark.parametrize(("follow_drift", "local_ridge"), TREND)
def test_the_trend_line_is_what_it_was(follow_drift, local_ridge):
    X, Y = DriftingStream(n_features=6, n_labels=4, drift_every=250, seed=11).take(1000)
    options = Options(max_rules=10, local_ridge=local_ridge, follow_drift=follow_drift, threshold_rules=False)
    model, out = StreamModel(6, 4, options), np.empty(Y.shape)
    model.learn(Batch(X, Y, outputs=out))
    windows = zip(np.split(Y, 5), np.split(out, 5), strict=True)
    expected = TREND[follow_drift, local_ridge]
    assert [partial_accuracy(y, scores) for y, scores in windows] == pytest.approx(expected, abs=0.005)
    assert model.trained().n_rules == 10
    assert len(model.trained().events) == 14


def test_the_trend_line_of_threshold_rules_is_what_it_was():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(2000, 6))
    Y = np.column_stack([(X[:, 0] < 0.3) & (X[:, 1] > -0.2), X[:, 2] * X[:, 3] > 0.0]).astype(float)
    Y[1200:, 0] = (X[1200:, 0] < 0.3) & (X[1200:, 1] < 0.5)
    model, out = StreamModel(6, 2, Options(max_rules=10)), np.empty(Y.shape)
    model.learn(Batch(X, Y, outputs=out))
    windows = zip(np.split(Y, 5), np.split(out, 5), strict=True)
    assert [partial_accuracy(y, scores) for y, scores in windows] == pytest.approx(THRESHOLDS, abs=0.005)
