"""The journal of a model: an entry per edit of its rules, with what takes it back.

As long as nothing was learned since, the last entry restores the exact bits (`undo`); what samples have added to a rule
cannot be separated from it. A lock, an unlock, a name and the rewriting of a written rule can be taken back later as
well (`rule_edits.take_back`): the rule gets its former contents, and what all else has learned since stays.
"""

import base64
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evolabel.core.events import Event, RuleNames
from evolabel.errors import DataError, StateError
from evolabel.stages.drift.part import DriftModel
from evolabel.stages.rules.arrays import RULES
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.threshold_rules.read_trees import TreeModel
from evolabel.stages.written_rules.arrays import WrittenArrays
from evolabel.stages.written_rules.stage import WrittenRules
from evolabel.typing import Arrays, FloatArray, IntArray

ENTRIES_KEPT = 16  # edits that can be undone, one after the other
LASTING = ("locked", "unlocked", "renamed", "edited")
"""Kinds of edits that can be taken back after more was learned; the others have changed what other rules learn."""


@dataclass(frozen=True)
class Former:
    """What an edit has changed, as it was before: the exact bits.

    `rows` has the former contents of `slots`, by array; `counters` and `rule_names` are whole. The edit appended
    `appended` events, and pushed out `dropped`. `after` are the counters after the edit, which differ once something
    was learned. `written` are the former written rules, None if the edit has left them as they were.
    """

    slots: IntArray
    rows: dict[str, FloatArray | IntArray]
    counters: IntArray
    after: IntArray
    rule_names: RuleNames
    appended: int
    dropped: list[Event]
    written: WrittenArrays | None = None

    def is_last(self, base: RuleBase) -> bool:
        """Return whether nothing has happened to `base` since the edit."""
        same_labels = self.rows["G"].shape[1:] == base.arrays.G.shape[1:]
        return same_labels and np.array_equal(self.after, base.arrays.counters)


@dataclass(frozen=True)
class EditEntry:
    """One edit of a `rule`, and what takes it back.

    `kind` is that of its event. `name` and `text` are the former name and the former text of the rule, "" for none.
    `contents` are the former arrays of a written rule that was edited, by name. `former` restores the exact bits; an
    entry that was read from JSON has none.
    """

    kind: str
    rule: int
    name: str = ""
    text: str = ""
    contents: Arrays = field(default_factory=dict)
    former: Former | None = None

    @classmethod
    def of(cls, event: Event, former: Former) -> "EditEntry":
        """Return the entry of the edit that has logged `event` and changed what `former` holds."""
        assert event.rule is not None
        rule, names, contents = event.rule, former.rule_names, {}
        if event.kind == "edited" and former.written is not None:
            place = int(np.flatnonzero(former.written.number == rule)[0])
            contents = {name: array[place : place + 1].copy() for name, array in former.written._asdict().items()}
        return cls(event.kind, rule, names.names.get(rule, ""), names.texts.get(rule, ""), contents, former)

    @property
    def is_lasting(self) -> bool:
        """Whether the edit can be taken back after more was learned."""
        return self.kind in LASTING

    @property
    def size(self) -> int:
        """Bytes of the contents."""
        return sum(array.nbytes for array in self.contents.values())

    def to_dict(self) -> dict[str, Any]:
        """Return as values that JSON can hold what takes the edit back after more was learned."""
        contents = {name: _to_json(array) for name, array in self.contents.items()}
        return {"kind": self.kind, "rule": self.rule, "name": self.name, "text": self.text, "contents": contents}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "EditEntry":
        """Return the entry of which `to_dict` has returned `facts`; DataError if they are something else."""
        try:
            contents = {str(name): _from_json(stored) for name, stored in facts["contents"].items()}
            entry = cls(facts["kind"], facts["rule"], facts["name"], facts["text"], contents)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"this is no entry of a journal ({error!r}); pass what EditEntry.to_dict has returned"
            ) from None
        if not entry.is_lasting or not isinstance(entry.rule, int):
            raise DataError(
                f"an entry of the kind {entry.kind!r} about rule {entry.rule!r} cannot be taken back; pass what "
                "EditEntry.to_dict has returned of a lock, an unlock, a name or an edit"
            )
        return entry


class EditedModel(DriftModel, TreeModel, Protocol):
    """What edits need of a model: its rules of all kinds, and the journal that undoes them."""

    written: WrittenRules
    journal: deque[EditEntry]


@contextmanager
def recorded(model: EditedModel) -> Iterator[RuleBase]:
    """Yield the rule base of `model` to an edit that happens as a whole, and gets an entry, or not at all."""
    base, entries = model.trained(), current_entries(model)
    before = base.contents.copied()
    rule_names, events, written = base.rule_names.copy(), base.events, model.written.arrays
    base.events = deque()
    try:
        yield base
    except BaseException:
        base.contents.take_arrays(before)
        base.rule_names, base.events, model.written.arrays = rule_names, events, written
        raise
    base.events, new = events, base.events
    slots = _differing(before.rules, base)
    former = Former(
        slots=slots,
        rows={name: array[slots] for name, array in before.rules.by_slot.items()},
        counters=before.rules.arrays.counters,
        after=base.arrays.counters.copy(),
        rule_names=rule_names,
        appended=len(new),
        dropped=list(events)[: max(0, len(events) + len(new) - (events.maxlen or 0))],
        written=None if model.written.arrays is written else written,
    )
    model.journal = deque([*entries, EditEntry.of(new[-1], former)], maxlen=ENTRIES_KEPT)
    events.extend(new)


def current_entries(model: EditedModel) -> list[EditEntry]:
    """Return the entries of `model` that can be undone, oldest first; none once something was learned."""
    former = model.journal[-1].former if model.journal else None
    return list(model.journal) if former is not None and former.is_last(model.trained()) else []


def undo(model: EditedModel) -> Event:
    """Take back the last edit of `model`, bit for bit, and return its event."""
    if not model.journal:
        raise StateError("there is no edit to undo; only edits since samples were last learned are kept")
    base, former = model.trained(), model.journal[-1].former
    assert former is not None
    if not former.is_last(base):
        raise StateError(
            "the model has learned since the last edit, or was merged with another, which cannot be separated; "
            "edit, unlock, rename or delete the rule instead"
        )
    undone = base.events[-1]
    for _ in range(former.appended):
        base.events.pop()
    base.events.extendleft(reversed(former.dropped))
    base.reserve(int(former.counters[RULES]))
    base.arrays.counters[:] = former.counters
    base.contents.set_slots(former.slots, former.rows)
    base.rule_names = former.rule_names
    if former.written is not None:
        model.written.arrays = former.written
    model.journal.pop()
    return undone


def _differing(before: RuleState, after: RuleState) -> IntArray:
    """Return slots whose bits differ, or that were given up. W may come or go; it differs only where a lock does."""
    pairs = [(array, after.by_slot[name]) for name, array in before.by_slot.items()]
    alike = [(old, new) for old, new in pairs if old.shape[1:] == new.shape[1:]]
    given_up = range(after.n_rules + 1, before.n_rules + 1)
    slots = [
        slot
        for slot in range(len(before.arrays.c))
        if slot in given_up or any(old[slot].tobytes() != new[slot].tobytes() for old, new in alike)
    ]
    return np.array(slots, np.int64)


def _to_json(array: FloatArray | IntArray) -> dict[str, Any]:
    """Return `array` as JSON holds it."""
    kind = "i" if array.dtype.kind == "i" else "f"
    data = np.ascontiguousarray(array).astype(f"<{kind}8")
    return {"kind": kind, "shape": list(array.shape), "data": base64.b64encode(data.tobytes()).decode()}


def _from_json(stored: Mapping[str, Any]) -> FloatArray | IntArray:
    """Return the array that `_to_json` has returned as `stored`."""
    data, shape = base64.b64decode(stored["data"], validate=True), stored["shape"]
    if stored["kind"] == "i":
        return np.frombuffer(data, "<i8").reshape(shape).astype(np.int64)
    return np.frombuffer(data, "<f8").reshape(shape).astype(np.float64)
