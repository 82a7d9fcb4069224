"""`DriftWatch`: the rows of a run at which the loss of a learner has jumped, label by label."""

import numpy as np

from evolabel.stages.drift.alarm import DriftAlarm
from evolabel.typing import FloatArray


class DriftWatch:
    """Watches the squared errors of the scores of one learner, cut to [0, 1], by a `DriftAlarm`.

    Parameters
    ----------
    n_labels : int
        Number of labels.

    Attributes
    ----------
    drifts : list of list of int
        For each label, the rows at which its alarm was raised, counted from 1.

    Examples
    --------
    >>> watch = DriftWatch(n_labels=2)
    >>> Y = np.random.default_rng(0).integers(2, size=(900, 2)).astype(float)
    >>> scores = np.abs(Y - [0.1, 0.2])
    >>> scores[600:, 1] = 1.0 - scores[600:, 1]
    >>> watch.update(Y, scores)
    >>> watch.drifts
    [[], [608]]
    """

    def __init__(self, n_labels: int) -> None:
        self.drifts: list[list[int]] = [[] for _ in range(n_labels)]
        self._alarm = DriftAlarm(n_labels)

    def update(self, Y: FloatArray, scores: FloatArray) -> None:
        """Watch the next rows, with true labels `Y`, NaN where not known, and `scores`; both are (n, n_labels)."""
        losses = (np.clip(scores, 0.0, 1.0) - Y) ** 2
        for row_losses, y in zip(losses, Y, strict=True):
            self._alarm.update(row_losses, y)
            for label in self._alarm.drifted:
                self.drifts[label].append(self._alarm.n_rows)
