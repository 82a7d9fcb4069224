"""Correction of outputs by the errors of recent samples.

Errors of neighbouring samples are correlated where the stream has moved on from its initial batch. Two regressions
estimate, label by label, how far outputs are to be shrunk towards the base rates (slope s), and how much of the mean
recent error repeats (slope g). The expected answer is f + s d + g m.

| symbol      | array     | meaning                                                                                   |
|-------------|-----------|-------------------------------------------------------------------------------------------|
| f           | (n, K)    | outputs from before their rows were learned                                               |
| X           | (n, p)    | features in standard deviations, NaN: missing; without columns: not compared              |
| Y           | (n, K)    | answers: 0, 1, NaN for labels that were not answered                                      |
| confidence  | (n, K)    | confidences of the answers, in [0, 1]; an answer counts by it in all sums                 |
| number      |           | of a sample in the stream                                                                 |
| Z           | (R, p)    | features of the last R samples that were answered, in any order                           |
| at          | (R,)      | their numbers; EMPTY: the slot is empty                                                   |
| r           | (R, K)    | e times the confidence; 0 for labels that were not answered                               |
| c           | (R, K)    | the confidence; 0 for labels that were not answered                                       |
| w           | (R,)      | weight of each recent sample: it falls with the samples in between, and with the distance |
| n_effective | (n,)      | sums of w: effective number of recent answers of each sample                              |
| m           | (K,)      | sum of w r / (sum of w c + PRIOR_ERRORS): the mean of recent errors, shrunk towards 0     |
| rates       | (K,)      | base rates; NaN: not known                                                                |
| d           | (K,)      | rates - f of one sample; 0 where rates are not known                                      |
| e           | (K,)      | y - f - s d of one sample; NaN for labels that were not answered                          |
| E           | (2, 5, K) | sums of both regressions: of y - f on d (SHRINK), and of e on m (REPEAT)                  |
| S           | (2, K)    | their slopes s and g                                                                      |

The sums of a regression of e on x are those of e x, x^2, e^2, 1 and e x q over all answers, where q is the sum of e x
over the answers of one sample: errors of one sample are not independent. Old sums fade by `FADING` per sample.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.symmetric import squared_distance
from evolabel.typing import FloatArray, IntArray

# Points of PA gained with 10 % of the answers on water quality in 35 other orders of its rows, over plain means of
# recent errors without shrinkage of outputs: labels +.17, samples +.15 (without weights by distance +.12, +.11). A
# REACH of 0.7 gains the same there, but less on 15 drifting streams (labels -.13, samples -.11; REACH 1.0: -.06, +.08).
ERROR_DECAY = 0.9  # factor on the weight of an error, per sample
REACH = 1.0  # distance at which the weight has fallen by exp(-1/2), in standard deviations of a feature
N_RECENT = 44  # samples stored; the weight of an older error is below 0.01
FADING = 0.998  # factor on the sums of the regressions, per sample
PRIOR_ERRORS = 0.5  # number of errors of 0 added to every mean

INDEPENDENT = 2.0  # expected squared difference of independent samples, per feature
EMPTY = -1  # number in an empty slot

LOWEST, HIGHEST = -1.0, 2.0  # outputs are clipped to this range, so that one diverging output cannot dominate

SHRINK, REPEAT = 0, 1  # first index of E and S

MIN_DEVIATIONS = 1.5  # a slope within so many standard deviations of 0 counts as 0
SPREAD = 0.4  # standard deviation of the labels' slopes around their common slope

# Second index of E.
PRODUCTS, SQUARES, ERRORS, ANSWERS, AGREEMENT = 0, 1, 2, 3, 4


@inner
def add_evidence(e: FloatArray, x: FloatArray, confidence: FloatArray, evidence: FloatArray) -> None:
    """Add the errors e and the predictors x of one sample to the sums `evidence`, (5, K)."""
    q = 0.0
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            q += confidence[j] * e[j] * x[j]
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            evidence[PRODUCTS, j] += confidence[j] * e[j] * x[j]
            evidence[SQUARES, j] += confidence[j] * x[j] * x[j]
            evidence[ERRORS, j] += confidence[j] * e[j] * e[j]
            evidence[ANSWERS, j] += confidence[j]
            evidence[AGREEMENT, j] += confidence[j] * e[j] * x[j] * q


@inner
def shrinkage(evidence: FloatArray) -> float:
    """Return the shrinkage factor of the sums `evidence` over all labels, in [0, 1).

    It is 0 up to `MIN_DEVIATIONS` standard deviations, counted by samples because labels are not independent, and
    grows beyond (James-Stein).
    """
    products, agreement = 0.0, 0.0
    for j in range(evidence.shape[1]):
        products += evidence[PRODUCTS, j]
        agreement += evidence[AGREEMENT, j]
    if not agreement > 0.0 or products <= 0.0:
        return 0.0
    return max(1.0 - MIN_DEVIATIONS**2 * agreement / products**2, 0.0)


@inner
def shrunk_slopes(evidence: FloatArray, s: FloatArray) -> None:
    """Fill s with the slopes of the regression of e on x per label, times the shrinkage factor, in [0, 1].

    Each slope is shrunk towards that of all labels together, by a prior of standard deviation `SPREAD`.
    """
    K, factor = evidence.shape[1], shrinkage(evidence)
    products, squares, errors, answers = 0.0, 0.0, 0.0, 0.0
    for j in range(K):
        s[j] = 0.0
        products += evidence[PRODUCTS, j]
        squares += evidence[SQUARES, j]
        errors += evidence[ERRORS, j]
        answers += evidence[ANSWERS, j]
    if factor > 0.0:  # then products, squares and answers are above 0
        prior = errors / answers / SPREAD**2  # variance of the errors over that of the slopes
        for j in range(K):
            slope = (evidence[PRODUCTS, j] + products / squares * prior) / (evidence[SQUARES, j] + prior)
            s[j] = min(max(factor * slope, 0.0), 1.0)


@inner
def error(y: float, f: float) -> float:
    """Return the error of the clipped output f; NaN where the answer y is NaN."""
    return y - min(max(f, LOWEST), HIGHEST)


@inner
def all_slopes(E: FloatArray, rates: FloatArray, S: FloatArray) -> None:
    """Fill S with both slopes of E; that towards the base rates is multiplied by the shrinkage factor of REPEAT."""
    shrunk_slopes(E[SHRINK], S[SHRINK])
    shrunk_slopes(E[REPEAT], S[REPEAT])
    repeats = shrinkage(E[REPEAT])
    for j in range(S.shape[1]):
        S[SHRINK, j] = 0.0 if np.isnan(rates[j]) else repeats * S[SHRINK, j]


@inner
def similarity(x: FloatArray, z: FloatArray) -> float:
    """Return the Gaussian similarity of two samples in [0, 1]; a missing feature contributes `INDEPENDENT`."""
    p = x.shape[0]
    if p == 0:
        return 1.0
    D = squared_distance(x, z)
    if np.isnan(D):
        D = 0.0
        for k in range(p):
            d = (x[k] - z[k]) ** 2
            D += INDEPENDENT if np.isnan(d) else d
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
    """Fill w and m for the sample x with this `number`."""
    for b in range(at.shape[0]):
        w[b] = 0.0 if at[b] == EMPTY else ERROR_DECAY ** abs(number - at[b]) * similarity(x, Z[b])
    for j in range(m.shape[0]):
        total, weight = 0.0, PRIOR_ERRORS
        for b in range(at.shape[0]):
            total += w[b] * r[b, j]
            weight += w[b] * c[b, j]
        m[j] = total / weight


@inner
def slot_of_sample(number: int, at: IntArray) -> int:
    """Return the slot for the sample `number`: its own, an empty one or the oldest; EMPTY if all slots are newer."""
    oldest = 0
    for b in range(at.shape[0]):
        if at[b] == number:
            return b
        if at[b] < at[oldest]:
            oldest = b
    return oldest if at[oldest] < number else EMPTY


@inner
def record_error(
    x: FloatArray,
    number: int,
    e: FloatArray,
    confidence: FloatArray,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
) -> None:
    """Store the errors e of one sample; earlier answers of the same sample stay, except for labels answered again."""
    b = slot_of_sample(number, at)
    if b == EMPTY:
        return
    if at[b] != number:
        at[b] = number
        for j in range(r.shape[1]):
            r[b, j], c[b, j] = 0.0, 0.0
    for k in range(x.shape[0]):
        Z[b, k] = x[k]
    for j in range(e.shape[0]):
        if not np.isnan(e[j]):
            r[b, j], c[b, j] = confidence[j] * e[j], confidence[j]


@inner
def offset_of(rate: float, s: float, again: float) -> float:
    """Return s `rate` + `again`, which is added to an output that was multiplied by 1 - s; `again` is g m.

    s is 0 where `rate` is NaN.
    """
    return again if np.isnan(rate) else s * rate + again


@inner
def fade(number: int, at: IntArray, E: FloatArray) -> bool:
    """Multiply E by `FADING` per sample up to `number`; return False, and change nothing, if `at` has a later one.

    Samples before the first answer do not fade the sums of the initial batch.
    """
    latest = EMPTY
    for b in range(at.shape[0]):
        latest = max(latest, at[b])
    if number <= latest:
        return False
    E *= FADING ** (number - latest) if latest != EMPTY else FADING
    return True


@kernel
def follow_errors(
    X: FloatArray,
    number: int,
    f: FloatArray,
    Y: FloatArray,
    confidence: FloatArray,
    shifted: bool,
    Z: FloatArray,
    at: IntArray,
    r: FloatArray,
    c: FloatArray,
    rates: FloatArray,
    E: FloatArray,
    S: FloatArray,
    scratch: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
) -> float:
    """Record the answers Y of consecutive rows from `number` on; return the shrinkage factor of REPEAT afterwards.

    If `shifted`, each row of f is corrected by s d + g m, with the slopes from before its answers. Without rows, S is
    filled with the slopes of E. `scratch` has room for w, m, d and e.
    """
    w, m, d, e = scratch
    if Y.shape[0] == 0:
        all_slopes(E, rates, S)
    for i in range(Y.shape[0]):
        mean_errors(X[i], number + i, Z, at, r, c, w, m)
        for j in range(Y.shape[1]):
            e[j] = error(Y[i, j], f[i, j])
            d[j] = 0.0 if np.isnan(rates[j]) else error(rates[j], f[i, j])
        is_new = fade(number + i, at, E)
        if is_new:
            add_evidence(e, d, confidence[i], E[SHRINK])
        for j in range(Y.shape[1]):
            e[j] -= S[SHRINK, j] * d[j]
            if shifted:
                f[i, j] = (1.0 - S[SHRINK, j]) * f[i, j] + offset_of(rates[j], S[SHRINK, j], S[REPEAT, j] * m[j])
        if is_new:
            add_evidence(e, m, confidence[i], E[REPEAT])
            all_slopes(E, rates, S)
        record_error(X[i], number + i, e, confidence[i], Z, at, r, c)
    return shrinkage(E[REPEAT])


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
    n_effective: FloatArray,
) -> None:
    """Fill `out` with what is added to the outputs of the samples X multiplied by 1 - s, and `n_effective`.

    `numbers` are those of the samples; w and m are scratch.
    """
    for i in range(X.shape[0]):
        mean_errors(X[i], numbers[i], Z, at, r, c, w, m)
        n_effective[i] = 0.0
        for b in range(w.shape[0]):
            n_effective[i] += w[b]
        for j in range(m.shape[0]):
            out[i, j] = offset_of(rates[j], S[SHRINK, j], S[REPEAT, j] * m[j])
