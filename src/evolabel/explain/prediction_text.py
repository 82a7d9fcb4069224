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

_MAX_FEATURES = 4
_MAX_LABELS = 10
_BASE_RATE = "base rate"
FEEDBACK = "from the errors of recent answers"

_Style = Callable[[str], str]


def explanation_to_text(why: "Explanation") -> str:
    """Return the explanation `why` as text: each label with its counterfactual, then the rules and the novelty."""
    lines = []
    for c in _shown(why):
        lines.append(f"{one_line(why.label_names[c])}: {_verdict(why, c)} = {_parts(why, c, one_line)}")
        lines.append(f"    {_counterfactual(why, c, one_line)}")
    return "\n".join([*lines, *_hidden(why), _rules(why), _novelty(why)])


def explanation_to_markdown(why: "Explanation") -> str:
    """Return the explanation `why` in Markdown."""
    lines = []
    for c in _shown(why):
        lines.append(f"- {code(why.label_names[c])}: {bold(_verdict(why, c))} = {_parts(why, c, code)}")
        lines.append(f"  - {_counterfactual(why, c, code)}")
    return "\n".join([*lines, "", *(f"{line}\n" for line in [*_hidden(why), _rules(why), _novelty(why)])])


def explanation_to_html(why: "Explanation") -> str:
    """Return the explanation `why` as a whole HTML page."""
    items = "".join(
        f"<li><code>{escape(why.label_names[c])}</code>: <b>{escape(_verdict(why, c))}</b> = "
        f"{_parts(why, c, escape)}<br>{_counterfactual(why, c, escape)}</li>"
        for c in _shown(why)
    )
    rest = "".join(f"<p>{escape(line)}</p>" for line in [*_hidden(why), _rules(why), _novelty(why)])
    return page("One prediction explained", f"<ul>{items}</ul>{rest}")


def explanation_to_dict(why: "Explanation") -> dict[str, Any]:
    """Return all parts of `why` as values that JSON can hold; a missing value or an infinite border is None."""
    labels = [
        {
            "label": name,
            "output": float(why.total[c]),
            "on": bool(why.predicted[c]),
            "ambiguous": bool(why.ambiguous[c]),
            "contributions": why.contributions[:, :, c].tolist(),
            "feedback": 0.0 if why.feedback is None else float(why.feedback[c]),
            "counterfactual": None if (change := why.counterfactuals[c]) is None else asdict(change),
        }
        for c, name in enumerate(why.label_names)
    ]
    active = zip(why.rules.tolist(), why.memberships.tolist(), why.distances.tolist(), strict=True)
    return {
        "features": [*why.feature_names, _BASE_RATE],
        "values": [_finite(value) for value in why.x.tolist()],
        "rules": [{"rule": rule, "membership": psi, "distance": D} for rule, psi, D in active],
        "labels": labels,
        "novelty": {**asdict(why.novelty), "border": _finite(why.novelty.border)},
    }


def _shown(why: "Explanation") -> list[int]:
    """Return the labels to show: all if they are few, else those with the largest outputs, in their own order."""
    if len(why.label_names) <= _MAX_LABELS:
        return list(range(len(why.label_names)))
    return sorted(np.argsort(-why.total, kind="stable")[:_MAX_LABELS].tolist())


def _hidden(why: "Explanation") -> list[str]:
    rest = len(why.label_names) - _MAX_LABELS
    hidden = "1 label with a smaller output is" if rest == 1 else f"{rest} labels with smaller outputs are"
    return [f"{hidden} not shown."] if rest > 0 else []


def _verdict(why: "Explanation", c: int) -> str:
    doubt = ", too close to call" if why.ambiguous[c] else ""
    return f"{'yes' if why.predicted[c] else 'no'} ({why.total[c]:.3f}{doubt})"


def _parts(why: "Explanation", c: int, style: _Style) -> str:
    """Return the largest contributions, the sum of the rest, and the feedback of recent errors, which add up."""
    parts = why.by_feature[:, c]
    strongest = np.argsort(-np.abs(parts), kind="stable")[:_MAX_FEATURES]
    texts = [f"{parts[j]:+.3f} {_named(why, int(j), style)}" for j in strongest]
    rest = len(parts) - len(strongest)
    if rest:
        texts.append(f"{parts.sum() - parts[strongest].sum():+.3f} from {rest} other{'s' * (rest > 1)}")
    if why.feedback is not None and why.feedback[c] != 0.0:
        texts.append(f"{why.feedback[c]:+.3f} {FEEDBACK}")
    return ", ".join(texts)


def _named(why: "Explanation", j: int, style: _Style) -> str:
    """Return feature `j` with its value in words."""
    if j == len(why.feature_names):
        return _BASE_RATE
    name, value = why.feature_names[j], float(why.x[j])
    if np.isnan(value):
        return f"{style(name)} (missing)"
    if name in why.words.texts and value in (0.0, 1.0):
        column, text = column_and_value(name)
        return f"{style(column)} is {'' if value else 'not '}{style(text)}"
    return f"{style(name)} ({value:.4g}, {why.words.term_for(name, value, value)})"


def _counterfactual(why: "Explanation", c: int, style: _Style) -> str:
    change = why.counterfactuals[c]
    if change is None:
        return "no change of a single feature would turn it within the active rules"
    sure = "the whole model agrees" if change.confirmed else "the whole model disagrees, as other rules come in"
    if_text = f"{style(change.feature)} went from {change.before:.4g} to {change.after:.4g}"
    if change.feature in why.words.texts:
        column, text = column_and_value(change.feature)
        if_text = f"{style(column)} were {style(text)}"
    return f"would turn {'on' if change.turns_on else 'off'} if {if_text} (within the active rules; {sure})"


def _rules(why: "Explanation") -> str:
    order = np.argsort(-why.memberships, kind="stable")
    return f"Active rules: {', '.join(f'{why.rules[i]} ({why.memberships[i]:.0%})' for i in order)}."


def _novelty(why: "Explanation") -> str:
    near = why.novelty
    verdict = "novel" if near.novel else "known territory"
    border = f"novel beyond {near.border:.2f}" if np.isfinite(near.border) else "too early to call anything novel"
    return f"Distance to rule {near.rule}: {near.distance:.2f} spreads ({border}): {verdict}."


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
