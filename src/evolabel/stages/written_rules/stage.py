"""`WrittenRules`: the ordered list of rules that people write, in front of the trees of all labels.

Merged are the list of the first model, then the rules of the second that it has not. The same rule on both sides is one
rule: rows, positives and the sums of its gate are added. Up to `MOST_ROWS` that is what one model would have counted;
the gate is that of the first model until its next row.
"""

import copy
from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.rows import Batch, Rows, check_batch, check_rows
from evolabel.core.schema import of_features
from evolabel.core.stage import Answering
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.threshold_rules.arrays import doubt_errors
from evolabel.stages.written_rules.arrays import (
    MOST_ROWS,
    WRITTEN_ARRAYS,
    Written,
    WrittenArrays,
    allocate_written,
    read_written,
)
from evolabel.stages.written_rules.loops import answer_written, learn_written, leave_out
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_answer_written, _leave_out, _learn_written = direct(answer_written), direct(leave_out), direct(learn_written)


class WrittenRules(Answering):
    """For each label the first written rule that mentions it, holds, and is used.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : WrittenArrays
        The rules in their order. Edits replace the arrays, learning changes them in place.
    """

    name = "written_rules"
    schema = WRITTEN_ARRAYS

    def __init__(self, n_features: int, n_labels: int, *, exclusive: bool = False) -> None:
        self.arrays = allocate_written(0, n_features, n_labels)
        self.exclusive = exclusive
        self._kept: tuple[WrittenArrays, Any] | None = None

    def __len__(self) -> int:
        return len(self.arrays.number)

    @property
    def packed(self) -> Any:
        """The state as loops take it; made again when arrays were replaced."""
        kept = self._kept
        if kept is None or kept[0] is not self.arrays:
            n_labels = self.arrays.shares.shape[1]
            errors = doubt_errors(n_labels, self.exclusive)
            state = Written(self.arrays, np.zeros((4, n_labels)), self.exclusive, errors)
            kept = self._kept = self.arrays, pack(state)
        return kept[1]

    def place_of(self, number: int) -> int | None:
        """Return the place of the rule with this `number` in the list; None if there is none."""
        places = np.flatnonzero(self.arrays.number == number)
        return int(places[0]) if len(places) else None

    @property
    def named(self) -> BoolArray:
        """Which features each rule names, (n, p)."""
        return np.asarray(np.isfinite(self.arrays.low) | np.isfinite(self.arrays.high))

    @property
    def answering(self) -> BoolArray:
        """Which labels each rule answers where it holds, (n, K)."""
        mentioned = ~np.isnan(self.arrays.shares)
        answers = mentioned & (self.arrays.closed == 0)
        return np.repeat(answers.any(axis=1)[:, None], answers.shape[1], axis=1) if self.exclusive else answers

    def holding(self, x: FloatArray) -> BoolArray:
        """Return which rules hold for the corrected row `x`, (n,)."""
        inside = (self.arrays.low <= x) & (x <= self.arrays.high)
        return np.asarray((inside | ~self.named).all(axis=1))

    # ------------------------------------------------------------------ answering and learning

    rows_at_once = 1  # gates open or close at any row

    def answer(self, rows: Rows) -> None:
        """Replace the outputs of `rows` where a rule answers."""
        check_rows(rows.read, self.arrays.low.shape[1])
        _answer_written(self.packed, rows.read, rows.outputs)

    def unanswered(self, rows: Rows) -> FloatArray:
        """Return the labels of `rows`, NaN where a rule answers: what stages in front of this one learn from."""
        left = rows.Y.copy()
        _leave_out(self.packed, rows.read, left)
        return left

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows`, whose outputs, and those that follow the last answers, are changed before each is learned.

        Gates that have opened or closed after the last row are logged in `log`, if it is given.
        """
        batch = Batch(rows.read, rows.Y, rows.weights, rows.confidences, rows.outputs)
        check_batch(batch, self.arrays.low.shape[1], self.arrays.shares.shape[1])
        closed = self.arrays.closed.copy()
        _learn_written(self.packed, *batch[:5], rows.followed)
        if log is not None and (closed != self.arrays.closed).any():
            self._log_switches(closed, log)

    def _log_switches(self, before: IntArray, log: EventLog) -> None:
        """Log the gates that have opened or closed since they were `before`; classes share one."""
        a = self.arrays
        for place in np.flatnonzero((before != a.closed).any(axis=1)).tolist():
            labels = np.flatnonzero(before[place] != a.closed[place])
            for label in labels[: 1 if self.exclusive else None].tolist():
                n = float(a.rows[place, label])
                log.log(
                    "rule contradicted" if a.closed[place, label] else "rule restored",
                    int(a.number[place]),
                    None,
                    label=label,
                    before=float(a.shares[place, label]),
                    after=float(a.positives[place, label]) / max(n, 1e-300),
                    rows=round(n),
                )

    # ------------------------------------------------------------------ edits: the arrays are replaced

    def insert(self, place: int, rows: WrittenArrays) -> None:
        """Insert the rules in `rows` in front of that in `place`."""
        self.arrays = WrittenArrays._make(
            np.concatenate([mine[:place], theirs, mine[place:]]) for mine, theirs in zip(self.arrays, rows, strict=True)
        )

    def replace(self, place: int, row: WrittenArrays) -> None:
        """Put the rule in `row` where that in `place` was."""
        self.remove(place)
        self.insert(place, row)

    def remove(self, place: int) -> None:
        """Remove the rule in `place`."""
        self.take([i for i in range(len(self)) if i != place])

    def take(self, places: list[int]) -> None:
        """Keep the rules in `places` only, in this order."""
        self.arrays = WrittenArrays._make(np.ascontiguousarray(array[places]) for array in self.arrays)

    def lock(self, place: int, *, locked: bool) -> None:
        """Let the rule in `place` keep its present answers, if `locked`, or follow its rows again."""
        a = WrittenArrays._make(array.copy() for array in self.arrays)
        own = own_shares(a)[place]
        a.held[place] = np.where(np.isnan(own), a.shares[place], own) if locked else np.nan
        self.arrays = a

    def is_locked(self, place: int) -> bool:
        """Return whether the rule in `place` is locked."""
        return bool((~np.isnan(self.arrays.held[place])).any())

    # ------------------------------------------------------------------ other widths, copies

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, which no rule mentions."""
        self.place_labels(list(range(self.arrays.shares.shape[1])), n_labels)

    def place_labels(self, columns: list[int], n_labels: int) -> None:
        """Move the labels to `columns` of `n_labels`; no rule mentions the others."""
        source = np.full(n_labels, -1)
        source[columns] = np.arange(len(columns))
        self.arrays = WRITTEN_ARRAYS.rearranged(self.arrays, {"label": source})

    def change_features(self, kept: IntArray, n_features: int, log: EventLog | None) -> None:
        """Keep the features in the columns `kept`, in their order, and add new ones up to `n_features`.

        A rule that names a feature that is gone cannot be tested any more: it is removed, and logged in `log`.
        """
        old = self.arrays
        gone = np.ones(old.low.shape[1], bool)
        gone[kept] = False
        lost = self.named[:, gone].any(axis=1)
        self.arrays = WRITTEN_ARRAYS.rearranged(old, of_features(kept, old.low.shape[1], n_features))
        for number in old.number[lost].tolist():
            assert log is not None
            log.rule_names.remove(number)
            log.log("rule dropped", number, None)
        self.take(np.flatnonzero(~lost).tolist())

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them; none where there are no rules."""
        return WRITTEN_ARRAYS.arrays_of(self.arrays) if len(self) else {}

    def restore(self, arrays: Arrays) -> None:
        """Set the rules to copies of stored ones; DataError if they are none. Without any `arrays` there are none."""
        if arrays:
            self.arrays = read_written(arrays, self.arrays.low.shape[1], self.arrays.shares.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = WRITTEN_ARRAYS.writeable(self.arrays)


def own_shares(a: WrittenArrays) -> FloatArray:
    """Return what the rules of `a` answer for each label, (n, K); NaN where one does not mention it, or has no rows.

    A locked rule answers what it has answered when it was locked.
    """
    n = a.prior[:, None] + a.rows
    found = (a.prior[:, None] * np.nan_to_num(a.shares) + a.positives) / np.where(n > 0.0, n, np.nan)
    return np.where(np.isnan(a.shares), np.nan, np.where(np.isnan(a.held), found, a.held))


_SPECIFICATION = [name for name, declared in WRITTEN_ARRAYS.declarations.items() if declared.kind == "written"]


def merge_written(
    mine: WrittenRules, theirs: WrittenRules, columns: list[int], rules: RuleBase, others: RuleBase
) -> None:
    """Merge `theirs` into `mine`; `columns` has the places of their labels.

    Rules that are new take numbers from `rules`, with the names and texts that `others` have for them.
    """
    other = copy.deepcopy(theirs)
    other.place_labels(columns, mine.arrays.shares.shape[1])
    new = []
    for place in range(len(other)):
        twin = _same_rule(mine.arrays, other.arrays, place)
        if twin is None:
            new.append(place)
        else:
            _add_sums(mine.arrays, twin, other.arrays, place)
    for place in new:
        number = rules.new_number()
        before = int(other.arrays.number[place])
        other.arrays.number[place] = number
        rules.rule_names.texts[number] = others.rule_names.texts.get(before, "")
        rules.rule_names.add(number, others.rule_names.names.get(before))
        rules.log("joined", number, None)
    other.take(new)
    mine.insert(len(mine), other.arrays)


def _same_rule(mine: WrittenArrays, theirs: WrittenArrays, place: int) -> int | None:
    """Return the place in `mine` of a rule with all ranges and shares of that in a `place` of `theirs`; None: none."""
    for twin in range(len(mine.number)):
        if all(
            np.array_equal(getattr(mine, name)[twin], getattr(theirs, name)[place], equal_nan=True)
            for name in _SPECIFICATION
        ):
            return twin
    return None


def _add_sums(mine: WrittenArrays, place: int, theirs: WrittenArrays, other: int) -> None:
    """Add the sums of rule `other` of `theirs` to those of the rule in a `place` of `mine`."""
    for name in ("rows", "positives", "gain", "squares"):
        getattr(mine, name)[place] += getattr(theirs, name)[other]
    kept = np.minimum(1.0, MOST_ROWS / np.maximum(mine.rows[place], 1e-300))
    mine.rows[place] *= kept
    mine.positives[place] *= kept
