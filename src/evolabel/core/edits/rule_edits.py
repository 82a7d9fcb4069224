"""Edits of rules by a person: add, edit, rename, lock, unlock, merge and delete.

Every edit happens as a whole or not at all, is logged as an event, and can be undone (`core.edits.undo`). A locked rule
learns nothing, is never merged or removed by learning, and answers with the weights it was locked with: in closed form
they would follow the global model, so they are kept.
"""

from typing import TYPE_CHECKING

from evolabel.core.edits.expert_rules import RuleSpec, write_rule
from evolabel.core.edits.undo import recorded
from evolabel.core.members.adapting import take_unlocked, take_written
from evolabel.core.rules.allocation import fit_weights
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.rules.slots import slot_of
from evolabel.errors import DataError, StateError
from evolabel.kernels.state import NEXT_IDENTITY, RULES, SEEN

if TYPE_CHECKING:
    from evolabel.core.model import StreamModel


def add_rule(model: "StreamModel", spec: RuleSpec, written: str, name: str) -> int:
    """Add a rule to `model` from `spec`, and return its identity; a full rule base first merges its closest pair.

    `written` is the text of the rule, `name` its name or "".
    """
    with recorded(model) as base:
        base.shrink_to(base.settings.max_rules - 1)
        base.reserve(base.n_rules + 1)
        a, slot = base.arrays, base.n_rules + 1
        write_rule(slot, spec, base)
        identity = int(a.counters[NEXT_IDENTITY])
        a.identity[slot], a.born[slot], a.last_won[slot] = identity, a.counters[SEEN], a.counters[SEEN]
        a.counters[NEXT_IDENTITY] += 1
        a.counters[RULES] = slot
        take_written(base, slot)
        base.rule_names.written[identity] = written
        _give_name(base, identity, name)
        base.log("added", identity, None, written)
    return identity


def edit_rule(model: "StreamModel", rule: int, spec: RuleSpec, written: str, name: str) -> None:
    """Replace a `rule` of `model` by `spec`; it keeps identity, age and lock, and loses what it has learned.

    `written` is the new text of the rule, `name` its new name or "".
    """
    base = model.trained()
    slot = slot_of_rule(base, rule)
    with recorded(model):
        a = base.arrays
        kept = {field: getattr(a, field)[slot] for field in ("identity", "born", "last_won", "locked")}
        write_rule(slot, spec, base)
        take_written(base, slot)
        if kept["locked"]:
            a.W[slot] = base.weights(slot).T
        for field, value in kept.items():
            getattr(a, field)[slot] = value
        base.rule_names.written[rule] = written
        if name:
            _give_name(base, rule, name)
        base.log("edited", rule, None, written)


def rename_rule(model: "StreamModel", rule: int, name: str) -> None:
    """Set the `name` of a `rule` of `model`; "" removes it."""
    base = model.trained()
    slot_of_rule(base, rule)
    with recorded(model):
        base.rule_names.names.pop(rule, None)
        _give_name(base, rule, name)
        base.log("renamed", rule, None, name)


def lock_rule(model: "StreamModel", rule: int) -> None:
    """Lock a `rule` of `model`: learning does not change it any more."""
    base = model.trained()
    slot = slot_of_rule(base, rule)
    if base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is locked already")
    with recorded(model):
        weights = base.weights(slot).T
        base.arrays.locked[slot] = 1
        base.arrays = fit_weights(base.arrays, base.settings)
        base.arrays.W[slot] = weights
        base.arrays.compared[slot] = base.arrays.k[slot]
        base.log("locked", rule, None)


def unlock_rule(model: "StreamModel", rule: int) -> None:
    """Unlock a `rule` of `model`.

    It learns from the statistics it was locked with; its ridge pulls towards the global model of now.
    """
    base = model.trained()
    slot = slot_of_rule(base, rule)
    if not base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is not locked")
    with recorded(model):
        a = base.arrays
        a.locked[slot] = 0
        a.last_won[slot] = a.counters[SEEN]  # it could not win while it was locked
        take_unlocked(base, slot)
        if not base.settings.iterated:
            a.W[slot] = 0.0
        base.arrays = fit_weights(a, base.settings)
        base.log("unlocked", rule, None)


def merge_rules(model: "StreamModel", first: int, second: int) -> int:
    """Merge the rules `first` and `second` of `model`, and return the identity kept, that of the better supported."""
    if first == second:
        raise DataError(f"rule {first} cannot be merged with itself; name two rules")
    base = model.trained()
    for rule in (first, second):
        if base.arrays.locked[slot_of_rule(base, rule)]:
            raise StateError(f"rule {rule} is locked; unlock it before it is merged")
    with recorded(model):
        return base.merge(slot_of_rule(base, first), slot_of_rule(base, second), "merged by hand")


def delete_rule(model: "StreamModel", rule: int) -> None:
    """Remove a `rule` of `model`, locked or not; what the global model has learned from its samples stays."""
    base = model.trained()
    slot = slot_of_rule(base, rule)
    if base.n_rules == 1:
        raise StateError(f"rule {rule} is the only rule; a model needs at least one")
    with recorded(model):
        base.remove(slot, "deleted")
        base.arrays = fit_weights(base.arrays, base.settings)


def slot_of_rule(base: RuleBase, rule: int) -> int:
    """Return the slot of `rule` in `base`; DataError if there is none of this identity."""
    identities = base.arrays.identity[1 : base.n_rules + 1]
    if rule not in identities:
        known = ", ".join(str(identity) for identity in sorted(identities))
        raise DataError(f"there is no rule {rule}; the rules are {known}")
    return slot_of(rule, base.arrays)


def _give_name(base: RuleBase, rule: int, name: str) -> None:
    if not name:
        return
    if not isinstance(name, str) or name.isdecimal():
        raise DataError(f"{name!r} cannot be a name, as rules are called by number, too; use text that is no number")
    for other, taken in base.rule_names.names.items():
        if taken == name and other != rule:
            raise DataError(f"rule {other} is called {name!r} already; choose another name")
    base.rule_names.names[rule] = name
