"""`life_lines`: when rules were born, merged, changed by hand, and removed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evolabel._utils.validation import check_number
from evolabel.core.rules.events import ACTS, MERGES, Event
from evolabel.explain.figures.canvas import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SHOWN,
    VERMILION,
    legend_beside,
    new_axes,
    of_all,
    short,
    tidy,
)
from evolabel.explain.figures.figure_data import Anatomy, Drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEGINNINGS = ("birth", "joined", "added")
ENDS = ("death", "deleted")

# Marker, colour and words of each kind of event.
LOOKS = {
    "birth": ("o", BLUE, "born"),
    "joined": (">", ORANGE, "joined from another classifier"),
    "added": ("P", PINK, "added by hand"),
    "merge": ("s", GREEN, "merged into another"),
    "merged by hand": ("D", GREEN, "merged by hand"),
    "death": ("X", VERMILION, "starved"),
    "deleted": ("X", PINK, "deleted by hand"),
    "act": ("*", PINK, "changed by hand"),
}


@dataclass(frozen=True)
class Life:
    """From `start` to `end`; `heir` is the rule it was merged into, `alive` if nothing has ended it."""

    rule: int
    start: int
    end: int
    alive: bool = True
    heir: int | None = None


def life_lines(classifier: Drawable, *, top: int = SHOWN, ax: "Axes | None" = None) -> "Axes":
    """One line per rule over the samples of the stream, oldest at the top, with marks for what happened to it.

    Only the last 10,000 events are known; a rule whose birth is not among them starts where it was born, if it lives,
    else at the first event that is known.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    top : int
        Rules drawn at most: those that lived longest.
    """
    anatomy = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    known = lives(anatomy)
    longest = sorted(known.values(), key=lambda life: life.start - life.end)[:top]
    shown = sorted(longest, key=lambda life: (life.start, life.rule))
    ax = ax if ax is not None else new_axes(7.4, 1.4 + 0.19 * max(len(shown), 6))
    rows = {life.rule: row for row, life in enumerate(shown)}
    for life in shown:
        colour, width = (BLACK, 1.6) if life.alive else (GREY, 1.0)
        ax.plot([life.start, life.end], [rows[life.rule]] * 2, color=colour, linewidth=width, zorder=1)
        if life.heir in rows:
            ax.plot([life.end] * 2, [rows[life.rule], rows[life.heir]], color=GREEN, lw=0.8, ls=":", zorder=1)
    _mark_events(ax, anatomy.rules.events, rows)
    names = {int(anatomy.rules.arrays.identity[s]): anatomy.name_of(s) for s in range(1, anatomy.rules.n_rules + 1)}
    ax.set_yticks(range(len(shown)), [short(names.get(life.rule, f"rule {life.rule}")) for life in shown], fontsize=8)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlabel("samples seen")
    tidy(ax, f"Lives of rules: {of_all(len(shown), len(known), 'rules', 'those that lived longest')} (black: alive)")
    legend_beside(ax)
    return ax


def lives(anatomy: Anatomy) -> dict[int, Life]:
    """The lives of all rules that are there or in the events, by rule."""
    rules = anatomy.rules
    used = slice(1, rules.n_rules + 1)
    born = dict(zip(rules.arrays.identity[used].tolist(), rules.arrays.born[used].tolist(), strict=True))
    events = list(rules.events)
    found: dict[int, Life] = {}
    for event in events:
        for rule in (event.rule, event.other):
            if rule is not None and rule not in found:
                begins = rule == event.rule and event.kind in BEGINNINGS
                start = event.sample if begins else born.get(rule, events[0].sample)
                found[rule] = Life(rule, start, rules.n_seen)
        if event.kind in ENDS:
            found[event.rule] = replace(found[event.rule], end=event.sample, alive=False)
        elif event.kind in MERGES and event.other is not None:
            found[event.other] = replace(found[event.other], end=event.sample, alive=False, heir=event.rule)
    return {**{rule: Life(rule, start, rules.n_seen) for rule, start in born.items()}, **found}


def _mark_events(ax: "Axes", events: Iterable[Event], rows: dict[int, int]) -> None:
    """A mark per event on the line of the rule it happened to, at a merge the one that ended."""
    marks: dict[str, list[tuple[int, int]]] = {kind: [] for kind in LOOKS}
    for event in events:
        rule = event.other if event.kind in MERGES else event.rule
        kind = event.kind if event.kind in marks else "act"
        if rule in rows and (kind != "act" or event.kind in ACTS):
            marks[kind].append((event.sample, rows[rule]))
    for kind, places in marks.items():
        if places:
            marker, colour, told = LOOKS[kind]
            x, y = zip(*places, strict=True)
            ax.scatter(
                x, y, marker=marker, color=colour, s=60 if marker == "*" else 24, linewidths=0, label=told, zorder=3
            )
