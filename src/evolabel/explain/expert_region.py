"""Between the form a person writes and the scores a rule lives in, in both directions."""

from math import floor, log10

import numpy as np

from evolabel.core.edits.expert_rules import RuleSpec, range_of_spread, stream_moments, temperature
from evolabel.core.edits.rule_edits import slot_of_rule
from evolabel.core.model import StreamModel
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.rules.scaling import Scaler
from evolabel.errors import DataError
from evolabel.explain.expert_form import OFF, ON, Condition, Expectation, ExpertRule, read_form
from evolabel.explain.terms import ANY, Vocabulary, stream_terms
from evolabel.explain.text_columns import CLEAR, range_of_value, scores_of_0_and_1, shares_on
from evolabel.typing import FloatArray

NAMED = 8  # conditions and labels, at most, that a rule is written with
SAME = 0.15  # a range whose ends miss those of a term by less, in widths of the range, is called by the term
DIGITS = 3  # of the width of a range, to which its ends are rounded


def spec_of(rule: ExpertRule, model: StreamModel, features: list[str], labels: list[str]) -> RuleSpec:
    """What an understood rule claims, in scores; DataError where the model knows no such label or range."""
    low, high = _ranges(rule, model, stream_terms(model, features))
    shares = np.full(len(labels), np.nan)
    for said in rule.expectations:
        if said.label not in labels:
            known = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
            raise DataError(f"there is no label {said.label!r}; the model knows {known}")
        shares[labels.index(said.label)] = said.share
    return RuleSpec(low, high, shares, float(rule.confidence), float(rule.weight))


def _ranges(rule: ExpertRule, model: StreamModel, words: Vocabulary) -> tuple[FloatArray, FloatArray]:
    """Ends of the ranges in scores, NaN where nothing is said; a column that has one text has not the others."""
    scaler = model.scaler
    assert scaler is not None
    ends = np.full((2, model.n_features), np.nan)
    numbers = [condition for condition in rule.conditions if not condition.of_text]
    for condition in numbers:
        ends[:, words.place(condition.feature)] = _ends(condition, words)
    low, high = model.scale(ends)
    texts = {condition.feature: condition.term == ON for condition in rule.conditions if condition.of_text}
    for feature in [feature for feature, on in texts.items() if on]:
        others = (other for other in words.texts_like(feature) if scaler.used[words.place(other)] > 0)
        texts |= {other: False for other in others if other not in rule.names}
    for feature, on in texts.items():
        j = words.place(feature)
        low[j], high[j] = range_of_value(scaler, j, on=on)
    for condition in rule.conditions:
        j = words.place(condition.feature)
        if not high[j] - low[j] > 1e-9:
            raise DataError(_no_width(condition.feature, ends[:, j], model, j))
    return low, high


def _ends(condition: Condition, words: Vocabulary) -> tuple[float, float]:
    """The range in the units of the feature; open ends are those of nearly all of the stream."""
    if condition.term:
        return words.range_of(condition.feature, condition.term)
    first, last = words.range_of(condition.feature, ANY)
    low = first if condition.low is None else condition.low
    high = last if condition.high is None else condition.high
    if not low < high:
        raise DataError(
            f"{condition.feature} is open beyond {low if condition.high is None else high:g}, where the stream has "
            f"never been (it goes from {first:.4g} to {last:.4g}); give both ends, as in BETWEEN 2 AND 5"
        )
    return low, high


def _no_width(feature: str, ends: FloatArray, model: StreamModel, j: int) -> str:
    """Why a range is empty for the model."""
    scaler = model.scaler
    assert scaler is not None
    if scaler.used[j] == 0:
        return f"{feature} has never varied, so no region can be told by it; leave it out"
    limits = np.repeat([[scaler.low], [scaler.high]], model.n_features, axis=1)
    first, last = scaler.inverse(limits)[:, j]
    return (
        f"{feature} from {ends[0]:g} to {ends[1]:g} is empty for the model, which tells values apart from {first:.4g} "
        f"to {last:.4g} only; choose a range inside"
    )


def form_of(identity: int, model: StreamModel, features: list[str], labels: list[str]) -> ExpertRule:
    """A rule as a person would write it: as it was written, or as it has become if it has learned since."""
    base = model.trained()
    slot, written = slot_of_rule(base, identity), base.words.written.get(identity)
    name = base.words.names.get(identity, "")
    if written is not None:
        rule = read_form(written)
        if _untaught(rule, slot, base) and rule.names <= {*features, *labels}:
            return ExpertRule(rule.conditions, rule.expectations, rule.confidence, rule.weight, name)
    weight = float(f"{base.arrays.k[slot]:.4g}")
    certain = float(base.hessian(slot)[-1, -1] / base.arrays.k[slot])
    return ExpertRule(
        tuple(_read_conditions(slot, model, stream_terms(model, features))),
        tuple(_read_expectations(slot, model, labels)),
        round(min(certain, 1.0), 2),
        weight,
        name,
    )


def _untaught(rule: ExpertRule, slot: int, base: RuleBase) -> bool:
    """Has nothing been learned by the rule since it was written?"""
    evidence = base.hessian(slot)[-1, -1]
    return bool(base.arrays.k[slot] == rule.weight and np.isclose(evidence, rule.weight * rule.confidence, 1e-12))


def _read_conditions(slot: int, model: StreamModel, words: Vocabulary) -> list[Condition]:
    """The features that set the rule apart most, of those whose range is not all of the stream, if there are any."""
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
        for j in sorted((narrow or varied)[:NAMED])
    ]


def _text_terms(words: Vocabulary, scaler: Scaler, centre: FloatArray, half: FloatArray) -> dict[int, str]:
    """For features that stand for texts: on or off if the rule is clear about it and its range ends before the other.

    Where a column has one text, it need not be told that it has not the others.
    """
    off, on = scores_of_0_and_1(scaler)
    shares = shares_on(scaler, centre[None])[0]
    is_on = (shares >= CLEAR) & (centre - half > off)
    is_off = (shares <= 1.0 - CLEAR) & (centre + half < on)
    for j in np.flatnonzero(is_on):
        is_off[[words.place(other) for other in words.texts_like(words.feature_names[j])]] = False
    return {j: ON if is_on[j] else OFF if is_off[j] else ANY for j in map(words.place, words.texts)}


def _read_condition(words: Vocabulary, j: int, low: float, high: float) -> Condition:
    feature, margin = words.feature_names[j], SAME * (high - low)
    term = words.term_for(feature, low + margin, high - margin)
    first, last = words.range_of(feature, term)
    if term != ANY and abs(first - low) < margin and abs(last - high) < margin:
        return Condition(feature, term)
    digits = DIGITS - 1 - floor(log10(high - low))
    return Condition(feature, low=round(low, digits), high=round(high, digits))


def _read_expectations(slot: int, model: StreamModel, labels: list[str]) -> list[Expectation]:
    """What the rule answers at its centre, for the labels on which it differs most from the whole stream."""
    base = model.trained()
    r = np.append(base.arrays.c[slot, : model.n_features], 1.0)
    answers, usual = r @ base.weights(slot), r @ base.weights(0)
    strongest = np.argsort(-np.abs(answers - usual), kind="stable")[:NAMED]
    return [Expectation(labels[c], round(float(np.clip(answers[c], 0.0, 1.0)), 2)) for c in sorted(strongest)]
