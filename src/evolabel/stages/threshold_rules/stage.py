"""`ThresholdRules`: the stage that answers and learns with one tree of thresholds per label.

Files hold trees without circles, sums in range, and the rows of the ring in use.

A sensor is corrected some 250 rows after it has moved, when a trial has shown it. The rows in between stand in the ring
as they were read, and steps were found and means learned from them. These rows are the run of neighbours that becomes
most likely by the correction, with the mean and the variance of the readings in calm times.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.pace import check_persistence
from evolabel.core.rows import Rows, check_learned, check_rows
from evolabel.core.schema import stream_sizes
from evolabel.core.stage import Answering
from evolabel.core.stored_checks import Expected, check_arrays, flags, require, whole
from evolabel.engine.compile import direct, interpreted
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.file_checks import check_positives
from evolabel.stages.drift.loops.alarm import IS_RAISED, RAISED_AT, excuse
from evolabel.stages.drift.loops.follow import LONGEST_HELD
from evolabel.stages.sensors.loops import WATCHED_UP_TO
from evolabel.stages.sensors.stage import MovedSensor
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
    SUBTREE_SQUARES,
    SUM_1,
    SUM_FF,
    SUM_Y,
    TREE_ARRAYS,
    TREE_WEIGHT,
    TreeArrays,
    Trees,
    allocate_trees,
    places_in_use,
    with_features,
    with_labels,
    with_workspace,
)
from evolabel.stages.threshold_rules.life import log_gone, log_turn
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.stages.threshold_rules.loops.learn import EVERY, learn_refined
from evolabel.stages.threshold_rules.loops.ring import derive_codes, only_rises
from evolabel.stages.threshold_rules.loops.turn import refit_edges, take_turn
from evolabel.stages.threshold_rules.merging import merged_trees
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_NO_ROW = np.zeros((3, 0))  # scratch of one row, before there is one

_refine_rows, _learn_refined, _take_turn = direct(refine_rows), direct(learn_refined), direct(take_turn)
_derive_codes, _refit_edges = direct(derive_codes), direct(refit_edges)
_only_rises = interpreted(only_rises)


class ThresholdRules(Answering):
    """A tree of thresholds per label, found by the labels and let in by a gate.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.
    counters : bool
        Whether features that only rise or only fall are split on.

    Attributes
    ----------
    arrays : TreeArrays
        Trees, gates, alarms and the ring of recent rows.
    """

    name = "threshold_rules"
    schema = TREE_ARRAYS

    def __init__(self, n_features: int, n_labels: int, *, exclusive: bool = False, counters: bool = False) -> None:
        self.arrays = allocate_trees(n_features, n_labels)
        self.exclusive = exclusive
        self.counters = counters
        self._kept: tuple[TreeArrays, Trees, Any] | None = None
        self._row = _NO_ROW

    @property
    def packed(self) -> Any:
        """The state as loops take it."""
        return self._packed()[2]

    def errors(self) -> FloatArray:
        """Return the errors of the outputs in front of the trees for the rows that are kept, (n, K); NaN: no answer.

        Outputs are cut to [0, 1], so that errors of positives alone are above 0.
        """
        kept = self.arrays.rows[:MAIN_ROWS] >= 0
        Y, F, weights = (array[:MAIN_ROWS][kept] for array in (self.arrays.Y, self.arrays.F, self.arrays.weights))
        return np.where(weights > 0.0, Y - np.clip(F, 0.0, 1.0), np.nan)

    @property
    def first_tree(self) -> int:
        """The first label with a tree: 1 for two classes, which share the tree of the second, else 0."""
        return self._packed()[1].first

    @property
    def drifting(self) -> BoolArray:
        """Whether the tree of each label has shown a drift that is not over yet."""
        return np.asarray(self.arrays.episode >= 0)

    @property
    def left_out(self) -> BoolArray:
        """Which features are not split on, (n_features,), because they only rise or only fall."""
        t = self.arrays
        p = range(t.X.shape[1])
        return np.array([not self.counters and np.isinf(t.bins[j, 0]) and _only_rises(j, t) for j in p], bool)

    def _packed(self) -> tuple[TreeArrays, Trees, Any]:
        """Return the arrays, the state with scratch arrays, and that packed; made again when arrays were replaced."""
        kept = self._kept
        if kept is None or kept[0] is not self.arrays:
            state = with_workspace(self.arrays, self.exclusive, counters=self.counters)
            kept = self._kept = self.arrays, state, pack(state)
            self._row = np.empty((3, len(self.arrays.feature)))
        return kept

    @property
    def rows_at_once(self) -> int:
        """Rows that can be learned before the next turn of maintenance."""
        return EVERY - int(self.arrays.clock[LEARNED]) % EVERY

    @property
    def is_used(self) -> bool:
        """Whether the gate of a label is open."""
        return bool(self.arrays.gate[:, IS_OPEN].any())

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows` where the gate of a label is open."""
        if self.is_used:
            check_rows(rows.read, self.arrays.X.shape[1])
            _refine_rows(self.packed, rows.read, rows.outputs)

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows`, whose outputs are changed in place, each before it is learned; events go to `log`, if given.

        After each `EVERY` labelled rows a turn of maintenance is taken. Drifts of labels that it finds are ended here.
        """
        check_learned(rows, self.arrays.X.shape[1], len(self.arrays.feature))
        done, n, packed = 0, len(rows.read), self.packed
        while done < n:
            end = n if n - done == 1 else min(done + self.rows_at_once, n)
            part = rows if end - done == n else rows.part(done, end)
            done = end
            if _learn_refined(packed, part.read, part.Y, part.weights, part.confidences, part.outputs, self._row):
                before = self.arrays.number.copy()
                _take_turn(packed)
                if log is not None:
                    log_turn(self.arrays, before, log, rows, self.first_tree)

    def derive_codes(self) -> None:
        """Derive the bins of all values in the ring from the edges between bins."""
        _derive_codes(self.packed)

    def refit_edges(self, label: int) -> None:
        """Move the edges of the tree of `label` by the rows in the ring."""
        _refit_edges(self.packed, label, False)

    def correct_sensor(self, moved: MovedSensor, excused: Collection[int] = ()) -> None:
        """Correct rows in the ring that were read before a sensor was known to have `moved`, and what they have shown.

        Drifts of late that it has caused, those of the labels `excused` and of trees that ask about it, have not been.
        New leaves get their numbers, and rules that are gone are logged, at the next turn.
        """
        asking = (self.arrays.feature == moved.feature).any(axis=1)
        for label in {*np.flatnonzero(asking).tolist(), *excused}:
            self._excuse(label)
        labels = correct_ring(self.arrays, moved)
        self.derive_codes()
        for label in {*labels.tolist(), *excused}:
            _refit_edges(self.packed, max(label, self.first_tree), True)

    def _excuse(self, label: int) -> None:
        """Forget recent errors of the tree of `label`, and end a drift of late without an event: a sensor was wrong."""
        t, tree = self.arrays, max(label, self.first_tree)
        if t.alarms[tree, IS_RAISED] > 0.0 or t.episode[label] >= 0:
            if t.clock[LEARNED] - t.alarms[tree, RAISED_AT] > LONGEST_HELD + EVERY:
                return
            t.episode[label], t.since[tree] = -1, t.before[tree]
        excuse(t.alarms[tree], t.positives[tree])
        t.against[tree] = 0.0

    # ------------------------------------------------------------------ other widths, merging, files, copies

    def restart_alarms(self) -> None:
        """Reset the alarms that are not raised, and the odds against their trees."""
        t = self.arrays
        calm = t.alarms[:, IS_RAISED] == 0.0
        t.alarms[calm], t.positives[calm], t.against[calm] = 0.0, 0.0, 0.0

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, with trees of one leaf; the rows in the ring are not annotated with them."""
        first = self.first_tree
        self.arrays = with_labels(self.arrays, np.arange(len(self.arrays.feature)), n_labels)
        if self.first_tree != first:  # two classes shared a tree, which cannot answer for one of three
            self.arrays.gate[:] = 0.0
            self.arrays.episode[:first] = -1

    def change_features(self, kept: IntArray, n_features: int, log: EventLog | None) -> None:
        """Keep the features in the columns `kept`, in their order, and add new ones up to `n_features`.

        Rules that are gone are logged in `log`, if it is given.
        """
        before = self.arrays.number
        self.arrays = with_features(self.arrays, kept, n_features)
        is_reset = (before >= 0).any(axis=1) & (self.arrays.number < 0).all(axis=1)
        if self.exclusive and is_reset.any():  # classes share one gate
            self.arrays.gate[:] = 0.0
        if log is not None:
            log_gone(self.arrays, before, log)

    def merge(self, other: "ThresholdRules", labels: IntArray) -> None:
        """Add what `other`, of a model trained apart, has learned; `labels` has the places of its labels here."""
        n_labels = len(self.arrays.feature)
        theirs = with_labels(other.arrays, labels, n_labels)
        if not theirs.clock[LEARNED]:
            return
        same = np.array_equal(labels, np.arange(n_labels))
        self.arrays = merged_trees(self.arrays, theirs, self.first_tree, exclusive=self.exclusive, same=same)
        self.derive_codes()
        for label in range(n_labels):
            self.refit_edges(label)

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them: those of the ring for its places in use."""
        t = self.arrays
        used = places_in_use(t.clock)
        arrays: Arrays = {
            name: getattr(t, name)[used] if name in OF_RING else getattr(t, name) for name in TREE_ARRAYS.stored
        }
        return {**arrays, "Y": arrays["Y"].astype(np.bool_)}

    def restore(self, arrays: Arrays) -> None:
        """Fill the arrays, which have learned nothing, with stored ones; bins of values are derived again.

        DataError if they are not those of such trees.
        """
        t = self.arrays
        _check_stored(arrays, t.X.shape[1], len(t.feature))
        used = places_in_use(arrays["clock"])
        for name in TREE_ARRAYS.stored:
            array = getattr(t, name)
            array[used if name in OF_RING else ...] = arrays[name]
        self.derive_codes()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "_row": _NO_ROW}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = TREE_ARRAYS.writeable(self.arrays)


def correct_ring(t: TreeArrays, moved: MovedSensor) -> IntArray:
    """Correct the readings of the sensor `moved` in the ring of `t`; return the labels whose trees ask about it.

    An empty array is returned where no row is to be corrected. The caller derives the codes of the values anew.
    """
    first, last = _wrong_rows(t, moved)
    wrong = (t.rows >= first) & (t.rows <= last)
    t.X[wrong, moved.feature] = _corrected(t.X[wrong, moved.feature], moved)
    asking = (t.feature == moved.feature).any(axis=1) & wrong.any()
    return np.flatnonzero(asking)


def _wrong_rows(t: TreeArrays, moved: MovedSensor) -> tuple[int, int]:
    """Return the first and last row in the main ring of `t` whose reading of the sensor `moved` is not corrected yet.

    Rows are numbers, as in `t.rows`; the last is smaller than the first if there is none. No value counts for more than
    `WATCHED_UP_TO` deviations. Where a correction is dropped, these are the rows since it was adopted.
    """
    if moved.since >= 0:
        learned = int(t.clock[LEARNED])
        return learned - (moved.row - moved.since), learned
    places = np.flatnonzero(t.rows[:MAIN_ROWS] >= 0)
    places = places[np.argsort(t.rows[places])]
    x, (offset, factor) = t.X[places, moved.feature], moved.old
    mean, variance = offset + factor * moved.mean, factor**2 * moved.variance
    scale, most = 2.0 * variance * np.log(moved.new[1] / factor), WATCHED_UP_TO**2 * variance
    as_read, now = (np.minimum((v - mean) ** 2, most) for v in (x, _corrected(x, moved)))
    gain = np.nan_to_num(as_read - now + scale)
    so_far = np.concatenate([[0.0], np.cumsum(gain)])
    least = np.minimum.accumulate(so_far)
    end = int(np.argmax(so_far - least))
    start = int(np.argmin(so_far[: end + 1]))
    return (int(t.rows[places[start]]), int(t.rows[places[end - 1]])) if end > start else (0, -1)


def _corrected(x: FloatArray, moved: MovedSensor) -> FloatArray:
    """Return the values `x`, read as before the verdict, as the sensor `moved` is read now."""
    return np.asarray(moved.new[0] + moved.new[1] * (x - moved.old[0]) / moved.old[1])


# ---------------------------------------------------------------------- what stored arrays must be


def _expected(p: int, K: int, used: int) -> dict[str, Expected]:
    """Return what the arrays of threshold rules must be: `p` features, `K` labels, `used` rows in the ring."""
    table = TREE_ARRAYS.expected(stream_sizes(p, K, place=used))
    return {**table, "feature": table["feature"]._replace(high=p - 1), "Y": flags(used, K)}


def _check_stored(arrays: Arrays, p: int, K: int) -> None:
    """Check the `arrays` of threshold rules of `p` features and `K` labels."""
    clock = arrays.get("clock", np.zeros(0, np.int64))
    check_arrays({"clock": clock}, {"clock": whole(N_CLOCK)})
    require(clock[MAIN] == clock[LEARNED], "clock", "as many rows in the ring as were learned")
    require((clock[RARE] <= clock[MAIN]) & (clock[BIN_FEATURE] <= p) & (clock[NEXT_LABEL] <= K), "clock", "its range")
    check_arrays(arrays, _expected(p, K, int(places_in_use(clock).sum())))
    now = clock[LEARNED]
    for name in ("since", "before", "complete", "episode", "known"):
        require(arrays[name] <= now + 1, name, "rows of the past")
    _check_numbers(arrays)
    _check_ring(arrays, clock)
    for label in range(K):
        _check_tree(*(arrays[name][label] for name in ("feature", "child", "parent")))


def _check_numbers(arrays: Arrays) -> None:
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
