"""Inverse edits: an edit of a rule is taken back at any time, also after the model has learned.

What the rest of the model has learned since stays. The inverse of a lock is to unlock, the inverse of a new name is the
former one, and an edited rule gets its former contents back, with all that it had learned. A rule that was added,
merged or deleted has changed what the others learn, so these edits have no inverse; `edits.undo` takes them back
at once.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel.core.events import Event, give_name
from evolabel.errors import DataError, StateError
from evolabel.stages.written_rules.arrays import WrittenArrays, allocate_written
from evolabel.stages.written_rules.edits.rule_edits import check_rule, lock_rule, rename_rule, unlock_rule
from evolabel.stages.written_rules.edits.undo import Change, recorded
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.model.stream_model import StreamModel

INVERTIBLE = ("locked", "unlocked", "renamed", "edited")


@dataclass(frozen=True)
class InverseEdit:
    """What takes back one edit of a `rule`.

    `kind` is the kind of the edit, one of `INVERTIBLE`. `name` and `text` are the former name and the former text of
    the rule, "" for none. `contents` are the former arrays of a rule that was edited, by name.
    """

    kind: str
    rule: int
    name: str = ""
    text: str = ""
    contents: dict[str, FloatArray | IntArray] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of the contents."""
        return sum(array.nbytes for array in self.contents.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the inverse as JSON can hold it."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "name": self.name,
            "text": self.text,
            "contents": {name: _packed(array) for name, array in self.contents.items()},
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "InverseEdit":
        """Return the inverse that `to_dict` has returned as `facts`; DataError if they are something else."""
        try:
            contents = {str(name): _unpacked(packed) for name, packed in facts["contents"].items()}
            made = cls(facts["kind"], facts["rule"], facts["name"], facts["text"], contents)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"this is no inverse of an edit ({error!r}); use what rulebook.inverse has returned"
            ) from None
        if made.kind not in INVERTIBLE or not isinstance(made.rule, int):
            raise DataError(f"this is no inverse of an edit, its kind is {made.kind!r}; use that of rulebook.inverse")
        return made


def inverse_of_last(model: "StreamModel") -> InverseEdit:
    """Return the inverse of the last edit of `model`; StateError if it has none, or if samples were learned since."""
    base, change = model.trained(), model.changes[-1] if model.changes else None
    if change is None or not change.is_last(base):
        raise StateError("there is no edit since samples were last learned; ask for the inverse right after the edit")
    event = base.events[-1]
    if event.kind not in INVERTIBLE or event.rule is None:
        raise StateError(
            f"a rule that was {event.kind} has no inverse, because the others learn without it from then on; "
            "call undo before the next sample"
        )
    rule, names = event.rule, change.rule_names
    contents = _contents(change, rule) if event.kind == "edited" else {}
    return InverseEdit(event.kind, rule, names.names.get(rule, ""), names.written.get(rule, ""), contents)


def take_back(model: "StreamModel", inverse: InverseEdit) -> Event:
    """Take back the edit of `inverse` in `model`, whatever was learned since, and return the event of that."""
    rule = inverse.rule
    if inverse.kind == "locked":
        unlock_rule(model, rule)
    elif inverse.kind == "unlocked":
        lock_rule(model, rule)
    elif inverse.kind == "renamed":
        rename_rule(model, rule, inverse.name)
    else:
        _restore_written(model, inverse)
    return model.trained().events[-1]


def _contents(change: Change, rule: int) -> dict[str, FloatArray | IntArray]:
    """Return the arrays of `rule` before `change`."""
    assert change.written is not None
    place = int(np.flatnonzero(change.written.number == rule)[0])
    return {name: array[place : place + 1].copy() for name, array in change.written._asdict().items()}


def _restore_written(model: "StreamModel", inverse: InverseEdit) -> None:
    """Give the written rule of `inverse` its former contents; it keeps its place and its lock."""
    written, rule = model.written, inverse.rule
    place = written.place_of(rule)
    if place is None:
        check_rule(model, rule)
        raise DataError(f"rule {rule} is no written rule; only their edits can be taken back")
    entry = allocate_written(1, *_widths(written.arrays))
    _fill(entry._asdict(), inverse, fixed=("low", "high"))
    with recorded(model) as base:
        is_locked, was_locked = written.is_locked(place), bool((~np.isnan(entry.held)).any())
        written.take([i for i in range(len(written)) if i != place])
        written.insert(place, entry)
        if is_locked != was_locked:
            written.lock(place, locked=is_locked)
        _restore_words(model, inverse)
        base.log("edited", rule, None, inverse.text or "as before the last edit")


def _restore_words(model: "StreamModel", inverse: InverseEdit) -> None:
    """Give the rule of `inverse` its former name and text."""
    words = model.trained().rule_names
    words.names.pop(inverse.rule, None)
    give_name(words, inverse.rule, inverse.name)
    words.written.pop(inverse.rule, None)
    if inverse.text:
        words.written[inverse.rule] = inverse.text


def _fill(arrays: Mapping[str, Any], inverse: InverseEdit, fixed: tuple[str, ...]) -> None:
    """Copy the contents of `inverse` to the first places of `arrays`; labels that came since stay empty.

    Those in `fixed` have no labels: StateError if their shapes differ, because features came or went.
    """
    for name, array in arrays.items():
        former = inverse.contents.get(name)
        if former is None or former.ndim != array.ndim:
            raise DataError(f"the inverse has no array {name} that fits; use what rulebook.inverse has returned")
        if any(was > now for was, now in zip(former.shape, array.shape, strict=True)) or (
            name in fixed and former.shape != array.shape
        ):
            raise StateError(
                f"the features of the model have changed since rule {inverse.rule} was edited; edit it again"
            )
        array[tuple(slice(0, size) for size in former.shape)] = former


def _widths(written: WrittenArrays) -> tuple[int, int]:
    """Return the numbers of features and of labels of `written`."""
    return written.low.shape[1], written.shares.shape[1]


def _packed(array: FloatArray | IntArray) -> dict[str, Any]:
    """Return `array` as JSON holds it."""
    kind = "i" if array.dtype.kind == "i" else "f"
    data = np.ascontiguousarray(array).astype(f"<{kind}8")
    return {"kind": kind, "shape": list(array.shape), "data": base64.b64encode(data.tobytes()).decode()}


def _unpacked(packed: Mapping[str, Any]) -> FloatArray | IntArray:
    """Return the array that `_packed` has returned as `packed`."""
    data, shape = base64.b64decode(packed["data"], validate=True), packed["shape"]
    if packed["kind"] == "i":
        return np.frombuffer(data, "<i8").reshape(shape).astype(np.int64)
    return np.frombuffer(data, "<f8").reshape(shape).astype(np.float64)
