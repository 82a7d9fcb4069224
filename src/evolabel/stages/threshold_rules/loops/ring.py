"""The ring of recent rows: writing a row, its bins, the rows that reach a node, and sorting their values by bins.

A row that holds a positive of a rare label is also put into a second ring, where it stays longer. For a label whose
positives are all there, they are used beside the rows of the first ring, and its negatives weigh more: as if all rows
since the oldest of them were kept.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.values import sort_values
from evolabel.stages.threshold_rules.arrays import (
    BIN_FEATURE,
    COARSE,
    CODES,
    FIRST_TRIAL,
    LEARNED,
    MAIN,
    MAIN_ROWS,
    N_BINS,
    NEXT_BINS,
    RARE,
    RARE_ROWS,
    SUM_1,
    SUM_Y,
    CodeArray,
    TreeArrays,
    Trees,
)
from evolabel.stages.threshold_rules.loops.answer import goes_left
from evolabel.typing import FloatArray, IntArray

MOST_IN_BIN = 150  # values of one bin that are sorted by insertion


@inner
def sort_by_bins(n: int, values: FloatArray, order: IntArray, counts: IntArray) -> None:
    """Do as `sort_values` with the first n `values`, whose bins are in order[1]: these first, then within bins.

    `counts` is scratch, of the number of codes. If a bin holds many values, merging is faster.
    """
    counts[:] = 0
    largest = 0
    for i in range(n):
        counts[order[1, i]] += 1
    before = 0
    for code in range(counts.shape[0]):
        largest = max(largest, counts[code])
        counts[code], before = before, before + counts[code]
    if largest > MOST_IN_BIN:
        sort_values(n, values, order)
        return
    for i in range(n):
        code = order[1, i]
        order[0, counts[code]] = i
        counts[code] += 1
    for i in range(1, n):
        index = order[0, i]
        value, place = values[index], i
        while place > 0 and values[order[0, place - 1]] > value:
            order[0, place] = order[0, place - 1]
            place -= 1
        order[0, place] = index


RARE_SHARE = 0.15  # labels of a smaller share are kept in the second ring
USED_SHARE = 0.1  # labels of a smaller share use it
FIRST_ROWS = 200  # rows in which every label counts as rare: its share is not known yet
HALVINGS = 5  # of `N_BINS` until one bin is left
LATELY = 51  # rows since a turn began, and the one before
LEAST_RISES = 10  # of a feature that only rises, among the rows of the ring, to be taken for a counter
VALUES_PER_TURN = 20_000  # values of the ring whose bins are renewed in one turn, at least four features


@inner
def code_of(x: float, bins: FloatArray) -> int:
    """Return the bin of the value x, counted from 1, between the edges `bins`; 0 if it is missing.

    The search has no branches, which processors could not foresee: it takes a fifth of the time.
    """
    if np.isnan(x):
        return 0
    low, half = 0, N_BINS // 2
    for _ in range(HALVINGS):
        low += half if bins[low + half - 1] < x else 0
        half //= 2
    return low + 1


@inner
def write_row(place: int, x: FloatArray, y: FloatArray, f: FloatArray, w: FloatArray, t: TreeArrays) -> None:
    """Write the row x, its labels y with their weights w, and the outputs f, already cut, to a `place` in the ring."""
    for j in range(x.shape[0]):
        t.X[place, j] = x[j]
        t.codes[place, j] = code_of(x[j], t.bins[j])
    for k in range(y.shape[0]):
        t.Y[place, k] = 1 if w[k] > 0.0 and y[k] > 0.5 else 0
        t.F[place, k] = f[k]
        t.weights[place, k] = w[k]
    t.rows[place] = t.clock[LEARNED]


@inner
def keep_row(x: FloatArray, y: FloatArray, f: FloatArray, w: FloatArray, t: TreeArrays) -> None:
    """Put the present row into the ring of `t`, and into that of rare rows if it has a positive of a rare label."""
    now, rare = t.clock[LEARNED], False
    for k in range(y.shape[0]):
        if w[k] > 0.0 and y[k] > 0.5:
            if now < FIRST_ROWS or t.sums[k, 0, SUM_Y] < RARE_SHARE * t.sums[k, 0, SUM_1]:
                rare = True
            else:
                t.complete[k] = now + 1
    write_row(t.clock[MAIN] % MAIN_ROWS, x, y, f, w, t)
    t.clock[MAIN] += 1
    if rare:
        write_row(MAIN_ROWS + t.clock[RARE] % RARE_ROWS, x, y, f, w, t)
        t.clock[RARE] += 1


@inner
def oldest_row(t: TreeArrays) -> int:
    """Return the number of the oldest row in the main ring."""
    return int(max(0, t.clock[MAIN] - MAIN_ROWS))


@inner
def negative_scale(k: int, old: int, first: int, t: TreeArrays) -> float:
    """Return the factor on the weights of the negatives of label k of `t`; 1 if the rare ring adds no positives.

    The main ring reaches back to the row `old`, what the rare ring holds of the label to the row `first`.
    """
    more = 0
    for i in range(MAIN_ROWS, t.rows.shape[0]):
        if first <= t.rows[i] < old and t.weights[i, k] > 0.0 and t.Y[i, k] > 0:
            more += 1
    now = t.clock[LEARNED]
    return float(now - first) / max(1.0, float(now - old)) if more > 0 else 1.0


@inner
def reaches(k: int, a: int, x: FloatArray, t: TreeArrays) -> bool:
    """Return whether the row x reaches node a of tree k of `t`."""
    while t.parent[k, a] >= 0:
        up = t.parent[k, a]
        if goes_left(x[t.feature[k, up]], t.edge[k, up]) != (a == t.child[k, up]):
            return False
        a = up
    return True


@inner
def choose_rows(k: int, a: int, trees: Trees) -> int:
    """Fill `chosen` with the places of the rows of label k that reach node a, `scale` with factors; return how many."""
    t, work = trees.arrays, trees.work
    old = max(oldest_row(t), t.since[k])
    rare_end = MAIN_ROWS
    first = old
    if t.sums[k, 0, SUM_Y] <= USED_SHARE * t.sums[k, 0, SUM_1]:
        rare_end = t.rows.shape[0]
        first = 0
        if t.clock[RARE] > RARE_ROWS:  # the oldest row there is the next one to be replaced
            first = t.rows[MAIN_ROWS + t.clock[RARE] % RARE_ROWS]
        first = min(old, max(first, t.since[k], t.complete[k]))
    of_negatives = negative_scale(k, old, first, t) if first < old else 1.0
    n = 0
    for i in range(rare_end):
        row = t.rows[i]
        if row < 0 or not t.weights[i, k] > 0.0:
            continue
        usable = row >= t.since[k] if i < MAIN_ROWS else (first <= row < old and t.Y[i, k] > 0)
        if usable and reaches(k, a, t.X[i], t):
            work.chosen[n] = i
            work.scale[i] = 1.0 if t.Y[i, k] > 0 else of_negatives
            n += 1
    return n


@inner
def middle_of(below: float, above: float) -> float:
    """Return an edge between two numbers, nearly in their middle; `below` itself where there is none in between."""
    middle = 0.5 * below + 0.5 * above
    return middle if below < middle < above else below


@inner
def fill_bins(n: int, values: FloatArray, bins: FloatArray) -> int:
    """Fill `bins` with edges between the n sorted `values`; return the number of bins.

    Edges are midpoints of neighbouring distinct values: all of them if there are few, else those nearest to quantiles.
    """
    bins[:] = np.inf
    most = bins.shape[0] + 1
    distinct = 1 if n > 0 else 0
    for i in range(1, n):
        if values[i] > values[i - 1]:
            distinct += 1
    used, due = 0, n / most
    for i in range(1, n):
        if values[i] > values[i - 1] and used < most - 1 and (distinct <= most or i >= due):
            bins[used] = middle_of(values[i - 1], values[i])
            used += 1
            due = i + (n - i) / (most - used)  # quantiles of the values that are left: many may be tied
    return used + 1


@inner
def fill_coarse(used: int, coarse: CodeArray) -> None:
    """Fill `coarse` with the coarse bin of each code, for a feature of so many `used` bins; missing values are in 0."""
    coarse[0] = 0
    for code in range(1, CODES):
        c = min(code, used) - 1
        coarse[code] = c if used <= COARSE else c * COARSE // used


@inner
def only_rises(j: int, t: TreeArrays) -> bool:
    """Return whether feature j only rises, or only falls, over the rows in the main ring of `t`, often enough."""
    rises, falls, last = 0, 0, np.nan
    for i in range(max(0, t.clock[MAIN] - MAIN_ROWS), t.clock[MAIN]):
        x = t.X[i % MAIN_ROWS, j]
        if not np.isnan(x):
            rises += 1 if x > last else 0
            falls += 1 if x < last else 0
            last = x
        if rises > 0 and falls > 0:
            return False
    return rises + falls >= LEAST_RISES


@inner
def is_left_out(j: int, trees: Trees) -> bool:
    """Return whether feature j of `trees` is not split on, because it only rises or only falls."""
    return not trees.counters and only_rises(j, trees.arrays)


@inner
def renew_bins(j: int, trees: Trees) -> None:
    """Make the bins of feature j of `trees` from the rows in the ring, and code them anew.

    A feature that is left out has one bin, so that no step in it can be tried.
    """
    t, work = trees.arrays, trees.work
    n, left_out = 0, is_left_out(j, trees)
    for i in range(MAIN_ROWS):
        if not left_out and t.rows[i] >= 0 and not np.isnan(t.X[i, j]):
            work.losses[n], work.order[1, n] = t.X[i, j], t.codes[i, j]
            n += 1
    sort_by_bins(n, work.losses, work.order, work.counts)
    for i in range(n):
        work.values[i] = work.losses[work.order[0, i]]
    fill_coarse(fill_bins(n, work.values, t.bins[j]), t.coarse[j])
    for i in range(t.rows.shape[0]):
        if t.rows[i] >= 0:
            t.codes[i, j] = code_of(t.X[i, j], t.bins[j])


@inner
def has_varied(j: int, t: TreeArrays) -> bool:
    """Return whether the last `LATELY` rows in the main ring of `t` hold two values of feature j."""
    low, high = np.inf, -np.inf
    for i in range(max(0, t.clock[MAIN] - LATELY), t.clock[MAIN]):
        x = t.X[i % MAIN_ROWS, j]
        if not np.isnan(x):
            low, high = min(low, x), max(high, x)
    return low < high


@inner
def renew_some_bins(trees: Trees) -> None:
    """Renew the bins of some features, if it is time: after 100, 200, 400 ... rows, then once in the main ring.

    A feature that has one bin gets more as soon as it varies: it may have appeared, or begun to move, long after that.
    """
    t = trees.arrays
    p, clock = t.X.shape[1], t.clock
    if clock[BIN_FEATURE] == p and clock[LEARNED] >= clock[NEXT_BINS]:
        clock[BIN_FEATURE] = 0
        clock[NEXT_BINS] = clock[LEARNED] + min(clock[LEARNED], MAIN_ROWS)
    left = max(4, VALUES_PER_TURN // min(max(1, clock[MAIN]), MAIN_ROWS))
    while left > 0 and clock[BIN_FEATURE] < p:
        renew_bins(clock[BIN_FEATURE], trees)
        clock[BIN_FEATURE] += 1
        left -= 1
    if clock[LEARNED] < FIRST_TRIAL:
        return
    for j in range(p):
        if left > 0 and np.isinf(t.bins[j, 0]) and has_varied(j, t) and not is_left_out(j, trees):
            renew_bins(j, trees)
            left -= 1


@kernel
def derive_codes(trees: Trees) -> None:
    """Fill `coarse` and `codes` from the bins and the rows in the ring of `trees`."""
    t = trees.arrays
    for j in range(t.X.shape[1]):
        used = 1
        for b in range(N_BINS - 1):
            used += 0 if np.isinf(t.bins[j, b]) else 1
        fill_coarse(used, t.coarse[j])
        for i in range(t.rows.shape[0]):
            if t.rows[i] >= 0:
                t.codes[i, j] = code_of(t.X[i, j], t.bins[j])
