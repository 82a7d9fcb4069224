"""Rows: probabilities of their outputs, thresholds of their sets, and learning them one after the other."""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.calibration.arrays import Calibrations
from evolabel.stages.calibration.loops.maps import (
    HEAVIEST_LABEL,
    class_probabilities,
    fill_phi,
    label_probability,
    learn_class,
    learn_labels,
)
from evolabel.stages.calibration.loops.sets import learn_score, set_limit
from evolabel.typing import FloatArray


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
def fill_weights(weight: float, sure: FloatArray, f: FloatArray, y: FloatArray, w: FloatArray) -> bool:
    """Fill w with the weights of the labels y of a row of this `weight`, and return whether one is above 0.

    A label that is NaN, or whose output is not finite, has none. `sure` has the confidences, (1, K), or is empty.
    """
    known = False
    for k in range(y.shape[0]):
        w[k] = min(weight * (sure[0, k] if sure.shape[0] > 0 else 1.0), HEAVIEST_LABEL)
        if np.isnan(y[k]) or not np.isfinite(f[k]):
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
) -> None:
    """Learn rows with the final outputs F, made before each row was learned, and the labels Y; (n, K) both.

    Thresholds of sets follow their errors if `adapts`. P and `limits`, (n, K) or empty, receive the probabilities and
    the thresholds at the coverage of each row in `coverages`, both from before the row. `weights` and `confidences` may
    be empty.
    """
    for i in range(F.shape[0]):
        fill_probabilities(state, F[i], state.p)
        for k in range(P.shape[1]):
            P[i, k] = state.p[k]
        if limits.shape[0] > 0:
            limit_rows(state, coverages[i], limits[i])
        if fill_weights(weights[i] if weights.shape[0] > 0 else 1.0, confidences[i : i + 1], F[i], Y[i], state.w):
            if state.exclusive:
                learn_class_row(state, F[i], Y[i], adapts)
            else:
                learn_label_row(state, Y[i], adapts)
