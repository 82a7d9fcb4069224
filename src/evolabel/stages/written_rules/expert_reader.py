"""`read_form`: rules that people write, from text or JSON. It is the exact inverse of `str(rule)` and `rule.to_dict()`.

Key words may be in small letters. Names with blanks, commas or quotes, and names that are key words, go in quotes. Open
ranges are ABOVE 2 and BELOW 5, or null at that end. A threshold rule can be read as it is printed, "IF flow is below
3.2 THEN leak (97 %, 69 samples, rule 33)" or "... THEN leak in 3 % of 69 samples (rule 34)"; parts that no written rule
can have are refused by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from evolabel._utils.json_text import parse_json
from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.stages.written_rules.expert_form import (
    DEFAULT_CONFIDENCE,
    DEFAULT_WEIGHT,
    KNOWN_VALUE,
    NO,
    SHARE_WORDS,
    YES,
    Condition,
    Expectation,
    ExpertRule,
)
from evolabel.words.names import KEY_WORDS, MISSING, NEITHER, NOR, NOT, OR, quoted
from evolabel.words.terms import is_term

_PRINTED = re.compile(
    r"\bTHEN (\S.*?) (?:in|\() ?(?:over |under )?(\d+(?:\.\d+)?) %(?:,| of) [\d,]+ samples?(?:,? \(?rule \d+)?\)?"
    r"(?:; threshold rules count \d+ %)?\s*$"
)
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_SENSOR_NOTE = re.compile(rf"({_QUOTED})| on today's gauge \([^()]*\)", re.DOTALL)
_REGION = re.compile(r"\((?:at least|at most) [^()]*\)|\([^()]*% of its samples\)|\bis [a-z ]+ here \(")
_NO_TEXT = ("ABOVE", "BELOW", "BETWEEN", NOT, NEITHER, "KNOWN")
_NO_CONDITION = "nothing else holds"
_WORD = re.compile(rf'\s*({_QUOTED}|,|[^\s,"]+)', re.DOTALL)


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
            return _read_text(form)
        try:
            form = parse_json(form)
        except ValueError as error:
            raise DataError(f"the rule is no JSON ({error}); correct it, or write the rule as text") from None
    if isinstance(form, Mapping):
        return _from_dict(form)
    raise DataError(f"a rule is text or a dictionary, got {type(form).__name__}; see docs/how-to/expert-rules.md")


def _read_text(text: str) -> ExpertRule:
    """Return the rule that `text` describes, as a person has written it, or as a threshold rule is printed."""
    region = _REGION.search(re.sub(_QUOTED, '""', text, flags=re.DOTALL))
    if region is not None:
        raise DataError(
            f"{region.group()!r} is part of a printed region, which is read from its numbers only; "
            "pass str(clf.rulebook.form(rule)) of this rule"
        )
    printed = _PRINTED.search(text)
    if printed is None:
        return _Reader(text).rule()
    conditions, label, share = text[: printed.start()], printed[1], printed[2]
    if conditions.split() == ["IF", *_NO_CONDITION.split()]:
        raise DataError(
            f"the rule has no condition ({_NO_CONDITION!r}); name at least one feature, as in IF heat IS high"
        )
    label = label if label.startswith('"') else quoted(label)
    conditions = _SENSOR_NOTE.sub(lambda found: found[1] or "", conditions)
    return _Reader(f"{conditions}THEN {label} {share}%", long_names=True).rule()


def refuse_missing(part: str) -> DataError:
    """Return the error that names a `part` of a rule which is about missing values."""
    return DataError(
        f"{part!r} is about missing values, and a written rule never holds where a value that it names is missing; "
        "leave that out, or write a rule about other features"
    )


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
    """Return the condition of a range, of a term, of `YES` or `NO` for the 0/1 feature of a text, or else of a text."""
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, str):
        term = " ".join(value.lower().split())
        known = is_term(term) or (term in (YES, NO) and "=" in feature)
        return Condition(feature, term) if known else Condition(f"{feature}={value}", YES)
    if isinstance(value, list | tuple) and value and all(isinstance(text, str) for text in value):
        return Condition(feature, texts=tuple(value))
    if isinstance(value, list | tuple) and len(value) == 2:
        return Condition(feature, "", *value)
    raise DataError(f"{feature} has the value {value!r}; use a term such as high, a range such as [2, 5], or a text")


def _share(label: str, value: Any) -> float:
    if isinstance(value, str):
        if value.lower() not in SHARE_WORDS:
            raise DataError(f"{label} has the value {value!r}; use likely, unlikely, or a share from 0 to 1")
        return SHARE_WORDS[value.lower()]
    check_number(f"share of {label}", value, 0, 1, also=', or "likely", "unlikely"')
    return float(value)


class _Reader:
    """The words of a text, and the number of the next word to read; `long_names`: features may have several words."""

    def __init__(self, text: str, *, long_names: bool = False) -> None:
        self.long_names = long_names
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
        confidence = self.number() if self.take("CONFIDENCE") else DEFAULT_CONFIDENCE
        weight = self.number() if self.take("WEIGHT") else DEFAULT_WEIGHT
        name = self.name() if self.take("CALLED") else ""
        if self.next < len(self.words):
            raise self.error("the end")
        return ExpertRule(tuple(conditions), tuple(expectations), confidence, weight, name)

    def conditions(self) -> list[Condition]:
        """Return the next condition; "mode IS NEITHER idle NOR wash" is two."""
        feature, has_is = self.feature(), self.take("IS")
        if has_is and self.comes(MISSING) and self.comes(OR, 1) and self.comes_any(_NO_TEXT, 2):
            raise refuse_missing(f"{feature} is missing or")
        if self.take("BETWEEN"):
            low = self.number()
            self.expect("AND")
            return [Condition(feature, low=low, high=self.number())]
        if self.take("ABOVE"):
            return [Condition(feature, low=self.number())]
        if self.take("BELOW"):
            return [Condition(feature, high=self.number())]
        if has_is:
            return self.term_or_texts(feature)
        raise self.error("IS, BETWEEN, ABOVE or BELOW")

    def feature(self) -> str:
        """Return the name before IS or a range, in printed rules of one or more words."""
        names = [self.name()]
        while self.long_names and not self.comes_any(("IS", "BETWEEN", "ABOVE", "BELOW")):
            names.append(self.name())
        return " ".join(names)

    def term_or_texts(self, feature: str) -> list[Condition]:
        """Return what comes after IS: a term, or else texts; words in quotes are no term."""
        excluded, first = self.take(NOT), self.next
        neither = not excluded and self.comes(NEITHER) and any(word.upper() == NOR for word in self.up_to_end())
        self.next += neither
        between = NOR if neither else OR
        texts = [self.text(between)]
        while self.take(between):
            texts.append(self.text(between))
        if excluded or neither:
            if len(texts) > 1 and not neither:
                raise self.error("a text; for several write IS NEITHER one NOR other")
            return [Condition(f"{feature}={text}", NO) for text in texts]
        if len(texts) > 1:
            return [Condition(feature, texts=tuple(texts))]
        plain = not self.words[first].startswith('"')
        if plain and (is_term(texts[0].lower()) or texts[0].lower() == KNOWN_VALUE):
            return [Condition(feature, texts[0].lower())]
        return [Condition(f"{feature}={texts[0]}", YES)]

    def text(self, between: str) -> str:
        """Return the words up to the end of a text: AND, THEN, or the word `between` two texts."""
        names = [self.name()]
        while self.next < len(self.words) and not self.comes_any(("AND", "THEN", between)):
            names.append(self.name())
        return " ".join(names)

    def up_to_end(self) -> list[str]:
        """Return the words that are left of the condition."""
        left = self.words[self.next :]
        ends = [i for i, word in enumerate(left) if word.upper() in ("AND", "THEN")]
        return left[: ends[0]] if ends else left

    def comes(self, word: str, ahead: int = 0) -> bool:
        """Return whether `word` comes next, or so many words `ahead`."""
        return self.comes_any((word,), ahead)

    def comes_any(self, words: tuple[str, ...], ahead: int = 0) -> bool:
        """Return whether one of `words` comes next, or so many words `ahead`."""
        at = self.next + ahead
        return at < len(self.words) and self.words[at].upper() in words

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
        """Return the error that names the word that came, and that `expected` should have come."""
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
