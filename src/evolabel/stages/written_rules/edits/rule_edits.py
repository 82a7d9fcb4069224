"""Edits of rules by a person: add, edit, move, rename, lock, unlock, merge and delete.

A person writes rules of the ordered list alone; rules that were learned can be renamed, locked, merged and deleted.
Every edit happens as a whole or not at all, is logged as an event, and can be undone (`edits.journal`). A locked
learned rule learns nothing, is never merged or removed by learning, and answers with the weights it was locked with: in
closed form they would follow the global model, so they are kept.
"""

import numpy as np

from evolabel.core.events import Event, give_name
from evolabel.errors import DataError, StateError
from evolabel.stages.rules.slots import slot_of
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.written_rules.arrays import WrittenArrays, allocate_written
from evolabel.stages.written_rules.edits.journal import EditedModel, EditEntry, recorded
from evolabel.stages.written_rules.specification import RuleSpec


def add_rule(model: EditedModel, spec: RuleSpec, text: str, name: str, *, in_front_of: int | None = None) -> int:
    """Put a rule of `spec`, in raw units, behind the other written rules of `model`, and return its number.

    `text` is the rule as written, `name` its name or "". `in_front_of` is the rule that was edited, if any, which may
    give up this name.
    """
    with recorded(model) as base:
        number = base.new_number()
        model.written.insert(len(model.written), _row_of(number, spec))
        base.rule_names.texts[number] = text
        if in_front_of is not None and base.rule_names.names.get(in_front_of) == name:
            del base.rule_names.names[in_front_of]
        give_name(base.rule_names, number, name)
        base.log("added", number, in_front_of, text)
    return number


def edit_rule(model: EditedModel, rule: int, spec: RuleSpec, text: str, name: str) -> int:
    """Replace a `rule` of `model` by `spec`, in raw units, and return the number of the rule that has it now.

    A written rule keeps number, place and lock; what it has learned is dropped. Other rules follow the data: they stay,
    and `spec` is added as a written rule. `text` is the rule as written, `name` its new name or "".
    """
    place = model.written.place_of(rule)
    if place is None:
        check_rule(model, rule)
        return add_rule(model, spec, text, name, in_front_of=rule)
    with recorded(model) as base:
        written = model.written
        locked = written.is_locked(place)
        written.replace(place, _row_of(rule, spec))
        if locked:
            written.lock(place, locked=True)
        base.rule_names.texts[rule] = text
        if name:
            give_name(base.rule_names, rule, name)
        base.log("edited", rule, None, text)
    return rule


def move_rule(model: EditedModel, rule: int, place: int) -> None:
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


def rename_rule(model: EditedModel, rule: int, name: str) -> None:
    """Set the `name` of a `rule` of `model`; "" removes it."""
    base = model.trained()
    if model.written.place_of(rule) is None:
        region_of(model, rule)
    with recorded(model):
        base.rule_names.names.pop(rule, None)
        give_name(base.rule_names, rule, name)
        base.log("renamed", rule, None, name)


def lock_rule(model: EditedModel, rule: int) -> None:
    """Lock a `rule` of `model`: learning does not change it any more."""
    if _set_lock(model, rule, locked=True):
        return
    base = model.trained()
    slot = region_of(model, rule)
    if base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is locked already")
    with recorded(model):
        base.contents.lock(slot, model.drift.weights(slot).T)
        base.log("locked", rule, None)


def unlock_rule(model: EditedModel, rule: int) -> None:
    """Unlock a `rule` of `model`.

    It learns from the statistics it was locked with; its ridge pulls towards the global model of now. A written rule
    has counted its rows, and follows them again.
    """
    if _set_lock(model, rule, locked=False):
        return
    base = model.trained()
    slot = region_of(model, rule)
    if not base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is not locked")
    with recorded(model):
        model.drift.resume_fading(slot)
        base.contents.unlock(slot)
        base.log("unlocked", rule, None)


def merge_rules(model: EditedModel, first: int, second: int) -> int:
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
        return base.merge_rules(slot_of_rule(base, first), slot_of_rule(base, second), "merged by hand")


def delete_rule(model: EditedModel, rule: int) -> None:
    """Remove a `rule` of `model`, locked or not; what the global model has learned from its samples stays."""
    base, place = model.trained(), model.written.place_of(rule)
    if place is not None:
        with recorded(model):
            model.written.remove(place)
            base.rule_names.remove(rule)
            base.log("deleted", rule, None)
        return
    slot = region_of(model, rule)
    if base.n_rules == 1:
        raise StateError(f"rule {rule} is the only rule; a model needs at least one")
    with recorded(model):
        base.remove(slot, "deleted")
        base.contents.fit_weights()


def take_back(model: EditedModel, entry: EditEntry) -> Event:
    """Take back the edit of `entry` in `model`, whatever was learned since, and return the event of that.

    An edited rule has its former contents, text and name again, and keeps its place and its lock; an unlocked one is
    locked with what it answers now.
    """
    rule = entry.rule
    if not entry.is_lasting:
        raise StateError(
            f"rule {rule} was {entry.kind}, and the others have learned without it from then on; call undo() before "
            "the next sample"
        )
    if entry.kind == "locked":
        unlock_rule(model, rule)
    elif entry.kind == "unlocked":
        lock_rule(model, rule)
    elif entry.kind == "renamed":
        rename_rule(model, rule, entry.name)
    else:
        _restore(model, entry)
    return model.trained().events[-1]


def _restore(model: EditedModel, entry: EditEntry) -> None:
    """Give the written rule of `entry` its former contents, text and name."""
    written, rule = model.written, entry.rule
    place = written.place_of(rule)
    if place is None:
        check_rule(model, rule)
        raise DataError(f"rule {rule} is no written rule, so it was never edited; pass an entry of this model")
    contents = _fitted(entry, written.arrays)
    with recorded(model) as base:
        is_locked, was_locked = written.is_locked(place), bool((~np.isnan(contents.held)).any())
        written.replace(place, contents)
        if is_locked != was_locked:
            written.lock(place, locked=is_locked)
        names = base.rule_names
        names.names.pop(rule, None)
        give_name(names, rule, entry.name)
        names.texts[rule] = entry.text
        base.log("edited", rule, None, entry.text)


def _fitted(entry: EditEntry, now: WrittenArrays) -> WrittenArrays:
    """Return the contents of `entry` with the widths of `now`; it mentions no label that came since.

    StateError if features came or went.
    """
    fitted = allocate_written(1, now.low.shape[1], now.shares.shape[1])
    for name, array in fitted._asdict().items():
        former = entry.contents.get(name)
        if former is None or former.ndim != array.ndim:
            raise DataError(f"the entry has no array {name} that fits; pass what EditEntry.to_dict has returned")
        widths = zip(former.shape, array.shape, strict=True)
        if any(was > now if name not in ("low", "high") else was != now for was, now in widths):
            raise StateError(
                f"the features of the model have changed since rule {entry.rule} was edited; edit it again"
            )
        array[tuple(slice(0, size) for size in former.shape)] = former
    return fitted


def check_rule(model: EditedModel, rule: int) -> None:
    """Raise DataError, with the numbers of all rules of `model`, unless `rule` is one of them."""
    base, written, trees = model.trained(), model.written.arrays.number.tolist(), model.trees
    regions = sorted(base.arrays.identity[1 : base.n_rules + 1].tolist())
    found = [] if trees is None else sorted(set(trees.arrays.number[trees.arrays.number >= 0].tolist()))
    if rule in (*regions, *written, *found):
        return
    kinds = (("regions are", regions), ("written rules", written), ("threshold rules", found))
    known = [f"the {kind} {', '.join(map(str, numbers))}" for kind, numbers in kinds if numbers]
    raise DataError(f"there is no rule {rule}; {', '.join(known)}")


def is_threshold_rule(model: EditedModel, rule: int) -> bool:
    """Return whether `rule` is the number of a threshold rule of `model`."""
    return model.trees is not None and rule >= 0 and bool((model.trees.arrays.number == rule).any())


def region_of(model: EditedModel, rule: int) -> int:
    """Return the slot of `rule` of `model`; DataError if it is a threshold rule, or if there is no such rule."""
    if is_threshold_rule(model, rule):
        raise DataError(f"rule {rule} is a threshold rule, which follows the data; edit it to write a rule instead")
    return slot_of_rule(model.trained(), rule)


def _set_lock(model: EditedModel, rule: int, *, locked: bool) -> bool:
    """Lock or unlock `rule` if it is a written rule of `model`; return whether it is one."""
    place = model.written.place_of(rule)
    if place is None:
        return False
    if model.written.is_locked(place) == locked:
        raise StateError(f"rule {rule} is {'locked already' if locked else 'not locked'}")
    with recorded(model) as base:
        model.written.lock(place, locked=locked)
        base.log("locked" if locked else "unlocked", rule, None)
    return True


def slot_of_rule(base: RuleBase, rule: int) -> int:
    """Return the slot of `rule` in `base`; DataError if there is none of this identity."""
    identities = base.arrays.identity[1 : base.n_rules + 1]
    if rule not in identities:
        known = ", ".join(str(identity) for identity in sorted(identities))
        raise DataError(f"there is no rule {rule}; the rules are {known}")
    return slot_of(rule, base.arrays)


def _row_of(number: int, spec: RuleSpec) -> WrittenArrays:
    """Return the rule of `spec` with this `number`, as a list of one."""
    row = allocate_written(1, len(spec.low), len(spec.shares))
    row.number[0], row.prior[0] = number, spec.weight * spec.confidence
    row.low[0], row.high[0], row.shares[0] = spec.low, spec.high, spec.shares
    return row
