"""The first tree: fitting it to the first rows, answering with it beside the outputs in front, and learning a row.

It is fitted level by level; each node splits where the squared error falls most. All nodes of a level are split in one
pass over the rows in the order of a feature. The gain of a split is the sum over labels of S_l^2 / W_l + S_r^2 / W_r -
S^2 / W, with S the sum of w y and W that of w over the rows of the node, and of those left and right of the split;
missing values are tried on both sides. A leaf answers (S + `SHRINK` m) / (W + `SHRINK`), where m is the answer of the
node above, or one half; NaN for a label that no row is annotated with.

Of splits of the same gain the one counts whose values have the wider gap between them, as a share of the range of the
feature; then that of the feature with the larger mark, the sum of i x_i / range over all rows, values from the least
one on. So the order of the features does not matter.

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
from evolabel.engine.values import sort_values
from evolabel.stages.first_tree.arrays import (
    BEST_GAIN,
    BEST_GAP,
    BEST_MARK,
    DEPTH,
    LAST_VALUE,
    LOSSES_SEEN,
    MISSING_IS_LEFT,
    MOST_LOSSES,
    N_OF_NODE,
    N_SO_FAR,
    NO_SPLIT,
    OF_OUTPUTS,
    OF_TREE,
    PLACES,
    POSITIVES,
    ROWS_ANSWERED,
    ROWS_FITTED,
    ROWS_KEPT,
    ROWS_LEARNED,
    SPLITS_AT,
    WEIGHT,
    FirstTreeState,
    FirstTreeWork,
)
from evolabel.typing import FloatArray

ROWS_OF_LEAF = 2.0  # at least
SHRINK = 1.0  # rows by which the answer of a leaf is drawn to that of the node above
NO_GAIN = 1e-9  # gains up to it are rounding errors
EQUAL = 1.0 + 1e-9  # factor up to which gains, gaps and marks are the same
NO_WEIGHT = 1e-9  # sums of weights up to it are rounding errors


@inner
def fit_first_tree(n: int, state: FirstTreeState) -> None:
    """Fit the tree of `state` to the first n rows that it keeps."""
    work = state.work
    work.feature[:] = NO_SPLIT
    for i in range(n):
        work.node[i] = 0
    first = 0
    for level in range(DEPTH + 1):
        sum_nodes(first, n, state)
        answer_nodes(first, work)
        if level == DEPTH:
            return
        for j in range(state.kept.X.shape[1]):
            missing = sort_feature(j, n, state)
            find_splits(j, first, n, missing, False, state)
            if missing > 0:
                find_splits(j, first, n, missing, True, state)
        move_rows(first, n, state)
        first = 2 * first + 1


@inner
def sum_nodes(first: int, n: int, state: FirstTreeState) -> None:
    """Sum the first n rows by their nodes, from the node `first` of `state` on, and begin to look for splits there."""
    work, Y, weights = state.work, state.kept.Y, state.kept.weights
    work.total[first:] = 0.0
    work.scan[N_OF_NODE, first:] = 0.0
    work.scan[BEST_GAIN, first:] = NO_GAIN
    work.scan[BEST_GAP:, first:] = np.inf
    for i in range(n):
        a = work.node[i]
        if a >= first:
            work.scan[N_OF_NODE, a] += 1.0
            add_row(Y[i], weights[i], work.total[a])


@inner
def add_row(y: FloatArray, w: FloatArray, sums: FloatArray) -> None:
    """Add the labels y of a row, with their weights w, to `sums`."""
    for k in range(y.shape[0]):
        sums[WEIGHT, k] += w[k]
        sums[POSITIVES, k] += w[k] * y[k]


@inner
def answer_nodes(first: int, work: FirstTreeWork) -> None:
    """Fill what the nodes of the level that begins at `first` answer as leaves."""
    for a in range(first, 2 * first + 1):
        total = work.total[a]
        for k in range(work.value.shape[1]):
            first_prior = 0.5 if total[WEIGHT, k] > 0.0 else np.nan
            prior = work.value[(a - 1) // 2, k] if a > 0 else first_prior
            work.value[a, k] = (total[POSITIVES, k] + SHRINK * prior) / (total[WEIGHT, k] + SHRINK)


@inner
def sort_feature(j: int, n: int, state: FirstTreeState) -> int:
    """Sort the first n rows of `state` by feature j, missing values last; return how many are missing."""
    work, missing = state.work, 0
    for i in range(n):
        x = state.kept.X[i, j]
        if np.isnan(x):
            missing += 1
            x = np.inf
        work.values[i] = x
    sort_values(n, work.values, work.order)
    return missing


@inner
def find_splits(j: int, first: int, n: int, missing: int, missing_left: bool, state: FirstTreeState) -> None:
    """Look for better splits of the nodes of `state` from `first` on by feature j, which sorts the first n rows.

    So many are `missing`; they are on the left of every split if `missing_left`, else on the right.
    """
    work = state.work
    scan = work.scan
    work.left[first:] = 0.0
    scan[N_SO_FAR, first:] = 0.0
    scan[LAST_VALUE, first:] = -np.inf
    start = n - missing if missing_left else 0
    spread, mark = range_and_mark(n, missing, work)
    for place in range(n):
        i = work.order[0, (start + place) % n]
        a = work.node[i]
        if a < first or scan[N_OF_NODE, a] < 2.0 * ROWS_OF_LEAF:
            continue
        x = -np.inf if missing_left and place < missing else work.values[i]
        so_far = scan[N_SO_FAR, a]
        if x > scan[LAST_VALUE, a] and so_far >= ROWS_OF_LEAF and scan[N_OF_NODE, a] - so_far >= ROWS_OF_LEAF:
            keep_better(a, j, x, (x - scan[LAST_VALUE, a]) / spread, mark, missing_left, work)
        scan[LAST_VALUE, a] = x
        scan[N_SO_FAR, a] += 1.0
        add_row(state.kept.Y[i], state.kept.weights[i], work.left[a])


@inner
def range_and_mark(n: int, missing: int, work: FirstTreeWork) -> tuple[float, float]:
    """Return range and mark of the feature by which the n rows of `work` are sorted; so many values are `missing`."""
    if n == missing:
        return 0.0, 0.0
    least, most = work.values[work.order[0, 0]], work.values[work.order[0, n - missing - 1]]
    mark = 0.0
    for i in range(n):
        if work.values[i] <= most and most > least:
            mark += (i + 1.0) * ((work.values[i] - least) / (most - least))
    return most - least, mark


@inner
def keep_better(a: int, j: int, x: float, gap: float, mark: float, missing_left: bool, work: FirstTreeWork) -> None:
    """Split node a by feature j between the last value and x, if this is better than its best split so far.

    `gap` is the distance between both, as a share of the range of the feature, `mark` that of the feature.
    """
    gain, gap = gain_of(work.left[a], work.total[a]), gap if np.isfinite(gap) else 0.0
    if not is_better(gain, gap, mark, work.scan[:, a]):
        return
    work.scan[BEST_GAIN, a], work.scan[BEST_GAP, a], work.scan[BEST_MARK, a] = gain, gap, mark
    work.feature[a] = j
    work.edge[a, SPLITS_AT] = between(work.scan[LAST_VALUE, a], x)
    work.edge[a, MISSING_IS_LEFT] = 1.0 if missing_left else 0.0


@inner
def is_better(gain: float, gap: float, mark: float, best: FloatArray) -> bool:
    """Return whether a split of this `gain`, `gap` and `mark` is better than the `best` one, a column of `scan`."""
    if not (gain <= EQUAL * best[BEST_GAIN] and EQUAL * gain >= best[BEST_GAIN]):
        return bool(gain > best[BEST_GAIN])
    if not (gap <= EQUAL * best[BEST_GAP] and EQUAL * gap >= best[BEST_GAP]):
        return bool(gap > best[BEST_GAP])
    return bool(mark > EQUAL * best[BEST_MARK])


@inner
def gain_of(left: FloatArray, total: FloatArray) -> float:
    """Return by how much the squared error falls if rows with the sums `left` are parted from the others of `total`."""
    gain = 0.0
    for k in range(left.shape[1]):
        W, S = left[WEIGHT, k], left[POSITIVES, k]
        rest, others = total[WEIGHT, k] - W, total[POSITIVES, k] - S
        if W > NO_WEIGHT and rest > NO_WEIGHT:
            whole = total[POSITIVES, k]
            gain += S * S / W + others * others / rest - whole * whole / total[WEIGHT, k]
    return gain


@inner
def between(low: float, high: float) -> float:
    """Return the middle of `low` and `high`, below `high`; where one of them is missing, infinite, that one."""
    if np.isinf(low) or np.isinf(high):
        return low if np.isinf(low) else high
    middle = low + 0.5 * (high - low)
    return float(middle if middle < high else low)


@inner
def is_left(x: float, edge: FloatArray) -> bool:
    """Return whether the value x, maybe missing, is on the left of `edge`."""
    return bool(edge[MISSING_IS_LEFT] > 0.5) if np.isnan(x) else bool(x <= edge[SPLITS_AT])


@inner
def move_rows(first: int, n: int, state: FirstTreeState) -> None:
    """Move the first n rows of `state` from nodes of the level that begins at `first` to their children."""
    work = state.work
    for i in range(n):
        a = work.node[i]
        j = work.feature[a] if a >= first else NO_SPLIT
        if j >= 0:
            work.node[i] = 2 * a + (1 if is_left(state.kept.X[i, j], work.edge[a]) else 2)


@inner
def leaf_reached(x: FloatArray, work: FirstTreeWork) -> int:
    """Return the leaf that the row x reaches."""
    a = 0
    while a < PLACES // 2 and work.feature[a] >= 0:
        a = 2 * a + (1 if is_left(x[work.feature[a]], work.edge[a]) else 2)
    return a


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
