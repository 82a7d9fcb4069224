"""Edits of rules by a person: add, edit, rename, lock, unlock, merge and delete.

A rule that a person adds is put into the list of written rules (`edits.written_edits`). In a model without
threshold rules one that mentions all labels is a region like the rules that were learned (`edits.expert_rules`).
Every edit happens as a whole or not at all, is logged as an event, and can be undone (`edits.undo`). A locked rule
learns nothing, is never merged or removed by learning, and answers with the weights it was locked with: in closed form
they would follow the global model, so they are kept.
"""

from collections import deque
from typing import TYPE_CHECKING

from evolabel.core.events import give_name
from evolabel.errors import DataError, StateError
from evolabel.stages.drift.adapting import take_unlocked, take_written
from evolabel.stages.rules.allocation import fit_weights
from evolabel.stages.rules.arrays import NEXT_IDENTITY, RULES, SEEN
from evolabel.stages.rules.slots import slot_of
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.written_rules.edits.expert_rules import RuleSpec, write_rule
from evolabel.stages.written_rules.edits.undo import recorded
from evolabel.stages.written_rules.edits.written_edits import add_written, rewrite

if TYPE_CHECKING:
    from evolabel.model.pipeline import StreamModel
    from evolabel.stages.protocols import Model


def add_region(model: "StreamModel", spec: RuleSpec, written: str, name: str) -> int:
    """Add a region to `model` from `spec`, and return its number; `written` is its text, `name` its name or "".

    A full rule base first merges its closest pair.
    """
    with recorded(model) as base:
        identity = int(base.arrays.counters[NEXT_IDENTITY])
        base.shrink_to(base.settings.max_rules - 1)
        base.events = deque(merge._replace(note=f"to make room for rule {identity}") for merge in base.events)
        base.reserve(base.n_rules + 1)
        a, slot = base.arrays, base.n_rules + 1
        write_rule(slot, spec, base)
        a.identity[slot], a.born[slot], a.last_won[slot] = identity, a.counters[SEEN], a.counters[SEEN]
        a.counters[NEXT_IDENTITY] += 1
        a.counters[RULES] = slot
        take_written(base, slot)
        base.rule_names.written[identity] = written
        give_name(base.rule_names, identity, name)
        base.log("added", identity, None, written)
    return identity


def edit_rule(model: "StreamModel", rule: int, spec: RuleSpec, written: str, name: str, *, region: bool = True) -> int:
    """Replace a `rule` of `model` by `spec`, and return its number; it keeps that, its age and its lock.

    What it has learned is dropped.

    `written` is the new text of the rule, `name` its new name or "". A threshold rule follows the data: it stays, and
    `spec` is added as a written rule, whose number is returned. So does a rule that was learned if `spec` is no
    `region`.
    """
    base, place = model.trained(), model.written.place_of(rule)
    if place is not None:
        rewrite(model, place, spec, written, name)
        return rule
    if is_threshold_rule(model, rule) or not region:
        return add_written(model, spec, written, name, in_front_of=rule)
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
            give_name(base.rule_names, rule, name)
        base.log("edited", rule, None, written)
    return rule


def rename_rule(model: "StreamModel", rule: int, name: str) -> None:
    """Set the `name` of a `rule` of `model`; "" removes it."""
    base = model.trained()
    if model.written.place_of(rule) is None:
        region_of(model, rule)
    with recorded(model):
        base.rule_names.names.pop(rule, None)
        give_name(base.rule_names, rule, name)
        base.log("renamed", rule, None, name)


def lock_rule(model: "StreamModel", rule: int) -> None:
    """Lock a `rule` of `model`: learning does not change it any more."""
    base = model.trained()
    place = model.written.place_of(rule)
    if place is not None:
        _set_lock(model, rule, place, locked=True)
        return
    slot = region_of(model, rule)
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

    It learns from the statistics it was locked with; its ridge pulls towards the global model of now. A written rule
    has counted its rows, and follows them again.
    """
    base = model.trained()
    place = model.written.place_of(rule)
    if place is not None:
        _set_lock(model, rule, place, locked=False)
        return
    slot = region_of(model, rule)
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
        if model.written.place_of(rule) is not None:
            raise DataError(f"rule {rule} is a written rule, which is never merged; edit one of both, delete the other")
        if base.arrays.locked[region_of(model, rule)]:
            raise StateError(f"rule {rule} is locked; unlock it before it is merged")
    with recorded(model):
        return base.merge(slot_of_rule(base, first), slot_of_rule(base, second), "merged by hand")


def delete_rule(model: "StreamModel", rule: int) -> None:
    """Remove a `rule` of `model`, locked or not; what the global model has learned from its samples stays."""
    base, place = model.trained(), model.written.place_of(rule)
    if place is not None:
        with recorded(model):
            model.written.take([i for i in range(len(model.written)) if i != place])
            base.rule_names.remove(rule)
            base.log("deleted", rule, None)
        return
    slot = region_of(model, rule)
    if base.n_rules == 1:
        raise StateError(f"rule {rule} is the only rule; a model needs at least one")
    with recorded(model):
        base.remove(slot, "deleted")
        base.arrays = fit_weights(base.arrays, base.settings)


def check_rule(model: "Model", rule: int) -> None:
    """Raise DataError, with the numbers of all rules of `model`, unless `rule` is one of them."""
    base, written, trees = model.trained(), model.written.arrays.number.tolist(), model.thresholds
    regions = sorted(base.arrays.identity[1 : base.n_rules + 1].tolist())
    found = [] if trees is None else sorted(set(trees.arrays.number[trees.arrays.number >= 0].tolist()))
    if rule in (*regions, *written, *found):
        return
    kinds = (("regions are", regions), ("written rules", written), ("threshold rules", found))
    known = [f"the {kind} {', '.join(map(str, numbers))}" for kind, numbers in kinds if numbers]
    raise DataError(f"there is no rule {rule}; {', '.join(known)}")


def is_threshold_rule(model: "Model", rule: int) -> bool:
    """Return whether `rule` is the number of a threshold rule of `model`."""
    return model.thresholds is not None and rule >= 0 and bool((model.thresholds.arrays.number == rule).any())


def is_region(model: "Model", rule: int) -> bool:
    """Return whether `rule` of `model` is neither a written rule nor a threshold rule."""
    return model.written.place_of(rule) is None and not is_threshold_rule(model, rule)


def region_of(model: "Model", rule: int) -> int:
    """Return the slot of `rule` of `model`; DataError if it is a threshold rule, or if there is no such rule."""
    if is_threshold_rule(model, rule):
        raise DataError(f"rule {rule} is a threshold rule, which follows the data; edit it to write a rule instead")
    return slot_of_rule(model.trained(), rule)


def _set_lock(model: "StreamModel", rule: int, place: int, *, locked: bool) -> None:
    """Lock or unlock the written `rule` in `place` of the list of `model`."""
    if model.written.is_locked(place) == locked:
        raise StateError(f"rule {rule} is {'locked already' if locked else 'not locked'}")
    with recorded(model) as base:
        model.written.lock(place, locked=locked)
        base.log("locked" if locked else "unlocked", rule, None)


def slot_of_rule(base: RuleBase, rule: int) -> int:
    """Return the slot of `rule` in `base`; DataError if there is none of this identity."""
    identities = base.arrays.identity[1 : base.n_rules + 1]
    if rule not in identities:
        known = ", ".join(str(identity) for identity in sorted(identities))
        raise DataError(f"there is no rule {rule}; the rules are {known}")
    return slot_of(rule, base.arrays)
