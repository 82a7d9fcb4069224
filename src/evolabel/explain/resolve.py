"""What a person means by a rule, once the features of a model are known: numbers, or texts that are or are not."""

from dataclasses import replace

from evolabel.errors import DataError
from evolabel.explain.expert_form import OFF, ON, Condition, ExpertRule
from evolabel.explain.terms import Vocabulary
from evolabel.explain.text_columns import column_and_value

NAMED = 8  # texts an error names, at most


def understood(rule: ExpertRule, words: Vocabulary) -> ExpertRule:
    """The rule with every condition about a feature the model has; DataError where there is none that could be meant.

    "level IS low" is about the feature level, or about the text low in a column of texts, whichever there is. Texts are
    known in small letters, too, where that is clear.
    """
    meant = tuple(_meant(condition, words) for condition in rule.conditions)
    columns: dict[str, str] = {}
    for condition in meant:
        column, value = column_and_value(condition.feature)
        if condition.term == ON and columns.setdefault(column, value) != value:
            raise DataError(f"{column} cannot be {columns[column]} and {value} at once; write two rules")
    return replace(rule, conditions=meant)


def _meant(condition: Condition, words: Vocabulary) -> Condition:
    name = condition.feature
    if condition.of_text:
        if name in words.texts:
            return condition
        column, value = column_and_value(name)
        if column in words.feature_names:
            return _term(column, value, condition)
        return replace(condition, feature=_text(column, value, words, name))
    if condition.term and name not in words.feature_names and words.texts_like(name):
        return Condition(_text(name, condition.term, words, name), ON)
    return condition


def _term(feature: str, words: str, condition: Condition) -> Condition:
    """A feature of numbers, of which a person spoke as of a text."""
    if condition.term == OFF:
        raise DataError(
            f"{feature} is a number, and IS NOT is said of texts only; write what it is, as in {feature} IS low"
        )
    return Condition(feature, words.lower())


def _text(column: str, value: str, words: Vocabulary, told: str) -> str:
    """The feature that stands for a text."""
    known = [column_and_value(feature)[1] for feature in words.texts_like(column)]
    alike = [text for text in known if text.lower() == value.lower()]
    if len(alike) == 1:
        return f"{column}={alike[0]}"
    if not known:
        words.place(told if told in words.feature_names else column)  # there is no such feature
        raise DataError(f"{told} is a number to this model, and no text; write a range, as in {told} ABOVE 0.5")
    few = ", ".join(known[:NAMED]) + (", ..." if len(known) > NAMED else "")
    raise DataError(f"there is no text {value!r} in {column}; the model knows {few}")
