"""How much each feature counts in distances: by how much of the labels it explains, over all labels.

| symbol   | array  | meaning                                                                              |
|----------|--------|--------------------------------------------------------------------------------------|
| r        | (K, p) | correlation of each feature with each 0/1 label, in one slot                         |
| R        | (p,)   | share of the variance of all labels that a feature explains alone, over some slots   |
| lambda_j | (p,)   | weight of the feature in squared distances, 1 on average, at least `FLOOR`           |

The Fisher ratio of two classes is r^2 / (1 - r^2) and follows from H and G, so the weights follow the stream, and
forget as the model does, without a sample or a moment of their own. Deviation: r^2 itself, which stays finite where a
feature tells a label exactly; and not over the whole stream alone but also inside the rules, because a feature that
labels follow differently from region to region may look like noise from afar.
"""

import numpy as np

from evolabel.core.rules.rule_state import RuleState
from evolabel.kernels.moments import TINY
from evolabel.typing import FloatArray

EVERY = 128  # samples between two looks at the statistics
FLOOR = 0.25  # what a feature that explains nothing still counts: labels may need it in ways no line can tell
FEWEST = 3.0  # samples' worth of evidence below which a slot knows nothing


def relevance_weights(rules: RuleState) -> FloatArray:
    """Weights by what features explain in the whole stream and inside the rules; all 1 where they explain nothing.

    They grow with the root of R, as a correlation does: with R itself one good feature would leave the others no say.
    """
    sums, squares = rules.regressor_sums()
    G = rules.arrays.G[: len(sums)]
    whole, inside = (explained_share(sums[of], squares[of], G[of]) for of in (slice(0, 1), slice(1, None)))
    strength = np.sqrt((whole + inside) / 2.0)
    return FLOOR + (1.0 - FLOOR) * normalised(strength) if strength.any() else np.ones(len(strength))


def explained_share(sums: FloatArray, squares: FloatArray, G: FloatArray) -> FloatArray:
    """R over some slots together, without what chance alone would explain."""
    n = sums[:, -1:]
    rate = np.clip(G[:, :, -1] / np.maximum(n, TINY), 0.0, 1.0)
    variance = rate * (1.0 - rate)
    total = variance.sum(axis=1, keepdims=True)
    alone = np.einsum("sk,skp->sp", variance, squared_correlations(sums, squares, G))
    known = n >= FEWEST
    explained = np.where(known, n * (alone - (total - alone) / np.where(known, n - 2.0, 1.0)), 0.0)
    return np.asarray(np.maximum(explained.sum(axis=0), 0.0) / max(float((n * total)[known].sum()), TINY))


def normalised(weights: FloatArray) -> FloatArray:
    """The same weights with mean 1, so that temperature and radius keep their meaning."""
    return np.asarray(weights / weights.mean())


def squared_correlations(sums: FloatArray, squares: FloatArray, G: FloatArray) -> FloatArray:
    """r^2 (slots, K, p) from the sums of r and of its squares (slots, q) and from G; 0 where one of both never varied.

    A label's variance is m (1 - m) by its mean m, as it is 0 or 1.
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
