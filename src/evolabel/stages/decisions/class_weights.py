"""Decisions in which labels and classes have weights, by calibrated probabilities.

A label is predicted where weight * p >= 1 - p: the expected cost of a miss, which costs the weight, is at least that of
a false alarm, which costs 1. Of classes the one with the largest weight * p is.
"""

import numpy as np

from evolabel.core.rows import Batch, check_outputs
from evolabel.core.schema import new_entries
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.arrays import LABEL_COUNTS, LabelCountArrays
from evolabel.stages.decisions.file_checks import check_counts
from evolabel.typing import Arrays, BoolArray, FloatArray

_HALVINGS = 60  # of an interval of outputs: to the last bit


def decide_weighted(P: FloatArray, weights: FloatArray, *, exclusive: bool) -> BoolArray:
    """Return which labels are on by probabilities `P`, (n, K), and `weights`, (K,) or (n, K); of classes one is."""
    if not exclusive:
        return np.asarray(weights * P >= 1.0 - P)
    return np.asarray((weights * P).argmax(axis=1)[:, None] == np.arange(P.shape[1]))


def weighted_thresholds(weights: FloatArray, calibration: Calibration) -> FloatArray:
    """Return the least output of each label that is on by its weight in `weights` and its map in `calibration`.

    It is found by halving. -inf where all outputs are on, infinity where none is. Classes have no thresholds: 0.5.
    """
    if calibration.exclusive:
        return np.full(len(weights), 0.5)

    def are_on(outputs: FloatArray) -> BoolArray:
        return decide_weighted(calibration.probabilities(outputs), weights, exclusive=False)

    off, on = np.zeros((1, len(weights))), np.ones((1, len(weights)))  # maps are constant below 0 and above 1
    always, never = are_on(off), ~are_on(on)
    for _ in range(_HALVINGS):
        middle = 0.5 * (off + on)
        found = are_on(middle)
        on, off = np.where(found, middle, on), np.where(found, off, middle)
    return np.asarray(np.where(always, -np.inf, np.where(never, np.inf, on))[0])


class BalancedDecisions(LabelCountArrays):
    """Decisions with weights from the shares so far: a label is predicted where p is at least its share.

    That has the best balanced accuracy (mean recall of on and off) if probabilities are right. A class weighs one over
    its share. A label that was always or never on weighs 1.

    Parameters
    ----------
    n_labels : int
    exclusive : bool
        Whether the labels are classes, of which one is true.
    """

    by_sets = False  # each label is decided by itself

    def __init__(self, n_labels: int, *, exclusive: bool) -> None:
        self.n_labels = n_labels
        self.exclusive = exclusive
        vars(self).update(LABEL_COUNTS.new({"label": n_labels}))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which labels are on, (n, K), by the probabilities of `outputs` by `calibration`."""
        weights = self._weights(self.seen, self.on)
        return decide_weighted(calibration.probabilities(outputs), weights, exclusive=self.exclusive)

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the least output of each label that is decided as on by `calibration` (`weighted_thresholds`)."""
        return weighted_thresholds(self._weights(self.seen, self.on), calibration)

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Count the labels of the initial `batch`; `left_out` is not needed."""
        self.update(batch)

    def update(self, batch: Batch) -> None:
        """Count the labels of `batch`; its decisions, if given, receive those before each row.

        Counts are added row by row, so that the bits do not depend on how a stream is cut into batches.
        """
        check_outputs(batch, self.n_labels)
        weights = np.where(np.isnan(batch.Y), 0.0, batch.confidences if len(batch.confidences) else 1.0)
        if len(batch.weights):
            weights = weights * batch.weights[:, None]
        seen = np.add.accumulate(np.vstack([self.seen, weights]))
        on = np.add.accumulate(np.vstack([self.on, weights * np.nan_to_num(batch.Y)]))
        if len(batch.decisions):
            before = self._weights(seen[:-1], on[:-1])
            batch.decisions[:] = decide_weighted(batch.probabilities, before, exclusive=self.exclusive)
        self.seen, self.on = seen[-1].copy(), on[-1].copy()

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels` without samples; samples so far are known not to be of a new class."""
        rows = self.seen.max(initial=0.0)
        vars(self).update(LABEL_COUNTS.moved(self, {"label": new_entries(self.n_labels, n_labels)}))
        if self.exclusive:
            self.seen[self.n_labels :] = rows
        self.n_labels = n_labels

    def add(self, other: "BalancedDecisions", columns: list[int]) -> None:
        """Add the counts of `other`, of a model trained apart; `columns` has the places of its labels among these."""
        own = np.zeros(self.n_labels) if not self.exclusive else np.full(self.n_labels, other.seen.max(initial=0.0))
        own[columns] = other.seen
        self.seen += own
        self.on[columns] += other.on

    def arrays(self) -> Arrays:
        """Return the counts."""
        return LABEL_COUNTS.arrays_of(self)

    def restore(self, arrays: Arrays) -> None:
        """Set the counts to copies of `arrays`; DataError if they do not fit."""
        vars(self).update(LABEL_COUNTS.copies(check_counts(arrays, LABEL_COUNTS.expected({"label": self.n_labels}))))

    def _weights(self, seen: FloatArray, on: FloatArray) -> FloatArray:
        """The weights after `seen` and `on`, (K,) or (n, K); 1 for a label that was always or never on."""
        both = (on > 0.0) & (on < seen)
        return np.divide(seen if self.exclusive else seen - on, on, out=np.ones(on.shape), where=both)
