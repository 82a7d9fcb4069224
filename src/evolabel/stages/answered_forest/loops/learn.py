"""Answering and learning rows: the forest is mixed with the outputs in front of it, as far as this has helped lately.

| symbol | meaning                                                                                 |
|--------|-----------------------------------------------------------------------------------------|
| f, g   | output in front of the forest, cut to [0, 1]; answer of the forest                      |
| w      | weight of g - f: least squares over the last answers, cut to [0, 1]                     |
| z      | standard errors by which f + w (g - f) was better; the gate is open above `LEAST_ERRORS` |

Labels that were not rare when trees would have been fitted for the first time have no forest: their positives are not
few. All sums fade by `FOREST_FADE` per answer. f and g are those from before a row is learned; for the rows before the
first fit g has the votes of trees that have not drawn them. Trees are fitted anew once the squared errors of answers
add up to `ENOUGH_NEWS`: answers that were expected change little.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.answered_forest.arrays import (
    FOREST_GAIN,
    FOREST_GAIN_SQUARES,
    FOREST_GAP_SQUARES,
    FOREST_PRODUCT,
    HAS_TREES,
    IS_LEAF,
    N_ANSWERED,
    NEXT_FIT,
    NO_FIT,
    TREES,
    ForestArrays,
    ForestState,
)
from evolabel.stages.answered_forest.loops.fit import (
    calibrated,
    collect_rows,
    fit_forest,
    forest_leaf,
    share_of_positives,
    vote,
)
from evolabel.stages.threshold_rules.arrays import MAIN_ROWS, Trees
from evolabel.stages.threshold_rules.loops.ring import RARE_SHARE
from evolabel.typing import FloatArray, IntArray

FOREST_FADE = 0.99
LEAST_ERRORS = 1.0  # standard errors above which a gate is open, for up to `FEW_LABELS` labels
MORE_ERRORS, FEW_LABELS = 0.4, 3.0
LEAST_WEIGHT = 0.25  # of g - f, with which a forest that is not used yet is tried
LEAST_SHARED_WEIGHT = 0.75  # by the gates of all labels together, above which all are open
SHARED_GAPS = 2.0  # sum of (g - f)^2 that this weight counts as, for each label
LITTLE_GAIN = 0.05  # added under the root, so that a few answers do not open a gate
NO_GAPS = 0.5  # added to the sum of (g - f)^2
ENOUGH_NEWS = 0.5  # sum of squared errors after which trees are fitted anew
LEAST_NEW, MOST_NEW = 3, 20  # answers between two fits
MOST_TIMES = 10  # where a tenth of all answers is more than `MOST_NEW`, it counts
PLENTY = 2000  # answers from which on a forest whose gate is closed is dropped


@inner
def least_errors(n_labels: int) -> float:
    """Return the standard errors above which the gate of one of `n_labels` is open: of many, one soon seems better."""
    return float(LEAST_ERRORS + MORE_ERRORS * np.log(max(1.0, n_labels / FEW_LABELS)))


@inner
def errors_of(gate: FloatArray) -> float:
    """Return the standard errors z by which the mixture was better, by the sums of a `gate`."""
    return float(gate[FOREST_GAIN] / np.sqrt(gate[FOREST_GAIN_SQUARES] + LITTLE_GAIN))


@kernel
def fill_forest_weights(state: ForestState) -> None:
    """Fill `w` of `state` with the weight of g - f of each label; 0 where there are no trees, or the gate is closed."""
    arrays, w, pool = state.arrays, state.work.w, state.work.pool
    pool[:] = 0.0
    for k in range(w.shape[0]):
        if arrays.clock[k, HAS_TREES] > 0:
            pool += arrays.gate[k]
    shared = least_squares(pool)
    all_open = shared > LEAST_SHARED_WEIGHT and errors_of(pool) > LEAST_ERRORS
    for k in range(w.shape[0]):
        gate = arrays.gate[k]
        w[k] = 0.0
        if arrays.clock[k, HAS_TREES] == 0:
            continue
        if all_open and errors_of(gate) > -LEAST_ERRORS:
            w[k] = (gate[FOREST_PRODUCT] + SHARED_GAPS * shared) / (gate[FOREST_GAP_SQUARES] + SHARED_GAPS)
            w[k] = min(1.0, max(0.0, w[k]))
        elif errors_of(gate) > least_errors(w.shape[0]):
            w[k] = least_squares(gate)


@inner
def least_squares(gate: FloatArray) -> float:
    """Return the weight of g - f by the sums of a `gate`, open or not."""
    return float(min(1.0, max(0.0, gate[FOREST_PRODUCT] / (gate[FOREST_GAP_SQUARES] + NO_GAPS))))


@inner
def forest_answer(k: int, x: FloatArray, state: ForestState) -> float:
    """Return the answer of the forest of label k of `state` to the row x."""
    total = 0.0
    for tree in range(TREES):
        total += vote(k, tree, x, state.arrays)
    return float(calibrated(total / TREES, state.arrays.calibration[k]))


@inner
def mix_row(x: FloatArray, out: FloatArray, all_answers: bool, state: ForestState) -> None:
    """Mix the answers of the forests of `state` to the row x into its outputs `out`; fill f and g.

    `all_answers`: g also where the gate is closed.
    """
    work, arrays = state.work, state.arrays
    fill_forest_weights(state)
    for k in range(out.shape[0]):
        f = work.f[k] = min(1.0, max(0.0, out[k]))
        work.g[k] = f
        if arrays.clock[k, HAS_TREES] > 0:
            w = work.w[k]
            if w > 0.0 or all_answers:
                work.g[k] = forest_answer(k, x, state)
                if w > 0.0:
                    out[k] = f + w * (work.g[k] - f)


@kernel
def answer_by_forest(state: ForestState, X: FloatArray, out: FloatArray) -> None:
    """Mix the answers of the forests of `state` to the rows X into their outputs `out`."""
    for i in range(X.shape[0]):
        mix_row(X[i], out[i], False, state)


@inner
def count_gain(f: float, g: float, y: float, weight: float, gate: FloatArray) -> None:
    """Update the sums of a `gate` by a label y of this `weight`, and the outputs f and g from before."""
    d, w = g - f, max(LEAST_WEIGHT, least_squares(gate))
    gain = (y - f) ** 2 - (y - f - w * d) ** 2
    gate[FOREST_PRODUCT] += weight * d * (y - f)
    gate[FOREST_GAP_SQUARES] += weight * d * d
    gate[FOREST_GAIN] += weight * gain
    gate[FOREST_GAIN_SQUARES] += weight * gain * gain


@inner
def most_new(n_answered: int) -> int:
    """Return the answers, at most, between two fits of a label that had `n_answered` of them."""
    return max(MOST_NEW, n_answered // MOST_TIMES)


@inner
def since_fit(clock: IntArray) -> int:
    """Return how many answers have come since trees were fitted, by the `clock` of a label."""
    return int(clock[N_ANSWERED] + most_new(clock[N_ANSWERED]) - clock[NEXT_FIT])


@inner
def count_news(k: int, loss: float, arrays: ForestArrays) -> None:
    """Count an answer of label k and its `loss`; trees are to be fitted once answers have brought enough news."""
    clock = arrays.clock[k]
    clock[N_ANSWERED] += 1
    arrays.news[k] += loss
    if arrays.news[k] >= ENOUGH_NEWS and since_fit(clock) >= LEAST_NEW:
        clock[NEXT_FIT] = min(clock[NEXT_FIT], clock[N_ANSWERED])


@kernel
def learn_by_forest(
    state: ForestState, X: FloatArray, Y: FloatArray, weights: FloatArray, confidences: FloatArray, out: FloatArray
) -> None:
    """Mix the forests of `state` into the outputs `out` of the rows X, each before it is learned with its labels Y.

    `weights` and `confidences` may be empty. Trees are fitted by `fit_due`.
    """
    arrays, work = state.arrays, state.work
    for i in range(X.shape[0]):
        mix_row(X[i], out[i], True, state)
        weight = min(1.0, weights[i]) if weights.shape[0] > 0 else 1.0
        for k in range(Y.shape[1]):
            w = 0.0 if np.isnan(Y[i, k]) else weight * (confidences[i, k] if confidences.shape[0] > 0 else 1.0)
            if w <= 0.0:
                continue
            count_news(k, w * (Y[i, k] - work.g[k]) ** 2, arrays)
            if arrays.clock[k, HAS_TREES] > 0:
                gate = arrays.gate[k]
                gate *= FOREST_FADE
                count_gain(work.f[k], work.g[k], Y[i, k], w, gate)


@kernel
def share_leaves(state: ForestState, k: int, x: FloatArray, trees: Trees, shares: FloatArray) -> None:
    """Fill `shares` with the share of the trees of label k in which a row of the ring ends in the leaf of the row x.

    Rows that are not annotated with the label, and those of the ring of rare rows, have 0.
    """
    t = trees.arrays
    shares[:] = 0.0
    for tree in range(TREES):
        leaf = forest_leaf(k, tree, x, state.arrays)
        for i in range(MAIN_ROWS):
            if t.rows[i] >= 0 and t.weights[i, k] > 0.0 and forest_leaf(k, tree, t.X[i], state.arrays) == leaf:
                shares[i] += 1.0
    shares /= TREES


@kernel
def answers_until_fit(state: ForestState) -> int:
    """Return how many rows can be learned before trees of `state` may have to be fitted."""
    left = NO_FIT
    for k in range(state.arrays.clock.shape[0]):
        clock = state.arrays.clock[k]
        until = min(clock[NEXT_FIT] - clock[N_ANSWERED], LEAST_NEW - since_fit(clock))
        left = min(left, NO_FIT if clock[NEXT_FIT] == NO_FIT else max(1, until))
    return left


@kernel
def fit_due(state: ForestState, trees: Trees) -> None:
    """Fit the trees of the labels of `state` that have enough new answers to the rows in the ring of `trees`."""
    for k in range(state.arrays.clock.shape[0]):
        clock = state.arrays.clock[k]
        if clock[N_ANSWERED] < clock[NEXT_FIT]:
            continue
        clock[NEXT_FIT] = clock[N_ANSWERED] + most_new(clock[N_ANSWERED])
        state.arrays.news[k] = 0.0
        fill_forest_weights(state)
        if clock[N_ANSWERED] >= PLENTY and clock[HAS_TREES] > 0 and state.work.w[k] == 0.0:
            clock[NEXT_FIT], clock[HAS_TREES] = NO_FIT, 0
            state.arrays.feature[k] = IS_LEAF
            continue
        n, alone = collect_rows(k, trees.arrays, state)
        share = share_of_positives(k, n, trees.arrays, state)
        if clock[HAS_TREES] == 0 and share >= RARE_SHARE:
            clock[NEXT_FIT] = NO_FIT
        elif share > 0.0:
            fit_forest(k, n, alone, trees.arrays, state)
            if clock[HAS_TREES] == 0:
                clock[HAS_TREES] = 1
                count_votes(k, n, alone, trees, state)


@inner
def count_votes(k: int, n: int, alone: int, trees: Trees, state: ForestState) -> None:
    """Count the n rows of label k that its first trees were fitted to in the gate, but for the first `alone` ones."""
    t, work, arrays = trees.arrays, state.work, state.arrays
    gate = arrays.gate[k]
    for i in range(alone, n):
        if work.votes[i, 1] > 0.0:
            g = calibrated(work.votes[i, 0] / work.votes[i, 1], arrays.calibration[k])
            place = work.place[i]
            f = min(1.0, max(0.0, t.F[place, k]))
            gate *= FOREST_FADE
            count_gain(f, g, float(t.Y[place, k]), min(1.0, t.weights[place, k]), gate)
