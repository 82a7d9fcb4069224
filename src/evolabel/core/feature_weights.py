"""How much each feature counts in distances: by how much of the labels it explains, over all labels (companion 2.9).

| symbol   | array  | meaning                                                                      |
|----------|--------|------------------------------------------------------------------------------|
| r        | (K, p) | correlation of each feature with each 0/1 label                              |
| R        | (p,)   | share of the variance of all labels that the feature explains alone          |
| lambda_j | (p,)   | weight of the feature in squared distances, 1 on average, at least `FLOOR`   |

The Fisher ratio of companion 2.9 is r^2 / (1 - r^2) and follows from H and G of the global model, so the weights follow
the stream, and forget as the model does, without a sample or a moment of their own. r^2 stays finite where a feature
tells a label exactly.
"""

import numpy as np

from evolabel.core.ridge import filled
from evolabel.kernels.state import FloatArray

EVERY = 128  # samples between two looks at the statistics
FLOOR = 0.25  # what a feature that explains nothing still counts: labels may need it where they are not linear in it
FEWEST = 3.0  # samples' worth of evidence below which nothing is known


def relevance_weights(H: FloatArray, G: FloatArray) -> FloatArray:
    """Weights from H = sum r r' and G = sum y r' of the global model; all 1 where no feature explains anything.

    They grow with the root of R, the correlation: with R itself one good feature would leave the others no say.
    """
    strength = np.sqrt(explained_shares(H, G))
    if not strength.any():
        return np.ones(len(strength))
    return FLOOR + (1.0 - FLOOR) * normalised(strength)


def explained_shares(H: FloatArray, G: FloatArray) -> FloatArray:
    """R: squared correlations, averaged over the labels by their variance, without what chance alone would give."""
    n = float(H[-1, -1])
    if n < FEWEST:
        return np.zeros(len(H) - 1)
    rate = np.clip(G[:, -1] / n, 0.0, 1.0)
    variance = rate * (1.0 - rate)
    share = variance @ squared_correlations(H, G) / max(float(variance.sum()), 1e-300)
    return np.asarray(np.maximum(share - (1.0 - share) / (n - 2.0), 0.0))


def normalised(weights: FloatArray) -> FloatArray:
    """The same weights with mean 1, so that temperature and radius keep their meaning."""
    return weights / weights.mean()


def batch_statistics(Z: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """H and G of an initial batch; missing features count as average, missing labels as their label's mean."""
    R = np.column_stack([filled(Z, np.nan), np.ones(len(Z))])
    return R.T @ R, filled(Y, np.nan).T @ R


def squared_correlations(H: FloatArray, G: FloatArray) -> FloatArray:
    """r^2 per label and feature from H = sum r r' and G = sum y r'; 0 where one of the two never varied.

    A label's variance is m (1 - m) by its mean m, as it is 0 or 1.
    """
    n = max(float(H[-1, -1]), 1e-300)
    mean, share = H[:-1, -1] / n, np.clip(G[:, -1] / n, 0.0, 1.0)
    second = np.diag(H)[:-1] / n
    variance = second - mean**2
    varies = variance > 1e-9 * np.maximum(second, 1e-300)
    covariance = G[:, :-1] / n - np.outer(share, mean)
    spread = np.outer(share * (1.0 - share), np.where(varies, variance, 1.0))
    known = (spread > 1e-12) & varies
    return np.where(known, np.clip(covariance**2 / np.where(known, spread, 1.0), 0.0, 1.0), 0.0)
