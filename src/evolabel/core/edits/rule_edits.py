"""What a person can do to the rules: add, edit, rename, lock, unlock, merge and delete them.

Every act happens as a whole or not at all, is logged as an event, and can be undone (`core.undo`). A locked rule learns
nothing, is never merged or removed by learning, and answers with the weights it was locked with: in closed form they
would follow the global model, so they are kept.
"""

from typing import TYPE_CHECKING

from evolabel.core.edits.expert_rules import Claim, write_rule
from evolabel.core.edits.undo import recorded
from evolabel.core.rules.allocation import fit_weights
from evolabel.core.rules.slots import slot_of
from evolabel.errors import DataError, StateError
from evolabel.kernels.state import NEXT_IDENTITY, RULES, SEEN

if TYPE_CHECKING:
    from evolabel.core.rules.rule_base import RuleBase


def add_rule(base: "RuleBase", claim: Claim, written: str, name: str) -> int:
    """A new rule from a claim; returns its identity. A full rule base first merges its closest pair."""
    with recorded(base):
        base.shrink_to(base.settings.max_rules - 1)
        base.reserve(base.n_rules + 1)
        a, slot = base.arrays, base.n_rules + 1
        write_rule(slot, claim, base)
        identity = int(a.tally[NEXT_IDENTITY])
        a.identity[slot], a.born[slot], a.won[slot] = identity, a.tally[SEEN], a.tally[SEEN]
        a.tally[NEXT_IDENTITY] += 1
        a.tally[RULES] = slot
        base.words.written[identity] = written
        _give_name(base, identity, name)
        base.log("added", identity, None, written)
    return identity


def edit_rule(base: "RuleBase", rule: int, claim: Claim, written: str, name: str) -> None:
    """The rule becomes what the claim says, and keeps identity, age and lock; what it has learned is let go."""
    slot = place_of(base, rule)
    with recorded(base):
        a = base.arrays
        kept = {field: getattr(a, field)[slot] for field in ("identity", "born", "won", "locked")}
        write_rule(slot, claim, base)
        if kept["locked"]:
            a.W[slot] = base.weights(slot).T
        for field, value in kept.items():
            getattr(a, field)[slot] = value
        base.words.written[rule] = written
        if name:
            _give_name(base, rule, name)
        base.log("edited", rule, None, written)


def rename_rule(base: "RuleBase", rule: int, name: str) -> None:
    """Give a rule a name; an empty one takes the name away."""
    place_of(base, rule)
    with recorded(base):
        base.words.names.pop(rule, None)
        _give_name(base, rule, name)
        base.log("renamed", rule, None, name)


def lock_rule(base: "RuleBase", rule: int) -> None:
    """From now on learning does not touch the rule."""
    slot = place_of(base, rule)
    if base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is locked already")
    with recorded(base):
        weights = base.weights(slot).T
        base.arrays.locked[slot] = 1
        base.arrays = fit_weights(base.arrays, base.settings)
        base.arrays.W[slot] = weights
        base.arrays.compared[slot] = base.arrays.k[slot]
        base.log("locked", rule, None)


def unlock_rule(base: "RuleBase", rule: int) -> None:
    """The rule learns again, from the statistics it was locked with; its ridge pulls to today's global model."""
    slot = place_of(base, rule)
    if not base.arrays.locked[slot]:
        raise StateError(f"rule {rule} is not locked")
    with recorded(base):
        a = base.arrays
        a.locked[slot] = 0
        a.won[slot] = a.tally[SEEN]  # it could not win while it was locked
        if not base.settings.iterated:
            a.W[slot] = 0.0
        base.arrays = fit_weights(a, base.settings)
        base.log("unlocked", rule, None)


def merge_rules(base: "RuleBase", first: int, second: int) -> int:
    """Unite two rules; the better supported one keeps its identity, which is returned."""
    if first == second:
        raise DataError(f"rule {first} cannot be merged with itself; name two rules")
    for rule in (first, second):
        if base.arrays.locked[place_of(base, rule)]:
            raise StateError(f"rule {rule} is locked; unlock it before it is merged")
    with recorded(base):
        return base.unite(place_of(base, first), place_of(base, second), "merged by hand")


def delete_rule(base: "RuleBase", rule: int) -> None:
    """Remove a rule, locked or not; what the global model has learned from its samples stays."""
    slot = place_of(base, rule)
    if base.n_rules == 1:
        raise StateError(f"rule {rule} is the only rule; a model needs at least one")
    with recorded(base):
        base.remove(slot, "deleted")
        base.arrays = fit_weights(base.arrays, base.settings)


def place_of(base: "RuleBase", rule: int) -> int:
    """The slot of a rule; DataError if there is none of this identity."""
    identities = base.arrays.identity[1 : base.n_rules + 1]
    if rule not in identities:
        known = ", ".join(str(identity) for identity in sorted(identities))
        raise DataError(f"there is no rule {rule}; the rules are {known}")
    return slot_of(rule, base.arrays)


def _give_name(base: "RuleBase", rule: int, name: str) -> None:
    if not name:
        return
    if not isinstance(name, str) or name.isdecimal():
        raise DataError(f"{name!r} cannot be a name, as rules are called by number, too; use text that is no number")
    for other, taken in base.words.names.items():
        if taken == name and other != rule:
            raise DataError(f"rule {other} is called {name!r} already; choose another name")
    base.words.names[rule] = name
