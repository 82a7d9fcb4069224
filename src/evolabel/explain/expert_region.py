"""Expert rules and a model: `resolve` finds the features meant, `spec_of` the statistics, `form_of` reads a rule."""

from contextlib import suppress
from dataclasses import replace
from math import floor, log10

import numpy as np

from evolabel._utils.text import first_names
from evolabel.core.edits.expert_rules import RuleSpec, range_of_spread, stream_moments, temperature
from evolabel.core.edits.rule_edits import is_threshold_rule, slot_of_rule
from evolabel.core.protocols import Model
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.rules.scaling import Scaler
from evolabel.errors import DataError
from evolabel.explain.expert_box import box_of, rule_of_box, threshold_form
from evolabel.explain.expert_form import KNOWN_VALUE, NO, YES, Condition, Expectation, ExpertRule
from evolabel.explain.expert_reader import read_form, refuse_missing
from evolabel.explain.quoted_names import MISSING
from evolabel.explain.terms import ANY, Vocabulary, stream_terms
from evolabel.explain.text_columns import (
    CLEAR_SHARE,
    FALSE,
    TRUE,
    column_and_value,
    range_of_value,
    scaled_0_and_1,
    shares_on,
)
from evolabel.streams.cells import TRUTH_VALUES
from evolabel.typing import FloatArray

_MAX_NAMED = 8  # conditions and labels, at most, that a rule is written with
_TERM_MARGIN = 0.15  # a range whose ends miss those of a term by less, in widths of the range, is named by the term
_DIGITS = 3  # of the width of a range, to which its ends are rounded


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
    low, high = _ranges(rule, model, words) if region else box_of(rule, words)
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
        ends[:, words.index_of(condition.feature)] = _ends(condition, words, scaler)
    low, high = scaler.transform(ends)  # not `model.scale`: people write ranges in corrected units, as they are printed
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


def _ends(condition: Condition, words: Vocabulary, scaler: Scaler) -> tuple[float, float]:
    """Return the range in the units of the feature; open ends are the 1 % or 99 % quantile of the stream.

    Where the present rules leave no room beyond the given end, they are three deviations of the scaled feature away,
    which edits do not change.
    """
    if condition.term:
        return words.range_of(condition.feature, condition.term)
    first, last = words.range_of(condition.feature, ANY)
    j = words.index_of(condition.feature)
    given = [end for end in (condition.low, condition.high) if end is not None]
    if not all(first < end < last for end in given):
        lowest, highest = _widest(scaler, j)
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


def _widest(scaler: Scaler, j: int) -> tuple[float, float]:
    """Return the values of feature `j` three deviations from the middle of its scores, or where scores are clipped."""
    scores = np.zeros((2, len(scaler.used)))
    scores[:, j] = np.clip(3.0 * np.sqrt(scaler.prior[j]) * np.array([-1.0, 1.0]), scaler.low, scaler.high)
    lowest, highest = scaler.inverse(scores)[:, j].tolist()
    return lowest, highest


def _no_width(feature: str, ends: FloatArray, model: Model, j: int) -> str:
    """Return the message that says why the range `ends` of feature `j` is empty after scaling."""
    scaler = model.scaler
    assert scaler is not None
    if scaler.used[j] == 0:
        return f"{feature} has never varied, so it cannot describe a region; leave it out"
    limits = np.repeat([[scaler.low], [scaler.high]], model.n_features, axis=1)
    first, last = scaler.inverse(limits)[:, j]
    return (
        f"{feature} from {ends[0]:g} to {ends[1]:g} is empty for the model, which distinguishes values from "
        f"{first:.4g} to {last:.4g} only; choose a range inside"
    )


def form_of(identity: int, model: Model, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the rule number `identity` of `model` as a person would write it.

    That is a written rule as it was written, and a threshold rule as it is now. A region is returned as it was written,
    or, if it has learned since or was never written, as its statistics read now.
    `features` and `labels` are the names of the columns.
    """
    base, place = model.trained(), model.written.place_of(identity)
    if place is not None:
        return _written_form(place, model, features, labels)
    if is_threshold_rule(model, identity):
        return threshold_form(identity, model, features, labels)
    slot, written = slot_of_rule(base, identity), base.rule_names.written.get(identity)
    name, words = base.rule_names.names.get(identity, ""), stream_terms(model, features)
    if written is not None:
        with suppress(DataError):  # columns may have other names now
            rule = resolve(read_form(written), words)
            if _is_unchanged(rule, slot, base) and rule.names <= {*features, *labels}:
                return replace(rule, name=name)
    weight = float(f"{base.arrays.k[slot]:.4g}")
    certain = float(base.hessian(slot)[-1, -1] / base.arrays.k[slot])
    return ExpertRule(
        tuple(_read_conditions(slot, model, words)),
        tuple(_read_expectations(slot, model, labels)),
        round(min(certain, 1.0), 2),
        weight,
        name,
    )


def _written_form(place: int, model: Model, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the written rule in `place` of `model` as it was written, with its present name.

    Where columns that it names have other names now, it is read from its numbers.
    """
    number, names = int(model.written.arrays.number[place]), model.trained().rule_names
    try:
        rule = resolve(read_form(names.written[number]), stream_terms(model, features))
        spec_of(rule, model, features, labels, region=False)
    except DataError:
        rule = rule_of_box(place, model, features, labels)
    return replace(rule, name=names.names.get(number, ""))


def _is_unchanged(rule: ExpertRule, slot: int, base: RuleBase) -> bool:
    """Return whether the rule has learned nothing since it was written."""
    evidence = base.hessian(slot)[-1, -1]
    return bool(base.arrays.k[slot] == rule.weight and np.isclose(evidence, rule.weight * rule.confidence, 1e-12))


def _read_conditions(slot: int, model: Model, words: Vocabulary) -> list[Condition]:
    """Return conditions on the features in which the rule differs most from the stream.

    Features whose range is all of the stream are left out, unless there are no others.
    """
    base, scaler, p = model.trained(), model.scaler, model.n_features
    assert scaler is not None
    spread, centre = np.sqrt(1.0 / base.arrays.inv[slot, :p]), base.arrays.c[slot, :p]
    half = range_of_spread(spread, temperature(base))
    low, high = scaler.inverse(np.stack([centre - half, centre + half]))
    contrast = np.abs(centre - stream_moments(base)[0][:p]) / spread
    varied = [int(j) for j in np.argsort(-contrast, kind="stable") if low[j] < high[j]]
    texts = _text_terms(words, scaler, centre, half)
    narrow = [j for j in varied if (texts.get(j) or words.term_for(words.feature_names[j], low[j], high[j])) != ANY]
    return [
        Condition(words.feature_names[j], texts[j])
        if texts.get(j, ANY) != ANY
        else _read_condition(words, j, float(low[j]), float(high[j]))
        for j in sorted((narrow or varied)[:_MAX_NAMED])
    ]


def _text_terms(words: Vocabulary, scaler: Scaler, centre: FloatArray, half: FloatArray) -> dict[int, str]:
    """Return `YES`, `NO` or `ANY` for every 0/1 feature of a categorical column, `TRUE`, `FALSE` or `ANY` for a flag.

    It is on or off if most samples of the rule are so and the other value lies outside of its range. Where a column has
    one text, its other texts are `ANY`: they need no condition.
    """
    off, on = scaled_0_and_1(scaler)
    shares = shares_on(scaler, centre[None])[0]
    is_on = (shares >= CLEAR_SHARE) & (centre - half > off)
    is_off = (shares <= 1.0 - CLEAR_SHARE) & (centre + half < on)
    for j in np.flatnonzero(is_on):
        is_off[[words.index_of(other) for other in words.texts_like(words.feature_names[j])]] = False
    said = dict.fromkeys(words.texts, (YES, NO)) | dict.fromkeys(words.flags, (TRUE, FALSE))
    numbers = {words.index_of(name): both for name, both in said.items()}
    return {j: on if is_on[j] else off if is_off[j] else ANY for j, (on, off) in numbers.items()}


def _read_condition(words: Vocabulary, j: int, low: float, high: float) -> Condition:
    feature, margin = words.feature_names[j], _TERM_MARGIN * (high - low)
    term = words.term_for(feature, low + margin, high - margin)
    first, last = words.range_of(feature, term)
    if term != ANY and feature not in words.flags and abs(first - low) < margin and abs(last - high) < margin:
        return Condition(feature, term)
    digits = _DIGITS - 1 - floor(log10(high - low))
    return Condition(feature, low=round(low, digits), high=round(high, digits))


def _read_expectations(slot: int, model: Model, labels: list[str]) -> list[Expectation]:
    """Return the rule's outputs at its centre, for the labels on which it differs most from the global model."""
    base = model.trained()
    r = np.append(base.arrays.c[slot, : model.n_features], 1.0)
    outputs, usual = r @ base.weights(slot), r @ base.weights(0)
    strongest = np.argsort(-np.abs(outputs - usual), kind="stable")[:_MAX_NAMED]
    return [Expectation(labels[c], round(float(np.clip(outputs[c], 0.0, 1.0)), 2)) for c in sorted(strongest)]
