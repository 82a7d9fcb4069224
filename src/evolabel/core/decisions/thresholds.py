"""Thresholds of labels for F1, learned in the same pass as the rules.

Outputs made before their sample was learned are counted by label, in bins, beside the truth; the threshold of a label
is where its F1 on these counts is largest (`kernels/thresholds.py`). Constant memory, and counts add up.
"""

import numpy as np

from evolabel.core.batch import NOT_GIVEN, Batch
from evolabel.core.options import Options
from evolabel.core.sizes import check_batch, misfit
from evolabel.kernels.thresholds import count_rows
from evolabel.typing import FloatArray

BINS = 32


class OutputCounts:
    """Counts of outputs and of labels that were 1 then, in bins; by label, or for all labels together.

    Parameters
    ----------
    n_labels : int
    shared : bool
        One threshold for all labels (micro-F1) instead of one for each (macro-F1).
    """

    def __init__(self, n_labels: int, *, shared: bool) -> None:
        self.n_labels = n_labels
        self.shared = shared
        self.seen, self.on = (np.zeros((1 if shared else n_labels, BINS)) for _ in range(2))

    def update(self, batch: Batch) -> None:
        """Count the outputs of `batch`, made before learning; thresholds, if given, receive those before each row."""
        _, Y, weights, confidences, outputs, thresholds, *_ = batch
        check_batch(batch._replace(X=outputs, raw=NOT_GIVEN, read=NOT_GIVEN), self.n_labels, self.n_labels)
        if len(self.seen) not in (1, self.n_labels):
            raise misfit({"seen": self.seen}, f"{self.n_labels} labels")
        count_rows(outputs, Y, weights, confidences, self.seen, self.on, thresholds)

    def thresholds(self) -> FloatArray:
        """Return the threshold of each label as of now; 0.5 for a label that was never counted."""
        thresholds, unknown = np.empty((1, self.n_labels)), np.full((1, self.n_labels), np.nan)
        if self.n_labels:
            self.update(Batch(unknown, unknown, outputs=unknown, thresholds=thresholds))
        return np.asarray(thresholds[0])

    def grow_labels(self, n_labels: int) -> None:
        """Add labels without counts, up to `n_labels`."""
        if not self.shared:
            more = np.zeros((n_labels - self.n_labels, BINS))
            self.seen, self.on = np.vstack([self.seen, more]), np.vstack([self.on, more])
        self.n_labels = n_labels

    def add(self, other: "OutputCounts", columns: list[int]) -> None:
        """Add the counts of `other`, of a model trained apart; `columns` has the places of its labels among these."""
        places = [0] if self.shared else columns
        self.seen[places] += other.seen
        self.on[places] += other.on


def output_counts(n_labels: int, options: Options) -> OutputCounts | None:
    """Return the counts that `options` need for `n_labels` labels; None where outputs are cut at a fixed threshold."""
    if options.optimise == "accuracy":
        return None
    return OutputCounts(n_labels, shared=options.optimise == "micro_f1")
