"""Threshold rules in words: `ThresholdRule`, and the list of them that one label has (`LabelRules`)."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evolabel._utils.text import samples
from evolabel.words.names import SensorCorrection, printed_name
from evolabel.words.sections import Items, Marks, SectionView, Style

LIKELY_FROM = 0.5  # share of positives from which on a rule is one for its label
_ROUNDING = 1e-9  # largest part of all samples that is none, but for rounding
FULL_WEIGHT = 0.95  # weight of the threshold rules below which the heading of a label has it

NOT_ADMITTED, ADMITTED_TOO, NOTHING_ELSE, NEVER_SEEN = "not admitted", "admitted too", "nothing else", "never seen"
"""Missing values in a condition; "never seen": the feature was never missing in the rows that are kept."""


@dataclass(frozen=True)
class ThresholdCondition:
    """A condition on one feature, or on one categorical column.

    Attributes
    ----------
    feature : str
        The feature, or the categorical column.
    low, high : float
        The condition holds for low < x <= high; infinite where there is no end.
    low_width, high_width : float
        Half-widths of both ends: how far the edge is uncertain.
    missing : str
        What holds for missing values: "not admitted", "admitted too", "nothing else" or "never seen".
    texts : tuple of str
        Of a categorical column: the values that it has, or does not have (`excluded`).
    excluded : bool
    correction : SensorCorrection or None
        Of a sensor that has moved: its ends are those of today's gauge, and those before are printed behind them.
    """

    feature: str
    low: float
    high: float
    low_width: float
    high_width: float
    missing: str
    texts: tuple[str, ...] = ()
    excluded: bool = False
    correction: SensorCorrection | None = None

    def words(self, style: Style = printed_name) -> str:
        """Return the condition in words, with names from users in this `style`."""
        name = style(self.feature)
        if self.missing == NOTHING_ELSE:
            return f"{name} is missing"
        what = self._texts(style) if self.texts else self._range()
        return f"{name} is {'missing or ' if self.missing == ADMITTED_TOO else ''}{what}{self._gauge()}"

    def _texts(self, style: Style) -> str:
        names = [style(text) for text in self.texts]
        if not self.excluded:
            return " or ".join(names)
        return f"not {names[0]}" if len(names) == 1 else f"neither {' nor '.join(names)}"

    def _gauge(self) -> str:
        """Return that the ends are those of today's gauge, and where they were before; empty if nothing has moved."""
        if self.correction is None or np.isinf([self.low, self.high]).all():
            return ""
        then, factor = self.correction.as_before, self.correction.factor
        ends = [(self.low, self.low_width), (self.high, self.high_width)]
        before = " and ".join(edge_text(then(end), abs(factor) * width) for end, width in ends if np.isfinite(end))
        return f" on today's gauge ({before} {self.correction.before})"

    def _range(self) -> str:
        low, high = edge_text(self.low, self.low_width), edge_text(self.high, self.high_width)
        if np.isfinite(self.low) and np.isfinite(self.high) and float(low) >= float(high):
            low, high = f"{self.low:.6g}", f"{self.high:.6g}"  # a strip that is narrower than its edges are sure
        if np.isfinite(self.low) and np.isfinite(self.high):
            return f"between {low} and {high}"
        if np.isfinite(self.high):
            return f"below {high}"
        return f"above {low}" if np.isfinite(self.low) else "known"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as values that JSON can hold; an infinite end is None."""
        ends = {name: value if np.isfinite(value) else None for name, value in (("low", self.low), ("high", self.high))}
        return {**asdict(self), **ends, "texts": list(self.texts)}


@dataclass(frozen=True)
class ThresholdRule:
    """One threshold rule of a label.

    Attributes
    ----------
    label : str
    number : int or None
        Number of the rule; None while threshold rules have none.
    conditions : tuple of ThresholdCondition
    share : float
        Share of the samples of the rule that have the label.
    support : float
        Samples of the rule; the last 2,000 count, older ones fade.
    """

    label: str
    number: int | None
    conditions: tuple[ThresholdCondition, ...]
    share: float
    support: float

    @property
    def text(self) -> str:
        """The rule in words, on one line."""
        return self.words()

    def then(self, style: Style = printed_name) -> str:
        """Return what follows, the label, in this `style`, and its share where it is less than half."""
        return style(self.label) + ("" if self.share >= LIKELY_FROM else f" in {percent(self.share)}")

    def words(self, style: Style = printed_name) -> str:
        """Return the rule in words, with names from users in this `style`."""
        conditions = " AND ".join(condition.words(style) for condition in self.conditions) or "nothing else holds"
        rule, n = [] if self.number is None else [f"rule {self.number}"], samples(self.support)
        if self.share >= LIKELY_FROM:
            facts = f"({', '.join([percent(self.share), n, *rule])})"
        else:
            facts = f"of {n}{''.join(f' ({number})' for number in rule)}"
        return f"IF {conditions} THEN {self.then(style)} {facts}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold."""
        return {
            "label": self.label,
            "number": self.number,
            "if": [condition.to_dict() for condition in self.conditions],
            "share": self.share,
            "support": self.support,
            "text": self.text,
        }

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class LabelRules(SectionView):
    """The threshold rules of one label.

    Attributes
    ----------
    label : str
    weight : float
        Weight of the threshold rules in the output of the label, 0 to 1; the rest is that of the other rules.
    rules : tuple of ThresholdRule
        All rules: those for the label first, the best supported first.
    n_shown : int
        Rules that are printed one by one: those for the label.
    rest_label : str
        The label, or of two classes the one that most of the other recent samples have.
    rest_share, rest_support : float
        Its share among these, and how many they are.
    """

    label: str
    weight: float
    rules: tuple[ThresholdRule, ...]
    n_shown: int
    rest_label: str
    rest_share: float
    rest_support: float

    @property
    def counts(self) -> str:
        """How much the threshold rules count, in brackets; empty where they answer nearly alone."""
        return "" if self.weight >= FULL_WEIGHT else f" (threshold rules count {weight_text(self.weight)})"

    def lines(self, style: Style) -> list[str]:
        """Return the rules in words, one per line, with names from users in this `style`."""
        lines = [rule.words(style) for rule in self.rules[: self.n_shown]]
        if self.rest_support > 0.0:
            rest = f"{percent(self.rest_share)} of {samples(self.rest_support)}"
            lines.append(f"{'otherwise' if lines else 'everywhere'}: {style(self.rest_label)} {rest}")
        return lines

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return a heading with the label, and the rules, one per line."""
        return f"Threshold rules for {marks.plain(self.label)}{self.counts}", [Items(self.lines(marks.rule_name))]

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as values that JSON can hold."""
        return {
            "label": self.label,
            "weight": self.weight,
            "rules": [rule.to_dict() for rule in self.rules],
            "otherwise": {"label": self.rest_label, "share": self.rest_share, "support": self.rest_support},
        }


def edge_text(edge: float, width: float) -> str:
    """Return `edge` with as many digits as its half-width `width` justifies.

    Examples
    --------
    >>> edge_text(4.91327, 0.0153), edge_text(1400.84, 2.7), edge_text(1438.2, 31.0), edge_text(0.25, 0.0)
    ('4.91', '1401', '1440', '0.25')
    """
    if not np.isfinite(edge) or width <= 0.0:
        return f"{edge:.6g}"
    place = int(np.floor(np.log10(width)))
    rounded = round(edge, -place) + 0.0  # no "-0"
    if rounded != 0.0 and not 1e-4 <= abs(rounded) < 1e9:
        return f"{rounded:.{max(1, int(np.floor(np.log10(abs(rounded)))) - place + 1)}g}"
    return f"{rounded:.{max(0, -place)}f}"


def percent(share: float) -> str:
    """Return `share` in percent, with one digit behind the point where it is nearly 0 or 1, but neither.

    Examples
    --------
    >>> percent(1.0), percent(0.463), percent(0.004), percent(0.9996), percent(0.0003)
    ('100 %', '46 %', '0.4 %', 'over 99.9 %', 'under 0.1 %')
    """
    if min(share, 1.0 - share) < _ROUNDING:
        return "100 %" if share > LIKELY_FROM else "0 %"
    if share < 0.0005:
        return "under 0.1 %"
    if share >= 0.9995:
        return "over 99.9 %"
    near = share < 0.01 or share > 0.99
    return f"{100.0 * share:.{int(near)}f} %"


def weight_text(weight: float) -> str:
    """Return `weight` in percent, rounded down, so that what is printed below a limit is below it.

    Examples
    --------
    >>> weight_text(0.9496), weight_text(0.8), weight_text(0.004)
    ('94 %', '80 %', '0.4 %')
    """
    return percent(weight if weight < 0.01 else float(np.floor(100.0 * weight + _ROUNDING)) / 100.0)
