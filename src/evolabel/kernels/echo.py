"""Errors that repeat: where a sample resembles the one before it more than its features tell, so do their errors.

| symbol   | array  | meaning                                                                             |
|----------|--------|-------------------------------------------------------------------------------------|
| f        | (n, K) | outputs from before their rows were learned                                         |
| believed | (n, K) | how far answers are believed; empty: fully                                          |
| e        | (K,)   | sum of y - f over all answers so far, each faded by MEMORY per sample since         |
| c        | (K,)   | sum of the same factors                                                             |
| m        | (K,)   | e / (c + DOUBT): the mean of recent errors, drawn towards 0                         |
| evidence | (4, K) | sums of (y - f) m, m^2, (y - f)^2 and 1 over the answers, fading slowly             |
| g        | (K,)   | gains: the part of m that is expected again                                         |
"""

import numpy as np

from evolabel.kernels._compile import kernel
from evolabel.kernels.state import FloatArray

MEMORY = 0.9  # what is left of an error one sample later
PATIENCE = 0.998  # what is left of the evidence
DOUBT = 1.0  # errors of 0 that every mean begins with
CAUTION = 1.5  # standard deviations the evidence must be away from none, and by which it is taken for less
SPREAD = 0.4  # standard deviation of the labels' gains around the one they have in common

LOWEST, HIGHEST = -1.0, 2.0  # an output beyond, where a model fails, is an error like any other

PRODUCTS, SQUARES, ERRORS, ANSWERS = 0, 1, 2, 3


@kernel
def gains(evidence: FloatArray, g: FloatArray) -> None:
    """Slopes of the regression of errors on the mean errors before them, in [0, 1].

    All labels have one in common, less `CAUTION` deviations; if nothing of it is left, nothing is expected. Else each
    label's own is drawn towards it, as by a prior of deviation `SPREAD`.
    """
    K = evidence.shape[1]
    products, squares, errors, answers = 0.0, 0.0, 0.0, 0.0
    for j in range(K):
        g[j] = 0.0
        products += evidence[PRODUCTS, j]
        squares += evidence[SQUARES, j]
        errors += evidence[ERRORS, j]
        answers += evidence[ANSWERS, j]
    if not squares > 0.0:
        return
    variance = errors / answers
    common = min((products - CAUTION * np.sqrt(squares * variance)) / squares, 1.0)
    if common > 0.0:
        prior = variance / SPREAD**2
        for j in range(K):
            slope = (evidence[PRODUCTS, j] + common * prior) / (evidence[SQUARES, j] + prior)
            g[j] = min(max(slope, 0.0), 1.0)


@kernel
def follow_errors(
    f: FloatArray,
    Y: FloatArray,
    believed: FloatArray,
    gap: int,
    shifted: bool,
    e: FloatArray,
    c: FloatArray,
    evidence: FloatArray,
    g: FloatArray,
) -> None:
    """Take in answered rows, each `gap` samples after the one before; labels that are NaN tell nothing.

    If f is to be `shifted`, each row is by g m, as they were before its answers.
    """
    memory, patience = MEMORY**gap, PATIENCE**gap
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            e[j] *= memory
            c[j] *= memory
            for a in range(evidence.shape[0]):
                evidence[a, j] *= patience
            r, m = Y[i, j] - min(max(f[i, j], LOWEST), HIGHEST), e[j] / (c[j] + DOUBT)
            if shifted:
                f[i, j] += g[j] * m
            if not np.isnan(r):
                w = believed[i, j] if believed.shape[0] > 0 else 1.0
                evidence[PRODUCTS, j] += w * r * m
                evidence[SQUARES, j] += w * m * m
                evidence[ERRORS, j] += w * r * r
                evidence[ANSWERS, j] += w
                e[j] += w * r
                c[j] += w
        gains(evidence, g)
