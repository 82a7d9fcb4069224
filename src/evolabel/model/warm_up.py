"""Warm-up: the first samples of a stream without an initial batch are kept until there are enough for one."""

from collections.abc import Callable
from typing import Annotated

import numpy as np

from evolabel.core.rows import Batch
from evolabel.core.schema import Schema, array, new_entries, stream_sizes
from evolabel.core.stored_checks import HEAVIEST, check_arrays, check_samples, require
from evolabel.stages.drift.stage import NoDrift
from evolabel.stages.rules.arrays import SEEN
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import Arrays, FloatArray, IntArray


class WarmUpArrays:
    """The samples that are kept."""

    X: Annotated[FloatArray, array("row", "feature", start=np.nan, missing=True)]
    """Raw features."""
    Y: Annotated[FloatArray, array("row", "label", start=np.nan, low=0.0, high=1.0, missing=True)]
    """Labels: 0, 1, NaN (not annotated)."""
    weights: Annotated[FloatArray, array("row", high=HEAVIEST, positive=True)]
    """Weights of the samples."""
    confidences: Annotated[FloatArray, array("row", "label", start=1.0, low=0.0, high=1.0)]
    """Confidence of each label."""
    numbers: Annotated[IntArray, array("row", low=1)]
    """Numbers of the samples in the stream."""


WARM_UP_ARRAYS = Schema(WarmUpArrays)


class WarmUp(WarmUpArrays):
    """A small buffer of annotated samples with their numbers in the stream, and the priors that answer meanwhile."""

    def __init__(self, n_features: int, n_labels: int, size: int) -> None:
        vars(self).update(WARM_UP_ARRAYS.new(stream_sizes(n_features, n_labels, row=size)))
        self.filled = 0
        self.n_seen = 0
        self.passed = 0
        """Rows of the stream that have no answer, or none yet."""
        self.in_order = True
        """Whether the samples follow each other in the stream; not so where an active learner has queried them."""

    @property
    def complete(self) -> bool:
        """Whether there are enough samples for the batch phase."""
        return self.filled == len(self.X)

    @property
    def rows_behind(self) -> int:
        """Rows of the stream behind the last sample that is kept."""
        last = int(self.numbers[self.filled - 1]) if self.filled else 0
        return self.n_seen - last

    def take(self, batch: Batch, answer: Callable[[FloatArray], FloatArray] | None = None) -> int:
        """Keep rows of `batch` until the buffer is full, and return how many were used.

        Outputs receive, before each row is kept, what `answer` returns for the row (1, p), or the priors without it.
        """
        X, Y, weights, confidences, outputs, *_ = batch
        for i in range(len(X)):
            if self.complete:
                return i
            if len(outputs):
                outputs[i] = self.priors() if answer is None else answer(X[i : i + 1])[0]
            self.n_seen += 1
            weight = weights[i] if len(weights) else 1.0
            if weight > 0.0 and not np.isnan(Y[i]).all():
                at = self.filled
                self.X[at], self.Y[at], self.weights[at] = X[i], Y[i], weight
                self.confidences[at] = confidences[i] if len(confidences) else 1.0
                self.numbers[at] = self.n_seen
                self.filled = at + 1
        return len(X)

    def forget_oldest(self, count: int) -> None:
        """Drop the first `count` samples."""
        kept = slice(count, self.filled)
        for each in WARM_UP_ARRAYS.arrays_of(self).values():
            each[: self.filled - count] = each[kept].copy()
        self.filled -= count

    def priors(self) -> FloatArray:
        """Return the weighted share of each label among its annotations so far; 0 for a label without any."""
        Y = self.Y[: self.filled]
        mass = self.weights[: self.filled, None] * self.confidences[: self.filled] * ~np.isnan(Y)
        total = mass.sum(axis=0)
        return np.asarray((mass * np.nan_to_num(Y)).sum(axis=0) / np.where(total > 0.0, total, 1.0))

    def batch(self) -> Batch:
        """Return the rows kept, as an initial batch."""
        kept = slice(0, self.filled)
        return Batch(self.X[kept], self.Y[kept], self.weights[kept], self.confidences[kept])

    def grow_labels(self, n_labels: int, *, absent: bool) -> None:
        """Add labels up to `n_labels`; the samples kept do not carry them (`absent`), or were not annotated."""
        known = self.Y.shape[1]
        vars(self).update(WARM_UP_ARRAYS.moved(self, {"label": new_entries(known, n_labels)}))
        if absent:
            self.Y[:, known:] = 0.0

    def grow_features(self, n_features: int) -> None:
        """Add features up to `n_features`, which the samples kept have missed."""
        vars(self).update(WARM_UP_ARRAYS.moved(self, {"feature": new_entries(self.X.shape[1], n_features)}))


def renumber(rules: RuleBase, drift: NoDrift, buffer: WarmUp) -> None:
    """Give the samples of `rules`, made from the `buffer`, their numbers in the stream; set the clock of `drift`."""
    used, arrays = slice(0, rules.n_rules + 1), rules.arrays
    place = np.concatenate([[0], buffer.numbers[: buffer.filled]])
    arrays.born[used] = place[arrays.born[used]]
    arrays.last_won[used] = place[arrays.last_won[used]]
    arrays.counters[SEEN] = buffer.n_seen
    drift.advance(buffer.n_seen - buffer.filled + buffer.passed)
    events = [event._replace(sample=int(place[event.sample])) for event in rules.events]
    rules.events.clear()
    rules.events.extend(events)


def check_warm_up(arrays: Arrays, kept: int, p: int, K: int, seen: int) -> None:
    """Check the stored `arrays` of a warm-up: `kept` of `seen` samples, `p` features, `K` labels."""
    table = WARM_UP_ARRAYS.expected(stream_sizes(p, K, row=kept))
    check_arrays(arrays, {**table, "numbers": table["numbers"]._replace(high=seen)})
    Y = arrays["Y"]
    require((Y == 0.0) | (Y == 1.0) | np.isnan(Y), "Y", "labels of 0, 1 or NaN")
    require(~np.isnan(Y).all(axis=1), "Y", "an annotated label in every row")
    check_samples("X", arrays["X"])
    require(np.diff(arrays["numbers"]) > 0, "numbers", "rising numbers")
