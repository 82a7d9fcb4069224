"""Label means, co-moments and correlations inside a rule (eqs. 9, 19-23).

| symbol | array | meaning                                                        |
|--------|-------|----------------------------------------------------------------|
| S      |       | sum of psi                                                     |
| S2     |       | sum of psi^2; S^2 / S2 is the effective number of samples      |
| ybar   | (K,)  | weighted mean of the labels                                    |
| Q      | (K,K) | weighted co-moments, sum psi (y - ybar)(y - ybar)'             |
| C      | (K,K) | correlations                                                   |
"""

import numpy as np

from evolabel.engine.compile import kernel
from evolabel.typing import FloatArray

# Correlations are multiplied by n / (n + 10), because those of few samples are mostly noise.
SHRINK = 10.0


@kernel
def add_label_moments(y: FloatArray, psi: float, mass: FloatArray, ybar: FloatArray, Q: FloatArray) -> None:
    """Update `mass` = (S, S2), `ybar` and Q by the labels y, eqs. (19)-(23) for all pairs at once.

    A label that is not annotated counts as its mean, and changes nothing.
    """
    before = mass[0]
    mass[0] += psi
    mass[1] += psi * psi
    share, gain = psi / mass[0], psi * before / mass[0]
    K = y.shape[0]
    for c in range(K):
        e = 0.0 if np.isnan(y[c]) else gain * (y[c] - ybar[c])
        for d in range(c + 1):
            if e != 0.0 and not np.isnan(y[d]):
                Q[c, d] += e * (y[d] - ybar[d])
                Q[d, c] = Q[c, d]
    for c in range(K):
        if not np.isnan(y[c]):
            ybar[c] += share * (y[c] - ybar[c])


@kernel
def correlation(Q: FloatArray, mass: FloatArray, shrink: bool, C: FloatArray) -> None:
    """Fill C with correlations, eq. (9); a constant label has 0, where the literal formula divides 0 by 0."""
    K = Q.shape[0]
    n = mass[0] * mass[0] / mass[1] if mass[1] > 0.0 else 0.0
    factor = n / (n + SHRINK) if shrink else 1.0
    floor = 1e-12 * max(mass[0], 1e-300)
    for c in range(K):
        for d in range(K):
            if c == d:
                C[c, d] = 1.0
            elif Q[c, c] <= floor or Q[d, d] <= floor:
                C[c, d] = 0.0
            else:
                C[c, d] = factor * min(max(Q[c, d] / np.sqrt(Q[c, c] * Q[d, d]), -1.0), 1.0)
