"""Written rules and a model: `box_of` finds the ranges of a rule in raw units, `rule_of_box` reads them."""

from sys import float_info

import numpy as np

from evolabel._utils.notes import note
from evolabel.errors import DataError
from evolabel.stages.protocols import Model
from evolabel.stages.sensors.stage import as_read_now
from evolabel.stages.threshold_rules.read_trees import tree_reader
from evolabel.stages.threshold_rules.words import ADMITTED_TOO, NOTHING_ELSE, ThresholdCondition, edge_text
from evolabel.stages.written_rules.expert_form import KNOWN_VALUE, NO, YES, Condition, Expectation, ExpertRule
from evolabel.stages.written_rules.expert_reader import refuse_missing
from evolabel.typing import FloatArray
from evolabel.words.terms import ANY, TERMS, Vocabulary
from evolabel.words.text_columns import TRUE

_HALF = 0.5  # between the 0 and the 1 of the feature of a text, or of a flag


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


def rule_of_box(place: int, model: Model, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the written rule in `place` of `model` as its numbers say, in the units that the sensors read now.

    Its columns are called `features` and `labels`.
    """
    a = model.written.arrays
    mentioned = np.flatnonzero(~np.isnan(a.shares[place])).tolist()
    named = np.flatnonzero(model.written.named[place]).tolist()
    low, high = as_read_now(model.trained(), np.stack([a.low[place], a.high[place]]))
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


def threshold_form(number: int, model: Model, features: list[str], labels: list[str]) -> ExpertRule:
    """Return the threshold rule of this `number` of `model` as a person would write it.

    `features` and `labels` are the names of the columns. A written rule does not hold for missing values; where the
    threshold rule does, they are left out, and a note says so.
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
