"""`ThresholdRules`: the stage that answers and learns with one tree of thresholds per label."""

from collections.abc import Collection
from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.rows import Batch, Rows, check_batch, check_rows
from evolabel.core.stage import Answering
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.excuse import excuse
from evolabel.stages.drift.loops.alarm import IS_RAISED, RAISED_AT
from evolabel.stages.drift.loops.follow import LONGEST_HELD
from evolabel.stages.sensors.stage import MovedSensor
from evolabel.stages.threshold_rules.arrays import (
    IS_OPEN,
    LEARNED,
    THRESHOLD_ARRAYS,
    ThresholdArrays,
    Thresholds,
    allocate_thresholds,
    with_workspace,
)
from evolabel.stages.threshold_rules.life import log_gone, log_turn
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.stages.threshold_rules.loops.learn import EVERY, learn_refined
from evolabel.stages.threshold_rules.loops.ring import derive_codes
from evolabel.stages.threshold_rules.loops.turn import settle_label, take_turn
from evolabel.stages.threshold_rules.moved_sensors import correct_ring
from evolabel.stages.threshold_rules.widths import with_features, with_labels
from evolabel.typing import BoolArray, IntArray

_NO_ROW = np.zeros((3, 0))  # scratch of one row, before there is one

_refine_rows, _learn_refined, _take_turn = direct(refine_rows), direct(learn_refined), direct(take_turn)
_derive_codes, _settle_label = direct(derive_codes), direct(settle_label)


class ThresholdRules(Answering):
    """A tree of thresholds per label, found by the labels and let in by a gate.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : ThresholdArrays
        Trees, gates, alarms and the ring of recent rows.
    """

    name = "threshold_rules"
    schema = THRESHOLD_ARRAYS

    def __init__(self, n_features: int, n_labels: int, *, exclusive: bool = False) -> None:
        self.arrays = allocate_thresholds(n_features, n_labels)
        self.exclusive = exclusive
        self._kept: tuple[ThresholdArrays, Thresholds, Any] | None = None
        self._row = _NO_ROW

    @property
    def packed(self) -> Any:
        """The state as loops take it."""
        return self._packed()[2]

    @property
    def first_tree(self) -> int:
        """The first label with a tree: 1 for two classes, which share the tree of the second, else 0."""
        return self._packed()[1].first

    @property
    def drifting(self) -> BoolArray:
        """Whether the tree of each label has shown a drift that is not over yet."""
        return np.asarray(self.arrays.episode >= 0)

    def _packed(self) -> tuple[ThresholdArrays, Thresholds, Any]:
        """Return the arrays, the state with scratch arrays, and that packed; made again when arrays were replaced."""
        kept = self._kept
        if kept is None or kept[0] is not self.arrays:
            state = with_workspace(self.arrays, self.exclusive)
            kept = self._kept = self.arrays, state, pack(state)
            self._row = np.empty((3, len(self.arrays.feature)))
        return kept

    @property
    def rows_at_once(self) -> int:
        """Rows that can be learned before the next turn of maintenance."""
        return EVERY - int(self.arrays.clock[LEARNED]) % EVERY

    @property
    def is_used(self) -> bool:
        """Whether the gate of a label is open."""
        return bool(self.arrays.gate[:, IS_OPEN].any())

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows` where the gate of a label is open."""
        if self.is_used:
            check_rows(rows.read, self.arrays.X.shape[1])
            _refine_rows(self.packed, rows.read, rows.outputs)

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows`, whose outputs are changed in place, each before it is learned; events go to `log`, if given.

        After each `EVERY` labelled rows a turn of maintenance is taken. Drifts of labels that it finds are ended here.
        """
        done, n = 0, len(rows.read)
        while done < n:
            part = slice(done, done + self.rows_at_once)
            done = part.stop
            weights = rows.weights[part] if len(rows.weights) else rows.weights
            confidences = rows.confidences[part] if len(rows.confidences) else rows.confidences
            batch = Batch(rows.read[part], rows.Y[part], weights, confidences, rows.outputs[part])
            check_batch(batch, self.arrays.X.shape[1], len(self.arrays.feature))
            packed = self.packed
            if _learn_refined(packed, batch.X, batch.Y, weights, confidences, batch.outputs, self._row):
                before = self.arrays.number.copy()
                _take_turn(packed)
                if log is not None:
                    log_turn(self.arrays, before, log, rows, self.first_tree)

    def derive_codes(self) -> None:
        """Derive the bins of all values in the ring from the edges between bins."""
        _derive_codes(self.packed)

    def settle(self, label: int) -> None:
        """Move the edges of the tree of `label` by the rows in the ring."""
        _settle_label(self.packed, label, False)

    def correct_sensor(self, moved: MovedSensor, excused: Collection[int] = ()) -> None:
        """Correct rows in the ring that were read before a sensor was known to have `moved`, and what they have shown.

        Drifts of late that it has caused, those of the labels `excused` and of trees that ask about it, have not been.
        New leaves get their numbers, and rules that are gone are logged, at the next turn.
        """
        asking = (self.arrays.feature == moved.feature).any(axis=1)
        for label in {*np.flatnonzero(asking).tolist(), *excused}:
            self._excuse(label)
        labels = correct_ring(self.arrays, moved)
        self.derive_codes()
        for label in {*labels.tolist(), *excused}:
            _settle_label(self.packed, max(label, self.first_tree), True)

    def _excuse(self, label: int) -> None:
        """Forget recent errors of the tree of `label`, and end a drift of late without an event: a sensor was wrong."""
        t, tree = self.arrays, max(label, self.first_tree)
        if t.alarms[tree, IS_RAISED] > 0.0:
            if t.clock[LEARNED] - t.alarms[tree, RAISED_AT] > LONGEST_HELD + EVERY:
                return
            t.episode[label], t.since[tree] = -1, t.before[tree]
        excuse(t.alarms[tree], t.positives[tree])
        t.against[tree] = 0.0

    # ------------------------------------------------------------------ other widths, copies

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, with trees of one leaf; the rows in the ring are not annotated with them."""
        first = self.first_tree
        self.arrays = with_labels(self.arrays, np.arange(len(self.arrays.feature)), n_labels)
        if self.first_tree != first:  # two classes shared a tree, which cannot answer for one of three
            self.arrays.gate[:] = 0.0
            self.arrays.episode[:first] = -1

    def change_features(self, kept: IntArray, n_features: int, log: EventLog) -> None:
        """Keep the features in the columns `kept`, in their order, and add new ones up to `n_features`.

        Rules that are gone are logged in `log`.
        """
        before = self.arrays.number
        self.arrays = with_features(self.arrays, kept, n_features)
        is_reset = (before >= 0).any(axis=1) & (self.arrays.number < 0).all(axis=1)
        if self.exclusive and is_reset.any():  # classes share one gate
            self.arrays.gate[:] = 0.0
        log_gone(self.arrays, before, log)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "_row": _NO_ROW}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = THRESHOLD_ARRAYS.writeable(self.arrays)
