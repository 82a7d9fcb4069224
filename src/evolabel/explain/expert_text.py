"""Expert rules as one line of text: printing and parsing, exact inverses of each other."""

import re

from evolabel.errors import DataError
from evolabel.explain.expert_form import CONFIDENCE, OFF, ON, WEIGHT, WORDS, Condition, Expectation, ExpertRule
from evolabel.explain.terms import is_term
from evolabel.explain.text_columns import column_and_value

FRAME = ("IF", "THEN", "WITH", "CONFIDENCE", "WEIGHT", "CALLED")
NOT = "NOT"  # behind IS only, so that names may be "not"
KEY_WORDS = (*FRAME, "IS", "AND", "BETWEEN", "ABOVE", "BELOW", "LIKELY", "UNLIKELY")
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|,|[^\s,"]+)', re.DOTALL)
BARE = re.compile(r'[^\s,"]+')


def print_rule(rule: ExpertRule) -> str:
    """The text of a rule."""
    region = " AND ".join(_print_condition(condition) for condition in rule.conditions)
    labels = ", ".join(f"{_name(said.label)} {_print_share(said.share)}" for said in rule.expectations)
    text = f"IF {region} THEN {labels} WITH CONFIDENCE {_number(rule.confidence)} WEIGHT {_number(rule.weight)}"
    return f"{text} CALLED {_quoted(rule.name)}" if rule.name else text


def _print_condition(condition: Condition) -> str:
    if condition.of_text:
        column, text = column_and_value(condition.feature)
        return f"{_name(column)} IS {'' if condition.term == ON else 'NOT '}{_text(text)}"
    name = _name(condition.feature)
    if condition.term:
        return f"{name} IS {condition.term}"
    if condition.high is None:
        return f"{name} ABOVE {_number(condition.low)}"
    if condition.low is None:
        return f"{name} BELOW {_number(condition.high)}"
    return f"{name} BETWEEN {_number(condition.low)} AND {_number(condition.high)}"


def _print_share(share: float) -> str:
    for word, meant in WORDS.items():
        if share == meant:
            return word.upper()
    percent = f"{100.0 * share:.10g}"
    return f"{percent}%" if float(percent) / 100.0 == share else repr(float(share))


def _number(value: float | None) -> str:
    assert value is not None
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _name(name: str) -> str:
    return name if BARE.fullmatch(name) and name.upper() not in KEY_WORDS else _quoted(name)


def _text(text: str) -> str:
    """In quotes where it could be taken for something else."""
    return _quoted(text) if is_term(text.lower()) or text.upper() == NOT else _name(text)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse_rule(text: str) -> ExpertRule:
    """The rule a text describes; DataError says where it cannot be understood."""
    return _Reader(text).rule()


class _Reader:
    """A text read word by word."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = TOKEN.match(text, at)
            if found is None:
                raise DataError(f"a quote is not closed in {text[at:].strip()!r}; end the name with another")
            self.words.append(found.group(1))
            at = found.end()
        self.place = 0

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
        confidence = self.number() if self.take("CONFIDENCE") else CONFIDENCE
        weight = self.number() if self.take("WEIGHT") else WEIGHT
        name = self.name() if self.take("CALLED") else ""
        if self.place < len(self.words):
            raise self.confused("the end")
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
            return self.said_of(feature)
        raise self.confused("IS, BETWEEN, ABOVE or BELOW")

    def said_of(self, feature: str) -> Condition:
        """A term, or else a text, or one it is not; what is in quotes is no term."""
        term = OFF if self.take(NOT) else ON
        first = self.place
        said = [self.name()]
        while self.place < len(self.words) and self.words[self.place].upper() not in ("AND", "THEN"):
            said.append(self.name())
        text = " ".join(said)
        if term == ON and not self.words[first].startswith('"') and is_term(text.lower()):
            return Condition(feature, text.lower())
        return Condition(f"{feature}={text}", term)

    def expectation(self) -> Expectation:
        label = self.name()
        for word, share in WORDS.items():
            if self.take(word.upper()):
                return Expectation(label, share)
        if self.place < len(self.words) and self.words[self.place].endswith("%"):
            self.words[self.place] = self.words[self.place][:-1]
            return Expectation(label, self.number() / 100.0)
        return Expectation(label, self.number("LIKELY, UNLIKELY or a share such as 30%"))

    def take(self, word: str) -> bool:
        """Is this the next word? Then go on behind it."""
        found = self.place < len(self.words) and self.words[self.place].upper() == word
        self.place += found
        return found

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.confused(word)

    def name(self) -> str:
        if self.place == len(self.words) or self.words[self.place].upper() in (*KEY_WORDS, ","):
            raise self.confused("a name (in quotes if it is a key word)")
        word = self.words[self.place]
        self.place += 1
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL) if word.startswith('"') else word

    def number(self, wanted: str = "a number") -> float:
        try:
            value = float(self.words[self.place])
        except (IndexError, ValueError):
            raise self.confused(wanted) from None
        self.place += 1
        return value

    def confused(self, wanted: str) -> DataError:
        came = repr(self.words[self.place]) if self.place < len(self.words) else "the end"
        before = " ".join(self.words[max(0, self.place - 4) : self.place])
        behind = f" behind {before!r}" if before else ""
        return DataError(f"the rule has {came}{behind} where {wanted} was expected; see docs/expert-rules.md")
