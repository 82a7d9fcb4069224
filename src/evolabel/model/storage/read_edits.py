"""The events of a stored model, the names of its rules, and the edits that can be undone, read and checked."""

import numpy as np

from evolabel.core.events import (
    EVENT_KINDS,
    MERGES,
    SHIFTS,
    STAGE_EVENT,
    THRESHOLD_CHANGES,
    WRITTEN_CHANGES,
    Event,
    RuleNames,
)
from evolabel.core.stored_checks import (
    MOST,
    StoredFacts,
    check_arrays,
    check_names,
    part_of,
    require,
    size_of,
    whole,
)
from evolabel.model.stream_model import StreamModel
from evolabel.stages.rules.arrays import NEXT_IDENTITY, RULES, SEEN, Settings
from evolabel.stages.rules.file_checks import RuleChecks, check_identities
from evolabel.stages.rules.stage import EVENTS_KEPT, RuleBase
from evolabel.stages.written_rules.arrays import WrittenArrays, read_written
from evolabel.stages.written_rules.edits.journal import ENTRIES_KEPT, EditEntry, Former
from evolabel.typing import Arrays, IntArray

CHANGE_ARRAYS = ("slots", "counters", "after")


def read_events(stored: StoredFacts, name: str, most: int) -> list[Event]:
    """Return the fact `name` of `stored`, at most `most` events; nothing is merged into a rule that was merged away."""
    events, gone = [], set()
    for entry in stored.listed(name, most):
        if not (isinstance(entry, list) and len(entry) == len(Event._fields)):
            raise stored.refuse(name, "events of eleven entries each")
        event = Event(*entry)
        if not _is_event(event):
            raise stored.refuse(
                name,
                "events: a sample, a kind, a rule, another rule or null, a note, and of a shift a label or a feature, "
                "its level before and after, deviations and rows",
            )
        if event.kind in MERGES:
            gone.add(event.other)
            if event.other is None or event.rule in gone:
                raise stored.refuse(name, "merges into rules that are there")
        events.append(event)
    return events


def _is_event(event: Event) -> bool:
    """Return whether the entries of `event` are of their types and in range."""
    optional = [number for number in (event.rule, event.other, event.label, event.feature) if number is not None]
    whole = all(type(number) is int and 0 <= number <= MOST for number in (event.sample, event.rows, *optional))
    levels = all(type(level) is float and np.isfinite(level) for level in (event.before, event.after, event.deviations))
    is_shift = event.kind in SHIFTS or event.kind == STAGE_EVENT
    has_label = is_shift or event.kind in THRESHOLD_CHANGES or event.kind in WRITTEN_CHANGES
    about = (event.rule is None) == is_shift and (has_label or event.label is event.feature is None)
    return whole and levels and about and event.kind in EVENT_KINDS and isinstance(event.note, str)


def read_rule_names(stored: StoredFacts) -> RuleNames:
    """Names and texts of rules; JSON has turned identities into text."""
    stored.only("names", "written")
    return RuleNames(stored.texts_by_number("names"), stored.texts_by_number("written"))


def rule_checks(model: StreamModel, settings: Settings) -> RuleChecks:
    """Return the checks of the stored rules of `model` with these `settings`."""
    return model.rule_kind.checks(model.options, model.n_features, model.n_labels, settings)


def read_edits(rules: RuleBase, arrays: Arrays, stored: StoredFacts, model: StreamModel) -> list[EditEntry]:
    """Return the edits that can be undone, oldest first; each has left what the next one found."""
    facts = stored.parts("changes", ENTRIES_KEPT)
    of_written = [f"written.{name}" for name in WrittenArrays._fields]
    names = [(*rules.by_slot, *CHANGE_ARRAYS, *(of_written if each.flag("written") else ())) for each in facts]
    check_names(arrays, [f"{i}.{name}" for i, each in enumerate(names) for name in each])
    changes = [_change(part_of(arrays, str(i)), each, model, rules) for i, each in enumerate(facts)]
    identity, counters = rules.arrays.identity.copy(), rules.arrays.counters
    for change in reversed(changes):
        require(np.array_equal(change.after, counters), "after", "the counters after the edit")
        counters = change.counters
        if len(identity) <= counters[RULES]:
            identity = np.pad(identity, (0, int(counters[RULES]) + 1 - len(identity)))
        identity[change.slots] = change.rows["identity"]
        check_identities(identity[1 : int(counters[RULES]) + 1], counters)
    if sum(change.appended for change in changes) > len(rules.events):
        raise stored.refuse("changes", "as many events as edits have appended")
    events, entries = list(rules.events), []
    for change in reversed(changes):
        entries.append(EditEntry.of(events[-1], change))
        del events[-change.appended :]
    return entries[::-1]


def _change(parts: Arrays, stored: StoredFacts, model: StreamModel, rules: RuleBase) -> Former:
    """Return an edit that can be undone."""
    slots, rows = parts["slots"], {name: parts[name] for name in rules.by_slot}
    check_arrays({name: parts[name] for name in ("counters", "after")}, {"counters": whole(3), "after": whole(3)})
    before, after = int(parts["counters"][RULES]), int(parts["after"][RULES])
    require(before <= model.options.max_rules, "counters", f"at most {model.options.max_rules} rules")
    require(parts["counters"][SEEN] == parts["after"][SEEN], "counters", "as many samples as after the edit")
    check_arrays({"slots": slots}, {"slots": whole(size_of(rows, "k"), high=before)})
    require(set(range(after + 1, before + 1)) <= set(slots.tolist()), "slots", "all slots that were given up")
    require(np.diff(slots) > 0, "slots", "rising numbers")
    seen = int(parts["counters"][SEEN])
    rule_checks(model, rules.settings).check_slots(rows, seen, first=slots == 0)
    appended = stored.whole("appended", 1, EVENTS_KEPT)
    written = None
    if stored.flag("written"):
        written = read_written(part_of(parts, "written"), model.n_features, model.n_labels)
        check_rule_numbers(model, written, parts["counters"])
    return Former(
        rows=rows,
        slots=slots,
        counters=parts["counters"],
        after=parts["after"],
        rule_names=read_rule_names(stored.part("rule_names")),
        appended=appended,
        dropped=read_events(stored, "dropped", appended),
        written=written,
    )


def check_rule_numbers(model: StreamModel, written: WrittenArrays, counters: IntArray) -> None:
    """Check the numbers of `written` rules of `model`, at a time when its rules had these `counters`, and of trees.

    No other rule has them, and they are below the next number.
    """
    taken, following = model.trained().arrays.identity[1 : model.trained().n_rules + 1], int(counters[NEXT_IDENTITY])
    if model.trees is not None:
        numbers = model.trees.arrays.number
        least = int(model.trained().arrays.counters[NEXT_IDENTITY])
        require(numbers < least, "thresholds.number", f"numbers below {least}")
        taken = np.append(taken, numbers)
    free = (written.number < following) & ~np.isin(written.number, taken)
    require(free, "written.number", "numbers that no other rule has")
