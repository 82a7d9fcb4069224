"""The way back from an act: what it has changed, as it was before, and nothing else.

An act can be undone as long as nothing was learned since: what samples taught a rule cannot be told apart from it.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evolabel.core.rules.allocation import fit_weights
from evolabel.core.rules.events import Event
from evolabel.core.rules.slots import PER_SLOT
from evolabel.core.rules.words import Words
from evolabel.errors import StateError
from evolabel.kernels.state import RULES, RuleArrays
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.core.rules.rule_base import RuleBase

CHANGES_KEPT = 16  # acts that can be undone, one after the other


@dataclass(frozen=True)
class Change:
    """What an act has changed.

    `rows` has the former contents of `slots`, by array; `tally` and `words` are whole. The act has appended `appended`
    events, and pushed out `dropped`. `capacity` is the former room for slots, 0 if it does not matter. `after` is the
    tally the act has left, by which one sees whether something was learned since.
    """

    slots: IntArray
    rows: dict[str, FloatArray | IntArray]
    tally: IntArray
    after: IntArray
    words: Words
    appended: int
    dropped: list[Event]
    capacity: int = 0

    def is_last(self, base: "RuleBase") -> bool:
        """Has nothing happened since the act?"""
        same_labels = self.rows["G"].shape[1:] == base.arrays.G.shape[1:]
        return same_labels and np.array_equal(self.after, base.arrays.tally)


@contextmanager
def recorded(base: "RuleBase") -> Iterator[None]:
    """An act happens inside: all of it, and then it can be undone, or nothing at all."""
    before = base.arrays._replace(**{name: array.copy() for name, array in base.arrays._asdict().items()})
    words, events = base.words.copy(), base.events
    base.events = deque()
    try:
        yield
    except BaseException:
        base.arrays, base.words, base.events = before, words, events
        raise
    base.events, new = events, base.events
    if base.changes and not np.array_equal(base.changes[-1].after, before.tally):
        base.changes.clear()
    slots = _differing(before, base.arrays)
    base.changes.append(
        Change(
            slots=slots,
            rows={name: getattr(before, name)[slots] for name in PER_SLOT},
            tally=before.tally,
            after=base.arrays.tally.copy(),
            words=words,
            appended=len(new),
            dropped=list(events)[: max(0, len(events) + len(new) - (events.maxlen or 0))],
            capacity=len(before.c),
        )
    )
    events.extend(new)


def undo(base: "RuleBase") -> Event:
    """Take back the last act, bit for bit, and return its event."""
    if not base.changes:
        raise StateError("there is no act to undo; only acts since samples were last learned are kept")
    change = base.changes[-1]
    if not change.is_last(base):
        raise StateError(
            "the model has learned since the last act, and the two cannot be told apart; "
            "edit, unlock, rename or delete the rule instead"
        )
    undone = base.events[-1]
    for _ in range(change.appended):
        base.events.pop()
    base.events.extendleft(reversed(change.dropped))
    base.reserve(int(change.tally[RULES]))
    arrays = base.arrays
    if 0 < change.capacity < len(arrays.c):
        small = {name: getattr(arrays, name)[: change.capacity].copy() for name in PER_SLOT}
        arrays = arrays._replace(**small)
    arrays.tally[:] = change.tally
    for name in PER_SLOT:
        if name != "W":
            getattr(arrays, name)[change.slots] = change.rows[name]
    arrays = fit_weights(arrays, base.settings)
    if arrays.W.shape[1:] == change.rows["W"].shape[1:]:
        arrays.W[change.slots] = change.rows["W"]
    base.arrays, base.words = arrays, change.words
    base.changes.pop()
    return undone


def in_use(change: Change) -> Change:
    """The change without slots that were empty before: what a file has to keep."""
    used = change.slots <= change.tally[RULES]
    rows = {name: array[used] for name, array in change.rows.items()}
    return Change(change.slots[used], rows, change.tally, change.after, change.words, change.appended, change.dropped)


def _differing(before: RuleArrays, after: RuleArrays) -> IntArray:
    """Slots whose bits differ, or that were given up. W may have come or gone; it differs only where a lock does."""
    names = [name for name in PER_SLOT if getattr(before, name).shape[1:] == getattr(after, name).shape[1:]]
    given_up = range(int(after.tally[RULES]) + 1, int(before.tally[RULES]) + 1)
    slots = [
        slot
        for slot in range(len(before.c))
        if slot in given_up
        or any(getattr(before, name)[slot].tobytes() != getattr(after, name)[slot].tobytes() for name in names)
    ]
    return np.array(slots, np.int64)
