"""`FirstTree`: the stage that answers the first rows with a small tree, beside the outputs in front of it.

Rules need more rows than a few splits do where a label follows from thresholds. Test-then-train on rows 10 to 150 of
nine drifting streams: see benchmarks/results/early_rows.json.
"""

from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.rows import Rows, check_learned, check_rows
from evolabel.core.schema import of_features, places_of
from evolabel.core.stage import MANY, Answering
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.stages.first_tree.arrays import (
    FIRST_TREE_ARRAYS,
    KEPT_BY_ROW,
    ROWS_ANSWERED,
    ROWS_KEPT,
    ROWS_LEARNED,
    FirstRows,
    allocate_first_rows,
    check_first_tree,
    with_tree,
)
from evolabel.stages.first_tree.loops import answer_first_rows, fit_again, learn_first_rows, weight_of_tree
from evolabel.typing import Arrays, IntArray

MOST_CELLS = 5_000  # features times labels, beyond which fitting would take longer than learning

_answer, _learn, _fit_again = direct(answer_first_rows), direct(learn_first_rows), direct(fit_again)
_weight_of_tree = direct(weight_of_tree)


class FirstTree(Answering):
    """A tree that all labels share, until `ROWS_ANSWERED` rows were learned.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : FirstRows
        The rows that are kept, and the losses.
    """

    name = "first_tree"
    schema = FIRST_TREE_ARRAYS

    def __init__(self, n_features: int, n_labels: int, *, exclusive: bool = False) -> None:
        self.exclusive = exclusive
        self.take(allocate_first_rows(n_features, n_labels))

    def take(self, arrays: FirstRows) -> None:
        """Take over `arrays`, and fit the tree to their rows."""
        self.arrays = arrays
        self._state = with_tree(arrays)  # whose tree an error can put back
        self._packed: Any = pack(self._state)
        _fit_again(self._packed)

    @property
    def rows_at_once(self) -> int:
        """How many rows can be learned before other stages have to learn them: any number."""
        return MANY

    @property
    def is_over(self) -> bool:
        """Whether the tree answers no more."""
        return bool(self.arrays.clock[ROWS_LEARNED] >= ROWS_ANSWERED)

    @property
    def weight(self) -> float:
        """Weight of the tree in the outputs of all labels."""
        return float(_weight_of_tree(self.arrays.losses))

    def answer(self, rows: Rows) -> None:
        """Mix the answers of the tree into the outputs of `rows`."""
        check_rows(rows.read, self.arrays.X.shape[1])
        _answer(self._packed, rows.read, rows.outputs)

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows`, whose outputs are changed in place, each before it is learned; nothing goes to the `log`."""
        check_learned(rows, self.arrays.X.shape[1], self.arrays.Y.shape[1])
        _learn(self._packed, rows.read, rows.Y, rows.weights, rows.confidences, rows.outputs)

    # ------------------------------------------------------------------ other widths

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`; rows so far are not annotated with them, or known not to be of new classes."""
        self.take(self.with_labels(np.arange(self.arrays.Y.shape[1]), n_labels))

    def with_labels(self, places: IntArray, n_labels: int) -> FirstRows:
        """Return the arrays for `n_labels` labels; those of now stand in these `places`."""
        arrays = FIRST_TREE_ARRAYS.rearranged(self.arrays, {"label": places_of(places, n_labels)})
        if self.exclusive:
            others = np.setdiff1d(np.arange(n_labels), places)
            arrays.weights[:, others] = self.arrays.weights.max(axis=1, initial=0.0)[:, None]
        return arrays

    def change_features(self, kept: IntArray, n_features: int, _: EventLog | None = None) -> None:
        """Keep the features in the columns `kept`, and add new ones up to `n_features`, which rows so far miss."""
        sources = of_features(kept, self.arrays.X.shape[1], n_features)
        self.take(FIRST_TREE_ARRAYS.rearranged(self.arrays, sources))

    def merge(self, other: "FirstTree", labels: IntArray) -> None:
        """Take over the tree of `other` if this one has learned no row; if both have, the tree is over.

        `labels` has the places of its labels among these.
        """
        if other.arrays.clock[ROWS_LEARNED]:
            if self.arrays.clock[ROWS_LEARNED]:
                self.arrays.clock[ROWS_LEARNED] = ROWS_ANSWERED
            else:
                self.take(other.with_labels(labels, self.arrays.Y.shape[1]))

    # ------------------------------------------------------------------ files, copies

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them: the rows that are kept, without places that are empty."""
        filled = min(int(self.arrays.clock[ROWS_LEARNED]), ROWS_KEPT)
        arrays = FIRST_TREE_ARRAYS.arrays_of(self.arrays)
        return {name: array[:filled] if name in KEPT_BY_ROW else array for name, array in arrays.items()}

    def restore(self, arrays: Arrays) -> None:
        """Set the stage to copies of stored `arrays`; DataError if they are not those of such a tree."""
        sizes = self.arrays.X.shape[1], self.arrays.Y.shape[1]
        check_first_tree(arrays, *sizes)
        made = allocate_first_rows(*sizes)
        for name, array in arrays.items():
            getattr(made, name)[: len(array)] = array
        self.take(made)

    def __getstate__(self) -> dict[str, Any]:
        return {"exclusive": self.exclusive, "arrays": self.arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied, and the tree is fitted again."""
        self.exclusive = state["exclusive"]
        self.take(FIRST_TREE_ARRAYS.writeable(state["arrays"]))


def first_tree_of(n_features: int, n_labels: int, *, exclusive: bool) -> FirstTree | None:
    """Return a first tree that has learned nothing, for rows and labels of these widths; None where they are many."""
    if n_features * n_labels > MOST_CELLS:
        return None
    return FirstTree(n_features, n_labels, exclusive=exclusive)
