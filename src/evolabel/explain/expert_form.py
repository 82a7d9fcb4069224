"""The form in which a person writes a rule: a line of text, or JSON with the same content.

    IF heat IS high AND flow BETWEEN 2 AND 5 THEN fault_a LIKELY, fault_b 30% WITH CONFIDENCE 0.8 WEIGHT 20 CALLED "hot"

    {"if": {"heat": "high", "flow": [2, 5]}, "then": {"fault_a": "likely", "fault_b": 0.3},
     "confidence": 0.8, "weight": 20, "name": "hot"}

A column of texts IS one of them, or IS NOT: IF mode IS NOT idle. In JSON {"mode": "idle"}, or by the feature that is 1
for the text: {"mode=idle": "no"}.

Key words may be in small letters; names with blanks, commas or quotes, and names that are key words, go in quotes. Open
ranges are ABOVE 2 and BELOW 5, or null at that end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.terms import is_term

LIKELY, UNLIKELY = 0.9, 0.1  # how often a label is on
WORDS = {"likely": LIKELY, "unlikely": UNLIKELY}
ON, OFF = "yes", "no"  # terms of a feature that stands for a text
CONFIDENCE, WEIGHT = 1.0, 20.0  # where nothing is said
MOST_WEIGHT = 1e9


@dataclass(frozen=True)
class Condition:
    """A feature in a range: a term such as "high" or "low to medium", or numbers; None is an open end.

    A feature that stands for a text, such as `mode=idle`, is `ON` or `OFF`.
    """

    feature: str
    term: str = ""
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        ends: list[Any] = [end for end in (self.low, self.high) if end is not None]
        if bool(self.term) == bool(ends):
            raise DataError(f"{self.feature} needs a term or a range, and not both; write IS high, or BETWEEN 2 AND 5")
        for end in ends:
            if isinstance(end, bool) or not isinstance(end, Real) or not isfinite(end):
                raise DataError(f"{self.feature} has {end!r} as an end of its range; use a finite number")
        if len(ends) == 2 and not ends[0] < ends[1]:
            raise DataError(f"{self.feature} BETWEEN {ends[0]:g} AND {ends[1]:g} is empty; the lower end comes first")
        for side in ("low", "high"):  # numpy's numbers are told as Python's
            end = getattr(self, side)
            object.__setattr__(self, side, None if end is None else float(end))

    @property
    def of_text(self) -> bool:
        """Does it say what a column of texts is or is not?"""
        return self.term in (ON, OFF) and "=" in self.feature


@dataclass(frozen=True)
class Expectation:
    """How often a label is on in the region, in [0, 1]."""

    label: str
    share: float


@dataclass(frozen=True)
class ExpertRule:
    """A rule as a person writes it; `str` gives the text that `parse_rule` reads.

    Parameters
    ----------
    conditions : tuple of Condition
        The region; features not named may be anything.
    expectations : tuple of Expectation
        Labels expected; those not named answer as the whole stream does.
    confidence : float in [0, 1]
        How sure the person is of the labels; they count for so much of the weight.
    weight : float
        Samples the rule counts for.
    name : str
        What people call the rule.

    Examples
    --------
    >>> from evolabel.explain.expert_form import read_form
    >>> rule = read_form('if heat is high and flow above 2.5 then fault_a likely with confidence 0.8')
    >>> print(rule)
    IF heat IS high AND flow ABOVE 2.5 THEN fault_a LIKELY WITH CONFIDENCE 0.8 WEIGHT 20
    >>> rule.to_dict()["if"]
    {'heat': 'high', 'flow': [2.5, None]}
    """

    conditions: tuple[Condition, ...]
    expectations: tuple[Expectation, ...]
    confidence: float = CONFIDENCE
    weight: float = WEIGHT
    name: str = ""

    @property
    def names(self) -> set[str]:
        """Features and labels it speaks of."""
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
                raise DataError(f"{kind} {twice!r} is named twice; say all about it at one place")
        for expectation in self.expectations:
            check_number(f"share of {expectation.label}", expectation.share, 0, 1)
        check_number("confidence", self.confidence, 0, 1)
        check_number("weight", self.weight, 0, MOST_WEIGHT, open_low=True)

    def __str__(self) -> str:
        from evolabel.explain.expert_text import print_rule

        return print_rule(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        form: dict[str, Any] = {
            "if": {c.feature: c.term or [c.low, c.high] for c in self.conditions},
            "then": {e.label: _word(e.share) or e.share for e in self.expectations},
            "confidence": self.confidence,
            "weight": self.weight,
        }
        return {**form, "name": self.name} if self.name else form


def read_form(form: object) -> ExpertRule:
    """A rule from its text, its JSON text, its JSON content, or as it is."""
    import json

    from evolabel.explain.expert_text import parse_rule

    if isinstance(form, ExpertRule):
        return form
    if isinstance(form, str):
        if not form.lstrip().startswith("{"):
            return parse_rule(form)
        try:
            form = json.loads(form)
        except ValueError as error:
            raise DataError(f"the rule is no JSON ({error}); write it as text, or mend it") from None
    if isinstance(form, Mapping):
        return _from_dict(form)
    raise DataError(f"a rule is text or a dictionary, got {type(form).__name__}; see docs/expert-rules.md")


def _from_dict(form: Mapping[str, Any]) -> ExpertRule:
    unknown = sorted(set(form) - {"if", "then", "confidence", "weight", "name"}, key=str)
    if unknown:
        raise DataError(f"a rule has no entry {unknown[0]!r}; use if, then, confidence, weight, name")
    for part in ("if", "then"):
        if not isinstance(form.get(part), Mapping):
            raise DataError(f'the rule needs "{part}" with names and what is said of them, got {form.get(part)!r}')
    return ExpertRule(
        tuple(_condition(str(feature), said) for feature, said in form["if"].items()),
        tuple(Expectation(str(label), _share(str(label), said)) for label, said in form["then"].items()),
        form.get("confidence", CONFIDENCE),
        form.get("weight", WEIGHT),
        str(form.get("name", "")),
    )


def _condition(feature: str, said: Any) -> Condition:
    if isinstance(said, str):
        return _said_of(feature, said)
    if isinstance(said, list | tuple) and len(said) == 2:
        return Condition(feature, "", *said)
    raise DataError(f"{feature} is said to be {said!r}; use a term such as high, a range such as [2, 5], or a text")


def _said_of(feature: str, said: str) -> Condition:
    """A condition in a word: a term, or `ON` or `OFF` for what stands for a text, or else a text."""
    term = " ".join(said.lower().split())
    if is_term(term) or (term in (ON, OFF) and "=" in feature):
        return Condition(feature, term)
    return Condition(f"{feature}={said}", ON)


def _share(label: str, said: Any) -> float:
    if isinstance(said, str):
        if said.lower() not in WORDS:
            raise DataError(f"{label} is said to be {said!r}; use likely, unlikely, or a share from 0 to 1")
        return WORDS[said.lower()]
    check_number(f"share of {label}", said, 0, 1, also=', or "likely", "unlikely"')
    return float(said)


def _word(share: float) -> str:
    return next((word for word, meant in WORDS.items() if meant == share), "")
