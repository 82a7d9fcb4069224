"""Rules as a person writes them (`ExpertRule`), as one line of text or as JSON; `read_form` reads all forms.

    IF heat IS high AND flow BETWEEN 2 AND 5 THEN fault_a LIKELY, fault_b 30% WITH CONFIDENCE 0.8 WEIGHT 20 CALLED "hot"

    {"if": {"heat": "high", "flow": [2, 5]}, "then": {"fault_a": "likely", "fault_b": 0.3},
     "confidence": 0.8, "weight": 20, "name": "hot"}

A categorical column IS one of its texts, or IS NOT: IF mode IS NOT idle. In JSON {"mode": "idle"}, or by the 0/1
feature of the text: {"mode=idle": "no"}.

Key words may be in small letters. Names with blanks, commas or quotes, and names that are key words, go in quotes. Open
ranges are ABOVE 2 and BELOW 5, or null at that end. Reading is the exact inverse of `str(rule)` and `rule.to_dict()`.
A threshold rule can be read as it is printed, "IF flow is below 3.2 THEN leak (97 %, 69 samples, rule 33)".
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from sys import float_info
from typing import Any

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.terms import is_term
from evolabel.explain.text_columns import column_and_value

LIKELY, UNLIKELY = 0.9, 0.1  # share of samples with the label on
_SHARE_WORDS = {"likely": LIKELY, "unlikely": UNLIKELY}
YES, NO = "yes", "no"  # terms of the 0/1 feature of a text
_CONFIDENCE, _WEIGHT = 1.0, 20.0
_MAX_WEIGHT = 1e9

_NOT = "NOT"  # a key word after IS only, so that names may be "not"
_KEY_WORDS = (
    *("IF", "THEN", "WITH", "CONFIDENCE", "WEIGHT", "CALLED"),
    *("IS", "AND", "BETWEEN", "ABOVE", "BELOW", "LIKELY", "UNLIKELY"),
)
_UNQUOTED = re.compile(r'[^\s,"]+')
_PRINTED = re.compile(r"\bTHEN (?:not )?(\S.*?) \((\d+(?:\.\d+)?) %, [\d,]+ samples?(?:, rule \d+)?\)\s*$")
_WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|,|[^\s,"]+)', re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """A range of one feature.

    Parameters
    ----------
    feature : str
    term : str
        A term such as "high" or "low to medium"; for the 0/1 feature of a text, such as `mode=idle`, `YES` or `NO`.
    low, high : float, optional
        Ends of the range in the units of the feature, instead of a term; None is an open end.
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
            is_number = isinstance(end, Real) and not isinstance(end, bool)
            if not is_number or not abs(end) <= float_info.max:
                raise DataError(f"{self.feature} has {end!r} as an end of its range; use a finite number")
        if len(ends) == 2 and not ends[0] < ends[1]:
            raise DataError(f"{self.feature} BETWEEN {ends[0]:g} AND {ends[1]:g} is empty; the lower end comes first")
        for side in ("low", "high"):  # numbers of numpy become those of Python, which JSON can hold
            end = getattr(self, side)
            object.__setattr__(self, side, None if end is None else float(end))

    @property
    def of_text(self) -> bool:
        """Whether the condition is about the text of a categorical column."""
        return self.term in (YES, NO) and "=" in self.feature

    def __str__(self) -> str:
        if self.of_text:
            column, text = column_and_value(self.feature)
            return f"{_name(column)} IS {'' if self.term == YES else 'NOT '}{_text(text)}"
        name = _name(self.feature)
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
        return next((word for word, meant in _SHARE_WORDS.items() if meant == self.share), "")

    def __str__(self) -> str:
        percent = f"{100.0 * self.share:.10g}"
        number = f"{percent}%" if float(percent) / 100.0 == self.share else repr(float(self.share))
        return f"{_name(self.label)} {self.word.upper() or number}"


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
    >>> rule = read_form('if heat is high and flow above 2.5 then fault_a likely with confidence 0.8')
    >>> print(rule)
    IF heat IS high AND flow ABOVE 2.5 THEN fault_a LIKELY WITH CONFIDENCE 0.8 WEIGHT 20
    >>> rule.to_dict()["if"]
    {'heat': 'high', 'flow': [2.5, None]}
    """

    conditions: tuple[Condition, ...]
    expectations: tuple[Expectation, ...]
    confidence: float = _CONFIDENCE
    weight: float = _WEIGHT
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
        return f"{text} CALLED {_quoted(self.name)}" if self.name else text

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of the rule."""
        form: dict[str, Any] = {
            "if": {c.feature: c.term or [c.low, c.high] for c in self.conditions},
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


def _name(name: str) -> str:
    return name if _UNQUOTED.fullmatch(name) and name.upper() not in _KEY_WORDS else _quoted(name)


def _text(text: str) -> str:
    """Return `text`, in quotes where it would be read as a term or a key word."""
    return _quoted(text) if is_term(text.lower()) or text.upper() == _NOT else _name(text)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read_form(form: object) -> ExpertRule:
    """Return the rule that `form` describes.

    Parameters
    ----------
    form : str, mapping or ExpertRule
        One line of text, JSON text, or the content of the JSON; an `ExpertRule` is returned as it is.

    Raises
    ------
    DataError
        If `form` cannot be read; the message names the place.
    """
    if isinstance(form, ExpertRule):
        return form
    if isinstance(form, str):
        if not form.lstrip().startswith("{"):
            return _Reader(_PRINTED.sub(r"THEN \1 \2%", form)).rule()
        try:
            form = json.loads(form)
        except ValueError as error:
            raise DataError(f"the rule is no JSON ({error}); correct it, or write the rule as text") from None
    if isinstance(form, Mapping):
        return _from_dict(form)
    raise DataError(f"a rule is text or a dictionary, got {type(form).__name__}; see docs/expert-rules.md")


def _from_dict(form: Mapping[str, Any]) -> ExpertRule:
    unknown = sorted(set(form) - {"if", "then", "confidence", "weight", "name"}, key=str)
    if unknown:
        raise DataError(f"a rule has no entry {unknown[0]!r}; use if, then, confidence, weight, name")
    for part in ("if", "then"):
        if not isinstance(form.get(part), Mapping):
            raise DataError(f'the rule needs "{part}", a dictionary of names and values; got {form.get(part)!r}')
    return ExpertRule(
        tuple(_condition(str(feature), value) for feature, value in form["if"].items()),
        tuple(Expectation(str(label), _share(str(label), value)) for label, value in form["then"].items()),
        form.get("confidence", _CONFIDENCE),
        form.get("weight", _WEIGHT),
        str(form.get("name", "")),
    )


def _condition(feature: str, value: Any) -> Condition:
    """Return the condition of a range, of a term, of `YES` or `NO` for the 0/1 feature of a text, or else of a text."""
    if isinstance(value, str):
        term = " ".join(value.lower().split())
        known = is_term(term) or (term in (YES, NO) and "=" in feature)
        return Condition(feature, term) if known else Condition(f"{feature}={value}", YES)
    if isinstance(value, list | tuple) and len(value) == 2:
        return Condition(feature, "", *value)
    raise DataError(f"{feature} has the value {value!r}; use a term such as high, a range such as [2, 5], or a text")


def _share(label: str, value: Any) -> float:
    if isinstance(value, str):
        if value.lower() not in _SHARE_WORDS:
            raise DataError(f"{label} has the value {value!r}; use likely, unlikely, or a share from 0 to 1")
        return _SHARE_WORDS[value.lower()]
    check_number(f"share of {label}", value, 0, 1, also=', or "likely", "unlikely"')
    return float(value)


class _Reader:
    """The words of a text, and the number of the next word to read."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _WORD.match(text, at)
            if found is None:
                raise DataError(f"a quote is not closed in {text[at:].strip()!r}; end the name with another")
            self.words.append(found.group(1))
            at = found.end()
        self.next = 0

    def rule(self) -> ExpertRule:
        self.expect("IF")
        conditions = self.conditions()
        while self.take("AND"):
            conditions += self.conditions()
        self.expect("THEN")
        expectations = [self.expectation()]
        while self.take(","):
            expectations.append(self.expectation())
        self.take("WITH")
        confidence = self.number() if self.take("CONFIDENCE") else _CONFIDENCE
        weight = self.number() if self.take("WEIGHT") else _WEIGHT
        name = self.name() if self.take("CALLED") else ""
        if self.next < len(self.words):
            raise self.error("the end")
        return ExpertRule(tuple(conditions), tuple(expectations), confidence, weight, name)

    def conditions(self) -> list[Condition]:
        """Return the next condition; "mode IS NEITHER idle NOR wash" is two."""
        words = [word.upper() for word in self.words[self.next : self.next + 5]]
        if words[1:3] != ["IS", "NEITHER"] or words[4:] != ["NOR"]:
            return [self.condition()]
        column = self.name()
        self.next += 2
        texts = [self.name()]
        while self.take("NOR"):
            texts.append(self.name())
        return [Condition(f"{column}={text}", NO) for text in texts]

    def condition(self) -> Condition:
        feature, said = self.name(), self.take("IS")
        if self.take("BETWEEN"):
            low = self.number()
            self.expect("AND")
            return Condition(feature, low=low, high=self.number())
        if self.take("ABOVE"):
            return Condition(feature, low=self.number())
        if self.take("BELOW"):
            return Condition(feature, high=self.number())
        if said:
            return self.term_or_text(feature)
        raise self.error("IS, BETWEEN, ABOVE or BELOW")

    def term_or_text(self, feature: str) -> Condition:
        """Return the condition after IS: a term, or else a text, or NOT a text; words in quotes are no term."""
        term = NO if self.take(_NOT) else YES
        first = self.next
        names = [self.name()]
        while self.next < len(self.words) and self.words[self.next].upper() not in ("AND", "THEN"):
            names.append(self.name())
        text = " ".join(names)
        if term == YES and not self.words[first].startswith('"') and is_term(text.lower()):
            return Condition(feature, text.lower())
        return Condition(f"{feature}={text}", term)

    def expectation(self) -> Expectation:
        label = self.name()
        for word, share in _SHARE_WORDS.items():
            if self.take(word.upper()):
                return Expectation(label, share)
        if self.next < len(self.words) and self.words[self.next].endswith("%"):
            self.words[self.next] = self.words[self.next][:-1]
            return Expectation(label, self.number() / 100.0)
        return Expectation(label, self.number("LIKELY, UNLIKELY or a share such as 30%"))

    def take(self, word: str) -> bool:
        """Return whether `word` comes next, and move behind it if it does."""
        found = self.next < len(self.words) and self.words[self.next].upper() == word
        self.next += found
        return found

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.error(word)

    def name(self) -> str:
        if self.next == len(self.words) or self.words[self.next].upper() in (*_KEY_WORDS, ","):
            raise self.error("a name (in quotes if it is a key word)")
        word = self.words[self.next]
        self.next += 1
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL) if word.startswith('"') else word

    def number(self, expected: str = "a number") -> float:
        try:
            value = float(self.words[self.next])
        except (IndexError, ValueError):
            raise self.error(expected) from None
        self.next += 1
        return value

    def error(self, expected: str) -> DataError:
        """Return the error that says which word came, and that `expected` should have come."""
        before = " ".join(self.words[max(0, self.next - 4) : self.next])
        after = f" after {before!r}" if before else ""
        came = f"has {self.words[self.next]!r}" if self.next < len(self.words) else "ends"
        return DataError(
            f"the rule {came}{after}, expected {expected}; an example: IF x IS high AND z ABOVE 2 THEN label LIKELY"
        )


def without_name(text: str) -> str:
    """Return the `text` of a rule up to its last CALLED.

    Examples
    --------
    >>> without_name('if heat above 2 then fault likely called "hot idle"')
    'if heat above 2 then fault likely'
    """
    words = list(_WORD.finditer(text))
    named = len(words) > 1 and words[-2].group(1).upper() == "CALLED"
    return text[: words[-2].start()].rstrip() if named else text


def text_of(form: object, rule: ExpertRule) -> str:
    """Return the words of the person: `form`, if it is text and no printed threshold rule, else the text of `rule`."""
    plain = isinstance(form, str) and not form.lstrip().startswith("{") and not _PRINTED.search(form)
    return str(form).strip() if plain else str(rule)
