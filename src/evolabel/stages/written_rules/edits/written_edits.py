"""Edits of written rules: a rule is put into the list, rewritten, or moved. `edits.rule_edits` has the rest."""

from typing import TYPE_CHECKING

import numpy as np

from evolabel.core.events import give_name
from evolabel.errors import DataError
from evolabel.stages.rules.arrays import NEXT_IDENTITY
from evolabel.stages.written_rules.arrays import WrittenArrays, allocate_written
from evolabel.stages.written_rules.edits.expert_rules import RuleSpec
from evolabel.stages.written_rules.edits.undo import recorded

if TYPE_CHECKING:
    from evolabel.model.pipeline import StreamModel


def add_written(model: "StreamModel", spec: RuleSpec, text: str, name: str, *, in_front_of: int | None = None) -> int:
    """Put a rule of `spec`, in raw units, behind the other written rules of `model`, and return its number.

    `text` is the rule as written, `name` its name or "". `in_front_of` is the threshold rule that was edited, if any.
    """
    with recorded(model) as base:
        number = int(base.arrays.counters[NEXT_IDENTITY])
        base.arrays.counters[NEXT_IDENTITY] += 1
        model.written.insert(len(model.written), _entry(number, spec))
        base.rule_names.written[number] = text
        give_name(base.rule_names, number, name)
        base.log("added", number, in_front_of, text)
    return number


def rewrite(model: "StreamModel", place: int, spec: RuleSpec, text: str, name: str) -> None:
    """Replace the written rule in `place` of `model` by `spec`, in raw units; it keeps number, place and lock.

    What it has learned is dropped. `text` is the rule as written, `name` its new name or "".
    """
    with recorded(model) as base:
        written = model.written
        number, locked = int(written.arrays.number[place]), written.is_locked(place)
        written.take([i for i in range(len(written)) if i != place])
        written.insert(place, _entry(number, spec))
        if locked:
            written.lock(place, locked=True)
        base.rule_names.written[number] = text
        if name:
            give_name(base.rule_names, number, name)
        base.log("edited", number, None, text)


def move_rule(model: "StreamModel", rule: int, place: int) -> None:
    """Move the written `rule` of `model` to a `place` in the list, counted from 1."""
    written = model.written
    now = written.place_of(rule)
    if now is None:
        raise DataError(f"rule {rule} has no place in a list; only rules that were written with add can be moved")
    if isinstance(place, bool) or not isinstance(place, int | np.integer) or not 1 <= place <= len(written):
        raise DataError(f"there is no place {place!r}; the written rules have places from 1 to {len(written)}")
    with recorded(model) as base:
        order = [i for i in range(len(written)) if i != now]
        order.insert(int(place) - 1, now)
        written.take(order)
        base.log("moved", rule, None, f"place {place}")


def _entry(number: int, spec: RuleSpec) -> WrittenArrays:
    """Return the rule of `spec` with this `number`, as a list of one."""
    entry = allocate_written(1, len(spec.low), len(spec.shares))
    entry.number[0], entry.prior[0] = number, spec.weight * spec.confidence
    entry.low[0], entry.high[0], entry.shares[0] = spec.low, spec.high, spec.shares
    return entry
