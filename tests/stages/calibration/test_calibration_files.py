"""Stored calibrations: crafted values are refused, and the first calibration comes from rows that were left out."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.errors import DataError, InternalError
from evolabel.model.start import batch_phase
from evolabel.stages.calibration.stage import Calibration
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=5, n_labels=3, n_regions=3, drift="none", seed=2).take(400)
CLASSES = Y.argmax(axis=1)


def learned(exclusive):
    clf = EvolvingFuzzyClassifier().fit(X[:200], CLASSES[:200] if exclusive else Y[:200])
    clf.partial_fit(X[200:], CLASSES[200:] if exclusive else Y[200:])
    return clf.inner.any_model.calibration


def crafted(exclusive, name, change):
    arrays = {key: array.copy() for key, array in learned(exclusive).arrays._asdict().items()}
    Calibration(3, exclusive=exclusive).restore(arrays)
    changed = change(arrays[name])
    arrays[name] = arrays[name] if changed is None else changed
    return arrays


def put(place, value):
    def change(array):
        array[place] = value

    return change


CRAFTED = [
    (False, "theta", put(0, -1.0)),
    (False, "theta", put(1, np.nan)),
    (False, "theta", put(2, 1e9)),
    (False, "theta", lambda a: a[:2]),
    (False, "A", put((0, 0), 0.5)),
    (False, "A", put((0, 1), 1e9)),
    (False, "A", lambda a: a.astype(np.float32)),
    (False, "delta", put((1, 0), np.inf)),
    (False, "delta", lambda a: a[:1]),
    (False, "D", put((2, 1, 1), 0.0)),
    (False, "D", put((0, 0, 2), 1e9)),
    (False, "D", lambda a: -a),
    (False, "counts", put((0, 3), -1.0)),
    (False, "counts", put((0, 3), 1e3)),
    (False, "counts", lambda a: a[:, :50]),
    (False, "n", put(0, 0.0)),
    (False, "n", put(0, np.nan)),
    (False, "alpha", put((0, 0), 2.0)),
    (False, "alpha", put((0, 8), -1.0)),
    (True, "theta", put(0, 0.1)),
    (True, "theta", put(0, 1e6)),
    (True, "A", put((0, 0), 0.0)),
    (True, "delta", lambda a: np.zeros((3, 1))),
    (True, "n", put(0, 1e6)),
]


@pytest.mark.parametrize(("exclusive", "name", "change"), CRAFTED)
def test_crafted_arrays_are_refused(exclusive, name, change):
    with pytest.raises(DataError, match=name):
        Calibration(3, exclusive=exclusive).restore(crafted(exclusive, name, change))


def test_arrays_of_other_widths_do_not_reach_a_kernel():
    calibration = Calibration(3)
    rows = np.zeros((4, 3))
    with pytest.raises(InternalError):
        calibration.probabilities(np.zeros((4, 2)))
    for batch in (
        Batch(rows, rows, outputs=rows[:2]),
        Batch(rows, rows, np.ones(3), outputs=rows),
        Batch(rows, rows, confidences=np.ones((4, 2)), outputs=rows),
        Batch(rows, rows, outputs=rows, set_limits=np.ones((4, 3))),
        Batch(rows, rows, outputs=rows, probabilities=np.ones((4, 2))),
    ):
        with pytest.raises(InternalError):
            calibration.learn(batch)


def test_a_label_of_the_rules_starts_from_leave_one_out(monkeypatch):
    seen = {}
    start = batch_phase.start_calibration

    def watched(model, batch, left_out):
        seen.update(model=model, batch=batch, left_out=left_out)
        return start(model, batch, left_out)

    monkeypatch.setattr("evolabel.model.start.batch_phase.start_calibration", watched)
    EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False).fit(X, Y)
    expected = Calibration(3)
    expected.learn(Batch(X, Y, outputs=seen["left_out"].outputs), adapts=False)
    assert all(map(np.array_equal, expected.arrays, seen["model"].calibration.arrays))

    EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False, local_ridge=0.1).fit(X, Y)
    assert seen["left_out"] is None
    later, expected = Y.copy(), Calibration(3)
    later[:200] = np.nan
    expected.learn(Batch(X, later, outputs=seen["batch"].outputs), adapts=False)
    assert all(map(np.array_equal, expected.arrays, seen["model"].calibration.arrays))


@pytest.mark.parametrize("thresholds", [False, True])
def test_an_error_leaves_the_calibration_of_the_rows_that_were_learned(thresholds):
    whole, broken = (EvolvingFuzzyClassifier(threshold_rules=thresholds).fit(X[:200], Y[:200]) for _ in range(2))
    rules = broken.inner.any_model.rules
    learn = rules.learn_raw

    def stop_after_seven(batch, scaler):
        learn(batch.rows(slice(0, 7)), scaler)
        raise KeyboardInterrupt

    rules.learn_raw = stop_after_seven
    with pytest.raises(KeyboardInterrupt):
        broken.partial_fit(X[200:], Y[200:])
    del rules.learn_raw
    whole.partial_fit(X[200:207], Y[200:207])
    found, expected = (each.inner.any_model.calibration.arrays for each in (broken, whole))
    np.testing.assert_array_equal(found.n, expected.n)
    np.testing.assert_array_equal(broken.inner.any_model.n_answers, whole.inner.any_model.n_answers)
    if not thresholds:
        assert all(map(np.array_equal, found, expected))


def test_huge_weights_that_are_refused_leave_the_calibration_as_it_was():
    clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
    before = [array.copy() for array in clf.inner.any_model.calibration.arrays]
    with pytest.raises(DataError):
        clf.partial_fit(X[200:210], Y[200:210], sample_weight=np.full(10, 1e300))
    assert all(map(np.array_equal, clf.inner.any_model.calibration.arrays, before))
