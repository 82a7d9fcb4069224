"""Evidence that something foretells errors, gathered answer by answer, and how far it is to be believed.

| symbol   | array  | meaning                                                                                     |
|----------|--------|---------------------------------------------------------------------------------------------|
| e        | (K,)   | errors of the labels of one sample; NaN for labels that were not answered                   |
| x        | (K,)   | what might have foretold them                                                               |
| believed | (K,)   | how far answers are believed, in [0, 1]                                                     |
| q        |        | sum of e x over the answers to one sample, whose errors go together                         |
| evidence | (5, K) | sums of e x, x^2, e^2, 1 and e x q over all answers, those of long ago faded                |
| s        | (K,)   | slopes: the part of x that is to be expected                                                |

Every answer counts in these sums as far as it is believed.
"""

import numpy as np

from evolabel.kernels.compile import inner, kernel
from evolabel.typing import FloatArray

CAUTION = 1.5  # standard deviations the evidence must be away from none
SPREAD = 0.4  # standard deviation of the labels' slopes around the one they have in common

PRODUCTS, SQUARES, ERRORS, ANSWERS, AGREEMENT = 0, 1, 2, 3, 4


@inner
def weigh(e: FloatArray, x: FloatArray, believed: FloatArray, evidence: FloatArray) -> None:
    """Compare the errors of one sample with what might have foretold them."""
    q = 0.0
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            q += believed[j] * e[j] * x[j]
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            evidence[PRODUCTS, j] += believed[j] * e[j] * x[j]
            evidence[SQUARES, j] += believed[j] * x[j] * x[j]
            evidence[ERRORS, j] += believed[j] * e[j] * e[j]
            evidence[ANSWERS, j] += believed[j]
            evidence[AGREEMENT, j] += believed[j] * e[j] * x[j] * q


@kernel
def belief(evidence: FloatArray) -> float:
    """How far the evidence of all labels together is to be believed, in [0, 1).

    Not at all up to `CAUTION` deviations from none, counted by samples, as labels are not independent; the further
    beyond, the more (as James and Stein shrink means).
    """
    products, agreement = 0.0, 0.0
    for j in range(evidence.shape[1]):
        products += evidence[PRODUCTS, j]
        agreement += evidence[AGREEMENT, j]
    if not agreement > 0.0 or products <= 0.0:
        return 0.0
    return max(1.0 - CAUTION**2 * agreement / products**2, 0.0)


@inner
def slopes(evidence: FloatArray, s: FloatArray) -> None:
    """Slopes of the regression of e on x, label by label, shrunk as far as they are not believed, in [0, 1].

    Each label's own is drawn towards the common one, as by a prior of deviation `SPREAD`.
    """
    K, believed = evidence.shape[1], belief(evidence)
    products, squares, errors, answers = 0.0, 0.0, 0.0, 0.0
    for j in range(K):
        s[j] = 0.0
        products += evidence[PRODUCTS, j]
        squares += evidence[SQUARES, j]
        errors += evidence[ERRORS, j]
        answers += evidence[ANSWERS, j]
    if believed > 0.0:
        prior = errors / answers / SPREAD**2
        for j in range(K):
            slope = (evidence[PRODUCTS, j] + products / squares * prior) / (evidence[SQUARES, j] + prior)
            s[j] = min(max(believed * slope, 0.0), 1.0)
