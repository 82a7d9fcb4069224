"""Undo of edits: the former contents of what an edit has changed.

An edit can be undone as long as nothing was learned since: what samples have added to a rule cannot be separated from
it.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evolabel.core.events import Event, RuleNames
from evolabel.errors import StateError
from evolabel.stages.rules.allocation import fit_weights
from evolabel.stages.rules.arrays import RULES, RuleArrays
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.written_rules.arrays import WrittenArrays
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.model.stream_model import StreamModel

CHANGES_KEPT = 16  # edits that can be undone, one after the other


@dataclass(frozen=True)
class Change:
    """What an edit has changed.

    `rows` has the former contents of `slots`, by array; `counters` and `rule_names` are whole. The edit appended
    `appended` events, and pushed out `dropped`. `capacity` is the former number of slots allocated, 0 if it does not
    matter. `after` are the counters after the edit, which differ once something was learned. `written` are the
    former written rules, None if the edit has left them as they were.
    """

    slots: IntArray
    rows: dict[str, FloatArray | IntArray]
    counters: IntArray
    after: IntArray
    rule_names: RuleNames
    appended: int
    dropped: list[Event]
    capacity: int = 0
    written: WrittenArrays | None = None

    def is_last(self, base: RuleBase) -> bool:
        """Whether nothing has happened to `base` since the edit."""
        same_labels = self.rows["G"].shape[1:] == base.arrays.G.shape[1:]
        return same_labels and np.array_equal(self.after, base.arrays.counters)


@contextmanager
def recorded(model: "StreamModel") -> Iterator[RuleBase]:
    """Yield the rule base of `model` to an edit that happens as a whole, and can then be undone, or not at all."""
    base = model.trained()
    before = base.arrays._replace(**{name: array.copy() for name, array in base.arrays._asdict().items()})
    rule_names, events, written = base.rule_names.copy(), base.events, model.written.arrays
    base.events = deque()
    try:
        yield base
    except BaseException:
        base.arrays, base.rule_names, base.events, model.written.arrays = before, rule_names, events, written
        raise
    base.events, new = events, base.events
    if model.changes and not np.array_equal(model.changes[-1].after, before.counters):
        model.changes.clear()
    slots = _differing(before, base.arrays)
    model.changes.append(
        Change(
            slots=slots,
            rows={name: getattr(before, name)[slots] for name in PER_SLOT},
            counters=before.counters,
            after=base.arrays.counters.copy(),
            rule_names=rule_names,
            appended=len(new),
            dropped=list(events)[: max(0, len(events) + len(new) - (events.maxlen or 0))],
            capacity=len(before.c),
            written=None if model.written.arrays is written else written,
        )
    )
    events.extend(new)


def undo(model: "StreamModel") -> Event:
    """Take back the last edit of `model`, bit for bit, and return its event."""
    if not model.changes:
        raise StateError("there is no edit to undo; only edits since samples were last learned are kept")
    base, change = model.trained(), model.changes[-1]
    if not change.is_last(base):
        raise StateError(
            "the model has learned since the last edit, or was merged with another, which cannot be separated; "
            "edit, unlock, rename or delete the rule instead"
        )
    undone = base.events[-1]
    for _ in range(change.appended):
        base.events.pop()
    base.events.extendleft(reversed(change.dropped))
    base.reserve(int(change.counters[RULES]))
    arrays = base.arrays
    if 0 < change.capacity < len(arrays.c):
        small = {name: getattr(arrays, name)[: change.capacity].copy() for name in PER_SLOT}
        arrays = arrays._replace(**small)
    arrays.counters[:] = change.counters
    for name in PER_SLOT:
        if name != "W":
            getattr(arrays, name)[change.slots] = change.rows[name]
    arrays = fit_weights(arrays, base.settings)
    if arrays.W.shape[1:] == change.rows["W"].shape[1:]:
        arrays.W[change.slots] = change.rows["W"]
    base.arrays, base.rule_names = arrays, change.rule_names
    if change.written is not None:
        model.written.arrays = change.written
    model.changes.pop()
    return undone


def in_use(change: Change) -> Change:
    """Return `change` without slots that were empty before: what a file has to keep."""
    used = change.slots <= change.counters[RULES]
    rows = {name: array[used] for name, array in change.rows.items()}
    return replace(change, slots=change.slots[used], rows=rows, capacity=0)


def _differing(before: RuleArrays, after: RuleArrays) -> IntArray:
    """Return slots whose bits differ, or that were given up. W may come or go; it differs only where a lock does."""
    names = [name for name in PER_SLOT if getattr(before, name).shape[1:] == getattr(after, name).shape[1:]]
    given_up = range(int(after.counters[RULES]) + 1, int(before.counters[RULES]) + 1)
    slots = [
        slot
        for slot in range(len(before.c))
        if slot in given_up
        or any(getattr(before, name)[slot].tobytes() != getattr(after, name)[slot].tobytes() for name in names)
    ]
    return np.array(slots, np.int64)
