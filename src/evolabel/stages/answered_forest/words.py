"""The answered samples that are most similar to a sample, for explanations."""

from typing import NamedTuple

import numpy as np

from evolabel.core.rows import Rows
from evolabel.stages.answered_forest.stage import AnsweredForest

NEAREST = 3


class SimilarSample(NamedTuple):
    """An answered sample: its `number` among the learned ones, its `answer`, the share of trees in whose leaf it is."""

    number: int
    answer: bool
    share: float

    def __str__(self) -> str:
        return f"{self.number} {'yes' if self.answer else 'no'}"


def similar_samples(forest: AnsweredForest, rows: Rows) -> tuple[tuple[SimilarSample, ...], ...]:
    """Return for each label the answered samples that end in the leaf of the first of `rows` in most trees of `forest`.

    Where the forest of a label is not used, there are none. Of equally similar ones the latest come first.
    """
    kept, found = forest.trees.arrays, []
    for label, weight in enumerate(forest.weights.tolist()):
        shares = forest.shared_leaves(label, rows.read[0]) if weight > 0.0 else np.zeros(len(kept.rows))
        nearest = np.lexsort((-kept.rows, -shares))[:NEAREST]
        found.append(
            tuple(
                SimilarSample(int(kept.rows[place]) + 1, bool(kept.Y[place, label]), float(shares[place]))
                for place in nearest.tolist()
                if shares[place] > 0.0
            )
        )
    return tuple(found)
