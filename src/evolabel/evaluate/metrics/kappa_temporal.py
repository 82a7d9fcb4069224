"""`KappaTemporal`: accuracy beside that of predicting no change, for streams whose labels persist."""

from collections.abc import Sequence

import numpy as np

from evolabel.evaluate.metrics.base import ratio_statistics
from evolabel.evaluate.metrics.label_sets import DEFAULT_THRESHOLD, LabelSetMetric
from evolabel.evaluate.metrics.scored_labels import ScoredLabels
from evolabel.typing import FloatArray


class KappaTemporal(LabelSetMetric):
    """Share of the errors of predicting no change that are avoided: (accuracy - no change) / (1 - no change).

    1 is perfect, 0 is as good as repeating the last answer to each label, below 0 is worse. Where labels persist, an
    accuracy of .98 can be worse than no change. Pairs of sample and label count from the second answer to the label on;
    where no label ever changes, the value is 0. Samples must come in the order of the stream. A part of a run that is
    merged has no answer before its first sample.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import KappaTemporal
    >>> metric = KappaTemporal()
    >>> metric.update([[0], [0], [1], [1], [0]], [[0.1], [0.2], [0.4], [0.9], [0.3]]).get()
    0.5
    """

    name = "kappa temporal"

    def __init__(self, threshold: float | Sequence[float] = DEFAULT_THRESHOLD) -> None:
        super().__init__(threshold)
        self._carried["last"] = np.zeros(0)  # answers to each label, NaN: none yet

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each of the next samples: 1 if it counts, correct less unchanged labels, changed labels."""
        n, K = rows.positive.shape
        last = self._carried["last"]
        last = np.pad(last, (0, max(K - len(last), 0)), constant_values=np.nan)
        answers = np.vstack([last[:K], np.where(rows.annotated, rows.positive, np.nan)])
        at = np.maximum.accumulate(np.where(np.isnan(answers), 0, np.arange(n + 1)[:, None]), axis=0)
        known = np.take_along_axis(answers, at, axis=0)  # of each row, the last answer up to it
        before = known[:-1]
        self._carried["last"] = np.append(known[-1], last[K:])
        counted = rows.annotated & ~np.isnan(before)
        correct = (self.predicted(rows) == rows.positive) & counted
        changed = (before != rows.positive) & counted
        gained = correct.sum(axis=1) - (counted & ~changed).sum(axis=1)
        return ratio_statistics(counted.any(axis=1), gained, changed.sum(axis=1))
