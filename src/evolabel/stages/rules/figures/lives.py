"""`life_lines`: when rules were created, merged, changed by hand, and removed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evolabel._utils.validation import check_number
from evolabel.core.events import EDITS, MERGES, Event
from evolabel.stages.rules.figures.figure_data import RuleDrawable, RuleFigureData
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes

_WIDTH, _WIDTH_WITH_WORDS = 7.4, 10.0  # inches
_BEGINNINGS = ("birth", "joined", "added", "rule found")
_ENDS = ("death", "deleted", "rule gone", "rule dropped")

# Marker, colour and legend of each kind of event.
_MARKS = {
    "birth": ("o", canvas.BLUE, "born"),
    "joined": (">", canvas.ORANGE, "joined from another classifier"),
    "added": ("P", canvas.PINK, "added by hand"),
    "merge": ("s", canvas.GREEN, "merged into another"),
    "merged by hand": ("D", canvas.GREEN, "merged by hand"),
    "death": ("X", canvas.VERMILION, "removed (inactive)"),
    "deleted": ("X", canvas.PINK, "deleted by hand"),
    "rule found": ("^", canvas.BLUE, "threshold rule found"),
    "rule gone": ("v", canvas.VERMILION, "threshold rule gone"),
    "rule contradicted": ("x", canvas.VERMILION, "written rule contradicted by the data"),
    "rule restored": ("+", canvas.BLUE, "written rule is used again"),
    "rule dropped": ("X", canvas.VERMILION, "written rule of a feature that is gone"),
    "act": ("*", canvas.PINK, "changed by hand"),
}


@dataclass(frozen=True)
class Life:
    """The time of `rule` from sample `start` to `end`; `heir` is the rule it was merged into, if `alive` is False."""

    rule: int
    start: int
    end: int
    alive: bool = True
    heir: int | None = None


def life_lines(classifier: RuleDrawable, *, top: int = canvas.MAX_SHOWN, ax: "Axes | None" = None) -> "Axes":
    """Draw one line per rule over the samples of the stream, oldest at the top, with marks for its events.

    A threshold rule has its words beside its number; one that is gone, as it was at its last event.
    Only the last 10,000 events are kept. The line of a rule whose birth is not among them starts where the rule was
    born, if it is alive, else at the first event that is kept.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    top : int
        Rules drawn at most: threshold rules that are alive, then those kept longest.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    known = lives(data)
    words = data.words_at_lines()
    first = sorted(known.values(), key=lambda life: (not (life.alive and life.rule in words), life.start - life.end))
    shown = sorted(first[:top], key=lambda life: (life.start, life.rule))
    width = _WIDTH_WITH_WORDS if any(life.rule in words for life in shown) else _WIDTH
    ax = ax if ax is not None else canvas.new_axes(width, 1.4 + 0.19 * max(len(shown), 6))
    rows = {life.rule: row for row, life in enumerate(shown)}
    for life in shown:
        colour, width = (canvas.BLACK, 1.6) if life.alive else (canvas.GREY, 1.0)
        ax.plot([life.start, life.end], [rows[life.rule]] * 2, color=colour, linewidth=width, zorder=1)
        if life.heir in rows:
            ax.plot([life.end] * 2, [rows[life.rule], rows[life.heir]], color=canvas.GREEN, lw=0.8, ls=":", zorder=1)
    _mark_events(ax, data.rules.events, rows)
    names = {int(data.rules.arrays.identity[s]): data.rule_name(s) for s in range(1, data.rules.n_rules + 1)}
    names |= data.rules.rule_names.names  # also those of written rules
    ticks = [words.get(life.rule) or canvas.short(names.get(life.rule, f"rule {life.rule}")) for life in shown]
    ax.set_yticks(range(len(shown)), ticks, fontsize=8)
    ax.set(ylim=(len(shown) - 0.4, -0.6), xlabel="samples seen")
    longest = "those kept longest" if not words else "alive thresholds, then the longest lives"
    which = canvas.of_all(len(shown), len(known), "rules", longest)
    canvas.tidy(ax, f"Lives of rules: {which} (black: alive)")
    canvas.legend_beside(ax)
    return ax


def lives(data: RuleFigureData) -> dict[int, Life]:
    """Return the lives of all rules of `data` that are alive or named in its events, by rule."""
    rules = data.rules
    used = slice(1, rules.n_rules + 1)
    born = dict(zip(rules.arrays.identity[used].tolist(), rules.arrays.born[used].tolist(), strict=True))
    events = list(rules.events)
    found: dict[int, Life] = {}
    for event in events:
        for rule in (event.rule, event.other):
            if rule is not None and rule not in found:
                begins = rule == event.rule and event.kind in _BEGINNINGS
                start = event.sample if begins else born.get(rule, events[0].sample)
                found[rule] = Life(rule, start, rules.n_seen)
        if event.kind in _ENDS and event.rule is not None:
            found[event.rule] = replace(found[event.rule], end=event.sample, alive=False)
        elif event.kind in MERGES and event.other is not None:
            found[event.other] = replace(found[event.other], end=event.sample, alive=False, heir=event.rule)
    return {**{rule: Life(rule, start, rules.n_seen) for rule, start in born.items()}, **found}


def _mark_events(ax: "Axes", events: Iterable[Event], rows: dict[int, int]) -> None:
    """Draw a mark per event on the line of its rule; at a merge, of the rule that ended."""
    marks: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _MARKS}
    for event in events:
        rule = event.other if event.kind in MERGES else event.rule
        kind = event.kind if event.kind in marks else "act"
        if rule in rows and (kind != "act" or event.kind in EDITS):
            marks[kind].append((event.sample, rows[rule]))
    for kind, places in marks.items():
        if places:
            marker, colour, legend = _MARKS[kind]
            x, y = zip(*places, strict=True)
            ax.scatter(
                x, y, marker=marker, color=colour, s=60 if marker == "*" else 24, linewidths=0, label=legend, zorder=3
            )
