"""`AnsweredForest`: the stage that answers with a forest per label, fitted to the few rows that were answered."""

from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.rows import Rows, check_learned, check_rows
from evolabel.core.schema import new_entries, stream_sizes
from evolabel.core.stage import Answering
from evolabel.core.stored_checks import check_arrays
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.errors import DataError
from evolabel.stages.answered_forest.arrays import (
    FOREST_ARRAYS,
    FOREST_PLACES,
    HAS_TREES,
    N_ANSWERED,
    NEXT_FIT,
    ForestArrays,
    allocate_forest,
    with_work,
)
from evolabel.stages.answered_forest.loops.learn import (
    answer_by_forest,
    answers_until_fit,
    fill_forest_weights,
    fit_due,
    learn_by_forest,
    share_leaves,
)
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.typing import AnyArray, Arrays, FloatArray, IntArray

MOST_FORESTS = 100  # beyond which forests would take more memory than all other stages

_answer, _learn, _fit_due = direct(answer_by_forest), direct(learn_by_forest), direct(fit_due)
_answers_until_fit, _fill_forest_weights, _share_leaves = (
    direct(answers_until_fit),
    direct(fill_forest_weights),
    direct(share_leaves),
)


class AnsweredForest(Answering):
    """A forest per label, fitted to the rows that the threshold rules keep, and mixed in as far as it helps.

    Only an active learner has one, whose labels are no classes.

    Parameters
    ----------
    trees : ThresholdRules
        The stage whose ring has the rows that were answered; it is read, and never written.

    Attributes
    ----------
    arrays : ForestArrays
        Trees, calibration and gate of each label.
    """

    name = "answered_forest"
    schema = FOREST_ARRAYS

    def __init__(self, trees: ThresholdRules) -> None:
        self.trees = trees
        kept = trees.arrays
        self._set(allocate_forest(kept.X.shape[1], kept.Y.shape[1]))
        self.arrays.clock[:, N_ANSWERED] = np.count_nonzero(kept.weights[kept.rows >= 0] > 0.0, axis=0)
        _fit_due(self._packed, trees.packed)

    def _set(self, arrays: ForestArrays) -> None:
        self.arrays = arrays
        state = with_work(arrays, self.trees.arrays.X.shape[1])
        self._work, self._packed = state.work, pack(state)

    @property
    def rows_at_once(self) -> int:
        """How many rows can be learned before trees are fitted."""
        return int(_answers_until_fit(self._packed))

    @property
    def weights(self) -> FloatArray:
        """Weight of the forest in the outputs of each label, (K,); 0: it is not used."""
        _fill_forest_weights(self._packed)
        return self._work.w.copy()

    def answer(self, rows: Rows) -> None:
        """Mix the answers of the forests into the outputs of `rows`."""
        check_rows(rows.read, self.trees.arrays.X.shape[1])
        _answer(self._packed, rows.read, rows.outputs)

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows`, whose outputs are changed in place, each before it is learned; nothing goes to the `log`."""
        check_learned(rows, self.trees.arrays.X.shape[1], len(self.arrays.gate))
        _learn(self._packed, rows.read, rows.Y, rows.weights, rows.confidences, rows.outputs)
        _fit_due(self._packed, self.trees.packed)

    def shared_leaves(self, label: int, x: FloatArray) -> FloatArray:
        """Return the share of the trees of `label` in which a row of the ring ends in the leaf of the row `x`, (R,)."""
        shares = np.empty(len(self.trees.arrays.rows))
        _share_leaves(self._packed, label, np.ascontiguousarray(x), self.trees.packed, shares)
        return shares

    def fit_anew(self) -> None:
        """Fit all trees to the rows that are kept now, as after a correction of a sensor."""
        clock = self.arrays.clock
        clock[clock[:, HAS_TREES] > 0, NEXT_FIT] = 0
        _fit_due(self._packed, self.trees.packed)

    # ------------------------------------------------------------------ other widths, files, copies

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, without trees; the threshold rules have them already."""
        source = new_entries(len(self.arrays.gate), n_labels)
        self._set(FOREST_ARRAYS.rearranged(self.arrays, {"label": source}))

    def change_features(self, kept: IntArray, _: int, log: EventLog | None = None) -> None:
        """Keep the trees that ask about the features in the columns `kept` alone; others are fitted anew when due."""
        arrays = self.arrays
        place = np.full(int(arrays.feature.max(initial=0)) + 1 + int(kept.max(initial=0)), -1, np.int64)
        place[kept] = np.arange(len(kept))
        asked = arrays.feature >= 0
        feature = np.where(asked, place[np.where(asked, arrays.feature, 0)], arrays.feature)
        is_reset = np.asarray((asked & (feature < 0)).any(axis=(1, 2)))
        self._set(FOREST_ARRAYS.rearranged(arrays, {"label": np.where(is_reset, -1, np.arange(len(is_reset)))}))
        self.arrays.feature[~is_reset] = feature[~is_reset]
        self.arrays.clock[is_reset, N_ANSWERED] = arrays.clock[is_reset, N_ANSWERED]

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them: places that no tree uses are left out."""
        arrays = FOREST_ARRAYS.arrays_of(self.arrays)
        inner = arrays["feature"] >= 0
        used = int((arrays["child"] * inner).max(initial=0)) + 2 if inner.any() else 1
        return {name: array[:, :, :used] if array.ndim == 3 else array for name, array in arrays.items()}

    def restore(self, arrays: Arrays) -> None:
        """Set the arrays to copies of stored ones; DataError if they are not those of such a stage."""
        p, K = self.trees.arrays.X.shape[1], len(self.arrays.gate)
        made = allocate_forest(p, K)
        filled = {name: _padded(array, getattr(made, name)) for name, array in arrays.items() if hasattr(made, name)}
        check_arrays({**arrays, **filled}, FOREST_ARRAYS.expected(stream_sizes(p, K)))
        child, is_asking = filled["child"].astype(np.int64), filled["feature"] >= 0
        if (filled["feature"] >= p).any() or (is_asking & (child <= np.arange(FOREST_PLACES))).any():
            raise DataError("a node asks about a feature that is not there, or has a child that is not below it")
        self._set(made._replace(**filled))

    def __getstate__(self) -> dict[str, Any]:
        return {"trees": self.trees, "arrays": self.arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.trees = state["trees"]
        self._set(FOREST_ARRAYS.writeable(state["arrays"]))


def _padded(array: AnyArray, whole: AnyArray) -> AnyArray:
    """Return a copy of `array` in the shape of `whole`, which has the values for its further places; or as it is."""
    fits = array.ndim == whole.ndim and array.shape[:2] == whole.shape[:2] and array.dtype == whole.dtype
    if not fits or array.ndim != 3 or array.shape[2] > FOREST_PLACES:
        return array
    copied = whole.copy()
    copied[:, :, : array.shape[2]] = array
    return copied


def forest_of(trees: ThresholdRules | None) -> AnsweredForest | None:
    """Return a forest of the rows that `trees` keep; None without them, or for more than `MOST_FORESTS` labels."""
    return None if trees is None or trees.arrays.Y.shape[1] > MOST_FORESTS else AnsweredForest(trees)
