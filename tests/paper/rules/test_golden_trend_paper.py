"""A fixed stream must go on being learned by the paper's profile as well as it is today."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import partial_accuracy
from evolabel.streams import DriftingStream

# Partial accuracy of five windows of 200 samples each, the warm-up in the first. If a change of the method is meant
# to move these numbers, put the new ones here and say so in the change log.
TREND = [0.68625, 0.75875, 0.815, 0.735, 0.73]


@pytest.mark.compiled
def test_the_trend_line_of_the_paper_profile_is_what_it_was():
    X, Y = DriftingStream(n_features=6, n_labels=4, drift_every=250, seed=11).take(1000)
    clf = EvolvingFuzzyClassifier.paper(max_rules=10)
    out = clf.test_then_train(X, Y)
    windows = zip(np.split(Y, 5), np.split(out, 5), strict=True)
    assert [partial_accuracy(y, scores) for y, scores in windows] == pytest.approx(TREND, abs=0.005)
    assert clf.n_rules_ <= 10
