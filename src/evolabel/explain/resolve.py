"""`resolve`: the conditions of an expert rule in terms of the features that a model has, numbers or texts."""

from dataclasses import replace

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.explain.expert_form import NO, YES, Condition, ExpertRule
from evolabel.explain.terms import Vocabulary
from evolabel.explain.text_columns import column_and_value


def resolve(rule: ExpertRule, words: Vocabulary) -> ExpertRule:
    """Return `rule` with every condition about a feature of `words`; DataError where no feature can be meant.

    "level IS low" is about the feature level, or about the text low of a categorical column level, whichever exists.
    Texts are found whatever their case, as long as only one matches.
    """
    conditions = tuple(_resolved(condition, words) for condition in rule.conditions)
    columns: dict[str, str] = {}
    for condition in conditions:
        column, value = column_and_value(condition.feature)
        if condition.term == YES and columns.setdefault(column, value) != value:
            raise DataError(f"{column} cannot be {columns[column]} and {value} at once; write two rules")
    return replace(rule, conditions=conditions)


def _resolved(condition: Condition, words: Vocabulary) -> Condition:
    name = condition.feature
    if condition.of_text:
        if name in words.texts:
            return condition
        column, value = column_and_value(name)
        if column in words.feature_names:
            return _term(column, value, condition)
        return replace(condition, feature=_text_feature(column, value, words, name))
    if condition.term and name not in words.feature_names and words.texts_like(name):
        return Condition(_text_feature(name, condition.term, words, name), YES)
    return condition


def _term(feature: str, term: str, condition: Condition) -> Condition:
    """Return the condition on a numeric feature that was written as if it were a categorical column."""
    if condition.term == NO:
        raise DataError(f"{feature} is a number, and IS NOT is for texts only; write a term, as in {feature} IS low")
    return Condition(feature, term.lower())


def _text_feature(column: str, value: str, words: Vocabulary, name: str) -> str:
    """Return the feature of the text `value` in `column`; `name` is what the person wrote."""
    known = [column_and_value(feature)[1] for feature in words.texts_like(column)]
    alike = [text for text in known if text.lower() == value.lower()]
    if len(alike) == 1:
        return f"{column}={alike[0]}"
    if not known:
        words.index_of(name if name in words.feature_names else column)  # raises if there is no such feature
        raise DataError(f"{name} is a number to this model, and no text; write a range, as in {name} ABOVE 0.5")
    raise DataError(f"there is no text {value!r} in {column}; its texts are {first_names(known)}")
