"""`KnownSets`: the label set of a row is decided as a whole, for subset accuracy.

Of the label sets that occurred, at most 256, the one with the largest probability is taken, times its lift to the power
of 1/4: labels that occur together more often than by chance support each other. Only while that has been right in more
rows than outputs cut at the threshold have been (`stages/decisions/loops/known_sets.py`).
"""

import numpy as np

from evolabel.core.rows import Batch, check_outputs
from evolabel.core.schema import new_entries
from evolabel.engine.compile import direct
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.arrays import KNOWN_SETS, KnownSetArrays
from evolabel.stages.decisions.file_checks import check_sets
from evolabel.stages.decisions.loops.known_sets import (
    APART,
    FIRST_SHARE,
    MOST_SETS,
    TOTAL,
    WON,
    decide_by_sets,
    learn_sets,
)
from evolabel.typing import Arrays, BoolArray, FloatArray

_decide_by_sets, _learn_sets = direct(decide_by_sets), direct(learn_sets)


class KnownSets(KnownSetArrays):
    """Label sets that occurred, with counts of rows, and how often they were right where plain decisions were not.

    Parameters
    ----------
    n_labels : int
    threshold : float
        Where plain decisions cut outputs.
    """

    def __init__(self, n_labels: int, threshold: float) -> None:
        self.n_labels = n_labels
        self.threshold = float(threshold)
        vars(self).update(KNOWN_SETS.new({"set": MOST_SETS, "label": n_labels}))

    @property
    def by_sets(self) -> bool:
        """Whether sets have been right in more rows than plain decisions, beyond chance: they then decide."""
        return bool(self.outcomes[WON] > np.sqrt(self.outcomes[APART]))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return the labels of the most likely set for `outputs`, (n, K), or those of plain decisions."""
        F = np.ascontiguousarray(outputs)
        P, D = calibration.probabilities(F), np.empty(F.shape)
        check_outputs(Batch(F, F, outputs=F, probabilities=P), self.n_labels)
        _decide_by_sets(F, P, self.threshold, *self._state(), D)
        return np.asarray(D > 0.0)

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the threshold of plain decisions for every label; `calibration` is not needed."""
        return np.full(self.n_labels, self.threshold)

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Learn the rows of `left_out`, of the initial `batch`."""
        self.update(left_out)

    def update(self, batch: Batch) -> None:
        """Learn the label sets of `batch`; its decisions, if given, receive those before each row."""
        check_outputs(batch, self.n_labels)
        F, P, Y = batch.outputs, batch.probabilities, batch.Y
        _learn_sets(F, P, Y, batch.weights, batch.confidences, self.threshold, *self._state(), batch.decisions)

    def grow_labels(self, n_labels: int) -> None:
        """Add labels, up to `n_labels`, that no set has."""
        vars(self).update(KNOWN_SETS.moved(self, {"label": new_entries(self.n_labels, n_labels)}))
        self.n_labels = n_labels

    def add(self, other: "KnownSets", columns: list[int]) -> None:
        """Add the counts of `other`; `columns` has the places of its labels. The sets with most rows are kept."""
        found: dict[tuple[int, ...], float] = {}
        for each, places in ((self, list(range(self.n_labels))), (other, columns)):
            for row, n in zip(*each.kept(), strict=True):
                key = tuple(sorted(places[k] for k in np.flatnonzero(row)))
                found[key] = found.get(key, 0.0) + float(n)
        kept = sorted(found, key=lambda key: -found[key])[:MOST_SETS]
        self.sets, self.counts = np.zeros_like(self.sets), np.zeros(MOST_SETS)
        for place, key in enumerate(kept):
            self.sets[place, list(key)] = True
            self.counts[place] = found[key]
        self.on[columns] += other.on - FIRST_SHARE
        self.outcomes += other.outcomes
        self.outcomes[TOTAL] -= 1.0

    def kept(self) -> tuple[BoolArray, FloatArray]:
        """Return the sets that are kept, (m, K), and their counts."""
        used = int(np.count_nonzero(self.counts))
        return self.sets[:used], self.counts[:used]

    def arrays(self) -> Arrays:
        """Return the sets kept with their counts, counts of labels, and the outcomes of rows won and lost."""
        return KNOWN_SETS.moved(self, {"set": np.arange(np.count_nonzero(self.counts))})

    def restore(self, arrays: Arrays) -> None:
        """Set sets, counts and outcomes to copies of `arrays`; DataError if they do not fit."""
        stored = KnownSetArrays()
        vars(stored).update(KNOWN_SETS.copies(check_sets(arrays, self.n_labels)))
        vars(self).update(KNOWN_SETS.moved(stored, {"set": new_entries(len(stored.counts), MOST_SETS)}))

    def _state(self) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Sets, counts, counts of labels, outcomes and a scratch array, as loops take them."""
        return self.sets, self.counts, self.on, self.outcomes, np.empty(self.n_labels)
