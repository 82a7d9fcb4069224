"""Thresholds of labels for F1, learned in the same pass as the rules.

Outputs made before their sample was learned are counted by label, in bins, beside the truth; the threshold of a label
is where its F1 on these counts is largest (`stages/decisions/loops/thresholds.py`). Constant memory, and counts add up.
"""

import numpy as np

from evolabel.core.rows import Batch, check_outputs, misfit
from evolabel.core.schema import new_entries
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.arrays import OUTPUT_COUNTS, OutputCountArrays
from evolabel.stages.decisions.file_checks import check_counts
from evolabel.stages.decisions.loops.thresholds import count_rows
from evolabel.typing import Arrays, BoolArray, FloatArray


class OutputCounts(OutputCountArrays):
    """Counts of outputs and of labels that were 1 then, in bins; by label, or for all labels together.

    Parameters
    ----------
    n_labels : int
    shared : bool
        One threshold for all labels (micro-F1) instead of one for each (macro-F1).
    """

    by_sets = False  # each label is decided by itself

    def __init__(self, n_labels: int, *, shared: bool) -> None:
        self.n_labels = n_labels
        self.shared = shared
        vars(self).update(OUTPUT_COUNTS.new({"threshold": 1 if shared else n_labels}))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which `outputs`, (n, K), reach the thresholds; `calibration` is not needed."""
        return np.asarray(outputs >= self.thresholds(calibration))

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the threshold of each label as of now, 0.5 if it was never counted; `calibration` is not needed."""
        unknown = np.full((1, self.n_labels), np.nan)
        return np.asarray(self._count(Batch(unknown, unknown, outputs=unknown), np.empty((1, self.n_labels)))[0])

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Count the outputs of the initial `batch`; `left_out` is not needed."""
        self.update(batch)

    def update(self, batch: Batch) -> None:
        """Count the outputs of `batch`, made before learning; decisions, if given, receive those before each row."""
        found = self._count(batch, np.empty(batch.decisions.shape))
        if len(found):
            batch.decisions[:] = batch.outputs >= found

    def _count(self, batch: Batch, thresholds: FloatArray) -> FloatArray:
        """Count the outputs of `batch`, and return `thresholds`, which receive those before each row if not empty."""
        check_outputs(batch, self.n_labels)
        if len(self.seen) not in (1, self.n_labels):
            raise misfit({"seen": self.seen}, f"{self.n_labels} labels")
        weights, confidences = batch.weights, batch.confidences
        if self.n_labels:
            count_rows(batch.outputs, batch.Y, weights, confidences, self.seen, self.on, thresholds)
        return thresholds

    def grow_labels(self, n_labels: int) -> None:
        """Add labels without counts, up to `n_labels`."""
        if not self.shared:
            source = new_entries(self.n_labels, n_labels)
            vars(self).update(OUTPUT_COUNTS.moved(self, {"threshold": source}))
        self.n_labels = n_labels

    def add(self, other: "OutputCounts", columns: list[int]) -> None:
        """Add the counts of `other`, of a model trained apart; `columns` has the places of its labels among these."""
        places = [0] if self.shared else columns
        self.seen[places] += other.seen
        self.on[places] += other.on

    def arrays(self) -> Arrays:
        """Return the counts."""
        return OUTPUT_COUNTS.arrays_of(self)

    def restore(self, arrays: Arrays) -> None:
        """Set the counts to copies of `arrays`; DataError if they do not fit."""
        vars(self).update(
            OUTPUT_COUNTS.copies(check_counts(arrays, OUTPUT_COUNTS.expected({"threshold": len(self.seen)})))
        )
