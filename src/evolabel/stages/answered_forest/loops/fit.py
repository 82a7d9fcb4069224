"""Fitting the trees of a label to the rows that were answered, and answers of trees for rows that they have not drawn.

Each tree draws as many rows as there are, with replacement; the positives it has drawn weigh as much as the negatives
together, so that a rare label is not voted down. In a node `features_tried` features are tried that vary there; the cut
with the largest gain in the Gini index counts. Leaves are pure, unless the tree has no place left.

The age of a row is one feature more, so that a tree can separate the rows before a change of meaning and those behind
it. Rows that are answered later are the youngest: they go to the left.

Weights are whole multiples of a small one, so that one sum w holds those of positives and those of negatives: the first
is in the bits from `HIGH_BITS` on. Most time goes into these sums, which are added for all features of a node at once.

| symbol | meaning                                                         |
|--------|-----------------------------------------------------------------|
| k      | label                                                           |
| n      | rows that were answered for it                                  |
| w      | weights of rows, positives and negatives in one number          |
| sp, sn | weight of a unit of positives, and of negatives                 |
| o      | share of the votes of trees that have not drawn a row           |
| a, b   | calibration: g = 1 / (1 + exp(-(a logit o + b)))                |
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.stages.answered_forest.arrays import (
    AGES,
    FOREST_BINS,
    FOREST_PLACES,
    IS_LEAF,
    MOST_TRIED,
    TREES,
    VOTE_FACTOR,
    VOTE_SHIFT,
    ForestArrays,
    ForestState,
    PlaceArray,
)
from evolabel.stages.threshold_rules.arrays import MAIN, MAIN_ROWS, RARE, RARE_ROWS, CodeArray, TreeArrays
from evolabel.stages.threshold_rules.loops.ring import fill_bins, sort_by_bins
from evolabel.stages.threshold_rules.loops.trial import next_random
from evolabel.typing import FloatArray, IntArray

FEWEST = 2  # positives, and negatives, from which on there is a forest
UNITS_AT_MOST = 1 << 16  # of the largest weight of a row
HIGH_BITS = 32  # first bit of the sum of positives
ONE_POSITIVE = 1 << HIGH_BITS
NO_GINI_GAIN = 1e-12
SAME_GINI_GAIN = 1.0 + 1e-9  # factor up to which gains are the same: the first one counts
SMALL_SHARE = 0.01  # added to shares of votes before their log-odds
RIDGE_FACTOR, RIDGE_SHIFT = 1.0, 0.01  # precision with which a is drawn to 1 and b to 0
LEAST_VOTE_FACTOR = 0.05
NEWTON_ROUNDS, LONGEST_STEP, SMALLEST_STEP = 25, 2.0, 1e-4  # of Newton's method


@inner
def features_tried(p: int) -> int:
    """Return how many of p features are tried in a node."""
    return min(MOST_TRIED, (p + 1) // 2)


@inner
def collect_rows(k: int, t: TreeArrays, state: ForestState) -> tuple[int, int]:
    """Fill `place` with the rows in the ring of `t` that were answered for label k, the oldest first.

    Return how many there are, and how many of them are in the ring of rare rows alone.
    """
    place, kept = state.work.place, min(t.clock[MAIN], MAIN_ROWS)
    first = t.clock[MAIN] % MAIN_ROWS if t.clock[MAIN] > MAIN_ROWS else 0
    oldest = t.rows[first]
    n = 0
    rare = min(t.clock[RARE], RARE_ROWS)
    start = t.clock[RARE] % RARE_ROWS if t.clock[RARE] > RARE_ROWS else 0
    for r in range(rare):
        i = MAIN_ROWS + (start + r) % RARE_ROWS
        if 0 <= t.rows[i] < oldest and t.rows[i] >= t.since[k] and t.weights[i, k] > 0.0:
            place[n] = i
            n += 1
    alone = n
    for r in range(kept):
        i = (first + r) % MAIN_ROWS
        if t.rows[i] >= t.since[k] and t.weights[i, k] > 0.0:
            place[n] = i
            n += 1
    return n, alone


@inner
def code_rows(n: int, t: TreeArrays, state: ForestState) -> None:
    """Fill `edges` with those between the values of the n rows in `place`, `codes` with their bins and the ages."""
    work = state.work
    for i in range(n):
        work.codes[i, t.X.shape[1]] = 1 + (n - 1 - i) * AGES // n
    for j in range(t.X.shape[1]):
        m = 0
        for i in range(n):
            x = t.X[work.place[i], j]
            work.codes[i, j] = 0
            if not np.isnan(x):
                work.values[0, m], work.drawn_rows[m], work.order[1, m] = x, i, t.codes[work.place[i], j]
                m += 1
        sort_by_bins(m, work.values[0], work.order, work.counts)
        for r in range(m):
            work.values[1, r] = work.values[0, work.order[0, r]]
        fill_bins(m, work.values[1], work.edges[j])
        code = 0
        for r in range(m):
            while code < FOREST_BINS - 1 and work.edges[j, code] < work.values[1, r]:
                code += 1
            work.codes[work.drawn_rows[work.order[0, r]], j] = code + 1


@inner
def fill_units(k: int, n: int, t: TreeArrays, state: ForestState) -> None:
    """Fill `units` with the weights of the n rows in `place` for label k, the largest of which has `UNITS_AT_MOST`."""
    work, largest = state.work, 0.0
    for i in range(n):
        largest = max(largest, t.weights[work.place[i], k])
    for i in range(n):
        units = max(1, int(np.rint(t.weights[work.place[i], k] * (UNITS_AT_MOST / largest))))
        work.units[i] = units << HIGH_BITS if t.Y[work.place[i], k] == 1 else units


@inner
def draw_rows(n: int, seed: int, state: ForestState) -> tuple[int, int, int]:
    """Draw n rows for a tree, and fill `drawn` with their weights; list them in `drawn_rows`, all others in `others`.

    Return how many different rows were drawn, their weight, and the next `seed`.
    """
    work = state.work
    drawn = work.drawn
    drawn[:n] = 0
    for _ in range(n):
        seed = next_random(seed)
        i = (seed * n) >> 31
        drawn[i] += work.units[i]
    total, m, others = 0, 0, 0
    for i in range(n):
        total += drawn[i]
        work.drawn_rows[m] = work.others[others] = i
        is_drawn = 1 if drawn[i] > 0 else 0
        m += is_drawn
        others += 1 - is_drawn
    return m, total, seed


@inner
def best_gini_cut(a: int, w: int, sp: float, sn: float, seed: int, state: ForestState) -> tuple[int, int, int]:
    """Return the feature and code of the best cut of the rows of node a, IS_LEAF if there is none; the next `seed`."""
    work, p = state.work, state.work.perm.shape[0]
    best, feature, code, tried, q = NO_GINI_GAIN, IS_LEAF, 0, 0, 0
    first = work.drawn_rows[work.span[a, 0]]
    while tried < features_tried(p) and q < p:
        end = min(p, q + features_tried(p) - tried)
        seed = draw_features(q, end, seed, work.perm)
        fill_codes(a, q, end, state)
        for z in range(q, end):
            j, bins = int(work.perm[z]), work.bins[z - q]
            if bins[work.codes[first, j]] < w:  # not all rows have one code
                tried += 1
                best, found = best_code(w, sp, sn, best, bins)
                if found >= 0:
                    feature, code = j, found
            bins[:] = 0
        q = end
    return feature, code, seed


@inner
def draw_features(start: int, end: int, seed: int, perm: PlaceArray) -> int:
    """Fill perm[start:end] with features drawn from perm[start:]; return the next `seed`."""
    p = perm.shape[0]
    for q in range(start, end):
        seed = next_random(seed)
        z = q + ((seed * (p - q)) >> 31)
        perm[z], perm[q] = perm[q], perm[z]
    return seed


@inner
def fill_codes(a: int, start: int, end: int, state: ForestState) -> None:
    """Add the rows of node a to `bins` by the codes of the features perm[start:end]."""
    work = state.work
    features, bins = work.perm[start:end], work.bins
    for r in range(work.span[a, 0], work.span[a, 1]):
        i = work.drawn_rows[r]
        w, codes = work.drawn[i], work.codes[i]
        for q in range(end - start):
            bins[q, codes[features[q]]] += w


@inner
def best_code(w: int, sp: float, sn: float, best: float, bins: IntArray) -> tuple[float, int]:
    """Return the largest gain of a cut behind a code of `bins`, and this code; `best` and -1 if none gains more.

    Cuts are tried in front of positives and behind them: between negatives the gain is convex.
    """
    before = purity(w, sp, sn)
    code, left, tried = -1, 0, 0
    for block in range((FOREST_BINS + 1) // 8):
        some = 0
        for c in range(8):
            some += bins[8 * block + c]
        if some < ONE_POSITIVE:
            left += some
            continue
        for c in range(8 * block, 8 * block + 8):
            here = bins[c]
            if here >= ONE_POSITIVE:
                if left > tried:
                    gain = purity(left, sp, sn) + purity(w - left, sp, sn) - before
                    if gain > SAME_GINI_GAIN * best:
                        best, code = gain, c - 1
                tried = left + here
                if tried < w:
                    gain = purity(tried, sp, sn) + purity(w - tried, sp, sn) - before
                    if gain > SAME_GINI_GAIN * best:
                        best, code = gain, c
            left += here
    while code >= 0 and bins[code] == 0:
        code -= 1
    return best, code


@inner
def purity(w: int, sp: float, sn: float) -> float:
    """Return (P^2 + N^2) / (P + N) for the weights w of P positives and N negatives."""
    positives, negatives = (w >> HIGH_BITS) * sp, (w & (ONE_POSITIVE - 1)) * sn
    return float((positives * positives + negatives * negatives) / (positives + negatives))


@inner
def part_rows(
    rows: PlaceArray, start: int, end: int, feature: int, code: int, codes: CodeArray, behind: PlaceArray
) -> int:
    """Put those of rows[start:end] in front whose code of `feature` is at most `code`; return the place behind them.

    `behind` is scratch.
    """
    middle = start
    for r in range(start, end):
        i = rows[r]
        rows[middle] = behind[r - middle] = i
        middle += 1 if codes[i, feature] <= code else 0
    for r in range(middle, end):
        rows[r] = behind[r - middle]
    return int(middle)


@inner
def part_node(a: int, used: int, feature: int, code: int, state: ForestState) -> None:
    """Part the rows of node a, drawn ones and others, at `code` of `feature`, into the nodes `used` and `used` + 1."""
    work, span = state.work, state.work.span
    for side, rows in ((0, work.drawn_rows), (2, work.others)):
        start, end = span[a, side], span[a, side + 1]
        middle = part_rows(rows, start, end, feature, code, work.codes, work.node)
        span[used, side], span[used, side + 1] = start, middle
        span[used + 1, side], span[used + 1, side + 1] = middle, end


@inner
def grow_tree(k: int, tree: int, n: int, seed: int, state: ForestState) -> int:
    """Grow one `tree` of label k on draws of n rows, and add its votes on the others; return the next `seed`."""
    work, arrays = state.work, state.arrays
    feature, child, edge = arrays.feature[k, tree], arrays.child[k, tree], arrays.edge[k, tree]
    feature[:], edge[:] = IS_LEAF, 0.0
    m, total, seed = draw_rows(n, seed, state)
    sp, sn = 0.5 / max(1, total >> HIGH_BITS), 0.5 / max(1, total & (ONE_POSITIVE - 1))
    work.span[0] = 0
    work.span[0, 1], work.span[0, 3] = m, n - m
    used, a = 1, 0
    while a < used:
        w = 0
        for r in range(work.span[a, 0], work.span[a, 1]):
            w += work.drawn[work.drawn_rows[r]]
        if w >= ONE_POSITIVE and w & (ONE_POSITIVE - 1) > 0 and used + 2 <= FOREST_PLACES:
            j, code, seed = best_gini_cut(a, w, sp, sn, seed, state)
            if j >= 0:
                part_node(a, used, j, code, state)
                feature[a], child[a], edge[a] = j % work.edges.shape[0], used, upper_edge(j, code, state)
                used += 2
        if feature[a] == IS_LEAF:
            positives, negatives = (w >> HIGH_BITS) * sp, (w & (ONE_POSITIVE - 1)) * sn
            edge[a] = positives / (positives + negatives)
            for r in range(work.span[a, 2], work.span[a, 3]):
                work.votes[work.others[r], 0] += edge[a]
                work.votes[work.others[r], 1] += 1.0
        a += 1
    return seed


@inner
def upper_edge(j: int, code: int, state: ForestState) -> float:
    """Return the largest value of feature j whose code is at most `code`; missing values have code 0.

    Behind the features j is the age: every value is that of a row on the left.
    """
    if j == state.work.edges.shape[0]:
        return float(np.finfo(np.float64).max)
    return float(state.work.edges[j, code - 1]) if code > 0 else -np.finfo(np.float64).max


@inner
def forest_leaf(k: int, tree: int, x: FloatArray, arrays: ForestArrays) -> int:
    """Return the leaf of one `tree` of label k that the row x reaches."""
    a = 0
    while arrays.feature[k, tree, a] >= 0:
        above = x[arrays.feature[k, tree, a]] > arrays.edge[k, tree, a]  # a missing value is not
        a = arrays.child[k, tree, a] + (1 if above else 0)
    return int(a)


@inner
def vote(k: int, tree: int, x: FloatArray, arrays: ForestArrays) -> float:
    """Return the answer of one `tree` of label k to the row x."""
    return float(arrays.edge[k, tree, forest_leaf(k, tree, x, arrays)])


@inner
def share_of_positives(k: int, n: int, t: TreeArrays, state: ForestState) -> float:
    """Return the share of positives of label k among the n rows in `place`; NaN where a class has too few."""
    positives = 0.0
    for i in range(n):
        positives += t.Y[state.work.place[i], k]
    return positives / n if positives >= FEWEST and n - positives >= FEWEST else np.nan


@inner
def fit_forest(k: int, n: int, alone: int, t: TreeArrays, state: ForestState) -> None:
    """Fit the trees of label k to the n rows in `place`, and their calibration to all but the first `alone`."""
    work = state.work
    work.votes[:n] = 0.0
    for j in range(work.perm.shape[0]):
        work.perm[j] = j
    code_rows(n, t, state)
    fill_units(k, n, t, state)
    seed = next_random(7919 * k + n)
    for tree in range(TREES):
        seed = grow_tree(k, tree, n, seed, state)
    calibrate(k, n, alone, t, state)


@inner
def odds_of_votes(share: float) -> float:
    """Return the log-odds of a `share` of votes, which stay finite."""
    return float(np.log((share + SMALL_SHARE) / (1.0 + SMALL_SHARE - share)))


@inner
def calibrate(k: int, n: int, alone: int, t: TreeArrays, state: ForestState) -> None:
    """Fit the calibration of label k to the votes about n rows, but for the first `alone`, by Newton's method."""
    work, odds = state.work, state.work.values[0]
    for i in range(alone, n):
        odds[i] = odds_of_votes(work.votes[i, 0] / max(1.0, work.votes[i, 1]))
    a, b = 1.0, 0.0
    for _ in range(NEWTON_ROUNDS):
        ga, gb = RIDGE_FACTOR * (a - 1.0), RIDGE_SHIFT * b
        aa, ab, bb = RIDGE_FACTOR, 0.0, RIDGE_SHIFT
        for i in range(alone, n):
            if work.votes[i, 1] > 0.0:
                x, w = odds[i], min(1.0, t.weights[work.place[i], k])
                q = 1.0 / (1.0 + np.exp(-(a * x + b)))
                error, slope = w * (q - t.Y[work.place[i], k]), w * q * (1.0 - q)
                ga, gb = ga + error * x, gb + error
                aa, ab, bb = aa + slope * x * x, ab + slope * x, bb + slope
        det = aa * bb - ab * ab
        da, db = (bb * ga - ab * gb) / det, (aa * gb - ab * ga) / det
        a -= min(LONGEST_STEP, max(-LONGEST_STEP, da))
        b -= min(LONGEST_STEP, max(-LONGEST_STEP, db))
        if abs(da) < SMALLEST_STEP and abs(db) < SMALLEST_STEP:
            break
    state.arrays.calibration[k, VOTE_FACTOR] = max(a, LEAST_VOTE_FACTOR)
    state.arrays.calibration[k, VOTE_SHIFT] = b


@inner
def calibrated(share: float, calibration: FloatArray) -> float:
    """Return the probability for a `share` of votes by the `calibration` of a label."""
    return float(1.0 / (1.0 + np.exp(-(calibration[VOTE_FACTOR] * odds_of_votes(share) + calibration[VOTE_SHIFT]))))
