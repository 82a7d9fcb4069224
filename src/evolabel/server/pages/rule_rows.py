"""Rows of the page of rules: what a rule claims, and its life as a line, in per cent of the stream."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evolabel.core.events import EDITS, MERGES, SHIFTS, Event
from evolabel.explain.answer_parts import CLAIMED_FROM, some_names
from evolabel.server.project.rule_list import label_parts, rule_list
from evolabel.server.project.state import Facts, ProjectState

_SHOWN_LABELS = 3
KINDS = ("written", "threshold", "learned")
"""Kinds of rules, in the order of the page."""


class LifeLine(NamedTuple):
    """The line of a rule's life: places in per cent of the stream, and the width of the line."""

    birth: float
    marks: list[float]
    locked: list[tuple[float, float]]
    width: float


class PartsRow(NamedTuple):
    """Labels that the same parts of the model answer, as text, and the shares in per cent, the largest first.

    There are no shares while there is no model.
    """

    labels: str
    shares: list[tuple[str, int]]


class RulePage(NamedTuple):
    """The rules that are shown, with their lives, how many there are of each kind, and what answers each label.

    `unclaimed` is the reason why a learned rule states no label: `parts`, `model` or `both`.
    """

    rules: list[dict[str, Any]]
    counts: dict[str, int]
    seen: int
    parts: list[PartsRow]
    unclaimed: str


def parts_rows(parts: Mapping[str, Mapping[str, float]]) -> list[PartsRow]:
    """Return the shares of the `parts` in the answers of each label; those of rules are always there if any are."""
    groups: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for label, shares in parts.items():
        shown = {part: round(100.0 * share) for part, share in shares.items()}
        kept = [(part, share) for part, share in shown.items() if any(shown.values()) and (share or part == "rules")]
        groups.setdefault(tuple(sorted(kept, key=lambda pair: -pair[1])), []).append(label)
    return [PartsRow(some_names(labels), list(shares)) for shares, labels in groups.items()]


def rule_page(state: ProjectState, search: str, kind: str) -> RulePage:
    """Return the rules of `state` that have the text `search` somewhere and are of this `kind`; "" for all."""
    rules = rule_list(state)
    events = state.learner.classifier.events_
    learned = [event.sample for event in events if event.kind not in SHIFTS]  # a shift has its row of the stream
    seen = max([rule.get("last_won", 0) for rule in rules] + learned, default=0)
    counts = {name: sum(rule["kind"] == name for rule in rules) for name in KINDS}
    chosen = [rule for rule in rules if kind in ("", rule["kind"]) and _has_text(rule, search)]
    for rule in chosen:
        own = [event for event in events if rule["rule"] in (event.rule, event.other)]
        rule["life"] = life_line(own, rule.get("born"), seen, rule.get("activity", 0.2))
        rule["claims"] = sorted(rule["labels"], key=lambda label: -abs((label["share"] or 0.0) - 0.5))[:_SHOWN_LABELS]
    parts = label_parts(state)
    return RulePage(chosen, counts, seen, parts_rows(parts), why_unclaimed(parts))


def why_unclaimed(parts: Mapping[str, Mapping[str, float]]) -> str:
    """Return why a learned rule can state no label, by the shares of the `parts` in the answers of each label.

    `parts`: others answer; `model`: the whole model predicts otherwise in the rule; `both`: it depends on the label.
    """
    by_rules = [shares["rules"] > CLAIMED_FROM for shares in parts.values()]
    return "model" if all(by_rules) else "both" if any(by_rules) else "parts"


def life_line(events: list[Event], born: int | None, seen: int, activity: float) -> LifeLine:
    """Return the line of a rule with these `events`, `born` at a sample, in a stream of `seen` samples.

    `activity` is the share of the samples in which the rule was active.
    """

    def place(sample: int) -> float:
        return round(100.0 * min(sample, seen) / max(seen, 1), 2)

    begin = born if born is not None else events[0].sample if events else 0
    locks, locked_at = [], None
    for event in events:
        if event.kind == "locked":
            locked_at = event.sample
        elif event.kind == "unlocked" and locked_at is not None:
            locks.append((place(locked_at), place(event.sample)))
            locked_at = None
    if locked_at is not None:
        locks.append((place(locked_at), 100.0))
    marked = [e.sample for e in events if e.kind in (*MERGES, *EDITS) and e.kind not in ("added", "locked", "unlocked")]
    return LifeLine(place(begin), [place(sample) for sample in marked], locks, round(3.0 + 5.0 * min(activity, 1.0), 1))


def _has_text(rule: Facts, search: str) -> bool:
    sought = search.strip().lower()
    return not sought or sought in f"{rule['rule']} {rule['name']} {rule['text']}".lower()
