"""Questions and accuracy on fixed streams stay as they are: a change of either must be on purpose."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.evaluate import partial_accuracy


def ordered_stream():
    """Labels depend on the features and on a slow wave that is no feature."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 5))
    X[1:] += 0.6 * X[:-1]
    wave = np.sin(np.arange(700)[:, None] / np.array([12.0, 20.0, 30.0, 9.0]))
    return X, (X[:, :4] + 1.2 * wave + 0.5 * rng.normal(size=(700, 4)) > 0.3).astype(float)


def shuffled():
    X, Y = ordered_stream()
    order = np.random.default_rng(6).permutation(len(X))
    return X[order], Y[order]


STREAMS = {"ordered": ordered_stream, "shuffled": shuffled}

# Partial accuracy of five windows of 100 samples each, and what was asked in all; the last key is `follow_drift`. If a
# change of the method is meant to move these numbers, put the new ones here and say so in the change log.
TREND: dict[tuple[str, str, bool], tuple[list[float], int]] = {
    ("ordered", "samples", True): ([0.7725, 0.7675, 0.78, 0.7875, 0.8], 50),
    ("ordered", "labels", True): ([0.7775, 0.7425, 0.7975, 0.78, 0.7525], 200),
    ("shuffled", "samples", True): ([0.79, 0.72, 0.7475, 0.7325, 0.7525], 49),
    ("shuffled", "labels", True): ([0.78, 0.73, 0.7375, 0.7325, 0.75], 198),
    ("ordered", "samples", False): ([0.7775, 0.7725, 0.78, 0.785, 0.8025], 50),
    ("ordered", "labels", False): ([0.79, 0.7325, 0.815, 0.7775, 0.7675], 200),
    ("shuffled", "samples", False): ([0.7775, 0.7225, 0.75, 0.7275, 0.755], 49),
    ("shuffled", "labels", False): ([0.7775, 0.7275, 0.7575, 0.75, 0.7375], 198),
}


@pytest.mark.parametrize(("stream", "per", "follow_drift"), TREND)
def test_the_trend_line_is_what_it_was(stream, per, follow_drift):
    X, Y = STREAMS[stream]()
    learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=6, follow_drift=follow_drift), 0.1, per).fit(
        X[:200], Y[:200]
    )
    out = learner.test_then_train(X[200:], Y[200:])
    windows = zip(np.split(Y[200:], 5), np.split(out, 5), strict=True)
    trend, asked = TREND[stream, per, follow_drift]
    assert [partial_accuracy(y, scores) for y, scores in windows] == pytest.approx(trend, abs=0.01)
    assert learner.learner_.bucket.asked == pytest.approx(asked, abs=1)
