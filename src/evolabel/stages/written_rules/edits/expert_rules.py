"""Rules written by experts: a specification becomes the statistics that samples would have left.

It counts as `weight` samples, spread evenly over the ranges named and like the whole stream in all else. They give
centre and spread; for the labels they count by `confidence`, as the labels of samples do. A label that is not mentioned
answers as the global model does. From there on the rule learns like any other.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from evolabel.stages.rules import inverses, slots
from evolabel.stages.rules.iterated import objective
from evolabel.stages.rules.loops.moments import derive_inverse_variance
from evolabel.stages.rules.proximal import minimise
from evolabel.stages.rules.stream_terms import stream_moments
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.stages.rules.stage import RuleBase

WIDE = 3.0  # largest spread of a feature that is not named, in spreads of the stream: nearly anything will do
AHEAD = 8.0  # at its centre the membership is so many times that of the rule which usually wins
NARROWEST = 0.05  # smallest spread of a feature, in expected spreads: a rule is no needle


@dataclass(frozen=True)
class RuleSpec:
    """An expert's rule in numbers: a range per feature and the labels expected there; NaN: not specified.

    Parameters
    ----------
    low, high : array (n_features,)
        Ends of the ranges: of scaled features for a region; of raw features, infinite where there is no end, for a
        written rule.
    shares : array (n_labels,)
        Share of samples in the region that carry each label.
    confidence : float
        Confidence of the labels, in [0, 1].
    weight : float
        Samples that the rule counts for.
    """

    low: FloatArray
    high: FloatArray
    shares: FloatArray
    confidence: float
    weight: float


def spread_of_range(half_width: FloatArray, temperature: float) -> FloatArray:
    """Return the spread with which the membership, eq. (3) at `temperature` T, is 1/2 at the ends of a range.

    `half_width` is half the width of the range.
    """
    return half_width / sqrt(2.0 * log(2.0) * temperature)


def range_of_spread(spread: FloatArray, temperature: float) -> FloatArray:
    """Return half the width of the range of a `spread` at this `temperature`; the inverse of `spread_of_range`."""
    return spread * sqrt(2.0 * log(2.0) * temperature)


def temperature(base: "RuleBase") -> float:
    """Return T of the memberships of `base`."""
    return base.settings.tau * base.n_features


def write_rule(slot: int, spec: RuleSpec, base: "RuleBase") -> None:
    """Fill a `slot` of `base` from `spec`; the caller sets identity and dates."""
    slots.clear(slot, base.arrays, base.settings)
    _write_moments(slot, spec, base)
    _write_evidence(slot, spec, base)
    if base.settings.iterated:
        _write_weights(slot, spec, base)


def _write_moments(slot: int, spec: RuleSpec, base: "RuleBase") -> None:
    """Centre and spread. A range narrower than the prior allows counts for more samples in its feature.

    Rotated rules count all features alike, so their ranges are as narrow as the weight makes them.
    """
    a, s, p = base.arrays, base.settings, base.n_features
    centre, variance = stream_moments(base)
    named, given = np.flatnonzero(~np.isnan(spec.low)), np.flatnonzero(~np.isnan(spec.shares))
    variance[:p] *= _unnamed_variance(len(named), base)
    centre[named] = (spec.low[named] + spec.high[named]) / 2.0
    spread = spread_of_range((spec.high[named] - spec.low[named]) / 2.0, temperature(base))
    variance[named] = np.maximum(s.importance[named] * spread**2, NARROWEST**2 * s.prior[named])
    if s.product:
        centre[p + given] = s.label_weight * spec.shares[given]
        variance[p + given] = s.label_weight**2 * spec.shares[given] * (1.0 - spec.shares[given])
    count = np.full(len(centre), spec.weight)
    if not s.rotated:
        count[named] = np.maximum(spec.weight, s.prior_count * (s.prior[named] / variance[named] - 1.0) + 1.0)
    degrees = s.prior_count + np.maximum(count - 1.0, 0.0)
    a.c[slot], a.n[slot] = centre, count
    a.M[slot] = np.maximum(degrees * variance - s.prior_count * s.prior, 0.0)
    a.k[slot] = a.compared[slot] = spec.weight
    derive_inverse_variance(slot, a, s)
    if s.rotated:
        inverses.set_scatter(slot, np.diag(a.M[slot]), a, s)


def _unnamed_variance(named: int, base: "RuleBase") -> float:
    """Variance of the features not named, in variances of the stream, so that the rule counts, but not everywhere.

    Average values there leave it at a mean squared distance of (p - named) / (p variance), which must undercut the
    usual distance of winners by as much as `AHEAD` demands.
    """
    s, p = base.settings, base.n_features
    distance = base.arrays.winner_stats[1] - 2.0 * s.tau * log(AHEAD)
    return float(np.clip((p - named) / p / max(distance, 1e-300), 1.0, WIDE**2))


def _write_evidence(slot: int, spec: RuleSpec, base: "RuleBase") -> None:
    """H = e (Sigma + r r') and G = e y r' with r = (centre, 1) and the evidence e = weight times confidence."""
    a, p = base.arrays, base.n_features
    variance = stream_moments(base)[1][:p]
    named, given = ~np.isnan(spec.low), ~np.isnan(spec.shares)
    variance[named] = (spec.high[named] - spec.low[named]) ** 2 / 12.0
    evidence, r = spec.weight * spec.confidence, np.append(a.c[slot, :p], 1.0)
    a.H[slot] = evidence * (np.diag(np.append(variance, 0.0)) + np.outer(r, r))
    a.G[slot, given] = evidence * np.outer(spec.shares[given], r)
    a.G[slot, ~given] = base.weights(0).T[~given] @ a.H[slot]
    inverses.derive_inverse(slot, a, base.settings)


def _write_weights(slot: int, spec: RuleSpec, base: "RuleBase") -> None:
    """Iterated weights at the minimum of their objective, and label moments without correlations, where coupled."""
    a, s = base.arrays, base.settings
    if a.Q.shape[1]:
        expected = np.clip(base.weights(0).T @ np.append(a.c[slot, : base.n_features], 1.0), 0.0, 1.0)
        a.ybar[slot] = np.where(np.isnan(spec.shares), expected, spec.shares)
        a.mass[slot] = spec.weight * spec.confidence * np.array([1.0, spec.confidence])
        a.Q[slot] = np.diag(a.mass[slot, 0] * a.ybar[slot] * (1.0 - a.ybar[slot]))
    a.W[slot] = (a.G[slot] + s.anchor * a.W[0]) @ base.inverse(slot)
    if s.prox_steps:
        a.W[slot] = minimise(objective(base, slot), a.W[slot])
