"""Threshold rules as named arrays for a file, and back: trees without circles, sums in range, rows of the ring."""

import numpy as np

from evolabel.core.array_checks import Expected, check_arrays, flags, require, whole
from evolabel.core.pace import check_persistence
from evolabel.core.schema import stream_sizes
from evolabel.stages.drift.file_checks import check_positives
from evolabel.stages.threshold_rules.arrays import (
    BIN_FEATURE,
    EDGE,
    FREE,
    GAIN_SQUARES,
    HALF_WIDTH,
    IS_OPEN,
    LEAF,
    LEARNED,
    MAIN,
    MAIN_ROWS,
    MISSING_LEFT,
    N_CLOCK,
    NEXT_LABEL,
    NODES,
    OF_RING,
    RARE,
    RARE_ROWS,
    SUBTREE_SQUARES,
    SUM_1,
    SUM_FF,
    SUM_Y,
    THRESHOLD_ARRAYS,
    TREE_WEIGHT,
)
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.typing import Arrays, BoolArray, IntArray


def places_in_use(clock: IntArray) -> BoolArray:
    """Return which places of the ring hold a row, by the `clock` of the threshold rules."""
    place = np.arange(MAIN_ROWS + RARE_ROWS)
    return np.asarray(np.where(place < MAIN_ROWS, place < clock[MAIN], place - MAIN_ROWS < clock[RARE]))


def trees_to_arrays(trees: ThresholdRules) -> Arrays:
    """Return the arrays of `trees` by name, those of the ring for its places in use."""
    t = trees.arrays
    used = places_in_use(t.clock)
    arrays: Arrays = {
        name: getattr(t, name)[used] if name in OF_RING else getattr(t, name) for name in THRESHOLD_ARRAYS.stored
    }
    return {**arrays, "Y": arrays["Y"].astype(np.bool_)}


def fill_trees(trees: ThresholdRules, arrays: Arrays, next_number: int) -> None:
    """Fill `trees`, which have learned nothing, with stored `arrays`; numbers of rules are below `next_number`.

    DataError if they are not those of such trees. Bins of values are derived again.
    """
    t = trees.arrays
    _check_stored(arrays, t.X.shape[1], len(t.feature), next_number)
    used = places_in_use(arrays["clock"])
    for name in THRESHOLD_ARRAYS.stored:
        array = getattr(t, name)
        array[used if name in OF_RING else ...] = arrays[name]
    trees.derive_codes()


# ---------------------------------------------------------------------- what stored arrays must be


def _expected(p: int, K: int, used: int) -> dict[str, Expected]:
    """Return what the arrays of threshold rules must be: `p` features, `K` labels, `used` rows in the ring."""
    table = THRESHOLD_ARRAYS.expected(stream_sizes(p, K, place=used))
    return {**table, "feature": table["feature"]._replace(high=p - 1), "Y": flags(used, K)}


def _check_stored(arrays: Arrays, p: int, K: int, next_number: int) -> None:
    """Check the `arrays` of threshold rules of `p` features and `K` labels; numbers are below `next_number`."""
    clock = arrays.get("clock", np.zeros(0, np.int64))
    check_arrays({"clock": clock}, {"clock": whole(N_CLOCK)})
    require(clock[MAIN] == clock[LEARNED], "clock", "as many rows in the ring as were learned")
    require((clock[RARE] <= clock[MAIN]) & (clock[BIN_FEATURE] <= p) & (clock[NEXT_LABEL] <= K), "clock", "its range")
    check_arrays(arrays, _expected(p, K, int(places_in_use(clock).sum())))
    now = clock[LEARNED]
    for name in ("since", "before", "complete", "episode", "known"):
        require(arrays[name] <= now + 1, name, "rows of the past")
    _check_numbers(arrays, next_number)
    _check_ring(arrays, clock)
    for label in range(K):
        _check_tree(*(arrays[name][label] for name in ("feature", "child", "parent")))


def _check_numbers(arrays: Arrays, next_number: int) -> None:
    """Check sums, gates, alarms, edges, bins and the numbers of rules."""
    edge, sums, gate, bins = (arrays[name] for name in ("edge", "sums", "gate", "bins"))
    require(np.isfinite(edge[..., HALF_WIDTH]) & (edge[..., HALF_WIDTH] >= 0.0), "edge", "half-widths of at least 0")
    require(np.isin(edge[..., MISSING_LEFT], (0.0, 1.0)), "edge", "0 or 1, the side of missing values")
    require(sums[..., [SUM_1, SUM_FF, SUM_Y]] >= 0.0, "sums", "sums of at least 0")
    require(sums[..., SUM_Y] <= sums[..., SUM_1] * (1.0 + 1e-6), "sums", "no more positives than rows")
    require(arrays["visits"][..., SUBTREE_SQUARES] >= 0.0, "visits", "sums of squares of at least 0")
    require(arrays["alarms"][:, :4] <= 1.0, "alarms", "means and variances of losses in [0, 1]")
    check_positives(arrays["positives"], int(arrays["clock"][LEARNED]))
    require(np.isin(gate[:, IS_OPEN], (0.0, 1.0)), "gate", "0 or 1, whether it is open")
    require((gate[:, TREE_WEIGHT] >= 0.0) & (gate[:, TREE_WEIGHT] <= 1.0), "gate", "weights in [0, 1]")
    require((gate[:, [GAIN_SQUARES, GAIN_SQUARES + 2]] >= 0.0), "gate", "sums of squares of at least 0")
    require((bins[:, 1:] >= bins[:, :-1]) | np.isinf(bins[:, 1:]), "bins", "edges that rise")
    check_persistence(arrays["persistence"])
    numbers = arrays["number"][arrays["number"] >= 0]
    require(len(np.unique(numbers)) == len(numbers), "number", "numbers that differ")
    require(numbers < next_number, "number", f"numbers below {next_number}")
    inner = arrays["feature"] >= 0
    require(np.isfinite(edge[..., EDGE]) | ~inner | (edge[..., EDGE] == np.inf), "edge", "edges of the features")


def _check_ring(arrays: Arrays, clock: IntArray) -> None:
    """Check the numbers of the rows in the ring: each place of the main ring holds the last row that was put there."""
    place = np.flatnonzero(places_in_use(clock))
    rows, main = arrays["rows"], place < MAIN_ROWS
    require(rows < clock[LEARNED], "rows", "rows of the past")
    expected = (clock[LEARNED] - 1 - place) // MAIN_ROWS * MAIN_ROWS + place
    require((rows == expected) | ~main, "rows", "the last rows of the stream")


def _check_tree(feature: IntArray, child: IntArray, parent: IntArray) -> None:
    """Check that the nodes in use form one tree from place 0 on: every node is reached once, from its parent."""
    require(parent[0] == -1, "parent", "no node above the root")
    reached, waiting = np.zeros(NODES, np.bool_), [0]
    while waiting:
        a = waiting.pop()
        require(not reached[a] and feature[a] != FREE, "child", "a tree")
        reached[a] = True
        if feature[a] != LEAF:
            left = int(child[a])
            require(left % 2 == 1, "child", "pairs of places from an odd one on")
            require((parent[[left, left + 1]] == a).all(), "parent", "the node above")
            waiting += [left, left + 1]
    require(reached == (feature != FREE), "feature", "nodes that are reached from the root")
