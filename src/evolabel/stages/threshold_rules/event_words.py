"""Events of threshold rules with the words of the rule."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from evolabel._utils.json_text import parse_json
from evolabel.core.events import THRESHOLD_CHANGES, Event
from evolabel.stages.threshold_rules.leaves import EVERYWHERE, Box, cut_side
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import ThresholdRule


def with_rule_words(events: Sequence[Event], trees: TreeReader | None, first: int = 0) -> list[Event]:
    """Return the `events` from the place `first` on, those of threshold rules with the words of the rule as their note.

    A rule that is gone has the words of its last earlier event; none where that is no longer among the events, or where
    there are no `trees`. The last correction of a sensor is named from the event on that reports it.
    """
    known: dict[int, str] = {}
    found = []
    corrected_at = {event.feature: i for i, event in enumerate(events) if event.kind == "sensor moved"}
    now, trees = trees, _without(trees, corrected_at)
    for i, event in enumerate(events):
        if corrected_at.get(event.feature) == i:
            del corrected_at[event.feature]
            trees = _without(now, corrected_at)
        if event.kind in THRESHOLD_CHANGES:
            rule = None if trees is None else noted_rule(event, trees)
            if rule is not None and event.rule is not None:
                known[event.rule] = rule.text
            if trees is not None and event.kind == "edge moved":
                event = _as_read(event, trees)
            event = event._replace(note=known.get(event.rule, "") if event.rule is not None else "")
        if i >= first:
            found.append(event)
    return found


def _as_read(event: Event, trees: TreeReader) -> Event:
    """Return the `event` of an edge that moved, its places in the units of the sensors that `trees` correct."""
    if not isinstance(event.feature, int) or event.feature >= len(trees.features):
        return event
    before, after = (trees.as_read(event.feature, place) for place in (event.before, event.after))
    return event._replace(before=before, after=after)


def _without(trees: TreeReader | None, features: Collection[object]) -> TreeReader | None:
    """Return `trees` that name no correction of these `features`, by number."""
    if trees is None or not features:
        return trees
    names = {name for j, name in enumerate(trees.features) if j in features}
    return replace(trees, corrections={name: how for name, how in trees.corrections.items() if name not in names})


def noted_rule(event: Event, trees: TreeReader) -> ThresholdRule | None:
    """Return the threshold rule as it was at the `event`, with names from `trees`; None where it is not known."""
    try:
        note = parse_json(event.note)
        box = Box(0).with_samples(note["support"], note["positives"])
        for j, edge, width, missing_left, left in note["path"]:
            side = cut_side(box.sides.get(j, EVERYWHERE), 0, np.array([edge, width, missing_left]), left=bool(left))
            box = box.with_side(int(j), side)
        return trees.rule(int(event.label or 0), box, event.rule)
    except (ValueError, TypeError, KeyError, IndexError):  # a feature or label that is gone, a note of another kind
        return None


def rule_texts(events: Iterable[Event], trees: TreeReader | None) -> dict[int, ThresholdRule]:
    """Return the threshold rules that `trees` have now, or that `events` name, by their numbers."""
    if trees is None:
        return {}
    known = {}
    for event in events:
        if event.kind in THRESHOLD_CHANGES and event.rule is not None and (rule := noted_rule(event, trees)):
            known[event.rule] = rule
    now = [rule for k in trees.open_labels for rule in trees.label_rules(k).rules]
    return {**known, **{rule.number: rule for rule in now if rule.number is not None}}
