"""Expert rules and a model: `resolve` finds the features meant, `spec_of` the statistics, `form_of` reads a rule."""

from dataclasses import replace

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.stages.protocols import Model
from evolabel.stages.rules.stream_terms import readings, stream_terms
from evolabel.stages.scaling.words import range_of_value
from evolabel.stages.sensors.stage import as_corrected
from evolabel.stages.written_rules.edits.expert_rules import RuleSpec
from evolabel.stages.written_rules.expert_box import box_of
from evolabel.stages.written_rules.expert_form import KNOWN_VALUE, NO, YES, Condition, ExpertRule
from evolabel.stages.written_rules.expert_reader import refuse_missing
from evolabel.streams.cells import TRUTH_VALUES
from evolabel.typing import FloatArray
from evolabel.words.quoted_names import MISSING
from evolabel.words.terms import ANY, Vocabulary
from evolabel.words.text_columns import (
    FALSE,
    TRUE,
    column_and_value,
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
    said = TRUTH_VALUES.get(text.lower()) if condition.of_text else None
    if said is None:
        raise DataError(f"{column} is true or false; write {column} IS true, or {column} IS false")
    return Condition(column, TRUE if bool(said) == (condition.term == YES) else FALSE)


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


def spec_of(rule: ExpertRule, model: Model, features: list[str], labels: list[str], *, region: bool) -> RuleSpec:
    """Return the ranges and the label shares of `rule`, whose conditions are resolved.

    `features` and `labels` are the names of the columns of `model`. Ranges are those of a `region`, scaled, or of a
    written rule, in raw units. DataError where there is no such label, or where the range of a region is empty.
    """
    words = stream_terms(model, features)
    low, high = _ranges(rule, model, words) if region else as_corrected(model.trained(), np.stack(box_of(rule, words)))
    shares = np.full(len(labels), np.nan)
    for expected in rule.expectations:
        if expected.label not in labels:
            raise DataError(f"there is no label {expected.label!r}; the labels are {first_names(labels)}")
        shares[labels.index(expected.label)] = expected.share
    return RuleSpec(low, high, shares, float(rule.confidence), float(rule.weight))


def _ranges(rule: ExpertRule, model: Model, words: Vocabulary) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the scaled ranges, NaN for features not named.

    A categorical column that has one text has none of the others, so these are named as well.
    """
    scaler = model.scaler
    assert scaler is not None
    ends = np.full((2, model.n_features), np.nan)
    numbers = [condition for condition in rule.conditions if not (condition.of_text or condition.of_flag)]
    for condition in numbers:
        if condition.term == KNOWN_VALUE:
            raise DataError(f"{condition.feature} is known: a region has no condition of that kind; leave it out")
        ends[:, words.index_of(condition.feature)] = _ends(condition, words, model)
    low, high = scaler.transform(as_corrected(model.trained(), ends))  # people write what the sensors read now
    texts = {condition.feature: condition.term == YES for condition in rule.conditions if condition.of_text}
    for feature in [feature for feature, on in texts.items() if on]:
        others = (other for other in words.texts_like(feature) if scaler.used[words.index_of(other)] > 0)
        texts |= {other: False for other in others if other not in rule.names}
    texts |= {condition.feature: condition.term == TRUE for condition in rule.conditions if condition.of_flag}
    for feature, on in texts.items():
        j = words.index_of(feature)
        low[j], high[j] = range_of_value(scaler, j, on=on)
    for condition in rule.conditions:
        j = words.index_of(condition.feature)
        if not high[j] - low[j] > 1e-9:
            raise DataError(_no_width(condition.feature, ends[:, j], model, j))
    return low, high


def _ends(condition: Condition, words: Vocabulary, model: Model) -> tuple[float, float]:
    """Return the range of `condition` in the units of the feature, as `model` reads it now.

    Open ends are the 1 % or 99 % quantile of the stream. Where the present rules leave no room beyond the given end,
    they are three deviations of the scaled feature away, which edits do not change.
    """
    if condition.term:
        return words.range_of(condition.feature, condition.term)
    first, last = words.range_of(condition.feature, ANY)
    j = words.index_of(condition.feature)
    given = [end for end in (condition.low, condition.high) if end is not None]
    if not all(first < end < last for end in given):
        lowest, highest = _widest(model, j)
        first, last = min(first, lowest), max(last, highest)
    low = first if condition.low is None else condition.low
    high = last if condition.high is None else condition.high
    if not low < high:
        side = f"ABOVE {low:g}" if condition.high is None else f"BELOW {high:g}"
        raise DataError(
            f"{condition.feature} {side} is outside of the stream, which goes from {first:.4g} to {last:.4g}; "
            "give both ends, as in BETWEEN 2 AND 5"
        )
    return low, high


def _widest(model: Model, j: int) -> tuple[float, float]:
    """Return the values of feature `j` three deviations from the middle of its scores, or where scores are clipped."""
    scaler = model.scaler
    assert scaler is not None
    scores = np.zeros((2, len(scaler.used)))
    scores[:, j] = np.clip(3.0 * np.sqrt(scaler.prior[j]) * np.array([-1.0, 1.0]), scaler.low, scaler.high)
    lowest, highest = readings(model, scores)[:, j].tolist()
    return lowest, highest


def _no_width(feature: str, ends: FloatArray, model: Model, j: int) -> str:
    """Return the message that says why the range `ends` of feature `j` is empty after scaling."""
    scaler = model.scaler
    assert scaler is not None
    if scaler.used[j] == 0:
        return f"{feature} has never varied, so it cannot describe a region; leave it out"
    limits = np.repeat([[scaler.low], [scaler.high]], model.n_features, axis=1)
    first, last = readings(model, limits)[:, j]
    return (
        f"{feature} from {ends[0]:g} to {ends[1]:g} is empty for the model, which distinguishes values from "
        f"{first:.4g} to {last:.4g} only; choose a range inside"
    )
