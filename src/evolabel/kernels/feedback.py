"""Errors that repeat: where a sample resembles recent ones more than its features tell, so do their errors.

Where they repeat, the stream has moved on from its initial batch, and outputs say too much: they are drawn back towards
the base rates of the labels. An answer is expected to be f + s d + g m.

| symbol   | array     | meaning                                                                                      |
|----------|-----------|----------------------------------------------------------------------------------------------|
| f        | (n, K)    | outputs from before their rows were learned                                                  |
| X        | (n, p)    | features in units of their standard deviations, NaN: missing; without columns: not compared  |
| Y        | (n, K)    | answers: 0, 1, NaN for labels that were not answered                                         |
| believed | (n, K)    | how far answers are believed, in [0, 1]                                                      |
| number   |           | of a sample in the stream                                                                    |
| Z        | (R, p)    | features of the last R samples that were answered, in any order                              |
| at       | (R,)      | their numbers; NOBODY: the place is empty                                                    |
| r        | (R, K)    | e times how far y is believed; 0 for labels that were not answered                           |
| c        | (R, K)    | how far y is believed; 0 for labels that were not answered                                   |
| w        | (R,)      | how much each of them tells of a sample: less with every sample between, and if it is unlike |
| told     | (n,)      | sums of w: how many recent answers tell of each sample                                       |
| m        | (K,)      | sum of w r / (sum of w c + DOUBT): the mean of recent errors, drawn towards 0                |
| rates    | (K,)      | base rates; NaN: not known                                                                   |
| d        | (K,)      | rates - f of one sample: the way back to them; 0 where they are not known                    |
| e        | (K,)      | y - f - s d of one sample; NaN for labels that were not answered                             |
| E        | (2, 5, K) | evidence of d for y - f, and of m for e (`kernels.evidence`)                                 |
| S        | (2, K)    | s, the part of d that outputs are drawn back, and g, the part of m that is expected again    |
"""

import numpy as np

from evolabel.kernels.compile import inner, kernel
from evolabel.kernels.evidence import belief, slopes, weigh
from evolabel.kernels.symmetric import squared_distance
from evolabel.typing import FloatArray, IntArray

# Water quality in 35 other orders of its rows, 10 % of the answers, points of PA gained over means of all recent
# errors, alike or not, and outputs as they are: labels +.17, samples +.15. A reach of 0.7 gains the same there, and
# loses under drift (15 streams: labels -.13, samples -.11; 1.0: -.06, +.08); without any it is +.12 and +.11.
MEMORY = 0.9  # what an error is worth one sample later
REACH = 1.0  # distance over which it loses a factor exp(-1/2), in standard deviations of a feature
PLACES = 44  # samples remembered: of an error further back less than a hundredth is left
PATIENCE = 0.998  # what is left of the evidence one sample later
DOUBT = 0.5  # errors of 0 that every mean begins with

STRANGERS = 2.0  # mean squared distance of samples that have nothing to do with each other
NOBODY = -1  # number of no sample

LOWEST, HIGHEST = -1.0, 2.0  # an output beyond, where a model fails, is an error like any other

BACK, AGAIN = 0, 1  # of E and S


@inner
def error(y: float, f: float) -> float:
    """Of an output; NaN where there is no answer."""
    return y - min(max(f, LOWEST), HIGHEST)


@kernel
def weigh_all(E: FloatArray, rates: FloatArray, S: FloatArray) -> None:
    """Both slopes; outputs are drawn back as far as errors are believed to repeat: else the stream is as the batch."""
    slopes(E[BACK], S[BACK])
    slopes(E[AGAIN], S[AGAIN])
    repeats = belief(E[AGAIN])
    for j in range(S.shape[1]):
        S[BACK, j] = 0.0 if np.isnan(rates[j]) else repeats * S[BACK, j]


@inner
def likeness(x: FloatArray, z: FloatArray) -> float:
    """Of two samples, in [0, 1]; a feature that is missing is taken to be as far as those of strangers."""
    p = x.shape[0]
    if p == 0:
        return 1.0
    D = squared_distance(x, z)
    if np.isnan(D):
        D = 0.0
        for k in range(p):
            d = (x[k] - z[k]) ** 2
            D += STRANGERS if np.isnan(d) else d
    return float(np.exp(-D / (2.0 * REACH**2 * p)))


@inner
def mean_errors(
    x: FloatArray,
    number: int,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
    w: FloatArray,
    m: FloatArray,
) -> None:
    """Fill in w and m for one sample."""
    for b in range(at.shape[0]):
        w[b] = 0.0 if at[b] == NOBODY else MEMORY ** abs(number - at[b]) * likeness(x, Z[b])
    for j in range(m.shape[0]):
        total, weight = 0.0, DOUBT
        for b in range(at.shape[0]):
            total += w[b] * r[b, j]
            weight += w[b] * c[b, j]
        m[j] = total / weight


@inner
def place_of(number: int, at: IntArray) -> int:
    """Where a sample is remembered: its own place, an empty one, or that of the oldest; none if it is older still."""
    oldest = 0
    for b in range(at.shape[0]):
        if at[b] == number:
            return b
        if at[b] < at[oldest]:
            oldest = b
    return oldest if at[oldest] < number else NOBODY


@inner
def remember(
    x: FloatArray,
    number: int,
    e: FloatArray,
    believed: FloatArray,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
) -> None:
    """Take in the errors of one sample; what it was answered before stays, but for labels answered anew."""
    b = place_of(number, at)
    if b == NOBODY:
        return
    if at[b] != number:
        at[b] = number
        for j in range(r.shape[1]):
            r[b, j], c[b, j] = 0.0, 0.0
    for k in range(x.shape[0]):
        Z[b, k] = x[k]
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            r[b, j], c[b, j] = believed[j] * e[j], believed[j]


@inner
def shift_of(rate: float, s: float, again: float) -> float:
    """What is added to an output once it is multiplied by 1 - s, which is 1 where the base rate is not known."""
    return again if np.isnan(rate) else s * rate + again


@inner
def fade(number: int, at: IntArray, E: FloatArray) -> bool:
    """Let evidence fade until this sample; False if a later one was answered already, which is no evidence.

    The samples before the first answer do not count: what the initial batch told is as fresh as the model.
    """
    latest = NOBODY
    for b in range(at.shape[0]):
        latest = max(latest, at[b])
    if number <= latest:
        return False
    E *= PATIENCE ** (number - latest) if latest != NOBODY else PATIENCE
    return True


@kernel
def follow_errors(
    X: FloatArray,
    number: int,
    f: FloatArray,
    Y: FloatArray,
    believed: FloatArray,
    shifted: bool,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
    rates: FloatArray,
    E: FloatArray,
    S: FloatArray,
    w: FloatArray,
    m: FloatArray,
    d: FloatArray,
    e: FloatArray,
) -> None:
    """Take in answered rows that follow each other, from `number` on; w, m, d and e are scratch.

    If f is to be `shifted`, each row is by s d + g m, as they were before its answers.
    """
    for i in range(Y.shape[0]):
        mean_errors(X[i], number + i, Z, at, r, c, w, m)
        for j in range(Y.shape[1]):
            e[j] = error(Y[i, j], f[i, j])
            d[j] = 0.0 if np.isnan(rates[j]) else error(rates[j], f[i, j])
        evident = fade(number + i, at, E)
        if evident:
            weigh(e, d, believed[i], E[BACK])
        for j in range(Y.shape[1]):
            e[j] -= S[BACK, j] * d[j]
            if shifted:
                f[i, j] = (1.0 - S[BACK, j]) * f[i, j] + shift_of(rates[j], S[BACK, j], S[AGAIN, j] * m[j])
        if evident:
            weigh(e, m, believed[i], E[AGAIN])
            weigh_all(E, rates, S)
        remember(X[i], number + i, e, believed[i], Z, at, r, c)


@kernel
def shift_rows(
    X: FloatArray,
    numbers: IntArray,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
    rates: FloatArray,
    S: FloatArray,
    w: FloatArray,
    m: FloatArray,
    out: FloatArray,
    told: FloatArray,
) -> None:
    """What is to be added to the outputs of samples, once these are multiplied by 1 - s; and `told`."""
    for i in range(X.shape[0]):
        mean_errors(X[i], numbers[i], Z, at, r, c, w, m)
        told[i] = 0.0
        for b in range(w.shape[0]):
            told[i] += w[b]
        for j in range(m.shape[0]):
            out[i, j] = shift_of(rates[j], S[BACK, j], S[AGAIN, j] * m[j])
