"""Rules of a model as a person would write them, with numbers in the units that the sensors read now."""

from contextlib import suppress
from dataclasses import replace
from math import floor, log, log10, sqrt
from sys import float_info

import numpy as np

from evolabel._utils.notes import note
from evolabel.errors import DataError
from evolabel.stages.rules.stream_terms import readings, stream_moments, stream_terms
from evolabel.stages.scaling.stage import Scaler, scaled_0_and_1, shares_on
from evolabel.stages.threshold_rules.read_trees import tree_reader
from evolabel.stages.threshold_rules.words import ADMITTED_TOO, NOTHING_ELSE, ThresholdCondition, edge_text
from evolabel.stages.written_rules.edits.journal import EditedModel
from evolabel.stages.written_rules.edits.rule_edits import is_threshold_rule, slot_of_rule
from evolabel.stages.written_rules.expert_form import KNOWN_VALUE, NO, YES, Condition, Expectation, ExpertRule
from evolabel.stages.written_rules.expert_reader import read_form, refuse_missing, without_name
from evolabel.stages.written_rules.specification import box_of, resolve, spec_of
from evolabel.typing import FloatArray
from evolabel.words.terms import ANY, Vocabulary
from evolabel.words.text_columns import CLEAR_SHARE, FALSE, TRUE

_MAX_NAMED = 8  # conditions and labels, at most, that a rule is written with
_TERM_MARGIN = 0.15  # a range whose ends miss those of a term by less, in widths of the range, is named by the term
_DIGITS = 3  # of the width of a range, to which its ends are rounded
_ROUNDING = 1e-9  # of an end, by converting it twice
_DIGITS_OF_END = 6  # of an end that is worded anew
_ANY_LABEL = (Expectation("any", 0.5),)  # a rule needs one


def form_of(number: int, model: EditedModel, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the rule with this `number` of `model` as a person would write it.

    That is a written rule as it was written, a threshold rule as it is now, and a learned rule as its statistics read
    now. `features` and `labels` are the names of the columns.
    """
    base, place = model.trained(), model.written.place_of(number)
    if place is not None:
        return written_form(place, model, features, labels)
    if is_threshold_rule(model, number):
        return threshold_form(number, model, features, labels)
    slot = slot_of_rule(base, number)
    samples = base.arrays.k[slot]
    return ExpertRule(
        tuple(_read_conditions(slot, model, stream_terms(model, features))),
        tuple(_read_expectations(slot, model, labels)),
        round(min(float(base.hessian(slot)[-1, -1] / samples), 1.0), 2),
        float(f"{samples:.4g}"),
        base.rule_names.names.get(number, ""),
    )


def _read_conditions(slot: int, model: EditedModel, words: Vocabulary) -> list[Condition]:
    """Return conditions on the features in which the rule differs most from the stream.

    Features whose range is all of the stream are left out, unless there are no others.
    """
    base, scaler, p = model.trained(), model.scaler, model.n_features
    assert scaler is not None
    spread, centre = np.sqrt(1.0 / base.arrays.inv[slot, :p]), base.arrays.c[slot, :p]
    half = spread * sqrt(2.0 * log(2.0) * base.settings.tau * p)  # where the membership, eq. (3), is 1/2
    low, high = readings(model, np.stack([centre - half, centre + half]))
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
    values = dict.fromkeys(words.texts, (YES, NO)) | dict.fromkeys(words.flags, (TRUE, FALSE))
    numbers = {words.index_of(name): both for name, both in values.items()}
    return {j: on if is_on[j] else off if is_off[j] else ANY for j, (on, off) in numbers.items()}


def _read_condition(words: Vocabulary, j: int, low: float, high: float) -> Condition:
    feature, margin = words.feature_names[j], _TERM_MARGIN * (high - low)
    term = words.term_for(feature, low + margin, high - margin)
    first, last = words.range_of(feature, term)
    if term != ANY and feature not in words.flags and abs(first - low) < margin and abs(last - high) < margin:
        return Condition(feature, term)
    digits = _DIGITS - 1 - floor(log10(high - low))
    return Condition(feature, low=round(low, digits), high=round(high, digits))


def _read_expectations(slot: int, model: EditedModel, labels: list[str]) -> list[Expectation]:
    """Return the rule's outputs at its centre, for the labels on which it differs most from the global model."""
    base = model.trained()
    r = np.append(base.arrays.c[slot, : model.n_features], 1.0)
    outputs, usual = r @ model.drift.weights(slot), r @ model.drift.weights(0)
    strongest = np.argsort(-np.abs(outputs - usual), kind="stable")[:_MAX_NAMED]
    return [Expectation(labels[c], round(float(np.clip(outputs[c], 0.0, 1.0)), 2)) for c in sorted(strongest)]


def written_form(place: int, model: EditedModel, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the written rule in `place` of `model` as it was written, with its present name.

    Where columns that it names, `features` or `labels`, have other names now, it is read from its numbers. Ranges of a
    sensor that was corrected since are those of its present readings.
    """
    number, names = int(model.written.arrays.number[place]), model.trained().rule_names
    words = stream_terms(model, features)
    try:
        rule = resolve(read_form(names.texts[number]), words)
        spec_of(rule, model, features, labels)
        rule = replace(rule, conditions=tuple(_as_read(each, place, model, words) for each in rule.conditions))
    except DataError:
        rule = rule_of_box(place, model, features, labels)
    return replace(rule, name=names.names.get(number, ""))


def written_words(place: int, model: EditedModel, features: list[str], labels: list[str]) -> str:
    """Return the words of the person for the written rule in `place` of `model`, without its name.

    A sensor that was corrected since reads other values now, so the rule is worded anew. `features` and `labels` are
    the names of the columns.
    """
    words = model.trained().rule_names.texts.get(int(model.written.arrays.number[place]), "")
    if model.sensors.corrections(features):
        with suppress(DataError):
            form = resolve(read_form(words), stream_terms(model, features))
            now = written_form(place, model, features, labels)
            words = words if form.conditions == now.conditions else str(now)
    return without_name(words)


def _as_read(condition: Condition, place: int, model: EditedModel, words: Vocabulary) -> Condition:
    """Return a `condition` of the written rule in `place`, its range in the units that the sensor reads now.

    A range that still stands for the numbers of the rule stays as it was written.
    """
    sensors, j = model.sensors, words.index_of(condition.feature)
    if condition.term or condition.feature not in sensors.corrections(words.feature_names):
        return condition
    read = np.array(box_of(ExpertRule((condition,), _ANY_LABEL), words))[:, j]
    kept = sensors.as_read_now(np.stack([model.written.arrays.low[place], model.written.arrays.high[place]]))[:, j]
    if np.allclose(read, kept, rtol=_ROUNDING, atol=0.0):
        return condition
    low, high = (float(f"{end:.{_DIGITS_OF_END}g}") for end in kept)
    return range_condition(condition.feature, low, high)


def rule_of_box(place: int, model: EditedModel, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the written rule in `place` of `model` by its numbers, in the units that the sensors read now.

    Its columns are called `features` and `labels`.
    """
    a = model.written.arrays
    mentioned = np.flatnonzero(~np.isnan(a.shares[place])).tolist()
    named = np.flatnonzero(model.written.named[place]).tolist()
    low, high = model.sensors.as_read_now(np.stack([a.low[place], a.high[place]]))
    return ExpertRule(
        tuple(range_condition(features[j], float(low[j]), float(high[j])) for j in named),
        tuple(Expectation(labels[k], float(a.shares[place, k])) for k in mentioned),
        weight=float(a.prior[place]) or 1.0,
    )


def range_condition(feature: str, low: float, high: float) -> Condition:
    """Return the condition that `feature` is from `low` to `high`; an infinite end is open."""
    if low == -float_info.max and high == float_info.max:
        return Condition(feature, KNOWN_VALUE)
    return Condition(feature, low=low if np.isfinite(low) else None, high=high if np.isfinite(high) else None)


def threshold_form(number: int, model: EditedModel, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the threshold rule of this `number` of `model` as a person would write it.

    `features` and `labels` are the names of the columns. A written rule does not hold for missing values; where the
    threshold rule does, they are left out, with a note.
    """
    trees = tree_reader(model, features, labels)
    assert trees is not None
    for k in trees.open_labels:
        for rule in trees.label_rules(k).rules:
            if rule.number == number:
                columns = {name: [features[j] for j in column] for name, column in trees.columns.items()}
                conditions = [found for each in rule.conditions for found in _as_written(each, columns)]
                admitted = [each.feature for each in rule.conditions if each.missing == ADMITTED_TOO]
                if admitted:
                    note(
                        f"rule {number} also holds where {' or '.join(admitted)} is missing, which no written "
                        "rule can; its form is for known values only"
                    )
                return ExpertRule(tuple(conditions), (Expectation(rule.label, round(rule.share, 2)),))
    raise DataError(f"threshold rule {number} is a part of another one; edit the rule that is printed")


def _as_written(condition: ThresholdCondition, columns: dict[str, list[str]]) -> list[Condition]:
    """Return a `condition` of a threshold rule as a person would write it; `columns` has the features of each text."""
    name = condition.feature
    if condition.missing == NOTHING_ELSE:
        raise refuse_missing(condition.words())
    if columns.get(name) == [name] and condition.texts:
        return [Condition(name, condition.texts[0])]
    if name in columns and condition.texts:
        texts = [f"{name}={text}" for text in condition.texts]
        if condition.excluded:
            return [Condition(text, NO) for text in texts]
        return [Condition(texts[0], YES) if len(texts) == 1 else Condition(name, texts=condition.texts)]
    ends = float(edge_text(condition.low, condition.low_width)), float(edge_text(condition.high, condition.high_width))
    low, high = ends if ends[0] < ends[1] else (float(f"{condition.low:.6g}"), float(f"{condition.high:.6g}"))
    return [range_condition(name, low, high) if np.isfinite([low, high]).any() else Condition(name, KNOWN_VALUE)]
