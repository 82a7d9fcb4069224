"""Fitting the trees of a label to the rows that were answered, and answers of trees for rows that they have not drawn.

Each tree draws as many rows as there are, with replacement; the positives it has drawn weigh as much as the negatives
together, so that a rare label is not voted down. In a node `features_tried` features are tried that vary there; the cut
with the largest gain in the Gini index counts. Leaves are pure, unless the tree has no place left.

| symbol | meaning                                                                   |
|--------|---------------------------------------------------------------------------|
| k      | label                                                                     |
| n      | rows that were answered for it                                            |
| W, G   | weight of the rows of a node, and of its positives                        |
| o      | share of the votes of trees that have not drawn a row                     |
| a, b   | calibration: g = 1 / (1 + exp(-(a logit o + b)))                          |
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.engine.values import sort_values
from evolabel.stages.answered_forest.arrays import (
    FOREST_BINS,
    FOREST_PLACES,
    IS_LEAF,
    TREES,
    VOTE_FACTOR,
    VOTE_SHIFT,
    ForestArrays,
    ForestState,
)
from evolabel.stages.threshold_rules.arrays import MAIN, MAIN_ROWS, RARE, RARE_ROWS, ThresholdArrays
from evolabel.stages.threshold_rules.loops.ring import fill_bins
from evolabel.stages.threshold_rules.loops.trial import next_random
from evolabel.typing import FloatArray

FEWEST = 2  # positives, and negatives, from which on there is a forest
MOST_TRIED = 30  # features in a node
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
def collect_rows(k: int, t: ThresholdArrays, state: ForestState) -> tuple[int, int]:
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
def code_rows(n: int, t: ThresholdArrays, state: ForestState) -> None:
    """Fill `edges` with those between the values of the n rows in `place`, and `codes` with the bins of the values."""
    work = state.work
    for j in range(t.X.shape[1]):
        m = 0
        for i in range(n):
            x = t.X[work.place[i], j]
            work.codes[j, i] = 0
            if not np.isnan(x):
                work.values[0, m], work.drawn_rows[m] = x, i
                m += 1
        sort_values(m, work.values[0], work.order)
        for r in range(m):
            work.values[1, r] = work.values[0, work.order[0, r]]
        fill_bins(m, work.values[1], work.edges[j])
        code = 0
        for r in range(m):
            while code < FOREST_BINS - 1 and work.edges[j, code] < work.values[1, r]:
                code += 1
            work.codes[j, work.drawn_rows[work.order[0, r]]] = code + 1


@inner
def draw_rows(k: int, n: int, seed: int, t: ThresholdArrays, state: ForestState) -> tuple[int, int]:
    """Draw n rows for a tree of label k, list them in `drawn_rows`, and fill `drawn` with weights, both classes alike.

    Return how many different rows were drawn, and the next `seed`.
    """
    work = state.work
    for i in range(n):
        work.drawn[i, 0] = 0.0
    for _ in range(n):
        seed = next_random(seed)
        work.drawn[(seed * n) >> 31, 0] += 1.0
    positives, negatives, m = 0.0, 0.0, 0
    for i in range(n):
        if work.drawn[i, 0] > 0.0:
            work.drawn_rows[m] = i
            m += 1
            work.drawn[i, 0] *= t.weights[work.place[i], k]
            if t.Y[work.place[i], k] == 1:
                positives += work.drawn[i, 0]
            else:
                negatives += work.drawn[i, 0]
    both = positives > 0.0 and negatives > 0.0
    for i in range(n):
        is_positive = t.Y[work.place[i], k] == 1
        if both:
            work.drawn[i, 0] *= 0.5 / (positives if is_positive else negatives)
        work.drawn[i, 1] = work.drawn[i, 0] if is_positive else 0.0
    return m, seed


@inner
def best_gini_cut(a: int, W: float, G: float, seed: int, state: ForestState) -> tuple[int, int, int]:
    """Return the feature and code of the best cut of the rows of node a, IS_LEAF if there is none; the next `seed`."""
    work, p = state.work, state.work.perm.shape[0]
    best, feature, code, tried = NO_GINI_GAIN, IS_LEAF, 0, 0
    before = G * G / W + (W - G) * (W - G) / W
    for q in range(p):
        if tried >= features_tried(p):
            break
        seed = next_random(seed)
        z = q + ((seed * (p - q)) >> 31)
        j = work.perm[z]
        work.perm[z], work.perm[q] = work.perm[q], j
        low, high = fill_codes(a, j, state)
        if low == high:
            continue
        tried += 1
        left, positives = 0.0, 0.0
        for c in range(low, high):
            if work.bins[c, 0] == 0.0:
                continue
            left += work.bins[c, 0]
            positives += work.bins[c, 1]
            right = W - left
            if right <= 0.0:
                continue
            others = G - positives
            gain = (positives * positives + (left - positives) ** 2) / left
            gain += (others * others + (right - others) ** 2) / right - before
            if gain > SAME_GINI_GAIN * best:
                best, feature, code = gain, j, c
    return feature, code, seed


@inner
def fill_codes(a: int, j: int, state: ForestState) -> tuple[int, int]:
    """Fill `bins` with the rows of node a by the codes of feature j; return the least and the largest code."""
    work = state.work
    codes, bins, low, high = work.codes[j], work.bins, FOREST_BINS, -1
    for r in range(work.span[a, 0], work.span[a, 1]):
        c = int(codes[work.drawn_rows[r]])
        low, high = min(low, c), max(high, c)
    if low == high:
        return low, high
    bins[low : high + 1] = 0.0
    for r in range(work.span[a, 0], work.span[a, 1]):
        i = work.drawn_rows[r]
        c = int(codes[i])
        bins[c, 0] += work.drawn[i, 0]
        bins[c, 1] += work.drawn[i, 1]
    return low, high


@inner
def part_rows(a: int, feature: int, code: int, state: ForestState) -> int:
    """Put the rows of node a up to `code` of `feature` in front; return the place behind the last of them."""
    work = state.work
    start, end = work.span[a, 0], work.span[a, 1]
    middle, behind = start, 0
    for r in range(start, end):
        i = work.drawn_rows[r]
        if work.codes[feature, i] <= code:
            work.drawn_rows[middle] = i
            middle += 1
        else:
            work.node[behind] = i
            behind += 1
    for r in range(behind):
        work.drawn_rows[middle + r] = work.node[r]
    return int(middle)


@inner
def grow_tree(k: int, tree: int, m: int, seed: int, state: ForestState) -> int:
    """Grow one `tree` of label k on the m rows that it has drawn; return the next `seed`."""
    work, arrays = state.work, state.arrays
    feature, child, edge = arrays.feature[k, tree], arrays.child[k, tree], arrays.edge[k, tree]
    feature[:], edge[:] = IS_LEAF, 0.0
    work.span[0, 0], work.span[0, 1] = 0, m
    used, a = 1, 0
    while a < used:
        W, G = 0.0, 0.0
        for r in range(work.span[a, 0], work.span[a, 1]):
            i = work.drawn_rows[r]
            W += work.drawn[i, 0]
            G += work.drawn[i, 1]
        edge[a] = G / W if W > 0.0 else 0.5
        if NO_GINI_GAIN < G < W - NO_GINI_GAIN and used + 2 <= FOREST_PLACES:
            j, code, seed = best_gini_cut(a, W, G, seed, state)
            if j >= 0:
                middle = part_rows(a, j, code, state)
                feature[a], child[a], edge[a] = j, used, upper_edge(j, code, state)
                work.span[used, 0], work.span[used, 1] = work.span[a, 0], middle
                work.span[used + 1, 0], work.span[used + 1, 1] = middle, work.span[a, 1]
                used += 2
        a += 1
    return seed


@inner
def upper_edge(j: int, code: int, state: ForestState) -> float:
    """Return the largest value of feature j whose code is at most `code`; missing values have code 0."""
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
def share_of_positives(k: int, n: int, t: ThresholdArrays, state: ForestState) -> float:
    """Return the share of positives of label k among the n rows in `place`; NaN where a class has too few."""
    positives = 0.0
    for i in range(n):
        positives += t.Y[state.work.place[i], k]
    return positives / n if positives >= FEWEST and n - positives >= FEWEST else np.nan


@inner
def fit_forest(k: int, n: int, alone: int, t: ThresholdArrays, state: ForestState) -> None:
    """Fit the trees of label k to the n rows in `place`, and their calibration to all but the first `alone`."""
    work, votes = state.work, state.work.votes
    votes[:n] = 0.0
    for j in range(work.perm.shape[0]):
        work.perm[j] = j
    code_rows(n, t, state)
    seed = next_random(7919 * k + n)
    for tree in range(TREES):
        m, seed = draw_rows(k, n, seed, t, state)
        seed = grow_tree(k, tree, m, seed, state)
        for i in range(n):
            if work.drawn[i, 0] == 0.0:
                votes[i, 0] += vote(k, tree, t.X[work.place[i]], state.arrays)
                votes[i, 1] += 1.0
    calibrate(k, n, alone, t, state)


@inner
def odds_of_votes(share: float) -> float:
    """Return the log-odds of a `share` of votes, which stay finite."""
    return float(np.log((share + SMALL_SHARE) / (1.0 + SMALL_SHARE - share)))


@inner
def calibrate(k: int, n: int, alone: int, t: ThresholdArrays, state: ForestState) -> None:
    """Fit the calibration of label k to the votes about n rows, but for the first `alone`, by Newton's method."""
    work = state.work
    a, b = 1.0, 0.0
    for _ in range(NEWTON_ROUNDS):
        ga, gb = RIDGE_FACTOR * (a - 1.0), RIDGE_SHIFT * b
        aa, ab, bb = RIDGE_FACTOR, 0.0, RIDGE_SHIFT
        for i in range(alone, n):
            if work.votes[i, 1] > 0.0:
                x, w = odds_of_votes(work.votes[i, 0] / work.votes[i, 1]), min(1.0, t.weights[work.place[i], k])
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
