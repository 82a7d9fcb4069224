"""Rules as a person writes them (`ExpertRule`), as one line of text or as JSON; `expert_reader` reads all forms.

    IF heat IS high AND flow BETWEEN 2 AND 5 THEN fault_a LIKELY, fault_b 30% WITH CONFIDENCE 0.8 WEIGHT 20 CALLED "hot"

    {"if": {"heat": "high", "flow": [2, 5]}, "then": {"fault_a": "likely", "fault_b": 0.3},
     "confidence": 0.8, "weight": 20, "name": "hot"}

A categorical column IS one of its texts, IS NOT, or IS one of several: IF mode IS NOT idle AND valve IS open OR stuck.
A column of true and false IS one of them: IF running IS true.
In JSON {"mode": "idle"}, by the 0/1 feature of the text {"mode=idle": "no"}, or {"valve": ["open", "stuck"]}.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

from evolabel._utils.validation import check_number
from evolabel.engine.values import MAX_VALUE
from evolabel.errors import DataError
from evolabel.words.names import NEITHER, NOR, NOT, OR, quoted, written_name
from evolabel.words.terms import is_term
from evolabel.words.text_columns import FALSE, TRUE, column_and_value

LIKELY, UNLIKELY = 0.9, 0.1  # share of samples with the label on
SHARE_WORDS = {"likely": LIKELY, "unlikely": UNLIKELY}
YES, NO = "yes", "no"  # terms of the 0/1 feature of a text
KNOWN_VALUE = "known"  # the term of any value that is not missing
DEFAULT_CONFIDENCE, DEFAULT_WEIGHT = 1.0, 20.0
_MAX_WEIGHT = 1e9


@dataclass(frozen=True)
class Condition:
    """A range of one feature.

    Parameters
    ----------
    feature : str
    term : str
        A term such as "high" or "low to medium"; for the 0/1 feature of a text, such as `mode=idle`, `YES` or `NO`; for
        a column of true and false `TRUE` or `FALSE`.
    low, high : float, optional
        Ends of the range in the units of the feature, instead of a term; None is an open end.
    texts : tuple of str
        Several texts, of which the categorical column `feature` has one, instead of a term.
    """

    feature: str
    term: str = ""
    low: float | None = None
    high: float | None = None
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ends: list[Any] = [end for end in (self.low, self.high) if end is not None]
        if bool(self.term) + bool(ends) + bool(self.texts) != 1:
            raise DataError(f"{self.feature} needs a term or a range, and not both; write IS high, or BETWEEN 2 AND 5")
        for end in ends:
            is_number = isinstance(end, Real) and not isinstance(end, bool)
            if not is_number or not abs(end) <= MAX_VALUE:
                raise DataError(
                    f"{self.feature} has {end!r} as an end of its range; use a finite number of at most {MAX_VALUE:g}"
                )
        if len(ends) == 2 and not ends[0] <= ends[1]:
            raise DataError(f"{self.feature} BETWEEN {ends[0]:g} AND {ends[1]:g} is empty; the lower end comes first")
        for side in ("low", "high"):  # numbers of numpy become those of Python, which JSON can hold
            end = getattr(self, side)
            object.__setattr__(self, side, None if end is None else float(end))

    @property
    def of_flag(self) -> bool:
        """Whether the condition is that a column is true, or false."""
        return self.term in (TRUE, FALSE)

    @property
    def of_text(self) -> bool:
        """Whether the condition is about the text of a categorical column."""
        return self.term in (YES, NO) and "=" in self.feature

    def __str__(self) -> str:
        if self.of_text:
            column, text = column_and_value(self.feature)
            return f"{written_name(column)} IS {'' if self.term == YES else 'NOT '}{_text(text)}"
        name = written_name(self.feature)
        if self.texts:
            return f"{name} IS {' OR '.join(map(_text, self.texts))}"
        if self.term:
            return f"{name} IS {self.term}"
        if self.high is None:
            return f"{name} ABOVE {_number(self.low)}"
        if self.low is None:
            return f"{name} BELOW {_number(self.high)}"
        return f"{name} BETWEEN {_number(self.low)} AND {_number(self.high)}"


@dataclass(frozen=True)
class Expectation:
    """The share of samples in the region, in [0, 1], that have `label` on."""

    label: str
    share: float

    @property
    def word(self) -> str:
        """The word for the share, "likely" or "unlikely"; empty if there is none."""
        return next((word for word, meant in SHARE_WORDS.items() if meant == self.share), "")

    def __str__(self) -> str:
        percent = f"{100.0 * self.share:.10g}"
        number = f"{percent}%" if float(percent) / 100.0 == self.share else repr(float(self.share))
        return f"{written_name(self.label)} {self.word.upper() or number}"


@dataclass(frozen=True)
class ExpertRule:
    """A rule as a person writes it; `str` returns the text that `read_form` reads.

    Parameters
    ----------
    conditions : tuple of Condition
        The region; features not named may have any value.
    expectations : tuple of Expectation
        The labels expected; labels not named are answered as by the global model.
    confidence : float in (0, 1]
        How sure the person is of the labels: the share of `weight` that counts as evidence for them.
    weight : float
        Number of samples that the rule counts for.
    name : str
        Name of the rule; empty for none.

    Examples
    --------
    >>> rule = ExpertRule((Condition("heat", "high"), Condition("flow", low=2.5)), (Expectation("fault_a", 0.9),), 0.8)
    >>> print(rule)
    IF heat IS high AND flow ABOVE 2.5 THEN fault_a LIKELY WITH CONFIDENCE 0.8 WEIGHT 20
    >>> rule.to_dict()["if"]
    {'heat': 'high', 'flow': [2.5, None]}
    """

    conditions: tuple[Condition, ...]
    expectations: tuple[Expectation, ...]
    confidence: float = DEFAULT_CONFIDENCE
    weight: float = DEFAULT_WEIGHT
    name: str = ""

    @property
    def names(self) -> set[str]:
        """The features and labels that the rule names."""
        return {condition.feature for condition in self.conditions} | {e.label for e in self.expectations}

    def __post_init__(self) -> None:
        if not self.conditions:
            raise DataError("the rule has no condition; name at least one feature, as in IF heat IS high")
        if not self.expectations:
            raise DataError("the rule expects no label; name at least one, as in THEN fault LIKELY")
        for kind, names in (
            ("feature", [condition.feature for condition in self.conditions]),
            ("label", [expectation.label for expectation in self.expectations]),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise DataError(f"{kind} {twice!r} is named twice; name it once")
        for expectation in self.expectations:
            check_number(f"share of {expectation.label}", expectation.share, 0, 1)
        check_number("confidence", self.confidence, 0, 1, open_low=True)
        check_number("weight", self.weight, 0, _MAX_WEIGHT, open_low=True)

    def __str__(self) -> str:
        region, labels = " AND ".join(map(str, self.conditions)), ", ".join(map(str, self.expectations))
        text = f"IF {region} THEN {labels} WITH CONFIDENCE {_number(self.confidence)} WEIGHT {_number(self.weight)}"
        return f"{text} CALLED {quoted(self.name)}" if self.name else text

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of the rule."""
        form: dict[str, Any] = {
            "if": {c.feature: c.term or [*c.texts] or [c.low, c.high] for c in self.conditions},
            "then": {e.label: e.word or e.share for e in self.expectations},
            "confidence": self.confidence,
            "weight": self.weight,
        }
        return {**form, "name": self.name} if self.name else form


def _number(value: float | None) -> str:
    """Return the shortest text that `float` reads back as `value`."""
    assert value is not None
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _text(text: str) -> str:
    """Return `text`, in quotes where it would be read as a term or a key word."""
    words = {word.upper() for word in text.split()}
    odd = is_term(text.lower()) or words & {NOT, OR, NEITHER, NOR}
    return quoted(text) if odd else written_name(text)
