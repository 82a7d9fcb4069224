"""`read_rules`: the rules of a model as views, in words."""

from collections.abc import Iterator

import numpy as np

from evolabel.core.members.mixture import mixed_label_shares
from evolabel.core.members.sensor_corrections import sensor_corrections
from evolabel.core.protocols import Model
from evolabel.explain import shortening
from evolabel.explain.condition_words import RuleCondition
from evolabel.explain.linear_rule import read_linear_rule
from evolabel.explain.read_thresholds import LONG_ENOUGH, TreeReader, tree_reader
from evolabel.explain.rules import Driver, Rule, RuleOutcome, RuleSet, distinct_outcomes
from evolabel.explain.terms import Vocabulary, scaled_moments, stream_terms
from evolabel.explain.text_columns import shares_on, text_columns
from evolabel.explain.written_rules import read_written_rules
from evolabel.kernels.threshold_rules.state import LEARNED
from evolabel.typing import BoolArray, FloatArray

_LIKELY_SHARE = 0.5
_RAISED_FACTOR = 1.5  # a share of so many times the usual one is "more likely than usual", one so much below "unlikely"
_MIN_RAISED_SHARE = 0.03  # a smaller share is always "unlikely"

_MAX_DRIVERS = 3
_MIN_EFFECT = 0.01  # smallest effect of one standard deviation of a feature on an output that is shown


def read_rules(
    model: Model,
    feature_names: list[str],
    label_names: list[str],
    *,
    rows: FloatArray | None = None,
    fidelity: float = shortening.FIDELITY,
    threshold: shortening.Threshold = 0.5,
) -> RuleSet:
    """Return all rules of `model`; none while the warm-up lasts, or in a sibling that has not learned yet.

    Parameters
    ----------
    model : Model
    feature_names, label_names : list of str
    rows : array of shape (n, n_features), optional
        Raw rows on which fidelity and activity are reported (missing features at the mean of the stream); by default
        rows drawn from the rules.
    fidelity : float
        Rules are shortened as far as they predict this share of the labels alike, on rows drawn from the rules.
    threshold : array, float or None
        Outputs of at least this much are on; None: the largest output is.
    """
    if model.rules is None or model.rules.n_rules == 0:
        return RuleSet()
    trees = tree_reader(model, feature_names, label_names)
    relevant = None if trees is None else _relevant_features(trees)
    allowed = None if relevant is None else _allowed_features(model, label_names, relevant)
    columns = [] if model.scaler is None else [*text_columns(feature_names, model.scaler.binary).values()]
    short = shortening.shorten(model, fidelity, threshold=threshold, allowed=allowed, columns=columns)
    if rows is None:
        tested = shortening.reference_rows(model, seed=1)
    else:
        Z = model.scale(rows)
        tested = np.where(np.isnan(Z), model.rules.arrays.c[0, : model.n_features], Z)
    found = shortening.measure_fidelity(short, tested, threshold)
    words = stream_terms(model, feature_names)
    views = _views(short, found, words, label_names, relevant=relevant, learned=rows is None)
    return RuleSet(
        views,
        found,
        read_linear_rule(model, feature_names, label_names),
        written=read_written_rules(model, feature_names, label_names),
        thresholds=[] if trees is None else [trees.label_rules(k) for k in trees.open_labels],
        searched=trees is not None and bool(trees.arrays.clock[LEARNED] >= LONG_ENOUGH),
    )


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


def _allowed_features(model: Model, labels: list[str], relevant: BoolArray) -> BoolArray:
    """Return the features that each rule may name, (rules, n_features): those `relevant` for a label it matters to."""
    rules = model.trained()
    shares, index = mixed_label_shares(rules), {name: c for c, name in enumerate(labels)}
    allowed = []
    for slot in range(1, rules.n_rules + 1):
        outcomes = tuple(rule_outcomes(labels, shares[slot], shares[0], [()] * len(labels)))
        shown = [index[outcome.label] for outcome in distinct_outcomes(outcomes)]
        allowed.append(relevant[shown].any(axis=0))
    return np.array(allowed)


def _views(
    short: shortening.ShortRules,
    found: shortening.Fidelity,
    words: Vocabulary,
    labels: list[str],
    *,
    relevant: BoolArray | None,
    learned: bool,
) -> Iterator[Rule]:
    """Yield the view of every rule; its activity is its share of what was learned, or of memberships (`found`).

    Drivers of a label are features that are `relevant` for it, (n_labels, n_features), if that is known.
    """
    model, names = short.model, words.feature_names
    rules, scaler = model.trained(), model.scaler
    assert scaler is not None
    a, used = rules.arrays, slice(1, rules.n_rules + 1)
    scaled, spread = a.c[used, : model.n_features], np.sqrt(rules.variances())
    centre, low, high = scaler.inverse(scaled), scaler.inverse(scaled - spread), scaler.inverse(scaled + spread)
    on = shares_on(scaler, scaled)
    contrast = np.abs(scaled - a.c[0, : model.n_features]) / spread
    width = scaled_moments(model)[1]
    evidence = np.array([rules.hessian(slot)[-1, -1] for slot in range(rules.n_rules + 1)])
    shares, corrections = mixed_label_shares(rules), sensor_corrections(rules, names)
    scale = width[:, None] if relevant is None else width[:, None] * relevant.T
    activity = evidence[1:] / max(evidence[1:].sum(), 1e-300) if learned else found.activity
    kept = short.kept
    for i in range(rules.n_rules):
        slot = i + 1
        weights, r = rules.weights(slot), np.append(scaled[i], 1.0)
        drivers = strongest_drivers(weights[:-1] * scale, names)
        yield Rule(
            identity=int(a.identity[slot]),
            centre=centre[i],
            low=low[i],
            high=high[i],
            support=float(a.k[slot]),
            born=int(a.born[slot]),
            last_won=int(a.last_won[slot]),
            weights=weights,
            label_shares=shares[slot],
            feature_names=names,
            label_names=labels,
            contrast=contrast[i],
            n_seen=rules.n_seen,
            activity=float(activity[i]),
            certainty=float(1.0 / (1.0 + r @ rules.inverse(slot) @ r)),
            fidelity=float(found.by_rule[i]),
            conditions=tuple(_condition(words, j, float(low[i, j]), float(high[i, j])) for j in kept[i].tolist()),
            outcomes=tuple(rule_outcomes(labels, shares[slot], shares[0], drivers)),
            shares_on=on[i],
            name=rules.rule_names.names.get(int(a.identity[slot]), ""),
            locked=bool(a.locked[slot]),
            corrections=corrections,
        )


def _condition(words: Vocabulary, j: int, low: float, high: float) -> RuleCondition:
    feature = words.feature_names[j]
    return RuleCondition(feature, words.term_for(feature, low, high), low, high)


def strongest_drivers(effects: FloatArray, feature_names: list[str]) -> list[tuple[Driver, ...]]:
    """Return the features with the largest absolute `effects` (n_features, n_labels), label by label.

    `feature_names` are the names of the rows. Effects below 0.01 are left out.
    """
    strongest = np.argsort(-np.abs(effects), axis=0, kind="stable")[:_MAX_DRIVERS]
    return [
        tuple(
            Driver(feature_names[j], float(effects[j, c])) for j in strongest[:, c] if abs(effects[j, c]) >= _MIN_EFFECT
        )
        for c in range(effects.shape[1])
    ]


def rule_outcomes(
    label_names: list[str], shares: FloatArray, usual: FloatArray, drivers: list[tuple[Driver, ...]]
) -> list[RuleOutcome]:
    """Return one outcome per label of `label_names`, those that differ most from the stream first.

    `shares` (n_labels,) are the label shares in the rule, `usual` (n_labels,) those in the stream, `drivers` the
    features that move each label.
    """
    outcomes = [
        RuleOutcome(name, float(share), float(base), _judgement(float(share), float(base)), drives)
        for name, share, base, drives in zip(label_names, shares, usual, drivers, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: -outcome.apart)


def _judgement(share: float, usual: float) -> str:
    if share >= _LIKELY_SHARE:
        return "likely"
    if share < max(usual / _RAISED_FACTOR, _MIN_RAISED_SHARE):
        return "unlikely"
    return "more likely than usual" if share >= _RAISED_FACTOR * usual else "about as likely as usual"
