"""What rules and the linear member add to an output, feature by feature, and how they share the output."""

from typing import NamedTuple, Protocol

import numpy as np

from evolabel.core.rows import Rows
from evolabel.stages.drift.stage import NoDrift
from evolabel.stages.rules.stream_terms import RulesModel
from evolabel.typing import FloatArray, IntArray

_NUDGE = 1e-4  # standard deviations of a feature by which it is moved to find the slope of its score
_LEAST_SLOPE = 1e-9  # of a score per standard deviation: below, the score of the feature is cut


class DriftModel(RulesModel, Protocol):
    """A model as its members are read, too."""

    @property
    def drift(self) -> NoDrift:
        """What follows drift beside the rules of a model whose warm-up is over."""


class LinearPart(NamedTuple):
    """Part of the linear member in the outputs of one sample."""

    rules_share: FloatArray
    """Weight of the rules in the output of each label, (K,)."""
    contributions: FloatArray
    """What each feature (the last: the intercept) adds to each label, (p + 1, K)."""
    slopes: FloatArray
    """Change of the outputs per unit of each scaled feature, (p, K)."""


class MixedPart(NamedTuple):
    """Parts of the rules and of the linear member in the outputs of one sample, and the slopes of both together."""

    contributions: FloatArray
    """What each feature (the last: the intercept) adds through each active rule, (n_active, p + 1, K)."""
    linear: FloatArray | None
    """What each feature adds through the linear member, (p + 1, K); None without one."""
    slopes: FloatArray
    """Change of the outputs per unit of each scaled feature, (p, K)."""
    total: FloatArray
    """The sum of all that is added to each label, (K,)."""


def mixed_part(model: DriftModel, rows: Rows, active: IntArray) -> MixedPart:
    """Return the parts of the rules of `model`, those that are `active`, and of its linear member, in one sample.

    `rows`, with their memberships, are the sample alone.
    """
    parts, slopes = _rule_part(model, rows, active)
    linear = linear_part(model, rows.X)
    if linear is None:
        return MixedPart(parts, None, slopes, parts.sum(axis=(0, 1)))
    parts *= linear.rules_share
    total = (parts.sum(axis=0) + linear.contributions).sum(axis=0)
    return MixedPart(parts, linear.contributions, linear.rules_share * slopes + linear.slopes, total)


def _rule_part(model: DriftModel, rows: Rows, active: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return what each feature of the sample `rows` adds through each of the `active` rules of `model`, and the slopes.

    Shapes: (n_active, n_features + 1, n_labels), (n_features, n_labels).
    """
    rules, z, psi = model.trained(), rows.Z[0], rows.psi[0]
    parts = np.empty((len(active), rules.n_features + 1, rules.n_labels))
    slopes = np.zeros((rules.n_features, rules.n_labels))
    for i, slot in enumerate((active + 1).tolist()):
        weights = psi[slot - 1] * model.drift.weights(slot)
        parts[i] = rules.regressor(z, slot)[:, None] * weights
        slopes += weights[:-1]
    return parts, slopes


def linear_part(model: DriftModel, x: FloatArray) -> LinearPart | None:
    """Return the part of the linear member of `model` in the outputs of the raw sample `x`, (1, p); None without one.

    The logit is the sum of terms W_j s_j. The output is 1/2, which counts as intercept, plus a multiple of the logit
    between 0 and 1/4, which is split into the terms.
    """
    drift, W = model.drift, model.drift.linear
    if W is None:
        return None
    weights = drift.mixer_weights[-1]
    s = drift.linear_scores(x)[0]
    terms = s[:, None] * W.T
    logit = terms.sum(axis=0)
    output = 1.0 / (1.0 + np.exp(-logit))
    near = np.abs(logit) < 1e-6
    parts = weights * terms * np.where(near, 0.25, (output - 0.5) / np.where(near, 1.0, logit))
    parts[-1] += 0.5 * weights
    per_score = weights * output * (1.0 - output) * W[:, :-1].T
    return LinearPart(1.0 - weights, parts, per_score * _scores_per_unit(model, drift, x)[:, None])


def _scores_per_unit(model: DriftModel, drift: NoDrift, x: FloatArray) -> FloatArray:
    """Return the change of the linear member's scores per unit of the scaled features, (p,); 0 where one is cut."""
    spread = drift.spreads
    low, high = x - _NUDGE * spread, x + _NUDGE * spread
    scores = (drift.linear_scores(high) - drift.linear_scores(low))[0, :-1]
    scaled = (model.scale(high) - model.scale(low))[0]
    moves = np.abs(scaled) > _LEAST_SLOPE * _NUDGE  # False for a missing feature, too
    return np.asarray(np.divide(scores, scaled, out=np.zeros(len(scores)), where=moves))
