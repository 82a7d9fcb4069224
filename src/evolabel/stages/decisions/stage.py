"""`Decisions`: how a model decides on labels, other than by cutting outputs at a fixed threshold.

| `optimise`          | `class_weight` | decided by                                                                    |
|---------------------|----------------|-------------------------------------------------------------------------------|
| accuracy            | None           | outputs of at least `threshold`; nothing is learned for it (None)             |
| macro_f1, micro_f1  | None           | outputs of at least the threshold with the best F1 so far (`OutputCounts`)    |
| subset_accuracy     | None           | the most likely of the label sets that occurred (`KnownSets`)                 |
| balanced            | None           | probabilities of at least the label's share so far (`BalancedDecisions`)      |
| accuracy            | "balanced"     | the same                                                                      |
| accuracy            | weights        | probabilities and weights, by names that only a classifier has (None)         |

Of classes the one with the largest output is predicted, unless they are weighted.
"""

from typing import Any, Protocol

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.class_weights import BalancedDecisions
from evolabel.stages.decisions.known_sets import KnownSets
from evolabel.stages.decisions.thresholds import OutputCounts
from evolabel.typing import Arrays, BoolArray, FloatArray


class Decisions(Protocol):
    """Decides on labels by their outputs and probabilities, and learns from what was true."""

    @property
    def by_sets(self) -> bool:
        """Whether the labels of a row are decided together, as a set."""

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which labels are on, (n, K), by `outputs` and their probabilities by `calibration`."""

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the least output of each label, (K,), that is decided as on."""

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Learn the initial `batch`, with outputs from before each row.

        `left_out` has rows of it with outputs that were formed without their labels, and their probabilities.
        """

    def update(self, batch: Batch) -> None:
        """Learn `batch`, with outputs and probabilities from before each row.

        Its decisions, if given, receive those before each row.
        """

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`."""

    def add(self, other: Any, columns: list[int]) -> None:
        """Add what `other`, of a model trained apart, has learned; `columns` has the places of its labels."""

    def arrays(self) -> Arrays:
        """Return all that was learned, by name."""

    def restore(self, arrays: Arrays) -> None:
        """Set all that was learned to copies of `arrays`; DataError if they are not those of such decisions."""


def new_decisions(n_labels: int, options: Options, *, exclusive: bool) -> Decisions | None:
    """Return decisions as `options` ask for, on `n_labels` labels, or on `exclusive` classes, that learned nothing.

    None where nothing is learned for decisions.
    """
    if options.is_balanced:
        return BalancedDecisions(n_labels, exclusive=exclusive)
    if options.optimise == "accuracy" or exclusive:
        return None
    if options.optimise == "subset_accuracy":
        return KnownSets(n_labels, options.threshold)
    return OutputCounts(n_labels, shared=options.optimise == "micro_f1")
