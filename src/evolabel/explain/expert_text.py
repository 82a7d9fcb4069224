"""Reading expert rules: `read_form` takes one line of text, JSON text or a dictionary.

Reading is the exact inverse of `str(rule)` and `rule.to_dict()` (`expert_form`).
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.expert_form import (
    DEFAULT_CONFIDENCE,
    DEFAULT_WEIGHT,
    KEY_WORDS,
    NO,
    NOT,
    SHARE_WORDS,
    YES,
    Condition,
    Expectation,
    ExpertRule,
)
from evolabel.explain.terms import is_term

_WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|,|[^\s,"]+)', re.DOTALL)


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
            return _Reader(form).rule()
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
        form.get("confidence", DEFAULT_CONFIDENCE),
        form.get("weight", DEFAULT_WEIGHT),
        str(form.get("name", "")),
    )


def _condition(feature: str, value: Any) -> Condition:
    if isinstance(value, str):
        return _condition_in_words(feature, value)
    if isinstance(value, list | tuple) and len(value) == 2:
        return Condition(feature, "", *value)
    raise DataError(f"{feature} has the value {value!r}; use a term such as high, a range such as [2, 5], or a text")


def _condition_in_words(feature: str, value: str) -> Condition:
    """Return the condition of a term, of `YES` or `NO` for the 0/1 feature of a text, or else of a text."""
    term = " ".join(value.lower().split())
    if is_term(term) or (term in (YES, NO) and "=" in feature):
        return Condition(feature, term)
    return Condition(f"{feature}={value}", YES)


def _share(label: str, value: Any) -> float:
    if isinstance(value, str):
        if value.lower() not in SHARE_WORDS:
            raise DataError(f"{label} has the value {value!r}; use likely, unlikely, or a share from 0 to 1")
        return SHARE_WORDS[value.lower()]
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
        conditions = [self.condition()]
        while self.take("AND"):
            conditions.append(self.condition())
        self.expect("THEN")
        expectations = [self.expectation()]
        while self.take(","):
            expectations.append(self.expectation())
        self.take("WITH")
        confidence = self.number() if self.take("CONFIDENCE") else DEFAULT_CONFIDENCE
        weight = self.number() if self.take("WEIGHT") else DEFAULT_WEIGHT
        name = self.name() if self.take("CALLED") else ""
        if self.next < len(self.words):
            raise self.error("the end")
        return ExpertRule(tuple(conditions), tuple(expectations), confidence, weight, name)

    def condition(self) -> Condition:
        feature = self.name()
        if self.take("BETWEEN"):
            low = self.number()
            self.expect("AND")
            return Condition(feature, low=low, high=self.number())
        if self.take("ABOVE"):
            return Condition(feature, low=self.number())
        if self.take("BELOW"):
            return Condition(feature, high=self.number())
        if self.take("IS"):
            return self.term_or_text(feature)
        raise self.error("IS, BETWEEN, ABOVE or BELOW")

    def term_or_text(self, feature: str) -> Condition:
        """Return the condition after IS: a term, or else a text, or NOT a text; words in quotes are no term."""
        term = NO if self.take(NOT) else YES
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
        for word, share in SHARE_WORDS.items():
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
        if self.next == len(self.words) or self.words[self.next].upper() in (*KEY_WORDS, ","):
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
        came = repr(self.words[self.next]) if self.next < len(self.words) else "the end"
        before = " ".join(self.words[max(0, self.next - 4) : self.next])
        behind = f" behind {before!r}" if before else ""
        return DataError(f"the rule has {came}{behind} where {expected} was expected; see docs/expert-rules.md")
