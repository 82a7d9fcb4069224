"""Trials: does a step in one feature, or in two at once, separate the rows of a leaf beyond doubt?

| symbol | meaning                                                                                             |
|--------|-----------------------------------------------------------------------------------------------------|
| q      | mean label of the leaf                                                                              |
| g, h   | sums over rows of w (y - q) and of w q (1 - q)                                                      |
| score  | g^2 / (h + 1) of a cell; the gain of a cut is the score of its cells minus that of the leaf         |

Without any effect the gain of one step is about chi-square with one degree of freedom. A step is taken if its gain
exceeds 2 ln(number of steps tried) + `DOUBT`: the price of the search. A pair has four cells of 8 x 8 bins; all pairs
are paid for, tried or not, and a pair needs `PAIR_DOUBT` more, and more than its best single step.
"""

import numpy as np

from evolabel.engine.compile import inlined, inner
from evolabel.engine.lanes import Numbers, fma, load, spread, store
from evolabel.engine.values import sort_values
from evolabel.stages.threshold_rules.arrays import (
    COARSE,
    LEARNED,
    MOST_PAIRS,
    N_BINS,
    PAIRS_AT_ONCE,
    TreeArrays,
    Trees,
)
from evolabel.stages.threshold_rules.loops.answer import mean_label
from evolabel.stages.threshold_rules.loops.edges import move_edges_below, refill, split, trim
from evolabel.stages.threshold_rules.loops.ring import oldest_row
from evolabel.typing import FloatArray

DOUBT = 6.0  # added to the gain that the search alone would find
LEAST_GAIN = 3.0  # by which a split lowers the loss of its own rows, or is taken back
PAIR_DOUBT = 4.0  # of pairs, in addition
PAIR_GAIN = 10.0  # by which a pair must exceed the best single step
PAIR_ROWS = 60  # rows of a leaf whose pairs are tried
PAIR_SAMPLE = 1000  # rows on which pairs are tried
BEST_SINGLES = 12  # features whose pairs are tried first, where not all can be
LEAST_ROWS = 20  # in a leaf
LEAST_OF_EACH = 3.0  # positives and negatives in a leaf
LEAST_SIDE = 5.0  # rows on each side of a step
SAME_GAIN = 1.0 + 1e-9  # factor up to which gains are the same, so that rounding decides nothing
CLIP = 0.01  # q is cut to [0.01, 0.99]
ROUNDS = 4  # passes over the edges after a split


@inner
def score(g: float, h: float) -> float:
    """Return the score of a cell with the sums g and h."""
    return g * g / (h + 1.0)


@inner
def fill_row_scores(k: int, a: int, n: int, trees: Trees) -> bool:
    """Fill g and h of the n rows in `chosen`, those of leaf a of tree k; return whether a trial makes sense."""
    t, work = trees.arrays, trees.work
    q, positives = min(1.0 - CLIP, max(CLIP, mean_label(k, a, t))), 0.0
    for r in range(n):
        place = work.chosen[r]
        w, y = work.scale[place] * t.weights[place, k], float(t.Y[place, k])
        work.g[r], work.h[r] = w * (y - q), w * q * (1.0 - q)
        positives += y
    return n >= LEAST_ROWS and positives >= LEAST_OF_EACH and n - positives >= LEAST_OF_EACH


@inlined
def add_to_cell(scores: Numbers, cell: FloatArray) -> None:
    """Add `scores`, of which the first two are g and h, to those of a `cell`."""
    store(cell, 0, fma(scores, spread(1.0), load(cell, 0)))


@inner
def fill_histogram(n: int, trees: Trees) -> tuple[float, float]:
    """Fill `histogram` with g, h and 1 summed over the n rows in `chosen` by feature and code; return both sums."""
    t, work = trees.arrays, trees.work
    G, H, row = 0.0, 0.0, work.row_scores
    work.histogram[:] = 0.0
    for r in range(n):
        row[0], row[1], row[2] = work.g[r], work.h[r], 1.0
        G += row[0]
        H += row[1]
        scores, codes = load(row, 0), t.codes[work.chosen[r]]
        for j in range(codes.shape[0]):
            add_to_cell(scores, work.histogram[j, codes[j]])
    return G, H


@inner
def best_step(n: int, G: float, H: float, trees: Trees) -> tuple[float, int, float, float, int]:
    """Return gain, feature, edge and side of missing values of the best step of n rows, and the number of steps tried.

    Of steps with the same gain it is the first. G and H are the sums of all rows. `single` receives the best gain of
    each feature. An infinite edge separates known from missing values; a feature younger than the ring has none.
    """
    t, work = trees.arrays, trees.work
    whole, oldest = score(G, H), oldest_row(t)
    best, feature, edge, missing_left, tried = 0.0, -1, 0.0, 0.0, 0
    for j in range(t.X.shape[1]):
        sums = work.histogram[j]
        work.single[j] = 0.0
        for left in range(2 if sums[0, 2] > 0.0 else 1):
            g, h, rows = 0.0, 0.0, 0.0
            for c in range(1 - left, N_BINS + 1):
                g += sums[c, 0]
                h += sums[c, 1]
                rows += sums[c, 2]
                if c == 0:
                    continue
                tried += 1
                last = c == N_BINS or np.isinf(t.bins[j, c - 1])
                allowed = rows >= LEAST_SIDE and n - rows >= LEAST_SIDE and not (last and t.known[j] > oldest)
                gain = score(g, h) + score(G - g, H - h) - whole if allowed else 0.0
                work.single[j] = max(work.single[j], gain)
                if gain > SAME_GAIN * best:
                    best, feature, missing_left = gain, j, float(left)
                    edge = np.inf if last else t.bins[j, c - 1]
                if last:
                    break
    return best, feature, edge, missing_left, tried


@inner
def fill_pair_rows(n: int, step: int, trees: Trees) -> int:
    """Fill `pair_codes` and `pair_scores` with every `step`-th of the n rows in `chosen`; return how many rows."""
    t, work = trees.arrays, trees.work
    m = 0
    for r in range(0, n, step):
        codes = t.codes[work.chosen[r]]
        for j in range(codes.shape[0]):
            work.pair_codes[j, m] = t.coarse[j, codes[j]]
        work.pair_scores[m, 0], work.pair_scores[m, 1] = work.g[r], work.h[r]
        m += 1
    return m


@inner
def fill_cells(m: int, first: int, trees: Trees) -> None:
    """Fill `cells` with sums of g and h over the cells of `PAIRS_AT_ONCE` pairs, from `pairs[first]` on.

    The m rows are in `pair_codes` and `pair_scores` of `trees`. Each row is added to all pairs before the next
    one: sums of several pairs do not wait for each other.
    """
    work = trees.work
    cells, places = work.cells, work.places
    for s in range(PAIRS_AT_ONCE):
        of_u, of_v = work.pair_codes[work.pairs[first + s, 0]], work.pair_codes[work.pairs[first + s, 1]]
        for r in range(m):
            places[s, r] = of_u[r] * np.uint8(COARSE) + of_v[r]
    cells[:] = 0.0
    for r in range(m):
        scores = load(work.pair_scores[r], 0)
        for s in range(PAIRS_AT_ONCE):
            add_to_cell(scores, cells[s, places[s, r]])


@inner
def cumulate(cells: FloatArray) -> None:
    """Cumulate the `cells` of a pair along both features."""
    for i in range(COARSE, COARSE * COARSE):
        add_to_cell(load(cells[i - COARSE], 0), cells[i])
    for i in range(0, COARSE * COARSE, COARSE):
        for j in range(i + 1, i + COARSE):
            add_to_cell(load(cells[j - 1], 0), cells[j])


@inner
def best_cell(cells: FloatArray) -> tuple[float, int, int]:
    """Return the gain of the best cut of the cumulated `cells` into four, and the last coarse bins on the left."""
    z = COARSE - 1
    G, H = cells[z * COARSE + z, 0], cells[z * COARSE + z, 1]
    whole, best, u, v = score(G, H), 0.0, 0, 0
    for i in range(z):
        G_u, H_u = cells[i * COARSE + z, 0], cells[i * COARSE + z, 1]
        for j in range(z):
            inside, below = cells[i * COARSE + j], cells[z * COARSE + j]
            g, h, G_v, H_v = inside[0], inside[1], below[0], below[1]
            gain = score(g, h) + score(G_u - g, H_u - h) + score(G_v - g, H_v - h)
            gain += score(G - G_u - G_v + g, H - H_u - H_v + h) - whole
            if gain > best:
                best, u, v = gain, i, j
    return best, u, v


@inner
def next_random(seed: int) -> int:
    """Return the number after `seed` in a linear congruential sequence."""
    return (seed * 1103515245 + 12345) % 2147483648


@inner
def order_singles(trees: Trees) -> None:
    """Fill order[0] with the features, that of the largest single gain first."""
    work = trees.work
    p = work.single.shape[0]
    n = min(p, work.values.shape[0])  # the places that `values` has
    for j in range(n):
        work.values[j] = -work.single[j]
    sort_values(n, work.values, work.order)


@inner
def list_pairs(seed: int, trees: Trees) -> int:
    """Fill `pairs` with the pairs of features to be tried; return how many.

    They are all pairs up to `MOST_PAIRS`, else those of the best single features, then random ones by `seed`.
    """
    work = trees.work
    p = work.single.shape[0]
    order_singles(trees)
    everything = p * (p - 1) // 2 <= MOST_PAIRS
    few = p if everything else min(p, BEST_SINGLES)
    a, b, listed = 0, 0, 0
    for q in range(min(p * (p - 1) // 2, MOST_PAIRS)):
        if q < few * (few - 1) // 2:
            b += 1
            if b == few:
                a += 1
                b = a + 1
            u, v = work.order[0, a], work.order[0, b]
        else:
            seed = next_random(seed)
            u = (seed >> 8) % p
            seed = next_random(seed)
            v = (seed >> 8) % p
        if u != v:
            work.pairs[listed, 0], work.pairs[listed, 1] = u, v
            listed += 1
    return listed


@inner
def best_pair(n: int, seed: int, trees: Trees) -> tuple[float, int, int, int, int]:
    """Return the gain of the best pair of features of n rows, the features, and their last coarse bins on the left.

    Of pairs with the same gain it is the first one that `list_pairs` lists with `seed`.
    """
    work = trees.work
    listed = list_pairs(seed, trees)
    m = fill_pair_rows(n, max(1, n // PAIR_SAMPLE), trees)
    best, first, second, i, j = 0.0, -1, -1, 0, 0
    for q in range(listed):
        if q % PAIRS_AT_ONCE == 0:
            fill_cells(m, q, trees)
        cells = work.cells[q % PAIRS_AT_ONCE]
        cumulate(cells)
        gain, c, d = best_cell(cells)
        if gain > best:
            best, first, second, i, j = gain, work.pairs[q, 0], work.pairs[q, 1], c, d
    return best, first, second, i, j


@inner
def last_edge(j: int, coarse: int, t: TreeArrays) -> float:
    """Return the edge of feature j of `t` above its last bin in the coarse bins up to `coarse`."""
    edge = -np.inf
    for c in range(1, N_BINS):
        if t.coarse[j, c] <= coarse and not np.isinf(t.bins[j, c - 1]):
            edge = t.bins[j, c - 1]
    return edge


@inner
def split_by_pair(k: int, a: int, u: int, v: int, c: int, d: int, trees: Trees) -> bool:
    """Split leaf a of tree k by features u and v above their coarse bins c and d; return whether it was split."""
    t, single = trees.arrays, trees.work.single
    if single[v] > single[u]:
        u, v, c, d = v, u, d, c
    above, across = last_edge(u, c, t), last_edge(v, d, t)
    if np.isinf(above) or np.isinf(across) or not split(k, a, u, above, 1.0, t):
        return False
    left = t.child[k, a]
    for b in range(left, left + 2):
        split(k, b, v, across, 1.0, t)
    return True


@inner
def cost_of_trial(n: int, p: int) -> int:
    """Return the work of a trial of n rows and p features, in values read."""
    pairs = min(p * (p - 1) // 2, MOST_PAIRS) if n >= PAIR_ROWS else 0
    return p * (n + 2 * N_BINS) + pairs * (min(n, PAIR_SAMPLE) + 200)


@inner
def try_leaf(k: int, a: int, n: int, trees: Trees) -> bool:
    """Split leaf a of tree k if its n rows in `chosen` show a step or a pair beyond doubt; return whether it was."""
    t, work = trees.arrays, trees.work
    p = t.X.shape[1]
    if not fill_row_scores(k, a, n, trees):
        return False
    G, H = fill_histogram(n, trees)
    gain, feature, edge, missing_left, tried = best_step(n, G, H, trees)
    over = gain - 2.0 * np.log(max(1.0, float(tried))) - DOUBT
    pair_gain, pair_over, u, v, c, d = 0.0, -1.0, -1, -1, 0, 0
    if n >= PAIR_ROWS and p > 1:
        pair_gain, u, v, c, d = best_pair(n, t.clock[LEARNED] + 7 * a, trees)
        cuts = 0.5 * p * (p - 1) * (COARSE - 1) * (COARSE - 1)
        pair_over = pair_gain - 2.0 * np.log(cuts) - DOUBT - PAIR_DOUBT
    if over <= 0.0 and pair_over <= 0.0:
        return False
    by_step = pair_over <= 0.0 or gain >= pair_gain * max(1, n // PAIR_SAMPLE) - PAIR_GAIN
    done = split(k, a, feature, edge, missing_left, t) if by_step else split_by_pair(k, a, u, v, c, d, trees)
    if done:
        refill(k, a, n, work.chosen, trees)
        move_edges_below(k, a, n, ROUNDS, trees)
        trim(k, a, n, LEAST_GAIN, trees)
    return done and t.feature[k, a] >= 0
