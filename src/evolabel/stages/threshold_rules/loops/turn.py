"""One turn of maintenance: pruning, trials, edges and bins, as far as the work of a turn reaches.

Labels take turns. A turn ends when it has read `MOST_WORK` values; the trial in hand is finished. Rows and values, not
time, bound it, so that the same stream gives the same bits.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.drift.loops.alarm import CALM_VARIANCE
from evolabel.stages.threshold_rules.arrays import (
    FIRST_TRIAL,
    IS_OPEN,
    LEAF,
    LEARNED,
    MAIN_ROWS,
    NEXT_LABEL,
    SINCE_TRIAL,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUBTREE_SQUARES,
    TO_WAIT,
    TreeArrays,
    Trees,
)
from evolabel.stages.threshold_rules.loops.answer import mean_label
from evolabel.stages.threshold_rules.loops.edges import FIRST_WAIT, make_leaf, move_edges_below, refill, trim
from evolabel.stages.threshold_rules.loops.learn import EVERY
from evolabel.stages.threshold_rules.loops.ring import choose_rows, renew_some_bins
from evolabel.stages.threshold_rules.loops.trial import LEAST_GAIN, cost_of_trial, try_leaf

MOST_WORK = 400_000  # values that are read in one turn
IDLE_WORK = 100_000  # values that are read in one turn while no tree is used
IDLE_TURNS = 4  # while no tree is used, one turn in so many reads values
EDGE_WORK = 60  # values that a row counts for when edges are moved

KEEP = 0.5  # standard errors of the gain below which a subtree is pruned
KEEP_COUNT = 100.0  # rows after which it can be
KEEP_RARER = 4.0  # positives, or negatives if they are rarer, to be expected among these rows
SHARE_TO_WAIT = 0.3  # of the rows of a leaf until its next trial, at most; all of them once the ring is full
SMALL_LEAF = 200  # rows below which a leaf never waits for all of them, which takes long where a label is rare
EDGES_EVERY = 250.0  # rows between two passes over the edges of a tree that answers
IDLE_EDGES_EVERY = 1000.0  # of one that does not
LEAST_EDGE_ROWS = 50


@inner
def share_of_rarer(k: int, a: int, t: TreeArrays) -> float:
    """Return the share of positives, or of negatives if they are rarer, among the rows of node a of tree k of `t`."""
    q = mean_label(k, a, t)
    return min(q, 1.0 - q)


@inner
def restart_if_bare(k: int, trees: Trees) -> None:
    """Let alarm and gate of tree k of `trees` start anew if no split of it is left."""
    t = trees.arrays
    if t.feature[k, 0] == LEAF:
        t.against[k], t.positives[k] = 0.0, 0.0
        t.alarms[k, CALM_VARIANCE:] = 0.0  # means stay, for the event that ends a drift; the next answer replaces them
        if not trees.exclusive or trees.first == 1:
            t.gate[k] = 0.0


@inner
def prune(k: int, trees: Trees) -> None:
    """Take back the splits of tree k of `trees` whose subtree does not gain over its root as a leaf.

    Some positives must be expected among its rows: where none has come, even a right leaf of positives has the larger
    error.
    """
    t, work = trees.arrays, trees.work
    for a in range(t.feature.shape[1]):
        v = t.visits[k, a]
        if (
            t.feature[k, a] >= 0
            and v[SUBTREE_COUNT] > KEEP_COUNT
            and v[SUBTREE_COUNT] * share_of_rarer(k, a, t) > KEEP_RARER
            and v[SUBTREE_GAIN] < KEEP * np.sqrt(v[SUBTREE_SQUARES])
        ):
            make_leaf(k, a, t, work.nodes[0])
            v[:] = 0.0
            v[TO_WAIT] = FIRST_TRIAL
    restart_if_bare(k, trees)


@inner
def work_of_turn(trees: Trees) -> int:
    """Return the values that a turn may read.

    Where no tree is used after a whole ring, one turn in `IDLE_TURNS` reads `IDLE_WORK` values, the others none.
    """
    t = trees.arrays
    for k in range(trees.first, t.feature.shape[0]):
        if t.gate[k, IS_OPEN] > 0.0 or t.clock[LEARNED] - t.since[k] < MAIN_ROWS:
            return MOST_WORK
    return IDLE_WORK if t.clock[LEARNED] % (IDLE_TURNS * EVERY) == 0 else 0


@inner
def try_leaves(k: int, done: int, most: int, trees: Trees) -> int:
    """Try the leaves of tree k that have waited long enough; return the work done, `done` before, when it is enough.

    It is enough when it reaches `most`.
    """
    t = trees.arrays
    for a in range(t.feature.shape[1]):
        if done >= most:
            return done
        v = t.visits[k, a]
        if t.feature[k, a] == LEAF and v[SINCE_TRIAL] >= v[TO_WAIT]:
            n = choose_rows(k, a, trees)
            v[SINCE_TRIAL] = 0.0
            done += cost_of_trial(n, t.X.shape[1]) + 4 * MAIN_ROWS
            is_settled = n >= SMALL_LEAF and t.clock[LEARNED] - t.since[k] >= MAIN_ROWS
            longest = (1.0 if is_settled else SHARE_TO_WAIT) * n
            v[TO_WAIT] = min(max(FIRST_WAIT, 2.0 * v[TO_WAIT]), max(FIRST_WAIT, longest))
            try_leaf(k, a, n, trees)
    return done


@inner
def move_edges(k: int, done: int, trees: Trees) -> int:
    """Move the edges of tree k of `trees`, if it is time; return the work done, `done` before."""
    t = trees.arrays
    v = t.visits[k, 0]
    every = EDGES_EVERY if t.gate[k, IS_OPEN] > 0.0 else IDLE_EDGES_EVERY
    if t.feature[k, 0] >= 0 and v[SINCE_TRIAL] >= every:
        v[SINCE_TRIAL] = 0.0
        n = choose_rows(k, 0, trees)
        if n >= LEAST_EDGE_ROWS:
            move_edges_below(k, 0, n, 1, trees)
            done += n * EDGE_WORK
    return done


@kernel
def take_turn(trees: Trees) -> None:
    """Prune every tree, then try leaves and move edges, label by label."""
    t = trees.arrays
    K = t.feature.shape[0]
    renew_some_bins(trees)
    for k in range(trees.first, K):
        if t.feature[k, 0] >= 0:
            prune(k, trees)
    done, most = 0, work_of_turn(trees)
    for _ in range(trees.first, K):
        if done >= most:
            return
        k = t.clock[NEXT_LABEL]
        if k < trees.first or k >= K:
            k = trees.first
        done = try_leaves(k, done, most, trees)
        if done < most:
            done = move_edges(k, done, trees)
            t.clock[NEXT_LABEL] = k + 1


@kernel
def refit_edges(trees: Trees, k: int, corrected: bool) -> None:
    """Move the edges of tree k of `trees` once by the rows in the ring, whether it is time or not.

    `corrected`: values in the ring were corrected, so that all sums below the root are formed anew, and splits that
    lower the loss too little are taken back. Alarm and gate start anew if no split is left.
    """
    n = choose_rows(k, 0, trees)
    if n < LEAST_EDGE_ROWS:
        return
    if corrected:
        refill(k, 0, n, trees.work.chosen, trees)
    move_edges_below(k, 0, n, 1, trees)
    if corrected:
        trim(k, 0, n, LEAST_GAIN, trees)
        restart_if_bare(k, trees)
