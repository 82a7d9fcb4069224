"""Weights of the members are recorded along the stream and drawn with its shifts."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.events import Event
from evolabel.errors import DataError, NotTrainedError, ParameterError
from evolabel.explain import figures
from evolabel.stages.drift.label_drift import LabelDrift
from evolabel.words.figures.canvas import new_axes


class Scripted:
    """A classifier whose weights and events are given."""

    def __init__(self):
        self.drift_, self.events_, self.n_samples_seen_ = {}, [], 0

    def partial_fit(self, X, y):
        self.n_samples_seen_ += len(X)
        share = self.n_samples_seen_ / 100.0
        self.drift_ = {"fan": weights(1.0 - share, share, 0.0), "pump": weights(0.0, 0.0, 1.0)}
        if self.n_samples_seen_ > 20:
            self.drift_["door"] = weights(0.5, 0.0, 0.5)


def weights(slow, fast, linear):
    return LabelDrift(weights={"slow": slow, "fast": fast, "linear": linear})


@pytest.fixture
def trace():
    clf = Scripted()
    clf.events_ = [
        Event(5, "drift", None, None, label="pump"),
        Event(25, "drift", None, None, label="pump"),
        Event(26, "drift", None, None, label="fan"),
        Event(28, "renewed", None, None, rows=20),
        Event(29, "birth", 1, None),
        Event(30, "sensor moved", None, None, feature="heat"),
    ]
    return figures.follow_weights(clf, np.zeros((35, 1)), np.zeros((35, 1)), every=10)


def lines(axes):
    """Places of the vertical lines by their legend."""
    return {c.get_label(): [float(path[0][0]) for path in c.get_segments()] for c in axes.collections}


def test_weights_are_recorded_after_every_piece(trace):
    assert trace.samples == [10, 20, 30, 35]
    np.testing.assert_allclose(trace.weights("fan")[:, 1], [0.1, 0.2, 0.3, 0.35])
    np.testing.assert_allclose(trace.weights()[0], [0.45, 0.05, 0.5])
    np.testing.assert_allclose(trace.weights().sum(axis=1), 1.0)


def test_a_label_that_came_later_has_no_weights_before(trace):
    assert np.isnan(trace.weights("door")[:2]).all()
    np.testing.assert_allclose(trace.weights("door")[2:], [[0.5, 0.0, 0.5]] * 2)


def test_the_lines_are_the_weights(trace):
    axes = figures.member_weights(trace, "fan")
    slow, fast, linear = axes.get_lines()
    np.testing.assert_allclose(slow.get_xdata(), trace.samples)
    np.testing.assert_allclose(
        np.array([slow.get_ydata(), fast.get_ydata(), linear.get_ydata()]).T, trace.weights("fan")
    )
    assert "fan" in axes.get_title(loc="left")


def test_shifts_since_the_first_record_are_vertical_lines(trace):
    assert lines(figures.member_weights(trace)) == {
        "label drifted": [25.0, 26.0],
        "sensor moved, corrected": [30.0],
        "rules renewed": [28.0],
    }
    assert lines(figures.member_weights(trace, "fan"))["label drifted"] == [26.0]


def test_given_axes_are_used(trace):
    axes = new_axes()
    assert figures.member_weights(trace, ax=axes) is axes


def test_a_trained_classifier_is_followed():
    X = np.random.default_rng(0).normal(size=(1300, 2))
    Y = (X > 0.0).astype(float)
    Y[1000:, 1] = 1.0 - Y[1000:, 1]
    clf = EvolvingFuzzyClassifier()
    trace = figures.follow_weights(clf, X, Y, every=50)
    assert clf.n_samples_seen_ == 1300
    np.testing.assert_allclose(trace.weights().sum(axis=1), 1.0)
    assert trace.weights("label0")[0, 1] == 0.0  # there is no fast member yet
    assert "label drifted" in lines(figures.member_weights(trace, "label1"))
    assert "label drifted" not in lines(figures.member_weights(trace, "label0"))


def test_frames_are_followed():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["heat", "load"])
    trace = figures.follow_weights(EvolvingFuzzyClassifier(), X, (X > 0.0).astype(int), every=60)
    assert trace.labels == ["heat", "load"]


def test_what_cannot_be_drawn_is_refused(trace):
    with pytest.raises(DataError, match="no records"):
        figures.member_weights(figures.WeightTrace(EvolvingFuzzyClassifier()))
    with pytest.raises(DataError, match="no label 'window'"):
        figures.member_weights(trace, "window")
    with pytest.raises(NotTrainedError):
        figures.WeightTrace(EvolvingFuzzyClassifier()).record()
    with pytest.raises(ParameterError, match="every=0"):
        figures.follow_weights(EvolvingFuzzyClassifier(), [], [], every=0)
