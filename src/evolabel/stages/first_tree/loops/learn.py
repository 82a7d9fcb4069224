"""Answering and learning the first rows: the tree is mixed with the outputs before it, by their recent losses.

| symbol   | meaning                                                                                              |
|----------|------------------------------------------------------------------------------------------------------|
| f, g     | outputs before the tree, cut to [0, 1]; answers of the leaf that the row reaches, f in place of NaN  |
| l_f, l_g | means of their squared errors over all labels, fading over `MOST_LOSSES` rows                        |
| n        | rows in these means                                                                                  |
| w        | weight of the tree, the same for all labels: out = f + w (g - f)                                     |

w is exp(-`SHARPNESS` (l - m) / (m + `SMALL_LOSS`)) of the tree, divided by the sum of this and the same of the outputs;
m is the smaller l. The loss of the tree counts `TREE_HANDICAP` (1 + `FIRST_DOUBT` / n) times. The tree is fitted anew
whenever the rows have grown by a quarter, so that its losses are those of rows that it has not learned.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.first_tree.arrays import (
    LOSSES_SEEN,
    MOST_LOSSES,
    OF_OUTPUTS,
    OF_TREE,
    ROWS_ANSWERED,
    ROWS_FITTED,
    ROWS_KEPT,
    ROWS_LEARNED,
    FirstTreeState,
)
from evolabel.stages.first_tree.loops.fit import fit_first_tree, leaf_reached
from evolabel.typing import FloatArray

FIRST_FIT = 10  # rows after which the tree is fitted for the first time
SHARPNESS = 10.0  # how sharply the weight follows relative differences of the losses
TREE_HANDICAP = 1.1  # by which the loss of the tree is multiplied
FIRST_DOUBT = 3.0  # rows for which this handicap is doubled
SMALL_LOSS = 0.001  # added to the smaller loss, so that tiny losses do not decide


@inner
def next_fit(fitted: int) -> int:
    """Return the row after which a tree of so many `fitted` rows, 0: none yet, is fitted anew."""
    return FIRST_FIT if fitted == 0 else (5 * fitted + 2) // 4


@kernel
def weight_of_tree(losses: FloatArray) -> float:
    """Return the weight of the tree by the `losses` so far."""
    if losses[LOSSES_SEEN] <= 0.0:
        return 0.0
    of_outputs = losses[OF_OUTPUTS]
    of_tree = losses[OF_TREE] * TREE_HANDICAP * (1.0 + FIRST_DOUBT / losses[LOSSES_SEEN])
    least = min(of_outputs, of_tree)
    sharp = -SHARPNESS / (least + SMALL_LOSS)
    tree = exp_of_negative(sharp * (of_tree - least))
    return float(tree / (tree + exp_of_negative(sharp * (of_outputs - least))))


@inner
def answer_first_row(x: FloatArray, w: float, out: FloatArray, state: FirstTreeState) -> None:
    """Mix the answers of the tree of `state` to the row x into its outputs `out`, by the weight w; fill f and g."""
    work = state.work
    leaf = leaf_reached(x, work)
    for k in range(out.shape[0]):
        work.f[k] = work.g[k] = min(max(out[k], 0.0), 1.0)
        if not np.isnan(work.value[leaf, k]):
            work.g[k] = work.value[leaf, k]
            out[k] += w * (work.g[k] - out[k])


@kernel
def answer_first_rows(state: FirstTreeState, X: FloatArray, out: FloatArray) -> None:
    """Mix the answers of the tree of `state` to the rows X into their outputs `out`."""
    w = weight_of_tree(state.kept.losses)
    for i in range(X.shape[0]):
        answer_first_row(X[i], w, out[i], state)


@inner
def count_losses(y: FloatArray, state: FirstTreeState) -> None:
    """Update the losses of `state` by a row with the labels y, from its f, g and c."""
    losses, work = state.kept.losses, state.work
    of_outputs, of_tree, total, most = 0.0, 0.0, 0.0, 0.0
    for k in range(y.shape[0]):
        if work.c[k] > 0.0:
            of_outputs += work.c[k] * (work.f[k] - y[k]) ** 2
            of_tree += work.c[k] * (work.g[k] - y[k]) ** 2
            total += work.c[k]
            most = max(most, work.c[k])
    losses[LOSSES_SEEN] = min(losses[LOSSES_SEEN] + most, MOST_LOSSES)
    step = most / losses[LOSSES_SEEN]
    losses[OF_OUTPUTS] += step * (of_outputs / total - losses[OF_OUTPUTS])
    losses[OF_TREE] += step * (of_tree / total - losses[OF_TREE])


@inner
def keep_first_row(x: FloatArray, y: FloatArray, state: FirstTreeState) -> None:
    """Keep the row x with the labels y and their weights c, if it is one of the first, and count it."""
    kept, c = state.kept, state.work.c
    row = kept.clock[ROWS_LEARNED]
    kept.clock[ROWS_LEARNED] = row + 1
    if row >= ROWS_KEPT:
        return
    for j in range(x.shape[0]):
        kept.X[row, j] = x[j]
    for k in range(y.shape[0]):
        kept.Y[row, k] = y[k] if c[k] > 0.0 else 0.0
        kept.weights[row, k] = c[k]


@kernel
def learn_first_rows(
    state: FirstTreeState, X: FloatArray, Y: FloatArray, weights: FloatArray, confidences: FloatArray, out: FloatArray
) -> None:
    """Mix the answers of the tree of `state` into the outputs `out` of the rows X, each before it is learned with Y.

    `weights` and `confidences` may be empty. A row without an annotated label, or of weight 0, is only answered. Rows
    beyond the last one that the tree answers are left alone.
    """
    kept, c = state.kept, state.work.c
    for i in range(X.shape[0]):
        if kept.clock[ROWS_LEARNED] >= ROWS_ANSWERED:
            return
        answer_first_row(X[i], weight_of_tree(kept.losses), out[i], state)
        weight, labelled = min(weights[i], 1.0) if weights.shape[0] > 0 else 1.0, False
        for k in range(Y.shape[1]):
            c[k] = 0.0 if np.isnan(Y[i, k]) else weight * (confidences[i, k] if confidences.shape[0] > 0 else 1.0)
            labelled = labelled or c[k] > 0.0
        if not labelled:
            continue
        if kept.clock[ROWS_FITTED] > 0:
            count_losses(Y[i], state)
        keep_first_row(X[i], Y[i], state)
        due = next_fit(kept.clock[ROWS_FITTED])
        if kept.clock[ROWS_LEARNED] == due and due <= ROWS_KEPT:
            kept.clock[ROWS_FITTED] = due
            fit_first_tree(due, state)


@kernel
def fit_again(state: FirstTreeState) -> None:
    """Fit the tree of `state` to the rows that it was fitted to last."""
    if state.kept.clock[ROWS_FITTED] > 0:
        fit_first_tree(state.kept.clock[ROWS_FITTED], state)
