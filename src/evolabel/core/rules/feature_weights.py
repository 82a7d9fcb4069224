"""Weights of the features in distances, by the share of the labels' variance that each explains.

| symbol   | array  | meaning                                                                              |
|----------|--------|--------------------------------------------------------------------------------------|
| r        | (K, p) | correlation of each feature with each 0/1 label, in one slot                         |
| R        | (p,)   | share of the variance of all labels that a feature explains alone, over some slots   |
| lambda_j | (p,)   | weight of the feature in squared distances, 1 on average, at least `FLOOR`           |

The Fisher ratio of two classes is r^2 / (1 - r^2), computed from H and G, so the weights change and fade with the
model and need no statistics of their own. Deviation: r^2 itself is used, because it is finite where a feature
determines a label; and it is computed over the whole stream and inside the rules, because a feature whose effect
differs from region to region may have no correlation over the whole stream.
"""

import numpy as np

from evolabel.core.rules.conditioning import regressor_sums
from evolabel.core.rules.rule_state import RuleState
from evolabel.kernels.moments import TINY, derive_inverse_variances
from evolabel.typing import FloatArray

WEIGH_EVERY = 128  # samples between two updates of the weights
FLOOR = 0.25  # weight of a feature that explains nothing: labels may depend on it, but not linearly
FEWEST = 3.0  # weight of the samples below which a slot is not used


def relevance_weights(rules: RuleState) -> FloatArray:
    """Return weights by the share that features explain in the whole stream and inside the rules; 1 if it is 0.

    They grow with the root of R, as a correlation does: with R itself one good feature would dominate the distances.
    """
    sums, squares = regressor_sums(rules)
    G = rules.arrays.G[: len(sums)]
    whole, inside = (explained_share(sums[of], squares[of], G[of]) for of in (slice(0, 1), slice(1, None)))
    strength = np.sqrt((whole + inside) / 2.0)
    return FLOOR + (1.0 - FLOOR) * normalised(strength) if strength.any() else np.ones(len(strength))


def set_feature_weights(rules: RuleState, weights: FloatArray) -> None:
    """Set the `weights` of the features in distances; statistics that were learned do not change."""
    metric = rules.settings.metric.copy()
    metric[1, : rules.n_features] = weights
    rules.settings = rules.settings._replace(metric=metric)
    derive_inverse_variances(rules.arrays, rules.settings)


def explained_share(sums: FloatArray, squares: FloatArray, G: FloatArray) -> FloatArray:
    """Return R over some slots, minus what is expected by chance, from `sums`, `squares` and `G` of these slots."""
    n = sums[:, -1:]
    rate = np.clip(G[:, :, -1] / np.maximum(n, TINY), 0.0, 1.0)
    variance = rate * (1.0 - rate)
    total = variance.sum(axis=1, keepdims=True)
    alone = np.einsum("sk,skp->sp", variance, squared_correlations(sums, squares, G))
    known = n >= FEWEST
    # adjusted R^2: by chance a feature explains (1 - r^2) / (n - 2) of a label
    explained = np.where(known, n * (alone - (total - alone) / np.where(known, n - 2.0, 1.0)), 0.0)
    return np.asarray(np.maximum(explained.sum(axis=0), 0.0) / max(float((n * total)[known].sum()), TINY))


def normalised(weights: FloatArray) -> FloatArray:
    """Return the `weights` divided by their mean, so that temperature and radius keep their meaning."""
    return np.asarray(weights / weights.mean())


def squared_correlations(sums: FloatArray, squares: FloatArray, G: FloatArray) -> FloatArray:
    """Return squared correlations (slots, K, p) from `sums` and `squares` of regressors and from `G`; 0 for constants.

    The variance of a 0/1 label of mean m is m (1 - m).
    """
    n = np.maximum(sums[:, -1:], TINY)
    mean, share = sums[:, :-1] / n, np.clip(G[:, :, -1] / n, 0.0, 1.0)
    second = squares[:, :-1] / n
    variance = second - mean**2
    varies = variance > 1e-9 * np.maximum(second, TINY)
    covariance = G[:, :, :-1] / n[:, :, None] - share[:, :, None] * mean[:, None]
    spread = (share * (1.0 - share))[:, :, None] * np.where(varies, variance, 1.0)[:, None]
    known = (spread > 1e-12) & varies[:, None]
    return np.where(known, np.clip(covariance**2 / np.where(known, spread, 1.0), 0.0, 1.0), 0.0)
