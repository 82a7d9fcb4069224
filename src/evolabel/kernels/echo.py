"""Errors that repeat: where a sample resembles the one before it more than its features tell, so do their errors.

| symbol   | array  | meaning                                                                             |
|----------|--------|-------------------------------------------------------------------------------------|
| f        | (n, K) | outputs from before their rows were learned                                         |
| believed | (n, K) | how far answers are believed; empty: fully                                          |
| e        | (K,)   | sum of y - f over all answers so far, each faded by MEMORY per sample since         |
| c        | (K,)   | sum of the same factors                                                             |
| m        | (K,)   | e / (c + DOUBT): the mean of recent errors, drawn towards 0                         |
| q        |        | sum of (y - f) m over the answers to one sample, whose errors go together           |
| evidence | (5, K) | sums of (y - f) m, m^2, (y - f)^2, 1 and (y - f) m q over answers, fading slowly    |
| g        | (K,)   | gains: the part of m that is expected again                                         |
"""

import numpy as np

from evolabel.kernels._compile import kernel
from evolabel.kernels.state import FloatArray

MEMORY = 0.9  # what is left of an error one sample later
PATIENCE = 0.998  # what is left of the evidence
DOUBT = 1.0  # errors of 0 that every mean begins with
CAUTION = 1.5  # standard deviations the evidence must be away from none
SPREAD = 0.4  # standard deviation of the labels' gains around the one they have in common

LOWEST, HIGHEST = -1.0, 2.0  # an output beyond, where a model fails, is an error like any other

PRODUCTS, SQUARES, ERRORS, ANSWERS, AGREEMENT = 0, 1, 2, 3, 4


@kernel
def error(y: float, f: float) -> float:
    """Of an output; NaN where there is no answer."""
    return y - min(max(f, LOWEST), HIGHEST)


@kernel
def gains(evidence: FloatArray, g: FloatArray) -> None:
    """Slopes of the regression of errors on the mean errors before them, shrunk, in [0, 1].

    All labels together must show one beyond `CAUTION` deviations, counted by samples, as labels are not independent;
    else nothing is expected. The further beyond, the more is believed (as James and Stein shrink means). Each label's
    own is drawn towards the common one, as by a prior of deviation `SPREAD`.
    """
    K = evidence.shape[1]
    products, squares, errors, answers, agreement = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(K):
        g[j] = 0.0
        products += evidence[PRODUCTS, j]
        squares += evidence[SQUARES, j]
        errors += evidence[ERRORS, j]
        answers += evidence[ANSWERS, j]
        agreement += evidence[AGREEMENT, j]
    if not agreement > 0.0:
        return
    deviations = products / np.sqrt(agreement)
    if deviations > CAUTION:
        believed, prior = 1.0 - (CAUTION / deviations) ** 2, errors / answers / SPREAD**2
        for j in range(K):
            slope = (evidence[PRODUCTS, j] + products / squares * prior) / (evidence[SQUARES, j] + prior)
            g[j] = min(max(believed * slope, 0.0), 1.0)


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
        q = 0.0
        for j in range(Y.shape[1]):
            e[j] *= memory
            c[j] *= memory
            for a in range(evidence.shape[0]):
                evidence[a, j] *= patience
            r = error(Y[i, j], f[i, j])
            if not np.isnan(r):
                q += (believed[i, j] if believed.shape[0] > 0 else 1.0) * r * e[j] / (c[j] + DOUBT)
        for j in range(Y.shape[1]):
            r, m = error(Y[i, j], f[i, j]), e[j] / (c[j] + DOUBT)
            if shifted:
                f[i, j] += g[j] * m
            if not np.isnan(r):
                w = believed[i, j] if believed.shape[0] > 0 else 1.0
                evidence[PRODUCTS, j] += w * r * m
                evidence[SQUARES, j] += w * m * m
                evidence[ERRORS, j] += w * r * r
                evidence[ANSWERS, j] += w
                evidence[AGREEMENT, j] += w * r * m * q
                e[j] += w * r
                c[j] += w
        gains(evidence, g)
