"""The arrays of the threshold rules: trees, gates, alarms and the ring of recent rows.

Behind the members each label k has one tree. A row x with the output f of the members reaches a leaf of it; the leaf
answers g, and a gate decides how far g replaces f. K labels, p features, `NODES` places for nodes per tree, R =
`MAIN_ROWS` + `RARE_ROWS` rows in the ring.
`TreeArrays` explains what is stored; loops write the others before they read them:

| array    | shape         | meaning                                                                      |
|----------|---------------|------------------------------------------------------------------------------|
| g, h     | (R,)          | of the rows of a leaf: score y - q and its variance, times the weight        |
| chosen   | (R,)          | places in the ring of the rows of a node                                     |
| part     | (R,)          | places of those of them that reach a node below                              |
| scale    | (R,)          | factor on the weight of each place in the ring, for labels with rare rows    |
| values   | (R,)          | values of one feature; `order` sorts them                                    |
| order    | (2, R)        | indices into `values`                                                        |
| losses   | (R,)          | loss on the left minus loss on the right                                     |
| counts   | (CODES,)      | values of a feature by code                                                  |
| logs     | (NODES, 2)    | logarithms of 1 - p and of p, the mean label of a leaf                       |
| row_scores | (4,)        | g, h and 1 of a row, then a zero                                             |
| histogram| (p, CODES, 4) | sums of `row_scores` over the rows of a leaf, by feature and code            |
| single   | (p,)          | gain of the best step of each feature                                        |
| pairs    | (n, 2)        | pairs of features that are tried, n: `MOST_PAIRS`, rounded up                |
| pair_codes | (p, R)      | coarse bins of the rows on which pairs are tried                             |
| pair_scores | (R, 4)     | g and h of these rows, then two zeros                                        |
| places   | (4, R)        | cell of each of these rows, for four pairs: `PAIRS_AT_ONCE`                  |
| cells    | (4, 64, 4)    | sums of `pair_scores` by the coarse bins of two features, for four pairs     |
| nodes    | (2, NODES)    | lists of nodes                                                               |
| shares   | (NODES,)      | membership of a row in the nodes of such a list                              |
| out      | (K,)          | answers of the trees to the present row                                      |
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evolabel.core.pace import PERSISTENCE
from evolabel.core.schema import Schema, Sizes, array, of_features, places_of, stream_sizes
from evolabel.core.stored_checks import FINITE, MOST
from evolabel.engine.lanes import WIDTH
from evolabel.engine.packed_state import declare
from evolabel.stages.drift.arrays import N_ALARM, N_POSITIVES
from evolabel.typing import BoolArray, FloatArray, IntArray

MAIN_ROWS = 2000  # rows in the ring
RARE_ROWS = 500  # further rows, which hold a positive of a rare label
MOST_LEAVES = 48  # of a tree
NODES = 2 * MOST_LEAVES - 1
N_BINS = 32  # of a feature
CODES = N_BINS + 2  # codes 0 (missing) and 1 ... N_BINS, and one that no value has
COARSE = 8  # bins of a feature in a pair
MOST_PAIRS = 200  # pairs that are tried
PAIRS_AT_ONCE = 4  # pairs whose cells are summed in one pass over the rows

LEAF, FREE = -1, -2  # of `feature`

EDGE, HALF_WIDTH, MISSING_LEFT = 0, 1, 2  # index of `edge`
SUM_1, SUM_F, SUM_FF, SUM_Y, SUM_FY = 0, 1, 2, 3, 4  # index of `sums`

# Index of `visits`: rows that reached the node since its last trial (of the root of a tree: since its edges were
# moved), rows to wait for the next trial; fading sums of the gain of the subtree over the node as a leaf, of its
# square, and of 1.
SINCE_TRIAL, TO_WAIT, SUBTREE_GAIN, SUBTREE_SQUARES, SUBTREE_COUNT = 0, 1, 2, 3, 4

# Index of `gate`: fading sums of the gain of the tree over f and of its square, of (g - f)(y - f) and of (g - f)^2;
# whether it is open; the weight w of g; fading sums of decisions won minus lost, and of decisions changed.
GAIN, GAIN_SQUARES, PRODUCT, GAP_SQUARES, IS_OPEN, TREE_WEIGHT, WON, CHANGED_DECISIONS = 0, 1, 2, 3, 4, 5, 6, 7
N_GATE = 8

# Index of `clock`: labelled rows so far; rows that were put into the main and into the rare ring; row of the next
# renewal of the bins, next feature to renew (p: none); label with which the next turn begins.
LEARNED, MAIN, RARE, NEXT_BINS, BIN_FEATURE, NEXT_LABEL = 0, 1, 2, 3, 4, 5
N_CLOCK = 6

FIRST_TRIAL = 100.0  # rows of the stream before the first trial of a tree
MOST_AGAINST = 1e12  # odds, so that their product stays finite
HEAVIEST_ROW = 100.0  # weight of a row in sums and scores, at most
_MOST_SUM = 1e15  # of weights times squares of outputs in [-1, 2], scaled where positives are rare, and merged

_ROOT_ALONE = np.full(NODES, FREE)
_ROOT_ALONE[0] = LEAF
_FIRST_VISITS = np.zeros((NODES, 5))
_FIRST_VISITS[0, TO_WAIT] = FIRST_TRIAL

CodeArray = NDArray[np.uint8]


def _first_clock(sizes: Sizes) -> IntArray:
    """Return the clock before the first row, for these `sizes`."""
    clock = np.zeros(N_CLOCK, np.int64)
    clock[[NEXT_BINS, BIN_FEATURE]] = FIRST_TRIAL, sizes["feature"]
    return clock


class TreeArrays(NamedTuple):
    """State of the threshold rules."""

    feature: Annotated[IntArray, array("label", NODES, start=_ROOT_ALONE, low=FREE)]
    """Feature that a node asks about; `LEAF`, or `FREE`: the place is not in use."""
    child: Annotated[IntArray, array("label", NODES, high=NODES - 2)]
    """Its left child; the right one is the place after it."""
    parent: Annotated[IntArray, array("label", NODES, start=-1, low=-1, high=NODES - 1)]
    """The node above, -1 for the root, which is in place 0."""
    edge: Annotated[FloatArray, array("label", NODES, 3, low=-FINITE, high=np.inf)]
    """e, its half-width u, and 1 where missing values go left."""
    sums: Annotated[FloatArray, array("label", NODES, 5, low=-_MOST_SUM, high=_MOST_SUM)]
    """Fading sums of 1, f, f^2, y and f y over the rows that reached the node."""
    visits: Annotated[FloatArray, array("label", NODES, 5, start=_FIRST_VISITS, low=-_MOST_SUM, high=float(MOST))]
    """See `SINCE_TRIAL` ... above."""
    number: Annotated[IntArray, array("label", NODES, start=-1, low=-1)]
    """Number of the rule of a leaf, -1: it has not been used yet."""
    logged: Annotated[FloatArray, array("label", NODES, start=np.nan, low=-FINITE, high=FINITE, missing=True)]
    """Edge of an inner node when it was last logged as an event; NaN: never."""
    gate: Annotated[FloatArray, array("label", N_GATE, low=-_MOST_SUM, high=_MOST_SUM)]
    """See `GAIN` ... above."""
    persistence: Annotated[FloatArray, PERSISTENCE]
    """Changes between neighbouring answers of each label, and those expected at random."""
    alarms: Annotated[FloatArray, array("label", N_ALARM, low=0.0, high=float(MOST))]
    """Alarm on the squared error of the tree (`drift.loops.alarm`)."""
    positives: Annotated[FloatArray, array("label", N_POSITIVES, low=0.0, high=float(MOST))]
    """Alarm on the error of its positives (`drift.loops.positives`)."""
    against: Annotated[FloatArray, array("label", low=0.0, high=MOST_AGAINST)]
    """Odds that the label is the opposite of what the tree answers."""
    since: Annotated[IntArray, array("label")]
    """Row from which on trials and edges use the ring: later than the last drift."""
    before: Annotated[IntArray, array("label")]
    """`since` before the last drift; where a sensor was its cause, it is that again."""
    complete: Annotated[IntArray, array("label")]
    """Row from which on the ring of rare rows holds all positives of the label."""
    episode: Annotated[IntArray, array("label", start=-1, low=-1)]
    """Row at which the tree has shown a drift of the label; -1: it is calm."""
    known: Annotated[IntArray, array("feature")]
    """Row from which on the feature exists."""
    bins: Annotated[FloatArray, array("feature", N_BINS - 1, start=np.inf, low=-FINITE, high=np.inf)]
    """Edges between the bins of a feature, infinite beyond the last."""
    coarse: Annotated[CodeArray, array("feature", CODES, is_stored=False, kind="derived")]
    """Coarse bin, for pairs, of each code."""
    clock: Annotated[IntArray, array(N_CLOCK, start=_first_clock)]
    """See `LEARNED` ... above."""
    X: Annotated[FloatArray, array("place", "feature", low=-FINITE, high=FINITE, missing=True)]
    """Rows of the ring: features, with sensors corrected."""
    codes: Annotated[CodeArray, array("place", "feature", is_stored=False, kind="derived")]
    """Bin of each value, counted from 1; 0: missing."""
    Y: Annotated[CodeArray, array("place", "label", high=1)]
    """Labels, 0 or 1."""
    F: Annotated[FloatArray, array("place", "label", low=-1.0, high=2.0)]
    """Outputs of the members."""
    weights: Annotated[FloatArray, array("place", "label", low=0.0, high=HEAVIEST_ROW)]
    """Weight times confidence; 0: the label was not annotated."""
    rows: Annotated[IntArray, array("place", start=-1)]
    """Number of the row, -1: the place is empty."""


TREE_ARRAYS = Schema(TreeArrays)
OF_TREES = tuple(name for name, place in TREE_ARRAYS.along("label").items() if place == 0)
OF_RING = tuple(name for name in TREE_ARRAYS.along("place") if name in TREE_ARRAYS.stored)


class Scratch(NamedTuple):
    """Arrays that loops of threshold rules write before they read them."""

    g: FloatArray
    h: FloatArray
    chosen: IntArray
    part: IntArray
    scale: FloatArray
    values: FloatArray
    order: IntArray
    losses: FloatArray
    counts: IntArray
    logs: FloatArray
    row_scores: FloatArray
    histogram: FloatArray
    single: FloatArray
    pairs: IntArray
    pair_codes: CodeArray
    pair_scores: FloatArray
    places: CodeArray
    cells: FloatArray
    nodes: IntArray
    shares: FloatArray
    out: FloatArray


class Trees(NamedTuple):
    """The state of the threshold rules, scratch arrays, and numbers that follow from the labels.

    `exclusive`: the labels are classes, of which one is true. `first`: the first label with a tree; 1 for two classes,
    which share the tree of the second. `gate_error`: standard errors by which a tree must be better. `counters`:
    features that only rise or only fall are split on.
    """

    arrays: TreeArrays
    work: Scratch
    exclusive: bool
    first: int
    gate_error: float
    counters: bool


def allocate_trees(n_features: int, n_labels: int) -> TreeArrays:
    """Return the state of threshold rules that have learned nothing, for `n_features` and `n_labels`."""
    return TREE_ARRAYS.allocate(stream_sizes(n_features, n_labels, place=MAIN_ROWS + RARE_ROWS))


def with_workspace(arrays: TreeArrays, exclusive: bool, *, counters: bool = False) -> Trees:
    """Return `arrays` with scratch arrays, as loops take them; `exclusive` and `counters` as in `Trees`."""
    R, p = arrays.X.shape
    K = len(arrays.feature)
    numbers, whole = np.zeros(R), np.zeros(R, np.int64)
    work = Scratch(
        g=numbers,
        h=numbers.copy(),
        chosen=whole,
        part=whole.copy(),
        scale=numbers.copy(),
        values=numbers.copy(),
        order=np.zeros((2, R), np.int64),
        losses=numbers.copy(),
        counts=np.zeros(CODES, np.int64),
        logs=np.zeros((NODES, 2)),
        row_scores=np.zeros(WIDTH),
        histogram=np.zeros((p, CODES, WIDTH)),
        single=np.zeros(p),
        pairs=np.zeros((MOST_PAIRS + PAIRS_AT_ONCE - 1, 2), np.int64),
        pair_codes=np.zeros((p, R), np.uint8),
        pair_scores=np.zeros((R, WIDTH)),
        places=np.zeros((PAIRS_AT_ONCE, R), np.uint8),
        cells=np.zeros((PAIRS_AT_ONCE, COARSE * COARSE, WIDTH)),
        nodes=np.zeros((2, NODES), np.int64),
        shares=np.zeros(NODES),
        out=np.zeros(K),
    )
    return Trees(arrays, work, exclusive, int(exclusive and K == 2), doubt_errors(K, exclusive), counters)


def doubt_errors(n_labels: int, exclusive: bool) -> float:
    """Return the standard errors that are beyond doubt when `n_labels` are looked at; `exclusive` classes are one."""
    return float(np.sqrt(4.0 + 2.0 * np.log(1 if exclusive else max(n_labels, 1))))


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example: Any = with_workspace(allocate_trees(1, 1), exclusive=False)
    declare(TreeArrays, example.arrays)
    declare(Scratch, example.work)
    declare(Trees, example)


_declare()


def with_labels(old: TreeArrays, places: IntArray, n_labels: int) -> TreeArrays:
    """Return `old` for `n_labels` labels; its own ones stand in these `places`, the others have learned nothing."""
    source = places_of(places, n_labels)
    new = TREE_ARRAYS.rearranged(old, {"label": source})
    new.complete[source < 0] = old.clock[LEARNED]  # rows before are not annotated with them and hold no negatives
    return new


def with_features(old: TreeArrays, kept: IntArray, n_features: int) -> TreeArrays:
    """Return `old` for `n_features` features; the first are its columns `kept`, the others are new.

    A tree that asks about a feature that is gone starts anew. New features are missing in the rows of the ring.
    """
    n_before, is_new = old.X.shape[1], np.arange(n_features) >= len(kept)
    place = np.full(n_before, -1, np.int64)
    place[kept] = np.arange(len(kept))
    asked = old.feature >= 0
    feature = np.where(asked, place[np.where(asked, old.feature, 0)], old.feature)
    is_reset = (asked & (feature < 0)).any(axis=1)
    source = np.where(is_reset, -1, np.arange(len(old.feature)))
    trees = TREE_ARRAYS.rearranged(old, {"label": source, **of_features(kept, n_before, n_features)})
    trees.feature[~is_reset] = feature[~is_reset]
    trees.known[is_new] = old.clock[LEARNED]
    trees.X[:, is_new] = np.nan
    clock = old.clock.copy()
    clock[BIN_FEATURE] = n_features if clock[BIN_FEATURE] == n_before else 0
    clock[NEXT_BINS] = min(clock[NEXT_BINS], clock[LEARNED] + int(FIRST_TRIAL))
    unchanged = {name: getattr(old, name) for name in ("since", "before", "complete", "Y", "F", "weights")}
    return trees._replace(**unchanged, clock=clock)


def places_in_use(clock: IntArray) -> BoolArray:
    """Return which places of the ring hold a row, by the `clock` of the threshold rules."""
    place = np.arange(MAIN_ROWS + RARE_ROWS)
    return np.asarray(np.where(place < MAIN_ROWS, place < clock[MAIN], place - MAIN_ROWS < clock[RARE]))
