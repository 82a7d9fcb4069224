"""Conditions of a region in words: ranges as terms, a categorical column as one condition."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolabel._utils.text import number_text, one_line
from evolabel.typing import FloatArray
from evolabel.words.terms import ANY, TERMS
from evolabel.words.text_columns import CLEAR_SHARE, column_and_value, value_words


@dataclass(frozen=True)
class RuleCondition:
    """The range of a feature in a rule, `low` to `high` in its own units; `term` is the range in words."""

    feature: str
    term: str
    low: float
    high: float


def condition_words(conditions: Sequence[RuleCondition], shares: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Return for each condition the feature or column, its term or text, and the numbers behind it.

    `shares` are how often the 0/1 features of categorical columns are 1; all `conditions` on one column are one.
    A range that is as wide as the stream is left out.
    """
    words, texts = [], _texts(conditions, shares)
    for condition in conditions:
        name = condition.feature
        if name in shares:
            column = column_and_value(name)[0]
            if texts[column][0][0] == name:
                words.append((column, *_text(*texts[column])))
        elif condition.term != ANY:
            words.append((name, condition.term, _range(condition)))
    return words


def printed_box(
    conditions: Sequence[RuleCondition], shares: Mapping[str, float], names: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest value of each feature of `names` for which the printed `conditions` hold.

    `shares` are how often the 0/1 features of categorical columns are 1. Features that nothing is printed of have
    infinite ends.
    """
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for condition in conditions:
        if condition.feature not in shares:
            j = names.index(condition.feature)
            low[j], high[j] = _ends(condition)
    for features, whole in _texts(conditions, shares).values():
        named, value = _named_values(features, whole)
        if value is not None:
            at = [names.index(name) for name in named]
            low[at] = high[at] = value
    return low, high


def _texts(
    conditions: Sequence[RuleCondition], shares: Mapping[str, float]
) -> dict[str, tuple[list[str], dict[str, float]]]:
    """Return for each categorical column in `conditions` its features there, and those of `shares` that are its own."""
    found: dict[str, tuple[list[str], dict[str, float]]] = {}
    for condition in conditions:
        if condition.feature in shares:
            column = column_and_value(condition.feature)[0]
            if column not in found:
                found[column] = [], {name: x for name, x in shares.items() if column_and_value(name)[0] == column}
            found[column][0].append(condition.feature)
    return found


def _text(features: Sequence[str], shares: Mapping[str, float]) -> tuple[str, str]:
    """Return the condition on a categorical column by some 0/1 `features` of it, and its share of the samples.

    `shares` are those of all values of the column: one that is nearly always there shows more than those that are not.
    """
    named, value = _named_values(features, shares)
    values = [column_and_value(feature)[1] for feature in named]
    share = sum(shares[feature] for feature in named)
    if value == 1.0:
        return values[0], f"{share:.0%} of its samples"
    if value is None:
        return f"sometimes {' or '.join(values)}", f"{share:.0%} of its samples"
    neither = value_words(named[0], on=False)[1] if len(values) == 1 else f"neither {' nor '.join(values)}"
    return neither, f"{1.0 - share:.0%} of its samples"


def _named_values(features: Sequence[str], shares: Mapping[str, float]) -> tuple[list[str], float | None]:
    """Return which 0/1 features of a column with these `shares` a rule names, and their value; None: 1 sometimes.

    `features` are those that the rule keeps.
    """
    clear = next((feature for feature, share in shares.items() if share >= CLEAR_SHARE), None)
    if clear is not None:
        return [clear], 1.0
    some = [feature for feature in features if shares[feature] > 1.0 - CLEAR_SHARE]
    return (some, None) if some else (list(features), 0.0)


def _ends(condition: RuleCondition) -> tuple[float, float]:
    """Return the ends of the range that is printed; an outermost term has no end on its side."""
    if condition.term == ANY:
        return -np.inf, np.inf
    low = -np.inf if condition.term.startswith(TERMS[0]) else condition.low
    return low, np.inf if condition.term.endswith(TERMS[-1]) else condition.high


def _range(condition: RuleCondition) -> str:
    """Return the range in the units of the feature; an outermost term has no end on its side."""
    step = condition.high - condition.low
    low, high = (number_text(end, step) for end in (condition.low, condition.high))
    if condition.term.startswith(TERMS[0]):
        return f"at most {high}"
    return f"at least {low}" if condition.term.endswith(TERMS[-1]) else f"{low} to {high}"


def driver_words(features: Sequence[str], texts: Collection[str], word: str = "with") -> str:
    """Return which `features` move a label: "with load and noise and where machine is M-01 or M-02".

    Those among `texts` are values of categorical columns; `word` stands before the others.
    """
    numbers, columns = [], dict[str, list[str]]()
    for name in features:
        if name in texts:
            column, value = column_and_value(name)
            columns.setdefault(one_line(column), []).append(one_line(value))
        else:
            numbers.append(one_line(name))
    parts = [f"{word} {' and '.join(numbers)}"] if numbers else []
    return " and ".join([*parts, *(f"where {column} is {' or '.join(values)}" for column, values in columns.items())])
