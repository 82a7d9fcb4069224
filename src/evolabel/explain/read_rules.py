"""`read_rules`: the rules of a model as views, in words."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evolabel.explain import shortening
from evolabel.explain.answer_parts import AnswerParts, answer_parts, recent_rows, recent_shares
from evolabel.explain.linear_rule import read_linear_rule
from evolabel.explain.outcomes import (
    Driver,
    RuleOutcome,
    distinct_outcomes,
    rule_outcomes,
    strongest_drivers,
    without_contradicted,
)
from evolabel.explain.rule_set import RuleSet
from evolabel.explain.rules import Rule
from evolabel.explain.shortening import Decide
from evolabel.model.label_states import independent_by_label
from evolabel.model.pipeline import locate
from evolabel.model.protocols import Model
from evolabel.stages.rules.rule_state import label_shares
from evolabel.stages.rules.stream_terms import readings, scaled_moments, stream_terms
from evolabel.stages.scaling.stage import shares_on
from evolabel.stages.threshold_rules.arrays import LEARNED
from evolabel.stages.threshold_rules.read_trees import LONG_ENOUGH, TreeReader, tree_reader
from evolabel.stages.written_rules.words import read_written_rules
from evolabel.typing import BoolArray, FloatArray
from evolabel.words.condition_words import RuleCondition, printed_box
from evolabel.words.terms import Vocabulary
from evolabel.words.text_columns import text_columns

_DRAWN_ROWS = 20  # rows drawn from each rule, to see what the model answers there
_DRAWN_WEIGHT = 1.0  # of all of them together, beside the memberships of recent rows


def read_rules(
    model: Model,
    feature_names: list[str],
    label_names: list[str],
    *,
    rows: FloatArray | None = None,
    fidelity: float = shortening.FIDELITY,
    decide: Decide = shortening.at_one_half,
) -> RuleSet:
    """Return all rules of `model`; none while the warm-up lasts, or in a sibling that has not learned yet.

    Features and labels have the names `feature_names` and `label_names`. Fidelity and activity are reported on raw
    `rows` (n, n_features), missing features at the mean of the stream; without them on rows drawn from the rules. Of
    the labels that whole rules predict as the model does on the latter, the shortened ones must predict the share
    `fidelity` so, as `decide` has labels on by the outputs.
    """
    if model.rules is None or model.rules.n_rules == 0:
        return RuleSet()
    parts = answer_parts(model, len(label_names))
    claims = _Claims(model, label_names, parts, decide, rows)
    trees = tree_reader(model, feature_names, label_names)
    relevant = None if trees is None else _relevant_features(trees)
    allowed = None if relevant is None else _allowed_features(claims, relevant)
    columns = [] if model.scaler is None else [*text_columns(feature_names, model.scaler.binary).values()]
    short = shortening.shorten(model, fidelity, decide=decide, allowed=allowed, columns=columns)
    found = _fidelity(short, rows, decide)
    words = stream_terms(model, feature_names)
    return RuleSet(
        _views(short, found, words, claims, relevant=relevant, learned=rows is None),
        found,
        read_linear_rule(model, feature_names, label_names, parts),
        written=read_written_rules(model, feature_names, label_names),
        threshold_rules=[] if trees is None else [trees.label_rules(k) for k in trees.open_labels],
        left_out=[] if model.trees is None else [feature_names[j] for j in np.flatnonzero(model.trees.left_out)],
        searched=trees is not None and bool(trees.arrays.clock[LEARNED] >= LONG_ENOUGH),
        parts=claims.parts_by_name,
        independent=dict(zip(label_names, independent_by_label(model), strict=True)),
    )


class _Claims:
    """What the rules of `model` answer for the labels, and what the model predicts where they are active.

    `parts` answer the labels called `labels`, which are on by `decide`. Predictions are those for raw `rows`, if
    they are given, else for recent ones, and for some that are drawn from each rule.
    """

    def __init__(
        self,
        model: Model,
        labels: list[str],
        parts: list[AnswerParts],
        decide: Decide,
        rows: FloatArray | None,
    ) -> None:
        self.model, self.labels, self.parts, self._decide = model, labels, parts, decide
        self.parts_by_name = dict(zip(labels, parts, strict=True))
        self._shares = model.drift.mixed(label_shares)
        usual, self.n_usual = recent_shares(model)
        self._usual = np.where(np.isnan(usual), self._shares[0], usual)
        recent = _rows_and_labels(model, decide, model.sensors.as_read(recent_rows(model)))
        given = None if rows is None else _rows_and_labels(model, decide, rows)
        self._known = [recent] if given is None else [given, recent]
        self._drawn = _drawn_rows(model)
        self._predicted = self._predicted_by_rule(*self._known[0])

    def shares(self, slot: int) -> FloatArray:
        """Return the share of each label in the rule in `slot`."""
        return np.asarray(self._shares[slot])

    def outcomes(self, slot: int, drivers: list[tuple[Driver, ...]] | None = None) -> tuple[RuleOutcome, ...]:
        """Return the outcomes of the rule in `slot`, with the `drivers` of each label."""
        drivers = [()] * len(self.labels) if drivers is None else drivers
        shares, predicted = self._shares[slot], self._predicted[slot - 1]
        return tuple(rule_outcomes(self.labels, shares, self._usual, drivers, predicted=predicted, parts=self.parts))

    def compared(self, rule: Rule, slot: int) -> Rule:
        """Return the `rule` in `slot` without the claims that rows in its printed conditions contradict.

        One row is enough, if the model predicts otherwise for most of those that are there. Given and recent rows
        count each on its own; where there is none, rows drawn from the rule count, moved into the conditions.
        """
        low, high = printed_box(rule.conditions, rule.text_shares, rule.feature_names)
        anything, outcomes, met = np.isinf(low) & np.isinf(high), rule.outcomes, False
        for rows, on in self._known:
            inside = np.all(((low <= rows) & (rows <= high)) | anything, axis=1)
            if inside.any():
                outcomes, met = without_contradicted(outcomes, self._by_name(on[inside])), True
        if not met:
            moved = np.clip(self._drawn[slot - 1], low, high)
            outcomes = without_contradicted(outcomes, self._by_name(self._decide(self.model.outputs(moved))))
        return replace(rule, outcomes=outcomes)

    def _by_name(self, on: BoolArray) -> dict[str, float]:
        """Return for how many rows each label is `on`, (rows, n_labels), by its name."""
        return dict(zip(self.labels, on.mean(axis=0).tolist(), strict=True))

    def _predicted_by_rule(self, rows: FloatArray, on: BoolArray) -> FloatArray:
        """Return for how many rows in each rule the model predicts each label, (rules, n_labels).

        Raw `rows`, for which the labels `on` are predicted, count by memberships; those drawn from the rule as one.
        """
        rules, n_drawn = self.model.trained(), self._drawn.shape[1]
        raw = self._drawn.reshape(-1, rows.shape[1])
        drawn, own = self._decide(self.model.outputs(raw)), locate(self.model, raw).psi
        slots = np.repeat(np.arange(rules.n_rules), n_drawn)
        own = np.where(slots[:, None] == np.arange(rules.n_rules), np.maximum(own, 1e-9), 0.0)
        own *= _DRAWN_WEIGHT / own.sum(axis=0)
        psi = locate(self.model, rows).psi
        counts = psi.T @ on + own.T @ drawn
        return np.asarray(counts / (psi.sum(axis=0) + _DRAWN_WEIGHT)[:, None])


def _rows_and_labels(model: Model, decide: Decide, rows: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return those of the raw `rows` that have a value, and the labels that `model` predicts for them."""
    rows = np.ascontiguousarray(rows[~np.isnan(rows).all(axis=1)])
    return rows, decide(model.outputs(rows))


def _drawn_rows(model: Model) -> FloatArray:
    """Return raw rows drawn from each rule of `model`, (rules, rows, n_features)."""
    rules, scaler = model.trained(), model.scaler
    assert scaler is not None
    slots = np.repeat(np.arange(1, rules.n_rules + 1), _DRAWN_ROWS)
    Z = shortening.rows_of_slots(model, slots, np.random.default_rng(2))
    return np.ascontiguousarray(model.sensors.as_read(scaler.inverse(Z))).reshape(rules.n_rules, _DRAWN_ROWS, -1)


def _fidelity(short: shortening.ShortRules, rows: FloatArray | None, decide: Decide) -> shortening.Fidelity:
    """Return the fidelity of `short` on raw `rows`, by default on rows drawn from the rules."""
    model = short.model
    if rows is None:
        return shortening.measure_fidelity(short, shortening.reference_rows(model, seed=1), decide)
    rows = np.ascontiguousarray(rows[~np.isnan(rows).all(axis=1)])
    Z = model.scale(rows)
    complete = np.where(np.isnan(Z), model.trained().arrays.c[0, : model.n_features], Z)
    return replace(shortening.measure_fidelity(short, complete, decide, model.outputs(rows)), n_given=len(rows))


def _relevant_features(trees: TreeReader) -> BoolArray | None:
    """Return which features matter for each label, (n_labels, n_features): all where its tree is not used.

    None where no tree is used.
    """
    if not trees.open_labels:
        return None
    found = {k: trees.relevant(k) for k in trees.open_labels}
    everything = np.ones(len(trees.features), bool)
    owners = [trees.tree_of(label) for label in range(len(trees.labels))]
    return np.array([everything if k is None or not found[k].any() else found[k] for k in owners])


def _allowed_features(claims: _Claims, relevant: BoolArray) -> BoolArray:
    """Return the features that each rule may name, (rules, n_features): those `relevant` for a label it claims.

    A rule that claims none may name all. `claims` has the outcomes.
    """
    index, allowed = {name: c for c, name in enumerate(claims.labels)}, []
    for slot in range(1, claims.model.trained().n_rules + 1):
        shown = [index[outcome.label] for outcome in distinct_outcomes(claims.outcomes(slot))]
        allowed.append(relevant[shown].any(axis=0) if shown else np.ones(relevant.shape[1], bool))
    return np.array(allowed)


def _views(
    short: shortening.ShortRules,
    found: shortening.Fidelity,
    words: Vocabulary,
    claims: _Claims,
    *,
    relevant: BoolArray | None,
    learned: bool,
) -> Iterator[Rule]:
    """Yield the view of every rule with its `claims`.

    Its activity is its share of what was learned, or of memberships (`found`). Drivers of a label are features that are
    `relevant` for it, (n_labels, n_features), if that is known.
    """
    model, names = short.model, words.feature_names
    rules, scaler = model.trained(), model.scaler
    assert scaler is not None
    a, used = rules.arrays, slice(1, rules.n_rules + 1)
    scaled, spread = a.c[used, : model.n_features], np.sqrt(rules.variances())
    centre, low, high = (readings(model, Z) for Z in (scaled, scaled - spread, scaled + spread))
    on = shares_on(scaler, scaled)
    contrast = np.abs(scaled - a.c[0, : model.n_features]) / spread
    width = scaled_moments(model)[1]
    evidence = np.array([rules.hessian(slot)[-1, -1] for slot in range(rules.n_rules + 1)])
    corrections = model.sensors.corrections(names)
    scale = width[:, None] if relevant is None else width[:, None] * relevant.T
    activity = evidence[1:] / max(evidence[1:].sum(), 1e-300) if learned else found.activity
    kept = short.kept
    for i in range(rules.n_rules):
        slot = i + 1
        weights, r = model.drift.weights(slot), np.append(scaled[i], 1.0)
        drivers = strongest_drivers(weights[:-1] * scale, names)
        ends = [(names[j], float(low[i, j]), float(high[i, j])) for j in kept[i].tolist()]
        conditions = tuple(RuleCondition(name, words.term_for(name, *span), *span) for name, *span in ends)
        rule = Rule(
            identity=int(a.identity[slot]),
            centre=centre[i],
            low=low[i],
            high=high[i],
            support=float(a.k[slot]),
            born=int(a.born[slot]),
            last_won=int(a.last_won[slot]),
            weights=weights,
            label_shares=claims.shares(slot),
            feature_names=names,
            label_names=claims.labels,
            contrast=contrast[i],
            n_seen=rules.n_seen,
            activity=float(activity[i]),
            certainty=float(1.0 / (1.0 + r @ rules.inverse(slot) @ r)),
            fidelity=float(found.by_rule[i]),
            conditions=conditions,
            outcomes=claims.outcomes(slot, drivers),
            shares_on=on[i],
            name=rules.rule_names.names.get(int(a.identity[slot]), ""),
            locked=bool(a.locked[slot]),
            corrections=corrections,
            parts=claims.parts_by_name,
            n_usual=claims.n_usual,
        )
        yield claims.compared(rule, slot)
