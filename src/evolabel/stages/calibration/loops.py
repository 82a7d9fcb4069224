"""Calibration of rows: probabilities of their outputs, thresholds of prediction sets, and learning them one by one.

Maps from outputs f to probabilities p, and the Newton step of a row after its labels y have come:

Labels:  phi = (f cut to [.25, .75], less .5; logit of f cut to [.02, .98]; 1), p_k = sigma(phi'(theta + delta_k)). For
         each known label of weight w, with s = sigma(phi'theta):
             D_k += w p (1 - p) phi phi',        delta_k += D_k^-1 w phi (y - p)
             A += sum_k w s (1 - s) phi phi',    theta += A^-1 sum_k w phi (y - s)
Classes: p = softmax(a f), with a floor of `LEAST_SHARE` under each p.
             A += w Var_p(f),                    a += w (f of the true class - E_p f) / A
The first two coefficients are kept at 0 or above, so that p never falls where f rises. The first regressor is steep in
the middle only: with f itself, maps that rise had a log loss of .260 instead of .246 on a noisy stream of regions.
Before a row, A and D_k move back to their first values by 1 / `CALIBRATION_MEMORY`: maps stay, and steps grow again.

Sets, by adaptive conformal prediction on counts of scores:

The score of a label is 1 - p of the value that came true, in [0, 1]; of classes, 1 - p of the true class. A set holds
every value whose score is at most a threshold q. For a level c of `LEVELS` it is the (1 - alpha_c)(n + 1) / n quantile
of the counted scores, linear inside a bin; everything is in the set where that is above 1, as without counts. After a
row, alpha_c += g_c (1 - c - error): where the sets miss too often, they grow.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.calibration.arrays import (
    FACTOR_CURVATURE,
    GAINS,
    LARGEST_COEFFICIENT,
    LEVELS,
    OWN_CURVATURE,
    SHARED_CURVATURE,
    CalibrationArrays,
    Calibrations,
)
from evolabel.typing import FloatArray

CALIBRATION_MEMORY = 500.0  # rows; never forgetting gains at most .0005 log loss where rows are shuffled
HEAVIEST_LABEL = 10.0  # weight of a row, at most
LARGEST_STEP = 4.0  # change of a logit by one row, at most: a Newton step of few or heavy rows may be far too long
LEAST_FACTOR, LARGEST_FACTOR = 0.5, 100.0  # of a
LEAST_SHARE = 1e-6
STEEPEST = 30.0  # |logit| at most: p is neither 0 nor 1
LEAST_OUTPUT, LARGEST_OUTPUT = -1.0, 2.0  # outputs of classes are cut to this range where the factor learns
MIDDLE = 0.75  # the first regressor is flat above this, and below 1 - MIDDLE
SURE = 0.98  # outputs are cut to [1 - SURE, SURE] before the logit


@inner
def sigma(logit: float) -> float:
    """Return 1 / (1 + exp(-`logit`)), above 0 and below 1."""
    e = exp_of_negative(-min(abs(logit), STEEPEST))
    return 1.0 / (1.0 + e) if logit > 0.0 else e / (1.0 + e)


@inner
def fill_phi(f: float, phi: FloatArray) -> None:
    """Fill `phi` with the regressors of the output f."""
    cut = min(max(f, 1.0 - SURE), SURE)
    phi[0] = min(max(f, 1.0 - MIDDLE), MIDDLE) - 0.5
    phi[1] = np.log(cut / (1.0 - cut))
    phi[2] = 1.0


@inner
def change_of_logit(phi: FloatArray, step: FloatArray) -> float:
    """Return |phi'step|."""
    return abs(float(phi[0] * step[0] + phi[1] * step[1] + phi[2] * step[2]))


@inner
def shared_probability(phi: FloatArray, c: CalibrationArrays) -> float:
    """Return the probability of a label with the regressors phi by the shared map alone."""
    return sigma(phi[0] * c.theta[0] + phi[1] * c.theta[1] + phi[2] * c.theta[2])


@inner
def label_probability(k: int, phi: FloatArray, c: CalibrationArrays) -> float:
    """Return the probability of label k by the regressors phi of its output."""
    slope, bend = max(c.theta[0] + c.delta[k, 0], 0.0), max(c.theta[1] + c.delta[k, 1], 0.0)
    return sigma(phi[0] * slope + phi[1] * bend + phi[2] * (c.theta[2] + c.delta[k, 2]))


@inner
def solve_three(A: FloatArray, b: FloatArray) -> None:
    """Set b to A^-1 b, for a positive definite A of three rows, by its Cholesky factor."""
    d0 = np.sqrt(A[0, 0])
    l10, l20 = A[1, 0] / d0, A[2, 0] / d0
    d1 = np.sqrt(A[1, 1] - l10 * l10)
    l21 = (A[2, 1] - l20 * l10) / d1
    d2 = np.sqrt(A[2, 2] - l20 * l20 - l21 * l21)
    b[0] /= d0
    b[1] = (b[1] - l10 * b[0]) / d1
    b[2] = (b[2] - l20 * b[0] - l21 * b[1]) / (d2 * d2)
    b[1] = (b[1] - l21 * b[2]) / d1
    b[0] = (b[0] - l10 * b[1] - l20 * b[2]) / d0


@inner
def solve_rising(A: FloatArray, b: FloatArray, bend: float) -> None:
    """Set b to A^-1 b, or to the best step that leaves the second coefficient, which is `bend`, at 0."""
    slope_gradient, level_gradient = b[0], b[2]
    solve_three(A, b)
    if bend + b[1] >= 0.0:
        return
    b[1] = -bend
    slope_gradient -= A[0, 1] * b[1]
    level_gradient -= A[2, 1] * b[1]
    determinant = A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]
    b[0] = (A[2, 2] * slope_gradient - A[0, 2] * level_gradient) / determinant
    b[2] = (A[0, 0] * level_gradient - A[2, 0] * slope_gradient) / determinant


@inner
def add_square(A: FloatArray, phi: FloatArray, w: float) -> None:
    """Add w phi phi' to A."""
    for i in range(3):
        for j in range(3):
            A[i, j] += w * phi[i] * phi[j]


@inner
def move_back(A: FloatArray, first: tuple[float, float, float], part: float) -> None:
    """Move A by this `part` of the way to the diagonal matrix of `first`."""
    for i in range(3):
        for j in range(3):
            A[i, j] -= part * A[i, j]
        A[i, i] += part * first[i]


@inner
def add_step(theta: FloatArray, step: FloatArray, longest: float, low: tuple[float, float]) -> None:
    """Add `step` to theta, shortened if its `longest` change of a logit is above `LARGEST_STEP`.

    The first two coefficients, by which a probability rises with the output, stay at `low` or above.
    """
    part = min(1.0, LARGEST_STEP / longest) if longest > 0.0 else 1.0
    for i in range(3):
        theta[i] = min(max(theta[i] + part * step[i], -LARGEST_COEFFICIENT), LARGEST_COEFFICIENT)
    theta[0], theta[1] = max(theta[0], low[0]), max(theta[1], low[1])


@inner
def learn_deviation(k: int, y: float, w: float, phi: FloatArray, step: FloatArray, c: CalibrationArrays) -> None:
    """Learn the label y of weight w by the deviation of label k; `step` is scratch."""
    p = label_probability(k, phi, c)
    move_back(c.D[k], OWN_CURVATURE, min(w, 1.0) / CALIBRATION_MEMORY)
    add_square(c.D[k], phi, w * p * (1.0 - p))
    for i in range(3):
        step[i] = w * phi[i] * (y - p)
    solve_rising(c.D[k], step, c.theta[1] + c.delta[k, 1])
    add_step(c.delta[k], step, change_of_logit(phi, step), (-c.theta[0], -c.theta[1]))


@inner
def learn_labels(y: FloatArray, w: FloatArray, phi: FloatArray, step: FloatArray, c: CalibrationArrays) -> None:
    """Learn the labels y of a row by all maps: those of weights w above 0. phi has their regressors, (K, 3).

    `step` is scratch, (2, 3).
    """
    most = 0.0
    for k in range(y.shape[0]):
        most = max(most, w[k])
    move_back(c.A, SHARED_CURVATURE, min(most, 1.0) / CALIBRATION_MEMORY)
    shared, own = step[0], step[1]
    shared[:] = 0.0
    for k in range(y.shape[0]):
        if w[k] > 0.0:
            s = shared_probability(phi[k], c)
            add_square(c.A, phi[k], w[k] * s * (1.0 - s))
            for i in range(3):
                shared[i] += w[k] * phi[k, i] * (y[k] - s)
            learn_deviation(k, y[k], w[k], phi[k], own, c)
    solve_rising(c.A, shared, c.theta[1])
    longest = 0.0
    for k in range(y.shape[0]):
        if w[k] > 0.0:
            longest = max(longest, change_of_logit(phi[k], shared))
    add_step(c.theta, shared, longest, (0.0, 0.0))


@inner
def class_probabilities(f: FloatArray, a: float, p: FloatArray) -> None:
    """Fill p with the probabilities of classes that exclude each other, by their outputs f and the factor a."""
    top, total = f[0], 0.0
    for k in range(f.shape[0]):
        top = max(top, f[k])
    for k in range(f.shape[0]):
        p[k] = exp_of_negative(a * (f[k] - top))
        total += p[k]
    for k in range(f.shape[0]):
        p[k] = (p[k] / total + LEAST_SHARE) / (1.0 + LEAST_SHARE * f.shape[0])


@inner
def learn_class(true: int, w: float, f: FloatArray, p: FloatArray, c: CalibrationArrays) -> None:
    """Learn the class `true` of a row of weight w with the outputs f and the probabilities p."""
    mean, squares = 0.0, 0.0
    for k in range(f.shape[0]):
        cut = min(max(f[k], LEAST_OUTPUT), LARGEST_OUTPUT)
        mean += p[k] * cut
        squares += p[k] * cut * cut
    A, cut = c.A[0, 0], min(max(f[true], LEAST_OUTPUT), LARGEST_OUTPUT)
    A += min(w, 1.0) / CALIBRATION_MEMORY * (FACTOR_CURVATURE - A) + w * max(squares - mean * mean, 0.0)
    c.A[0, 0] = A
    c.theta[0] = min(max(c.theta[0] + w * (cut - mean) / A, LEAST_FACTOR), LARGEST_FACTOR)


EVERYTHING = 1.0  # a threshold that every score is below


@inner
def learn_score(j: int, score: float, w: float, adapts: bool, c: CalibrationArrays) -> None:
    """Learn a `score` of weight w in stream j: alpha, if it `adapts`, by the errors of the sets, then the counts."""
    counts, bins, once = c.counts[j], c.counts.shape[1], min(w, 1.0)
    b = min(int(score * bins), bins - 1)
    if adapts:
        below = counts[b] * (score * bins - b)
        for i in range(b):
            below += counts[i]
        for level in range(LEVELS.shape[0]):
            is_wrong = c.n[j] > 0.0 and below > (1.0 - c.alpha[j, level]) * (c.n[j] + 1.0)
            c.alpha[j, level] += once * GAINS[level] * (1.0 - LEVELS[level] - (1.0 if is_wrong else 0.0))
    kept = 1.0 - once / CALIBRATION_MEMORY
    for i in range(bins):
        counts[i] *= kept
    counts[b] += w
    c.n[j] = kept * c.n[j] + w


@inner
def quantile(counts: FloatArray, n: float, needed: float) -> float:
    """Return the score that `needed` of the n counted scores are below; `EVERYTHING` if that is n or more."""
    if needed >= n:
        return EVERYTHING
    bins, before = counts.shape[0], 0.0
    for b in range(bins):
        after = before + counts[b]
        if after >= needed and after > 0.0:
            inside = (needed - before) / counts[b] if counts[b] > 0.0 else 0.0
            return float((b + max(inside, 0.0)) / bins)
        before = after
    return EVERYTHING  # rounding: the sum of the counts is a little below n


@inner
def set_limit(j: int, coverage: float, c: CalibrationArrays) -> float:
    """Return the threshold of stream j for this `coverage`: never lower than at a lower level, linear in between."""
    low, high = 0.0, 0.0
    for level in range(LEVELS.shape[0]):
        low = high
        high = max(high, quantile(c.counts[j], c.n[j], (1.0 - c.alpha[j, level]) * (c.n[j] + 1.0)))
        if coverage <= LEVELS[level]:
            break
    if level == 0:
        return high
    part = (coverage - LEVELS[level - 1]) / (LEVELS[level] - LEVELS[level - 1])
    return float(low + min(part, 1.0) * (high - low))


@inner
def fill_probabilities(state: Calibrations, f: FloatArray, p: FloatArray) -> None:
    """Fill p with the probabilities of the outputs f of a row; `phi` of `state` then has the regressors of labels."""
    c = state.arrays
    if state.exclusive:
        class_probabilities(f, c.theta[0], p)
        return
    for k in range(f.shape[0]):
        fill_phi(f[k], state.phi[k])
        p[k] = label_probability(k, state.phi[k], c)


@kernel
def probability_rows(state: Calibrations, F: FloatArray, P: FloatArray) -> None:
    """Fill P with the probabilities of the outputs F, (n, K)."""
    for i in range(F.shape[0]):
        fill_probabilities(state, F[i], P[i])


@kernel
def limit_rows(state: Calibrations, coverage: float, limits: FloatArray) -> None:
    """Fill `limits`, (K,), with the thresholds of the sets for this `coverage`; classes have the same one."""
    for k in range(limits.shape[0]):
        limits[k] = limits[0] if k > 0 and state.exclusive else set_limit(k, coverage, state.arrays)


@inner
def is_replaced(k: int, f: FloatArray, plain: FloatArray, exclusive: bool) -> bool:
    """Return whether the output f of label k replaces a `plain` one, (1, K): differs from it, or there are none.

    Of `exclusive` classes all are replaced if one is.
    """
    if plain.shape[0] == 0:
        return True
    found = bool(f[k] != plain[0, k])
    if exclusive:
        for c in range(f.shape[0]):
            found = found or f[c] != plain[0, c]
    return found


@inner
def fill_weights(
    weight: float, sure: FloatArray, f: FloatArray, plain: FloatArray, y: FloatArray, state: Calibrations
) -> bool:
    """Fill w of `state` with the weights of the labels y of a row of this `weight`; return whether one is above 0.

    A label that is NaN, or whose output is not finite or replaces none of `plain`, has none. `sure` has the
    confidences, (1, K), or is empty.
    """
    known, w = False, state.w
    for k in range(y.shape[0]):
        w[k] = min(weight * (sure[0, k] if sure.shape[0] > 0 else 1.0), HEAVIEST_LABEL)
        if np.isnan(y[k]) or not np.isfinite(f[k]) or not is_replaced(k, f, plain, state.exclusive):
            w[k] = 0.0
        known = known or w[k] > 0.0
    return known


@inner
def learn_label_row(state: Calibrations, y: FloatArray, adapts: bool) -> None:
    """Learn the labels y, after `fill_probabilities` and `fill_weights` of their row."""
    K = y.shape[0]
    for k in range(K):
        if state.w[k] > 0.0 and state.counted[k] > 0.0:
            score = 1.0 - state.p[k] if y[k] > 0.5 else state.p[k]
            learn_score(k, score, state.w[k], adapts, state.arrays)
    learn_labels(y, state.w, state.phi[:K], state.phi[K:], state.arrays)


@inner
def learn_class_row(state: Calibrations, f: FloatArray, y: FloatArray, adapts: bool) -> None:
    """Learn the class of a row with the outputs f and one-hot labels y; nothing if one of them is not known."""
    true = -1
    for k in range(y.shape[0]):
        if not state.w[k] > 0.0:
            return
        if y[k] > 0.5:
            true = k
    if true >= 0:
        if state.counted[true] > 0.0:
            learn_score(0, 1.0 - state.p[true], state.w[true], adapts, state.arrays)
        learn_class(true, state.w[true], f, state.p, state.arrays)


@kernel
def learn_calibration(
    state: Calibrations,
    adapts: bool,
    F: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    coverages: FloatArray,
    P: FloatArray,
    limits: FloatArray,
    plain: FloatArray,
) -> None:
    """Learn rows with the final outputs F, made before each row was learned, and the labels Y; (n, K) both.

    Thresholds of sets follow their errors if `adapts`. P and `limits`, (n, K) or empty, receive the probabilities and
    the thresholds at the coverage of each row in `coverages`, both from before the row. `weights` and `confidences` may
    be empty. Outputs that are those of `plain`, unless it is empty, are left out of all of this.
    """
    for i in range(F.shape[0]):
        fill_probabilities(state, F[i], state.p)
        before = plain[i : i + 1]
        for k in range(P.shape[1]):
            if is_replaced(k, F[i], before, state.exclusive):
                P[i, k] = state.p[k]
        for k in range(limits.shape[1]):
            if is_replaced(k, F[i], before, state.exclusive):
                shared = k > 0 and state.exclusive
                limits[i, k] = limits[i, 0] if shared else set_limit(k, coverages[i], state.arrays)
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if fill_weights(weight, confidences[i : i + 1], F[i], before, Y[i], state):
            if state.exclusive:
                learn_class_row(state, F[i], Y[i], adapts)
            else:
                learn_label_row(state, Y[i], adapts)
