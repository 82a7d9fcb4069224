"""The arrays of the forest of answered rows: trees of each label, their calibration, and their gate.

A tree has at most P = `FOREST_PLACES` nodes; the children of a node are in the places `child` and `child` + 1. K
labels, T = `TREES`, R rows that the threshold rules keep (`threshold_rules.arrays`). `ForestArrays` explains what
is stored; loops write the others before they read them:

| array      | shape      | meaning                                                                        |
|------------|------------|--------------------------------------------------------------------------------|
| place      | (R,)       | places of the answered rows in the ring, in the order of time                  |
| units      | (R,)       | weight of each, as an integer; that of positives is in the upper 32 bits       |
| drawn      | (R,)       | the same times how often it was drawn for a tree                               |
| drawn_rows | (R,)       | the drawn rows, those of a node side by side                                   |
| others     | (R,)       | the rows that were not drawn, in the same way                                  |
| node       | (R,)       | rows on the right of a cut, while a node is parted                             |
| span       | (P, 4)     | first row of each node in `drawn_rows`, the one behind its last; of `others`   |
| votes      | (R, 2)     | sum of the answers of trees that have not drawn a row, and how many there are  |
| codes      | (R, p + 1) | bin of each value, counted from 1; 0 if it is missing; then the age of the row |
| edges      | (p, B - 1) | edges between the B = `FOREST_BINS` bins of a feature                          |
| values     | (2, R)     | values of a feature, as they come and sorted                                   |
| order      | (2, R)     | indices that sort them                                                         |
| counts     | (CODES,)   | rows in each bin of the threshold rules                                        |
| bins       | (30, B + 1) | sums of `drawn` of a node by the codes of features; 0 when they are not in use |
| perm       | (p + 1,)   | features and the age, of which the first were tried in a node                  |
| f, g       | (K,)       | outputs in front of the forest, and its answers, to the present row            |
| w          | (K,)       | weights of g - f                                                               |
| pool       | (4,)       | sums of the gates of all labels                                                |
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE, HEAVIEST
from evolabel.engine.packed_state import declare
from evolabel.stages.threshold_rules.arrays import CODES, MAIN_ROWS, RARE_ROWS, CodeArray
from evolabel.typing import FloatArray, IntArray

PlaceArray = npt.NDArray[np.uint32]  # without a sign, which would have to be looked at in each access

TREES = 60
FOREST_PLACES = 127  # nodes of a tree
FOREST_BINS = 255  # of a feature: limits of rare faults lie far out, where bins of the threshold rules are wide
MOST_TRIED = 30  # features in a node
AGES = 24  # of rows, with as many rows each
IS_LEAF = -1

# Index of `gate`: fading sums of (g - f)(y - f), (g - f)^2, the gain of the mixture over f, and its square.
FOREST_PRODUCT, FOREST_GAP_SQUARES, FOREST_GAIN, FOREST_GAIN_SQUARES = 0, 1, 2, 3
# Index of `calibration`: factor on the log-odds of the votes, and what is added.
VOTE_FACTOR, VOTE_SHIFT = 0, 1
# Index of `clock`: answers so far, answers from which on trees are fitted anew (`NO_FIT`: not any more), and whether
# there are trees.
N_ANSWERED, NEXT_FIT, HAS_TREES = 0, 1, 2
NO_FIT = 1 << 40


class ForestArrays(NamedTuple):
    """Trees, calibration and gate of each label, as files have them."""

    feature: Annotated[IntArray, array("label", TREES, FOREST_PLACES, start=IS_LEAF, low=IS_LEAF)]
    """Feature that a node asks about; `IS_LEAF`: it is a leaf, or not in use."""
    child: Annotated[CodeArray, array("label", TREES, FOREST_PLACES, high=FOREST_PLACES - 2)]
    """Place of the left child."""
    edge: Annotated[FloatArray, array("label", TREES, FOREST_PLACES, low=-FINITE, high=FINITE)]
    """Largest value on the left, where missing values are, too; of a leaf its answer."""
    calibration: Annotated[FloatArray, array("label", 2, low=-1e3, high=1e3)]
    """See `VOTE_FACTOR`, `VOTE_SHIFT`."""
    gate: Annotated[FloatArray, array("label", 4, low=-1e6, high=1e6)]
    """See `FOREST_PRODUCT` ... above."""
    clock: Annotated[IntArray, array("label", 3)]
    """See `N_ANSWERED` ... above."""
    news: Annotated[FloatArray, array("label", low=0.0, high=HEAVIEST)]
    """Sum of squared errors of the answers since trees were fitted."""


FOREST_ARRAYS = Schema(ForestArrays)


class ForestWork(NamedTuple):
    """Arrays that loops write before they read them."""

    place: IntArray
    units: IntArray
    drawn: IntArray
    drawn_rows: PlaceArray
    others: PlaceArray
    node: PlaceArray
    span: IntArray
    votes: FloatArray
    codes: CodeArray
    edges: FloatArray
    values: FloatArray
    order: IntArray
    counts: IntArray
    bins: IntArray
    perm: PlaceArray
    f: FloatArray
    g: FloatArray
    w: FloatArray
    pool: FloatArray


class ForestState(NamedTuple):
    """All arrays as loops take them."""

    arrays: ForestArrays
    work: ForestWork


def allocate_forest(n_features: int, n_labels: int) -> ForestArrays:
    """Return the arrays of a forest that has learned nothing, for `n_features` and `n_labels`."""
    return FOREST_ARRAYS.allocate(stream_sizes(n_features, n_labels))


def with_work(arrays: ForestArrays, n_features: int) -> ForestState:
    """Return `arrays` with scratch arrays for `n_features`, as loops take them."""
    R, K = MAIN_ROWS + RARE_ROWS, len(arrays.gate)
    whole = np.zeros(R, np.int64)
    work = ForestWork(
        place=whole,
        units=whole.copy(),
        drawn=whole.copy(),
        drawn_rows=np.zeros(R, np.uint32),
        others=np.zeros(R, np.uint32),
        node=np.zeros(R, np.uint32),
        span=np.zeros((FOREST_PLACES, 4), np.int64),
        votes=np.zeros((R, 2)),
        codes=np.zeros((R, n_features + 1), np.uint8),
        edges=np.zeros((n_features, FOREST_BINS - 1)),
        values=np.zeros((2, R)),
        order=np.zeros((2, R), np.int64),
        counts=np.zeros(CODES, np.int64),
        bins=np.zeros((MOST_TRIED, FOREST_BINS + 1), np.int64),
        perm=np.arange(n_features + 1, dtype=np.uint32),
        f=np.zeros(K),
        g=np.zeros(K),
        w=np.zeros(K),
        pool=np.zeros(4),
    )
    return ForestState(arrays, work)


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example: Any = with_work(allocate_forest(1, 1), 1)
    declare(ForestArrays, example.arrays)
    declare(ForestWork, example.work)
    declare(ForestState, example)


_declare()
