"""Conditions of a region in words: ranges as terms, a categorical column as one condition."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evolabel._utils.text import one_line
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

    `shares` says how often the 0/1 features of categorical columns are 1; all `conditions` on one column are one.
    A range that is as wide as the stream is left out.
    """
    texts: dict[str, list[str]] = {}
    for condition in conditions:
        if condition.feature in shares:
            texts.setdefault(column_and_value(condition.feature)[0], []).append(condition.feature)
    words = []
    for condition in conditions:
        name = condition.feature
        if name in shares:
            column = column_and_value(name)[0]
            if texts[column][0] == name:
                whole = {feature: share for feature, share in shares.items() if column_and_value(feature)[0] == column}
                words.append((column, *_text(texts[column], whole)))
        elif condition.term != ANY:
            words.append((name, condition.term, _range(condition)))
    return words


def _text(features: Sequence[str], shares: Mapping[str, float]) -> tuple[str, str]:
    """Return what a rule says of a categorical column by some 0/1 `features` of it, and in what share of its samples.

    `shares` are those of all values of the column: one that is nearly always there says more than those that are not.
    """
    clear = next((feature for feature, share in shares.items() if share >= CLEAR_SHARE), None)
    some = [feature for feature in features if shares[feature] > 1.0 - CLEAR_SHARE]
    named = [clear] if clear is not None else some or list(features)
    values = [column_and_value(feature)[1] for feature in named]
    share = sum(shares[feature] for feature in named)
    if clear is not None:
        return values[0], f"{share:.0%} of its samples"
    if some:
        return f"sometimes {' or '.join(values)}", f"{share:.0%} of its samples"
    neither = value_words(named[0], on=False)[1] if len(values) == 1 else f"neither {' nor '.join(values)}"
    return neither, f"{1.0 - share:.0%} of its samples"


def _range(condition: RuleCondition) -> str:
    """Return the range in the units of the feature; an outermost term has no end on its side."""
    if condition.term.startswith(TERMS[0]):
        return f"at most {condition.high:.4g}"
    if condition.term.endswith(TERMS[-1]):
        return f"at least {condition.low:.4g}"
    return f"{condition.low:.4g} to {condition.high:.4g}"


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
