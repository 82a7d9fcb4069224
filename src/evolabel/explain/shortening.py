"""Shorter rules: the fewest antecedents with which the rule base still predicts the same labels.

A dropped antecedent is a feature that the rule does not look at. That is how the model treats a missing feature, too:
the mean squared distance is taken over the features that are left, which for a rotated rule is the exact marginal (the
shadow of the ellipsoid). Consequents keep all their features.

Antecedents are ranked by how much they tell rules apart: the variance, over rows like the stream's, of what the feature
adds to the distance to this rule beyond what it adds to the others on average.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from evolabel.core.model import StreamModel
from evolabel.explain.reference import reference_rows
from evolabel.kernels.antecedents import degrees
from evolabel.kernels.memberships import NOTHING
from evolabel.typing import BoolArray, FloatArray, IntArray

FIDELITY = 0.95
FEWEST = 3  # antecedents a rule keeps at least: fewer hardly say where it is

Threshold = FloatArray | float | None
"""Outputs of at least this much are on, one for all labels or one for each; None: the largest output is."""


@dataclass(frozen=True)
class Fidelity:
    """How well a shortened rule base stands for the full one on some rows.

    `labels` is the share of labels predicted alike, `positives` the same among the labels that either of the two
    predicts as on (most labels are off, and easy), `by_rule` the share of labels predicted alike where each rule speaks
    (weighted by membership), `activity` the mean membership of each rule in the full rule base.
    """

    labels: float
    positives: float
    by_rule: FloatArray
    activity: FloatArray


@dataclass(frozen=True)
class ShortRules:
    """A rule base whose rules look at their first `length` features in `order`, (rules, n_features) each."""

    model: StreamModel
    order: IntArray
    length: int

    @property
    def kept(self) -> IntArray:
        """Features of each rule, the most telling first, (rules, length)."""
        return self.order[:, : self.length]

    def outputs(self, Z: FloatArray) -> FloatArray:
        """Eq. (2) with the shortened antecedents, for complete scaled rows."""
        distance = prefix_distances(self.model, Z, self.order)[:, :, self.length - 1]
        return _mixed(memberships(self.model, distance), local_outputs(self.model, Z))


def shorten(
    model: StreamModel,
    fidelity: float = FIDELITY,
    fewest: int = FEWEST,
    threshold: Threshold = 0.5,
    relevance: FloatArray | None = None,
) -> ShortRules:
    """The shortest rules that predict at least this share of the labels alike, on rows like the stream's.

    `threshold` None: the largest output is predicted. `relevance` in [0, 1] per feature makes features count less in
    the ranking; that helped on one data set of five and hurt on four (benchmarks/rule_shortening.py), so none is used.
    """
    Z = reference_rows(model)
    order = ranked(model, Z, relevance)
    distances = prefix_distances(model, Z, order)
    local = local_outputs(model, Z)
    full = decided(_mixed(memberships(model, distances[:, :, -1]), local), threshold)
    longest = model.n_features
    for length in range(min(fewest, longest), longest):
        short = decided(_mixed(memberships(model, distances[:, :, length - 1]), local), threshold)
        if (short == full).mean() >= fidelity:
            return ShortRules(model, order, length)
    return ShortRules(model, order, longest)


def measure(short: ShortRules, Z: FloatArray, threshold: Threshold = 0.5) -> Fidelity:
    """Fidelity on complete scaled rows."""
    distances = prefix_distances(short.model, Z, short.order)
    psi = memberships(short.model, distances[:, :, -1])
    local = local_outputs(short.model, Z)
    one = decided(_mixed(psi, local), threshold)
    other = decided(_mixed(memberships(short.model, distances[:, :, short.length - 1]), local), threshold)
    alike = (one == other).mean(axis=1)
    either = one | other
    mass = psi.sum(axis=0)
    return Fidelity(
        labels=float(alike.mean()),
        positives=float((one & other).sum() / either.sum()) if either.any() else 1.0,
        by_rule=np.where(mass > 0.0, alike @ psi / np.where(mass > 0.0, mass, 1.0), 1.0),
        activity=np.asarray(psi.mean(axis=0)),
    )


def ranked(model: StreamModel, Z: FloatArray, relevance: FloatArray | None = None) -> IntArray:
    """Features of each rule, the one that sets it apart most first, (rules, n_features)."""
    a, used = model.trained().arrays, slice(1, model.trained().n_rules + 1)
    p = model.n_features
    added = (Z[:, None, :] - a.c[used, :p]) ** 2 * a.inv[used, :p]
    telling = (added - added.mean(axis=1, keepdims=True)).var(axis=0)
    if len(telling) == 1:
        telling = added.var(axis=0)
    if relevance is not None:
        telling = telling * relevance
    return np.argsort(-telling, axis=1, kind="stable")


def prefix_distances(model: StreamModel, Z: FloatArray, order: IntArray) -> FloatArray:
    """Mean squared distance of complete rows to each rule over its first 1, 2, ... features, (rows, rules, features).

    For a rotated rule the covariance is factored in the rule's order: partial sums of one forward substitution are the
    marginal distances of all prefixes at once.
    """
    rules, p = model.trained(), model.n_features
    a, importance = rules.arrays, rules.settings.importance
    out = np.empty((len(Z), rules.n_rules, p))
    for i in range(rules.n_rules):
        slot, mine = i + 1, order[i]
        e = Z[:, mine] - a.c[slot, mine]
        if rules.settings.rotated:
            F = np.tril(a.F[slot])[:p] / np.sqrt(degrees(float(a.k[slot]), rules.settings.prior_count))
            factor = cholesky((F @ F.T)[np.ix_(mine, mine)], lower=True)
            terms = solve_triangular(factor, (np.sqrt(importance[mine]) * e).T, lower=True).T ** 2
        else:
            terms = e**2 * a.inv[slot, mine]
        out[:, i] = np.cumsum(terms, axis=1) / np.cumsum(importance[mine])
    return out


def memberships(model: StreamModel, distances: FloatArray) -> FloatArray:
    """Eqs. (2), (3) as the model computes them, from mean squared distances (rows, rules)."""
    settings = model.trained().settings
    mu = np.exp(-0.5 * (distances - distances.min(axis=1, keepdims=True)) / settings.tau)
    share = mu / mu.sum(axis=1, keepdims=True)
    active = (share >= max(settings.min_activation, NOTHING)) | (share == share.max(axis=1, keepdims=True))
    kept = np.where(active, share, 0.0)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def local_outputs(model: StreamModel, Z: FloatArray) -> FloatArray:
    """What every rule would answer alone, (rows, rules, n_labels)."""
    rules = model.trained()
    R = np.column_stack([Z, np.ones(len(Z))])
    return np.stack([R @ rules.weights(slot) for slot in range(1, rules.n_rules + 1)], axis=1)


def decided(outputs: FloatArray, threshold: Threshold) -> BoolArray:
    """Eq. (4): labels that are on; with no threshold the one of the largest output."""
    if threshold is None:
        return np.asarray(np.arange(outputs.shape[1]) == outputs.argmax(axis=1)[:, None])
    return np.asarray(outputs >= threshold)


def _mixed(psi: FloatArray, local: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nc,nck->nk", psi, local))
