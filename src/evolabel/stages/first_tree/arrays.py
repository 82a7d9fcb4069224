"""The arrays of the first tree: the first rows of a stream, and recent losses of the tree and of the outputs before it.

The tree has `DEPTH` levels of splits, and a fixed place for each node: the children of place a are 2 a + 1 (left) and
2 a + 2. `FirstRows` explains what is kept; loops write the others before they read them. K labels, p features,
P = `PLACES`, R = `ROWS_KEPT`:

| array    | shape     | meaning                                                                              |
|----------|-----------|--------------------------------------------------------------------------------------|
| feature  | (P,)      | feature that a node asks about; `NO_SPLIT`: it is a leaf                             |
| edge     | (P, 2)    | where it splits, and 1 where missing values go left                                  |
| value    | (P, K)    | what it answers as a leaf                                                            |
| node     | (R,)      | node that each row has reached                                                       |
| values   | (R,)      | values of one feature; `order` sorts them                                            |
| order    | (2, R)    | indices into `values`                                                                |
| total    | (P, 2, K) | sums of w and w y over the rows of a node; w: weight of a label                      |
| left     | (P, 2, K) | the same of its rows so far, in the order of a feature                               |
| scan     | (6, P)    | rows of a node, rows so far, the last value; gain, gap and mark of the best split    |
| f, g, c  | (K,)      | of the present row: outputs before the tree, cut to [0, 1], answers of the tree, and |
|          |           | weights of the labels                                                                |
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE, check_arrays, require, size_of
from evolabel.engine.packed_state import declare
from evolabel.typing import Arrays, FloatArray, IntArray

DEPTH = 4
PLACES = 2 ** (DEPTH + 1) - 1
ROWS_KEPT = 186  # after which the tree is fitted for the last time
ROWS_ANSWERED = 232  # after which it answers no more: when it had to be fitted anew
NO_SPLIT = -1

OF_OUTPUTS, OF_TREE, LOSSES_SEEN = 0, 1, 2  # index of `losses`
ROWS_LEARNED, ROWS_FITTED = 0, 1  # index of `clock`
SPLITS_AT, MISSING_IS_LEFT = 0, 1  # index of `edge`
WEIGHT, POSITIVES = 0, 1  # index of `total` and `left`
N_OF_NODE, N_SO_FAR, LAST_VALUE, BEST_GAIN, BEST_GAP, BEST_MARK = 0, 1, 2, 3, 4, 5  # index of `scan`

MOST_LOSSES = 50.0  # rows over which losses fade


class FirstRows(NamedTuple):
    """The first rows, from which the tree follows, and its losses."""

    X: Annotated[FloatArray, array("row", "feature", start=np.nan, low=-FINITE, high=FINITE, missing=True)]
    """Features, with sensors corrected."""
    Y: Annotated[FloatArray, array("row", "label", low=0.0, high=1.0)]
    """Labels, 0 or 1."""
    weights: Annotated[FloatArray, array("row", "label", low=0.0, high=1.0)]
    """Weight of each label; 0: it was not annotated."""
    losses: Annotated[FloatArray, array(3, low=0.0, high=MOST_LOSSES)]
    """Fading means of the squared errors of the outputs before the tree, and of the tree; how many rows they have."""
    clock: Annotated[IntArray, array(2, high=ROWS_ANSWERED)]
    """Rows learned, and the first rows that the tree was fitted to."""


FIRST_TREE_ARRAYS = Schema(FirstRows)
KEPT_BY_ROW = tuple(FIRST_TREE_ARRAYS.along("row"))


class FirstTreeWork(NamedTuple):
    """The tree, which follows from the rows, and arrays that loops write before they read them."""

    feature: IntArray
    edge: FloatArray
    value: FloatArray
    node: IntArray
    values: FloatArray
    order: IntArray
    total: FloatArray
    left: FloatArray
    scan: FloatArray
    f: FloatArray
    g: FloatArray
    c: FloatArray


class FirstTreeState(NamedTuple):
    """All arrays as loops take them."""

    kept: FirstRows
    work: FirstTreeWork


def allocate_first_rows(n_features: int, n_labels: int) -> FirstRows:
    """Return the arrays before the first row, for `n_features` and `n_labels`."""
    return FIRST_TREE_ARRAYS.allocate(stream_sizes(n_features, n_labels, row=ROWS_KEPT))


def with_tree(kept: FirstRows) -> FirstTreeState:
    """Return `kept` with a tree of one leaf and scratch arrays, as loops take them."""
    R, K = kept.Y.shape
    by_node, by_label = np.zeros((PLACES, 2, K)), np.zeros(K)
    work = FirstTreeWork(
        feature=np.full(PLACES, NO_SPLIT),
        edge=np.zeros((PLACES, 2)),
        value=np.zeros((PLACES, K)),
        node=np.zeros(R, np.int64),
        values=np.zeros(R),
        order=np.zeros((2, R), np.int64),
        total=by_node,
        left=by_node.copy(),
        scan=np.zeros((6, PLACES)),
        f=by_label,
        g=by_label.copy(),
        c=by_label.copy(),
    )
    return FirstTreeState(kept, work)


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example: Any = with_tree(allocate_first_rows(1, 1))
    declare(FirstRows, example.kept)
    declare(FirstTreeWork, example.work)
    declare(FirstTreeState, example)


_declare()


def check_first_tree(arrays: Arrays, p: int, K: int) -> None:
    """Check the `arrays` of a first tree of `p` features and `K` labels."""
    check_arrays(arrays, FIRST_TREE_ARRAYS.expected(stream_sizes(p, K, row=size_of(arrays, "X"))))
    learned, fitted = arrays["clock"][ROWS_LEARNED], arrays["clock"][ROWS_FITTED]
    require(len(arrays["X"]) == min(learned, ROWS_KEPT), "X", "the first rows that were learned")
    require(fitted <= len(arrays["X"]), "clock", "a tree of rows that are there")
    require(np.isin(arrays["Y"], (0.0, 1.0)), "Y", "labels of 0 or 1")
    require((arrays["weights"] > 0.0).any(axis=1), "weights", "an annotated label in every row")
    require(arrays["losses"][[OF_OUTPUTS, OF_TREE]] <= 1.0, "losses", "mean losses in [0, 1]")
