"""`Decisions`: how a model decides on labels, other than by cutting outputs at a fixed threshold.

| `optimise`          | `class_weight` | decided by                                                                    |
|---------------------|----------------|-------------------------------------------------------------------------------|
| accuracy            | None           | outputs of at least `threshold`; nothing is learned for it (None)             |
| macro_f1, micro_f1  | None           | outputs of at least the threshold with the best F1 so far (`OutputCounts`)    |
| subset_accuracy     | None           | the most likely of the label sets that occurred (`KnownSets`)                 |
| balanced            | None           | probabilities of at least the label's share so far (`BalancedDecisions`)      |
| accuracy            | "balanced"     | the same                                                                      |
| accuracy            | weights        | probabilities and weights, by names that only a classifier has (None)         |

Of classes the one with the largest output is predicted, unless they are weighted.

Labels and classes have weights where it is asked for: a label is predicted where weight * p >= 1 - p, because the
expected cost of a miss, which costs the weight, is then at least that of a false alarm, which costs 1. Of classes the
one with the largest weight * p is.
"""

from math import nan
from typing import Any, NamedTuple, Protocol

import numpy as np

from evolabel.core.options import Options
from evolabel.core.rows import NO_WEIGHTS, NOT_GIVEN, Batch, check_outputs, misfit
from evolabel.core.schema import new_entries
from evolabel.engine.compile import direct
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.arrays import (
    BINS,
    KNOWN_SETS,
    LABEL_COUNTS,
    OUTPUT_COUNTS,
    KnownSetArrays,
    LabelCountArrays,
    OutputCountArrays,
    check_counts,
    check_sets,
)
from evolabel.stages.decisions.loops import (
    APART,
    FIRST_SHARE,
    MOST_SETS,
    TOTAL,
    WON,
    count_rows,
    learn_sets,
)
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray


class Decisions(Protocol):
    """Decides on labels by their outputs and probabilities, and learns from what was true."""

    @property
    def by_sets(self) -> bool:
        """Whether the labels of a row are decided together, as a set."""

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which labels are on, (n, K), by `outputs` and their probabilities by `calibration`."""

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the least output of each label, (K,), that is decided as on."""

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Learn the initial `batch`, with outputs from before each row.

        `left_out` has rows of it with outputs that were formed without their labels, and their probabilities.
        """

    def update(self, batch: Batch) -> None:
        """Learn `batch`, with outputs and probabilities from before each row.

        Its decisions, if given, receive those before each row.
        """

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`."""

    def merge(self, other: Any, labels: IntArray) -> None:
        """Add what `other`, of a model trained apart, has learned; `labels` has the places of its labels."""

    def stored(self) -> Arrays:
        """Return all that was learned, by name."""

    def restore(self, arrays: Arrays) -> None:
        """Set all that was learned to copies of `arrays`; DataError if they are not those of such decisions."""


def new_decisions(n_labels: int, options: Options, *, exclusive: bool) -> Decisions | None:
    """Return decisions as `options` ask for, on `n_labels` labels, or on `exclusive` classes, that learned nothing.

    None where nothing is learned for decisions.
    """
    if options.is_balanced:
        return BalancedDecisions(n_labels, exclusive=exclusive)
    if options.optimise == "accuracy" or exclusive:
        return None
    if options.optimise == "subset_accuracy":
        return KnownSets(n_labels, options.threshold)
    return OutputCounts(n_labels, shared=options.optimise == "micro_f1")


class Figures(NamedTuple):
    """PA, the share of labels that are right, and the mean F1 of the labels."""

    pa: float
    macro_f1: float


class OutputCounts(OutputCountArrays):
    """Counts of outputs and of labels that were 1 then, in bins; by label, or for all labels together.

    Parameters
    ----------
    n_labels : int
    shared : bool
        One threshold for all labels (micro-F1) instead of one for each (macro-F1).
    """

    by_sets = False  # each label is decided by itself

    def __init__(self, n_labels: int, *, shared: bool) -> None:
        self.n_labels = n_labels
        self.shared = shared
        vars(self).update(OUTPUT_COUNTS.new({"threshold": 1 if shared else n_labels}))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which `outputs`, (n, K), reach the thresholds; `calibration` is not needed."""
        return np.asarray(outputs >= self.thresholds(calibration))

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the threshold of each label as of now, 0.5 if it was never counted; `calibration` is not needed."""
        unknown = np.full((1, self.n_labels), np.nan)
        return np.asarray(self._count(Batch(unknown, unknown, outputs=unknown), np.empty((1, self.n_labels)))[0])

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Count the outputs of the initial `batch`; `left_out` is not needed."""
        self.update(batch)

    def update(self, batch: Batch) -> None:
        """Count the outputs of `batch`, made before learning; decisions, if given, receive those before each row."""
        found = self._count(batch, np.empty(batch.decisions.shape))
        if len(found):
            batch.decisions[:] = batch.outputs >= found

    def figures(self, thresholds: FloatArray) -> "Figures":
        """Return PA and macro F1 of what was counted, predicted from these `thresholds` on, (K,).

        An output counts as the middle of its bin. Labels that were never counted are left out.
        """
        predicted = (np.arange(BINS) + 0.5) / BINS >= thresholds[:, None]
        n, true = self.seen.sum(axis=1), self.on.sum(axis=1)
        found, hits = (self.seen * predicted).sum(axis=1), (self.on * predicted).sum(axis=1)
        wrong, counted = found + true - 2.0 * hits, n > 0.0
        f1 = 2.0 * hits[counted] / np.maximum(found + true, 1.0)[counted]
        return Figures(1.0 - float(wrong.sum() / n.sum()), float(f1.mean())) if counted.any() else Figures(nan, nan)

    def _count(self, batch: Batch, thresholds: FloatArray) -> FloatArray:
        """Count the outputs of `batch`, and return `thresholds`, which receive those before each row if not empty."""
        check_outputs(batch, self.n_labels)
        if len(self.seen) not in (1, self.n_labels):
            raise misfit({"seen": self.seen}, f"{self.n_labels} labels")
        weights, confidences = batch.weights, batch.confidences
        if self.n_labels:
            count_rows(batch.outputs, batch.Y, weights, confidences, self.seen, self.on, thresholds)
        return thresholds

    def grow_labels(self, n_labels: int) -> None:
        """Add labels without counts, up to `n_labels`."""
        if not self.shared:
            source = new_entries(self.n_labels, n_labels)
            vars(self).update(OUTPUT_COUNTS.moved(self, {"threshold": source}))
        self.n_labels = n_labels

    def merge(self, other: "OutputCounts", labels: IntArray) -> None:
        """Add the counts of `other`, of a model trained apart; `labels` has the places of its labels among these."""
        places = np.zeros(1, np.int64) if self.shared else labels
        self.seen[places] += other.seen
        self.on[places] += other.on

    def stored(self) -> Arrays:
        """Return the counts."""
        return OUTPUT_COUNTS.arrays_of(self)

    def restore(self, arrays: Arrays) -> None:
        """Set the counts to copies of `arrays`; DataError if they do not fit."""
        vars(self).update(
            OUTPUT_COUNTS.copies(check_counts(arrays, OUTPUT_COUNTS.expected({"threshold": len(self.seen)})))
        )


_GATHERED = 64  # single rows, which are counted in one call: a call costs as much as counting them


class PlainOutputs:
    """Outputs of a model that cuts them at a threshold, counted for what F1 would be; files have none of it."""

    def __init__(self, n_labels: int) -> None:
        self._counts = OutputCounts(n_labels, shared=False)
        self._rows: list[tuple[FloatArray, FloatArray]] = []
        self.has_streamed = False
        """Whether these are rows behind the initial batch, which count alone once there are any."""

    def count(self, batch: Batch, *, initial: bool = False) -> None:
        """Count a `batch` that a model has checked, with outputs from before each row; `initial`: the initial batch."""
        _, Y, weights, confidences, outputs, *_ = batch
        if not (self.has_streamed or initial):
            self._counts, self.has_streamed = OutputCounts(self._counts.n_labels, shared=False), True
        if len(Y) == 1 and not len(weights) and not len(confidences):
            self._rows.append((outputs.copy(), Y.copy()))
            if len(self._rows) == _GATHERED:
                self.counts()
        elif len(Y):
            count_rows(outputs, Y, weights, confidences, self._counts.seen, self._counts.on, NOT_GIVEN)

    def counts(self) -> OutputCounts:
        """Return the counts of all outputs."""
        if self._rows:
            outputs, Y = map(np.concatenate, zip(*self._rows, strict=True))
            self._rows = []
            count_rows(outputs, Y, NO_WEIGHTS, NOT_GIVEN, self._counts.seen, self._counts.on, NOT_GIVEN)
        return self._counts

    def grow_labels(self, n_labels: int) -> None:
        """Add labels without counts, up to `n_labels`."""
        self.counts().grow_labels(n_labels)

    def merge(self, other: "PlainOutputs", labels: IntArray) -> None:
        """Add the counts of `other`, of a model trained apart; `labels` has the places of its labels among these."""
        self.counts().merge(other.counts(), labels)
        self.has_streamed = self.has_streamed or other.has_streamed


_HALVINGS = 60  # of an interval of outputs: to the last bit


def decide_weighted(P: FloatArray, weights: FloatArray, *, exclusive: bool) -> BoolArray:
    """Return which labels are on by probabilities `P`, (n, K), and `weights`, (K,) or (n, K); of classes one is."""
    if not exclusive:
        return np.asarray(weights * P >= 1.0 - P)
    return np.asarray((weights * P).argmax(axis=1)[:, None] == np.arange(P.shape[1]))


def weighted_thresholds(weights: FloatArray, calibration: Calibration) -> FloatArray:
    """Return the least output of each label that is on by its weight in `weights` and its map in `calibration`.

    It is found by halving. -inf where all outputs are on, infinity where none is. Classes have no thresholds: 0.5.
    """
    if calibration.exclusive:
        return np.full(len(weights), 0.5)

    def are_on(outputs: FloatArray) -> BoolArray:
        return decide_weighted(calibration.probabilities(outputs), weights, exclusive=False)

    off, on = np.zeros((1, len(weights))), np.ones((1, len(weights)))  # maps are constant below 0 and above 1
    always, never = are_on(off), ~are_on(on)
    for _ in range(_HALVINGS):
        middle = 0.5 * (off + on)
        found = are_on(middle)
        on, off = np.where(found, middle, on), np.where(found, off, middle)
    return np.asarray(np.where(always, -np.inf, np.where(never, np.inf, on))[0])


class BalancedDecisions(LabelCountArrays):
    """Decisions with weights from the shares so far: a label is predicted where p is at least its share.

    That has the best balanced accuracy (mean recall of on and off) if probabilities are right. A class weighs one over
    its share. A label that was always or never on weighs 1.

    Parameters
    ----------
    n_labels : int
    exclusive : bool
        Whether the labels are classes, of which one is true.
    """

    by_sets = False  # each label is decided by itself

    def __init__(self, n_labels: int, *, exclusive: bool) -> None:
        self.n_labels = n_labels
        self.exclusive = exclusive
        vars(self).update(LABEL_COUNTS.new({"label": n_labels}))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return which labels are on, (n, K), by the probabilities of `outputs` by `calibration`."""
        weights = self._weights(self.seen, self.on)
        return decide_weighted(calibration.probabilities(outputs), weights, exclusive=self.exclusive)

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the least output of each label that is decided as on by `calibration` (`weighted_thresholds`)."""
        return weighted_thresholds(self._weights(self.seen, self.on), calibration)

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Count the labels of the initial `batch`; `left_out` is not needed."""
        self.update(batch)

    def update(self, batch: Batch) -> None:
        """Count the labels of `batch`; its decisions, if given, receive those before each row.

        Counts are added row by row, so that the bits do not depend on how a stream is cut into batches.
        """
        check_outputs(batch, self.n_labels)
        weights = np.where(np.isnan(batch.Y), 0.0, batch.confidences if len(batch.confidences) else 1.0)
        if len(batch.weights):
            weights = weights * batch.weights[:, None]
        seen = np.add.accumulate(np.vstack([self.seen, weights]))
        on = np.add.accumulate(np.vstack([self.on, weights * np.nan_to_num(batch.Y)]))
        if len(batch.decisions):
            before = self._weights(seen[:-1], on[:-1])
            batch.decisions[:] = decide_weighted(batch.probabilities, before, exclusive=self.exclusive)
        self.seen, self.on = seen[-1].copy(), on[-1].copy()

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels` without samples; samples so far are known not to be of a new class."""
        rows = self.seen.max(initial=0.0)
        vars(self).update(LABEL_COUNTS.moved(self, {"label": new_entries(self.n_labels, n_labels)}))
        if self.exclusive:
            self.seen[self.n_labels :] = rows
        self.n_labels = n_labels

    def merge(self, other: "BalancedDecisions", labels: IntArray) -> None:
        """Add the counts of `other`, of a model trained apart; `labels` has the places of its labels among these."""
        own = np.zeros(self.n_labels) if not self.exclusive else np.full(self.n_labels, other.seen.max(initial=0.0))
        own[labels] = other.seen
        self.seen += own
        self.on[labels] += other.on

    def stored(self) -> Arrays:
        """Return the counts."""
        return LABEL_COUNTS.arrays_of(self)

    def restore(self, arrays: Arrays) -> None:
        """Set the counts to copies of `arrays`; DataError if they do not fit."""
        vars(self).update(LABEL_COUNTS.copies(check_counts(arrays, LABEL_COUNTS.expected({"label": self.n_labels}))))

    def _weights(self, seen: FloatArray, on: FloatArray) -> FloatArray:
        """The weights after `seen` and `on`, (K,) or (n, K); 1 for a label that was always or never on."""
        both = (on > 0.0) & (on < seen)
        return np.divide(seen if self.exclusive else seen - on, on, out=np.ones(on.shape), where=both)


_learn_sets = direct(learn_sets)


class KnownSets(KnownSetArrays):
    """Label sets that occurred, with counts of rows, and how often they were right where plain decisions were not.

    Parameters
    ----------
    n_labels : int
    threshold : float
        Where plain decisions cut outputs.
    """

    def __init__(self, n_labels: int, threshold: float) -> None:
        self.n_labels = n_labels
        self.threshold = float(threshold)
        vars(self).update(KNOWN_SETS.new({"set": MOST_SETS, "label": n_labels}))

    @property
    def by_sets(self) -> bool:
        """Whether sets have been right in more rows than plain decisions, beyond chance: they then decide."""
        return bool(self.outcomes[WON] > np.sqrt(self.outcomes[APART]))

    def decide(self, outputs: FloatArray, calibration: Calibration) -> BoolArray:
        """Return the labels of the most likely set for `outputs`, (n, K), or those of plain decisions."""
        F = np.ascontiguousarray(outputs)
        P, D = calibration.probabilities(F), np.empty(F.shape)
        check_outputs(Batch(F, F, outputs=F, probabilities=P), self.n_labels)
        _learn_sets(F, P, F, np.zeros(len(F)), NOT_GIVEN, self.threshold, *self._state(), D)
        return np.asarray(D > 0.0)

    def thresholds(self, calibration: Calibration) -> FloatArray:
        """Return the threshold of plain decisions for every label; `calibration` is not needed."""
        return np.full(self.n_labels, self.threshold)

    def start(self, batch: Batch, left_out: Batch) -> None:
        """Learn the rows of `left_out`, of the initial `batch`."""
        self.update(left_out)

    def update(self, batch: Batch) -> None:
        """Learn the label sets of `batch`; its decisions, if given, receive those before each row."""
        check_outputs(batch, self.n_labels)
        F, P, Y = batch.outputs, batch.probabilities, batch.Y
        _learn_sets(F, P, Y, batch.weights, batch.confidences, self.threshold, *self._state(), batch.decisions)

    def grow_labels(self, n_labels: int) -> None:
        """Add labels, up to `n_labels`, that no set has."""
        vars(self).update(KNOWN_SETS.moved(self, {"label": new_entries(self.n_labels, n_labels)}))
        self.n_labels = n_labels

    def merge(self, other: "KnownSets", labels: IntArray) -> None:
        """Add the counts of `other`; `labels` has the places of its labels. The sets with most rows are kept."""
        found: dict[tuple[int, ...], float] = {}
        for each, places in ((self, list(range(self.n_labels))), (other, labels.tolist())):
            for row, n in zip(*each.kept(), strict=True):
                key = tuple(sorted(places[k] for k in np.flatnonzero(row)))
                found[key] = found.get(key, 0.0) + float(n)
        kept = sorted(found, key=lambda key: -found[key])[:MOST_SETS]
        self.sets, self.counts = np.zeros_like(self.sets), np.zeros(MOST_SETS)
        for place, key in enumerate(kept):
            self.sets[place, list(key)] = True
            self.counts[place] = found[key]
        self.on[labels] += other.on - FIRST_SHARE
        self.outcomes += other.outcomes
        self.outcomes[TOTAL] -= 1.0

    def kept(self) -> tuple[BoolArray, FloatArray]:
        """Return the sets that are kept, (m, K), and their counts."""
        used = int(np.count_nonzero(self.counts))
        return self.sets[:used], self.counts[:used]

    def stored(self) -> Arrays:
        """Return the sets kept with their counts, counts of labels, and the outcomes of rows won and lost."""
        return KNOWN_SETS.moved(self, {"set": np.arange(np.count_nonzero(self.counts))})

    def restore(self, arrays: Arrays) -> None:
        """Set sets, counts and outcomes to copies of `arrays`; DataError if they do not fit."""
        stored = KnownSetArrays()
        vars(stored).update(KNOWN_SETS.copies(check_sets(arrays, self.n_labels)))
        vars(self).update(KNOWN_SETS.moved(stored, {"set": new_entries(len(stored.counts), MOST_SETS)}))

    def _state(self) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Sets, counts, counts of labels, outcomes and a scratch array, as loops take them."""
        return self.sets, self.counts, self.on, self.outcomes, np.empty(self.n_labels)
