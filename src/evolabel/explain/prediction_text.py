"""One explained prediction as plain text, Markdown, HTML and JSON."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils.text import one_line
from evolabel.explain.markup import bold, code, escape, page
from evolabel.explain.text_columns import column_and_value

if TYPE_CHECKING:
    from evolabel.explain.prediction import Explanation

SHOWN_FEATURES = 4
SHOWN_LABELS = 10
BASE = "base rate"
FEEDBACK = "from the errors of recent answers"

Style = Callable[[str], str]


def plain(why: "Explanation") -> str:
    """A line per label and its way to the other side, then rules and territory."""
    lines = []
    for c in shown(why):
        lines.append(f"{one_line(why.label_names[c])}: {_verdict(why, c)} = {_parts(why, c, one_line)}")
        lines.append(f"    {_flip(why, c, one_line)}")
    return "\n".join([*lines, *_hidden(why), _rules(why), _territory(why)])


def markdown(why: "Explanation") -> str:
    """The same as a list."""
    lines = []
    for c in shown(why):
        lines.append(f"- {code(why.label_names[c])}: {bold(_verdict(why, c))} = {_parts(why, c, code)}")
        lines.append(f"  - {_flip(why, c, code)}")
    return "\n".join([*lines, "", *(f"{line}\n" for line in [*_hidden(why), _rules(why), _territory(why)])])


def html(why: "Explanation") -> str:
    """The same as a page."""
    items = "".join(
        f"<li><code>{escape(why.label_names[c])}</code>: <b>{escape(_verdict(why, c))}</b> = "
        f"{_parts(why, c, escape)}<br>{_flip(why, c, escape)}</li>"
        for c in shown(why)
    )
    rest = "".join(f"<p>{escape(line)}</p>" for line in [*_hidden(why), _rules(why), _territory(why)])
    return page("One prediction explained", f"<ul>{items}</ul>{rest}")


def document(why: "Explanation") -> dict[str, Any]:
    """Everything for machines; a missing value or an infinite border is null."""
    labels = [
        {
            "label": name,
            "output": float(why.total[c]),
            "on": bool(why.predicted[c]),
            "ambiguous": bool(why.ambiguous[c]),
            "contributions": why.contributions[:, :, c].tolist(),
            "feedback": 0.0 if why.feedback is None else float(why.feedback[c]),
            "flip": None if (flip := why.flips[c]) is None else asdict(flip),
        }
        for c, name in enumerate(why.label_names)
    ]
    active = zip(why.rules.tolist(), why.memberships.tolist(), why.distances.tolist(), strict=True)
    return {
        "features": [*why.feature_names, BASE],
        "values": [_finite(value) for value in why.x.tolist()],
        "rules": [{"rule": rule, "membership": psi, "distance": D} for rule, psi, D in active],
        "labels": labels,
        "territory": {**asdict(why.territory), "border": _finite(why.territory.border)},
    }


def shown(why: "Explanation") -> list[int]:
    """Labels worth a line: all of a few; of many those with the largest outputs, in their own order."""
    if len(why.label_names) <= SHOWN_LABELS:
        return list(range(len(why.label_names)))
    return sorted(np.argsort(-why.total, kind="stable")[:SHOWN_LABELS].tolist())


def _hidden(why: "Explanation") -> list[str]:
    rest = len(why.label_names) - SHOWN_LABELS
    told = "1 label with a smaller output is" if rest == 1 else f"{rest} labels with smaller outputs are"
    return [f"{told} not shown."] if rest > 0 else []


def _verdict(why: "Explanation", c: int) -> str:
    doubt = ", too close to call" if why.ambiguous[c] else ""
    return f"{'yes' if why.predicted[c] else 'no'} ({why.total[c]:.3f}{doubt})"


def _parts(why: "Explanation", c: int, style: Style) -> str:
    """The largest contributions, the sum of the rest, and the feedback of recent errors: they add up."""
    parts = why.by_feature[:, c]
    strongest = np.argsort(-np.abs(parts), kind="stable")[:SHOWN_FEATURES]
    told = [f"{parts[j]:+.3f} {_named(why, int(j), style)}" for j in strongest]
    rest = len(parts) - len(strongest)
    if rest:
        told.append(f"{parts.sum() - parts[strongest].sum():+.3f} from {rest} other{'s' * (rest > 1)}")
    if why.feedback is not None and why.feedback[c] != 0.0:
        told.append(f"{why.feedback[c]:+.3f} {FEEDBACK}")
    return ", ".join(told)


def _named(why: "Explanation", j: int, style: Style) -> str:
    """A feature with its value in words."""
    if j == len(why.feature_names):
        return BASE
    name, value = why.feature_names[j], float(why.x[j])
    if np.isnan(value):
        return f"{style(name)} (missing)"
    if name in why.words.texts and value in (0.0, 1.0):
        column, text = column_and_value(name)
        return f"{style(column)} is {'' if value else 'not '}{style(text)}"
    return f"{style(name)} ({value:.4g}, {why.words.term_for(name, value, value)})"


def _flip(why: "Explanation", c: int, style: Style) -> str:
    flip = why.flips[c]
    if flip is None:
        return "no change of a single feature would turn it within the active rules"
    sure = "the whole model agrees" if flip.confirmed else "the whole model disagrees, as other rules come in"
    change = f"{style(flip.feature)} went from {flip.before:.4g} to {flip.after:.4g}"
    if flip.feature in why.words.texts:
        column, text = column_and_value(flip.feature)
        change = f"{style(column)} were {style(text)}"
    return f"would turn {'on' if flip.turns_on else 'off'} if {change} (within the active rules; {sure})"


def _rules(why: "Explanation") -> str:
    order = np.argsort(-why.memberships, kind="stable")
    told = ", ".join(f"{why.rules[i]} ({why.memberships[i]:.0%})" for i in order)
    return f"Active rules: {told}."


def _territory(why: "Explanation") -> str:
    place = why.territory
    verdict = "novel" if place.novel else "known territory"
    border = f"novel beyond {place.border:.2f}" if np.isfinite(place.border) else "too early to call anything novel"
    return f"Distance to rule {place.rule}: {place.distance:.2f} spreads ({border}): {verdict}."


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
