"""`LastAnswers`: the stage that adds what the last answers show of the rows right after them.

Only rows that come right after the last learned row are answered by it (`Rows.follows`, `Rows.followed`). All other
outputs, and what other stages learn, are as without it.

When models are merged, what answers have meant is averaged by the answers that each side has seen; counts add up, and
fade where they are more than one stream keeps. The answers of the last rows, and their numbers, are those of the first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evolabel.core.events import EventLog
from evolabel.core.rows import FOLLOWS_NOTHING, Rows, check_learned, check_rows
from evolabel.core.schema import new_entries, of_features, places_of, stream_sizes
from evolabel.core.stage import MANY, Answering
from evolabel.core.stored_checks import check_arrays, require
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.arrays import LOSS_MEMORY, SCORE_MEMORY
from evolabel.stages.drift.merge_members import pooled_moments, pooled_weights
from evolabel.stages.last_answers.arrays import (
    ANSWERS_KEPT,
    COUNT,
    LAST_ANSWER_ARRAYS,
    NOT_KEPT,
    OLDEST,
    POSITIVES,
    LastAnswerArrays,
    allocate_last_answers,
    with_scratch_labels,
)
from evolabel.stages.last_answers.loops import ENOUGH, answer_after, learn_last_answers
from evolabel.typing import Arrays, FloatArray, IntArray

_NO_LABELS = np.zeros(0)

_answer_after, _learn = direct(answer_after), direct(learn_last_answers)


class LastAnswers(Answering):
    """What the last answers to each label, and recent errors, show of the next rows of a stream.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of rows and of their labels.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : LastAnswerArrays
        The answers of the last rows, what they have meant, and the quick member.
    """

    name = "last_answers"
    schema = LAST_ANSWER_ARRAYS
    rows_at_once = MANY

    def __init__(self, n_features: int, n_labels: int, *, exclusive: bool = False) -> None:
        self.arrays = allocate_last_answers(n_features, n_labels)
        self.exclusive = exclusive
        self._kept: tuple[LastAnswerArrays, Any] | None = None
        self._g = _NO_LABELS

    @property
    def packed(self) -> Any:
        """The state as loops take it; made again when arrays were replaced."""
        kept = self._kept
        if kept is None or kept[0] is not self.arrays:
            kept = self._kept = self.arrays, pack(with_scratch_labels(self.arrays, exclusive=self.exclusive))
            self._g = np.empty(len(self.arrays.W))
        return kept[1]

    def answer(self, rows: Rows) -> None:
        """Change the outputs of `rows` that follow the last learned one."""
        if len(rows.follows):
            check_rows(rows.read, len(self.arrays.mean))
            _answer_after(self.packed, rows.read, rows.follows, rows.outputs)

    def learn(self, rows: Rows, log: EventLog | None = None) -> None:
        """Learn `rows` one after the other; `log` receives nothing.

        Their outputs stay as they are; `followed` receives those that follow the last answers, from before each row.
        """
        check_learned(rows, len(self.arrays.mean), len(self.arrays.W))
        packed, learned = self.packed, (rows.read, rows.Y, rows.weights, rows.confidences, rows.outputs)
        _learn(packed, *learned, rows.followed, self._g)

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that are not learned; below 0: rows that are learned now."""
        self.arrays.row[0] = max(int(self.arrays.row[0]) + rows, 0)

    @contextmanager
    def late(self, rows: int) -> Iterator[None]:
        """Learn, within this context, a row that came `rows` before the last one: its answer is as old as the row."""
        back = min(rows, OLDEST + 1, int(self.arrays.row[0]))
        self.advance(-back)
        try:
            yield
        finally:
            self.advance(back)

    def comes_at_once(self, follows: int) -> bool:
        """Return whether the `OLDEST` rows before one were answered at once.

        It comes `follows` rows after the last one. Labels with too few answers do not count.
        """
        used = self.arrays.n_losses >= ENOUGH
        before = int(self.arrays.row[0]) + follows - np.arange(1, OLDEST + 1)
        return bool(used.any() and (self.arrays.at[used][:, before % OLDEST] == before).all())

    # ------------------------------------------------------------------ other widths, merging, files, copies

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`; of classes, rows so far are not of the new ones."""
        known = len(self.arrays.W)
        self.arrays = LAST_ANSWER_ARRAYS.rearranged(self.arrays, {"label": new_entries(known, n_labels)})
        if self.exclusive and known:
            self.arrays.W[known:, -1] = -np.log(ENOUGH)
            self.arrays.at[known:] = self.arrays.at[:known].max(axis=0)

    def change_features(self, kept: IntArray, n_features: int, _: EventLog | None = None) -> None:
        """Keep the features in the columns `kept`, and add new ones up to `n_features`."""
        sources = of_features(kept, len(self.arrays.mean), n_features)
        self.arrays = LAST_ANSWER_ARRAYS.rearranged(self.arrays, sources)

    def merge(self, other: "LastAnswers", labels: IntArray) -> None:
        """Add what `other` has learned, of the same features; `labels` has the places of its labels among these."""
        theirs = LAST_ANSWER_ARRAYS.rearranged(other.arrays, {"label": places_of(labels, len(self.arrays.W))})
        self.arrays = merged_last_answers(self.arrays, theirs)

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them."""
        return LAST_ANSWER_ARRAYS.arrays_of(self.arrays)

    def restore(self, arrays: Arrays) -> None:
        """Set the arrays to copies of stored ones; DataError if they are not those of such a stage."""
        _check_stored(arrays, len(self.arrays.mean), len(self.arrays.W))
        self.arrays = LAST_ANSWER_ARRAYS.from_arrays(arrays)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "_g": _NO_LABELS}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = LAST_ANSWER_ARRAYS.writeable(self.arrays)


def near_rows(first: int) -> IntArray:
    """Return how many rows after the last learned one rows come, the `first` to begin with, while they are near."""
    return np.arange(first, OLDEST + 1, dtype=np.int64) if first <= OLDEST else FOLLOWS_NOTHING


def _check_stored(arrays: Arrays, n_features: int, n_labels: int) -> None:
    """Check the stored `arrays` of the last answers to `n_labels` in rows of `n_features`."""
    check_arrays(arrays, LAST_ANSWER_ARRAYS.expected(stream_sizes(n_features, n_labels)))
    at = arrays["at"]
    require(at <= arrays["row"][0], "at", "rows of the past")
    require((at == NOT_KEPT) | (at % OLDEST == np.arange(OLDEST)), "at", "each row in its place")
    require(np.isin(arrays["answers"], (0.0, 1.0)), "answers", "0 or 1")
    for name in ("counts", "shared_counts"):
        counts = arrays[name]
        require(counts[..., POSITIVES] <= counts[..., COUNT], name, "no more positives than answers")


def merged_last_answers(a: LastAnswerArrays, b: LastAnswerArrays) -> LastAnswerArrays:
    """Return `a` with what both have learned; labels and features are in the same order in `b`."""
    mean, variance = pooled_moments(a, b)
    quick, of_age = _share(a.n_losses, b.n_losses), _share(a.n_evidence, b.n_evidence)
    by_label = of_age.T[:, :, None]
    shared = _share(a.n_evidence.sum(axis=1), b.n_evidence.sum(axis=1))[:, None]
    return a._replace(
        W=pooled_weights(a, b),
        mean=mean,
        variance=variance,
        n_read=np.minimum(a.n_read + b.n_read, SCORE_MEMORY),
        quick_losses=_between(a.quick_losses, b.quick_losses, quick),
        n_losses=np.minimum(a.n_losses + b.n_losses, LOSS_MEMORY),
        evidence=_between(a.evidence, b.evidence, by_label),
        shared_evidence=_between(a.shared_evidence, b.shared_evidence, shared),
        slopes=_between(a.slopes, b.slopes, by_label),
        counts=_added(a.counts, b.counts, ANSWERS_KEPT),
        shared_counts=_added(a.shared_counts, b.shared_counts, ANSWERS_KEPT * len(a.W)),
        losses=_between(a.losses, b.losses, of_age[:, None, :]),
        n_evidence=np.minimum(a.n_evidence + b.n_evidence, LOSS_MEMORY),
    )


def _share(mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return the share of `theirs` in both; 0 where both are 0."""
    return np.divide(theirs, mine + theirs, out=np.zeros(theirs.shape), where=mine + theirs > 0.0)


def _between(mine: FloatArray, theirs: FloatArray, share: FloatArray) -> FloatArray:
    """Return the mean of both, `share` of it by `theirs`."""
    return np.asarray((1.0 - share) * mine + share * theirs)


def _added(mine: FloatArray, theirs: FloatArray, most: float) -> FloatArray:
    """Return the sum of both counts, scaled down where there are more than `most` answers."""
    counts = mine + theirs
    return np.asarray(counts / np.maximum(counts[..., [COUNT]] / most, 1.0))
