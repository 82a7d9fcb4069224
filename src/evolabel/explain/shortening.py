"""Shorter rules: the fewest antecedents with which the rules still predict the labels that the model predicts.

A dropped antecedent is a feature that the rule ignores, as the model ignores a missing feature: the mean squared
distance is taken over the features that are left. Consequents keep all their features.

Antecedents are ranked by how much they distinguish the rules: the variance, over rows like the stream's, of what the
feature adds to the distance to this rule beyond what it adds to the others on average.

Distances of all prefixes of an order of features are needed at once, so they are computed here by numpy and not by the
loops, which sum in another order; on the whole rule both agree up to rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evolabel._utils.text import counted
from evolabel.model.protocols import Model
from evolabel.stages.rules.loops.antecedents import MIN_MEMBERSHIP
from evolabel.typing import BoolArray, FloatArray, IntArray

FIDELITY = 0.95
_MIN_LENGTH = 3  # antecedents a rule keeps at least: fewer hardly describe its region

_N_REFERENCE_ROWS = 500

Threshold = FloatArray | float | None
"""Outputs of at least this much are on, one for all labels or one for each; None: the largest output is."""

Decide = Callable[[FloatArray], BoolArray]
"""Which labels are on by outputs (rows, n_labels), as the model decides."""


def reference_rows(model: Model, count: int = _N_REFERENCE_ROWS, seed: int = 0) -> FloatArray:
    """Return `count` scaled rows like those of the stream, drawn from the rules of `model`.

    A rule is drawn by its support, and a sample from the mean and spread of what the rule has seen. The same model and
    `seed` always give the same rows.
    """
    rng = np.random.default_rng(seed)
    support = model.trained().arrays.k[1 : model.trained().n_rules + 1]
    return rows_of_slots(model, 1 + rng.choice(len(support), count, p=support / support.sum()), rng)


def rows_of_slots(model: Model, slots: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return one scaled row for each of the `slots`, drawn by `rng` from what the rule there of `model` has seen."""
    rules, scaler, p = model.trained(), model.scaler, model.n_features
    assert scaler is not None
    rows = rng.normal(size=(len(slots), p))
    for slot in np.unique(slots):
        mine = slots == slot
        rows[mine] = rules.arrays.c[slot, :p] + rows[mine] @ rules.shape(int(slot)).root_of_samples.T
    return np.clip(rows, scaler.low, scaler.high)


@dataclass(frozen=True)
class Fidelity:
    """How well shortened rules alone reproduce the answers of the whole model on some rows.

    `labels` is the share of labels predicted alike, `positives` the same among the labels that either of the two
    predicts as on (most labels are off, and easy), `by_rule` the share of labels predicted alike where each rule is
    active (weighted by membership), `activity` the mean membership of each rule in the full rule base. `n_given` is how
    many rows were given; 0: rows drawn from the rules.
    """

    labels: float
    positives: float
    by_rule: FloatArray
    activity: FloatArray
    n_given: int = 0

    @property
    def rows(self) -> str:
        """The rows on which this was measured, in words."""
        return f"{counted(self.n_given, 'given row')}" if self.n_given else "rows drawn from the rules"


@dataclass(frozen=True)
class ShortRules:
    """The rules of `model`, each with the first `length` features of its row of `order` (rules, n_features).

    `most` (rules,) are the features that each rule has at most; None: all.
    """

    model: Model
    order: IntArray
    length: int
    most: IntArray | None = None

    @property
    def lengths(self) -> IntArray:
        """Number of features of each rule, (rules,)."""
        longest = np.full(len(self.order), self.length)
        return longest if self.most is None else np.minimum(longest, self.most)

    @property
    def kept(self) -> list[IntArray]:
        """Features of each rule, the most distinctive first."""
        return [features[:length] for features, length in zip(self.order, self.lengths, strict=True)]

    def of_prefixes(self, distances: FloatArray) -> FloatArray:
        """Return the `distances` (rows, rules, n_features) of all prefixes to the rules as short as these."""
        return np.asarray(distances[:, np.arange(len(self.order)), self.lengths - 1])


def at_one_half(outputs: FloatArray) -> BoolArray:
    """Return which labels are on where `outputs` of at least 0.5 are."""
    return labels_on(outputs, 0.5)


def answers_to(model: Model, Z: FloatArray) -> FloatArray:
    """Return the final outputs of `model`, of all its parts, for the scaled rows `Z`."""
    assert model.scaler is not None
    return model.outputs(np.ascontiguousarray(model.sensors.as_read(model.scaler.inverse(Z))))


def shorten(
    model: Model,
    fidelity: float = FIDELITY,
    *,
    fewest: int = _MIN_LENGTH,
    decide: Decide = at_one_half,
    allowed: BoolArray | None = None,
    columns: Sequence[Sequence[int]] = (),
) -> ShortRules:
    """Return the shortest rules that predict enough labels as the model does, on rows like the stream's.

    Of the labels that whole rules of `model` predict as the model does, they predict the share `fidelity` so, as
    `decide` has labels on by the outputs. A rule keeps `fewest` features or more of those that are `allowed` for it
    (rules, n_features), one at least; with few of them more labels may differ. Of the features of each of the
    categorical `columns` it keeps the most distinctive one first, the others last.
    """
    Z = reference_rows(model)
    order, most = _one_per_column(rank_features(model, Z), columns), None
    if allowed is not None:
        first = np.argsort(~np.take_along_axis(allowed, order, axis=1), axis=1, kind="stable")
        order, most = np.take_along_axis(order, first, axis=1), allowed.sum(axis=1)
    distances = prefix_distances(model, Z, order)
    local = local_outputs(model, Z)
    answers = decide(answers_to(model, Z))
    enough = fidelity * float((decide(outputs_of_rules(model, distances[:, :, -1], local)) == answers).mean())
    longest = model.n_features if most is None else int(most.max())
    for length in range(min(fewest, longest), longest):
        short = ShortRules(model, order, length, most)
        on = decide(outputs_of_rules(model, short.of_prefixes(distances), local))
        if (on == answers).mean() >= enough:
            return short
    return ShortRules(model, order, longest, most)


def _one_per_column(order: IntArray, columns: Sequence[Sequence[int]]) -> IntArray:
    """Return `order` (rules, n_features) with all but the first feature of each of the `columns` moved to the end."""
    later = np.zeros(order.shape, bool)
    for features in columns:
        there = np.isin(order, features)
        later |= there & (np.cumsum(there, axis=1) > 1)
    return np.take_along_axis(order, np.argsort(later, axis=1, kind="stable"), axis=1)


def measure_fidelity(
    short: ShortRules, Z: FloatArray, decide: Decide = at_one_half, outputs: FloatArray | None = None
) -> Fidelity:
    """Return the fidelity of `short` on the complete scaled rows `Z`, with labels on by `decide`.

    `outputs` are the final ones of the model for these rows, if they are known.
    """
    distances = prefix_distances(short.model, Z, short.order)
    psi = _memberships(short.model, distances[:, :, -1])
    local = local_outputs(short.model, Z)
    one = decide(answers_to(short.model, Z) if outputs is None else outputs)
    other = decide(outputs_of_rules(short.model, short.of_prefixes(distances), local))
    alike = (one == other).mean(axis=1)
    either = one | other
    mass = psi.sum(axis=0)
    return Fidelity(
        labels=float(alike.mean()),
        positives=float((one & other).sum() / either.sum()) if either.any() else 1.0,
        by_rule=np.where(mass > 0.0, alike @ psi / np.where(mass > 0.0, mass, 1.0), 1.0),
        activity=np.asarray(psi.mean(axis=0)),
    )


def rank_features(model: Model, Z: FloatArray) -> IntArray:
    """Return the features of each rule (rules, n_features) of `model`, by the complete scaled rows `Z`.

    The most distinctive come first.
    """
    a, used = model.trained().arrays, slice(1, model.trained().n_rules + 1)
    p = model.n_features
    added = (Z[:, None, :] - a.c[used, :p]) ** 2 * a.inv[used, :p]
    distinctive = (added - added.mean(axis=1, keepdims=True)).var(axis=0)
    if len(distinctive) == 1:
        distinctive = added.var(axis=0)
    return np.argsort(-distinctive, axis=1, kind="stable")


def prefix_distances(model: Model, Z: FloatArray, order: IntArray) -> FloatArray:
    """Return mean squared distances of the rows `Z` to the rules of `model` over 1, 2, ... features of `order`.

    `Z` holds complete scaled rows, `order` (rules, n_features) the features of each rule; the result has the shape
    (rows, rules, n_features).
    """
    rules, p = model.trained(), model.n_features
    importance, out = rules.settings.importance, np.empty((len(Z), rules.n_rules, p))
    for i, mine in enumerate(order):
        out[:, i] = np.cumsum(rules.shape(i + 1).squares_in_order(Z, mine), axis=1) / np.cumsum(importance[mine])
    return out


def labels_on(outputs: FloatArray, threshold: Threshold) -> BoolArray:
    """Return which labels are on, eq. (4): `outputs` (rows, n_labels) of at least `threshold`, or the largest."""
    if threshold is None:
        return np.asarray(np.arange(outputs.shape[1]) == outputs.argmax(axis=1)[:, None])
    return np.asarray(outputs >= threshold)


def _memberships(model: Model, distances: FloatArray) -> FloatArray:
    """Return the memberships, eqs. (2), (3), of mean squared distances (rows, rules), as `loops.antecedents` does."""
    settings = model.trained().settings
    mu = np.exp(-0.5 * (distances - distances.min(axis=1, keepdims=True)) / settings.tau)
    share = mu / mu.sum(axis=1, keepdims=True)
    active = (share >= max(settings.min_activation, MIN_MEMBERSHIP)) | (share == share.max(axis=1, keepdims=True))
    kept = np.where(active, share, 0.0)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def outputs_of_rules(model: Model, distances: FloatArray, local: FloatArray) -> FloatArray:
    """Return eq. (2), (rows, n_labels): outputs `local` of every rule alone, weighted by memberships of `distances`."""
    return np.asarray(np.einsum("nc,nck->nk", _memberships(model, distances), local))


def local_outputs(model: Model, Z: FloatArray) -> FloatArray:
    """Return the outputs of every rule of `model` alone for the scaled rows `Z`, (rows, rules, n_labels)."""
    R = np.column_stack([Z, np.ones(len(Z))])
    return np.stack([R @ model.drift.weights(slot) for slot in range(1, model.trained().n_rules + 1)], axis=1)
