"""A rule that a person writes, in numbers: `resolve` finds the features meant, `spec_of` the ranges."""

from dataclasses import dataclass, replace
from sys import float_info

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.stages.rules.stream_terms import RulesModel, stream_terms
from evolabel.stages.written_rules.expert_form import KNOWN_VALUE, NO, YES, Condition, ExpertRule
from evolabel.stages.written_rules.expert_reader import refuse_missing
from evolabel.streams.columns import TRUTH_VALUES
from evolabel.typing import FloatArray
from evolabel.words.names import MISSING
from evolabel.words.terms import ANY, TERMS, Vocabulary
from evolabel.words.text_columns import FALSE, TRUE, column_and_value

_HALF = 0.5  # between the 0 and the 1 of the feature of a text, or of a flag


@dataclass(frozen=True)
class RuleSpec:
    """A written rule in numbers.

    Parameters
    ----------
    low, high : array (n_features,)
        Ends of the ranges in the units of corrected rows, both included; infinite where there is no end.
    shares : array (n_labels,)
        Share of the samples of the rule that have each label; NaN: the rule does not mention it.
    confidence : float
        Confidence of the shares, in [0, 1].
    weight : float
        Samples that the rule counts for.
    """

    low: FloatArray
    high: FloatArray
    shares: FloatArray
    confidence: float
    weight: float


def spec_of(rule: ExpertRule, model: RulesModel, features: list[str], labels: list[str]) -> RuleSpec:
    """Return the ranges and the shares of `rule`, whose conditions are resolved.

    `features` and `labels` are the names of the columns of `model`. DataError where there is no such feature or label.
    """
    box = np.stack(box_of(rule, stream_terms(model, features)))
    low, high = model.sensors.as_corrected(box)
    shares = np.full(len(labels), np.nan)
    for expected in rule.expectations:
        if expected.label not in labels:
            raise DataError(f"there is no label {expected.label!r}; the labels are {first_names(labels)}")
        shares[labels.index(expected.label)] = expected.share
    return RuleSpec(low, high, shares, float(rule.confidence), float(rule.weight))


def box_of(rule: ExpertRule, words: Vocabulary) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the ranges of `rule`, whose conditions are resolved, in the units of the features of `words`.

    Both ends belong to a range; an end that is not given is infinite. Terms mean fifths of the stream so far, and the
    outermost ones have no outer end.
    """
    low, high = np.full(len(words.feature_names), -np.inf), np.full(len(words.feature_names), np.inf)
    for condition in rule.conditions:
        j = words.index_of(condition.feature)
        low[j], high[j] = _ends(condition, words)
    return low, high


def _ends(condition: Condition, words: Vocabulary) -> tuple[float, float]:
    """Return both ends of the range of `condition`; ABOVE and BELOW leave out the number itself."""
    if condition.of_text or condition.of_flag:
        return (_HALF, np.inf) if condition.term in (YES, TRUE) else (-np.inf, _HALF)
    if condition.term == KNOWN_VALUE:
        return -float_info.max, float_info.max
    if condition.term:
        return _ends_of_term(condition, words)
    if condition.low is None or condition.high is None:
        above = -np.inf if condition.low is None else float(np.nextafter(condition.low, np.inf))
        return above, np.inf if condition.high is None else float(np.nextafter(condition.high, -np.inf))
    return condition.low, condition.high


def _ends_of_term(condition: Condition, words: Vocabulary) -> tuple[float, float]:
    low, high = words.range_of(condition.feature, condition.term)
    first, last = words.range_of(condition.feature, ANY)
    if not first < last:
        raise DataError(f"{condition.feature} has never varied, so terms mean nothing there; write a range")
    if condition.term == ANY:
        return -np.inf, np.inf
    return (
        -np.inf if condition.term.startswith(TERMS[0]) else low,
        np.inf if condition.term.endswith(TERMS[-1]) else high,
    )


def resolve(rule: ExpertRule, words: Vocabulary) -> ExpertRule:
    """Return `rule` with every condition about a feature of `words`; DataError where no feature can be meant.

    "level IS low" is about the feature level, or about the text low of a categorical column level, whichever exists.
    Texts are found whatever their case, as long as only one matches.
    """
    conditions = tuple(found for condition in rule.conditions for found in _resolved(condition, words))
    columns: dict[str, str] = {}
    for condition in conditions:
        column, value = column_and_value(condition.feature)
        if condition.term == YES and columns.setdefault(column, value) != value:
            raise DataError(f"{column} cannot be {columns[column]} and {value} at once; write two rules")
    return replace(rule, conditions=conditions)


def _resolved(condition: Condition, words: Vocabulary) -> list[Condition]:
    """Return `condition` about features of `words`; one of several texts is none of all others."""
    if condition.feature in words.flags or column_and_value(condition.feature)[0] in words.flags:
        return [_resolved_flag(condition)]
    if not condition.texts:
        return [_resolved_one(condition, words)]
    column, known = condition.feature, words.texts_like(condition.feature)
    unknown = {text.lower() for text in condition.texts} - {column_and_value(feature)[1].lower() for feature in known}
    if MISSING.lower() in unknown:
        raise refuse_missing(f"{column} is {' or '.join(condition.texts)}")
    meant = {_text_feature(column, text, words, column) for text in condition.texts}
    others = [feature for feature in known if feature not in meant]
    if not others:
        raise DataError(f"{column} has no text other than {' and '.join(condition.texts)}; leave the condition out")
    return [Condition(feature, NO) for feature in others]


def _resolved_flag(condition: Condition) -> Condition:
    """Return `condition` on a column of true and false, which may be a range; DataError for another text or a term."""
    column, text = column_and_value(condition.feature)
    if condition.of_flag or condition.term == KNOWN_VALUE or not (condition.term or condition.texts):
        return condition
    if condition.of_text and text.upper() == MISSING:
        raise refuse_missing(f"{column} is {'' if condition.term == YES else 'not '}missing")
    truth = TRUTH_VALUES.get(text.lower()) if condition.of_text else None
    if truth is None:
        raise DataError(f"{column} is true or false; write {column} IS true, or {column} IS false")
    return Condition(column, TRUE if bool(truth) == (condition.term == YES) else FALSE)


def _resolved_one(condition: Condition, words: Vocabulary) -> Condition:
    name = condition.feature
    if condition.of_text:
        if name in words.texts:
            return condition
        column, value = column_and_value(name)
        if value.upper() == MISSING and name.lower() not in map(str.lower, words.texts_like(column)):
            raise refuse_missing(f"{column} is {'' if condition.term == YES else 'not '}missing")
        if column in words.feature_names:  # a number, written as if it were a categorical column
            if condition.term == NO:
                raise DataError(
                    f"{column} is a number, and IS NOT is for texts only; write a term, as in {column} IS low"
                )
            return Condition(column, value.lower())
        return replace(condition, feature=_text_feature(column, value, words, name))
    if condition.term == KNOWN_VALUE and name not in words.feature_names and words.texts_like(name):
        texts = words.texts_like(name)
        as_text = [feature for feature in texts if column_and_value(feature)[1].lower() == KNOWN_VALUE]
        return Condition(as_text[0], YES) if as_text else Condition(texts[0], KNOWN_VALUE)
    if condition.term and name not in words.feature_names and words.texts_like(name):
        return Condition(_text_feature(name, condition.term, words, name), YES)
    return condition


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
