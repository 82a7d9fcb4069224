"""`ErrorFeedback`: errors of recent outputs correct the outputs of the samples that follow.

In an ordered stream consecutive samples resemble each other more than their features show, and so do the errors of
their labels. The mean error of recent answers, those to similar samples above all, then predicts a part of the next
one. Such a stream also moves away from its initial batch, so outputs are too extreme; they are shrunk towards the base
rates. Both parts are estimated by regression, first on the initial batch, label by label, as some labels depend on the
order and others do not. In a shuffled stream both are 0, but for rare chance.
"""

from typing import NamedTuple, Protocol

import numpy as np

from evolabel.core.rows import Batch, check_batch, check_rows, misfit
from evolabel.core.schema import new_entries, stream_sizes
from evolabel.core.stored_checks import check_arrays, check_evidence, require, size_of
from evolabel.engine.compile import direct
from evolabel.stages.feedback.arrays import (
    INITIAL_ERRORS,
    RECENT_ERRORS,
    InitialErrors,
    RecentErrors,
    no_recent_errors,
)
from evolabel.stages.feedback.loops import EMPTY, N_RECENT, REPEAT, SHRINK, follow_errors, shift_rows
from evolabel.typing import Arrays, FloatArray, IntArray

_follow_errors, _shift_rows = direct(follow_errors), direct(shift_rows)


class Correction(NamedTuple):
    """Linear correction of the outputs of some samples."""

    scale: FloatArray
    """Factor of the outputs, (K,)."""
    offset: FloatArray
    """What is added to them, (n, K)."""
    n_effective: FloatArray
    """Effective number of recent answers to each sample, (n,): those to similar ones count most."""

    def of(self, outputs: FloatArray) -> FloatArray:
        """Return the `outputs`, (n, K), corrected."""
        return np.asarray(self.scale * outputs + self.offset)


class ErrorFeedback(InitialErrors):
    """Recent errors of every label, and the share of them that is expected again.

    Parameters
    ----------
    n_features : int
        Features that samples are compared by; 0: by their numbers in the stream only.
    n_initial : array (n_labels,), optional
        Answers per label in the initial batch.
    n_initial_positive : array (n_labels,), optional
        Those of them that were 1.
    evidence : array (2, 5, n_labels or fewer), optional
        Sums of both regressions at the start, see `stages.feedback.loops`; without them there is no evidence.
    """

    def __init__(
        self,
        n_features: int = 0,
        n_initial: FloatArray | None = None,
        n_initial_positive: FloatArray | None = None,
        evidence: FloatArray | None = None,
    ) -> None:
        self.n_initial = np.zeros(0) if n_initial is None else np.array(n_initial, np.float64)
        self.n_initial_positive = (
            np.zeros(len(self.n_initial)) if n_initial_positive is None else np.array(n_initial_positive, np.float64)
        )
        n_labels = len(self.n_initial)
        self.evidence = np.zeros((2, 5, n_labels)) if evidence is None else _widened(evidence, n_labels)
        self.recent = no_recent_errors(n_features, n_labels)
        self._estimate()

    @property
    def gains(self) -> FloatArray:
        """Share of the mean recent error that is expected again, in [0, 1], label by label."""
        return np.asarray(self.slopes[REPEAT])

    @property
    def next_number(self) -> int:
        """Number of the sample after the last one that was answered."""
        return max(int(self.recent.at.max()), 0) + 1

    def fit(self, batch: Batch, f: FloatArray, *, in_order: bool = True) -> None:
        """Estimate how strongly errors of neighbouring rows correlate, on the second half of the initial `batch`.

        In the first half the model has seen too few rows. X of `batch` is standardised, `f` are the outputs before each
        row was learned. Rows that were not `in_order` show nothing about neighbours.
        """
        answered = ~np.isnan(batch.Y)
        self.n_initial, self.n_initial_positive = np.sum(answered, axis=0, dtype=np.float64), np.nansum(batch.Y, axis=0)
        self.evidence = np.zeros((2, 5, batch.Y.shape[1]))
        self.recent = no_recent_errors(batch.X.shape[1], batch.Y.shape[1])
        self._estimate()
        half = slice(len(batch.Y) // 2, None)
        self.learn(batch.rows(half), f[half])
        if not in_order:
            self.evidence[REPEAT] = 0.0
        self.recent = no_recent_errors(batch.X.shape[1], batch.Y.shape[1])
        self._estimate()

    def answer(self, batch: Batch, f: FloatArray) -> FloatArray:
        """Return the outputs `f` of the next rows, whose standardised features `batch` has, corrected."""
        if self.mean_gain == 0.0:
            return f
        return self.correction(batch.X, np.full(len(f), self.next_number), f.shape[1]).of(f)

    def learn(self, batch: Batch, f: FloatArray) -> None:
        """Record the errors of `f`, the outputs of the next rows before `batch` was learned."""
        self._follow(batch, self.next_number, f, corrects=False)

    def answer_and_learn(self, batch: Batch, f: FloatArray) -> None:
        """Correct `f`, outputs of the next rows from before `batch` was learned, in place; record errors row by row."""
        self._follow(batch, self.next_number, f, corrects=True)

    def record_error(
        self, x: FloatArray, number: int, y: FloatArray, f: FloatArray, *, confidence: FloatArray | None = None
    ) -> None:
        """Record the error of one sample.

        `x` are its standardised features, `number` is its number in the stream, `y` its answers (NaN: unknown) and
        their `confidence`, `f` its outputs before it was learned.
        """
        batch = Batch(x[None], y[None])
        self._follow(batch if confidence is None else batch._replace(confidences=confidence[None]), number, f[None])

    def _follow(self, batch: Batch, number: int, f: FloatArray, *, corrects: bool = False) -> None:
        """Run the loop over the rows of `batch`, of which the first has this `number`."""
        confidence = batch.answer_weights()
        self._fit_to(batch.X.shape[1], batch.Y.shape[1])
        check_batch(Batch(batch.X, batch.Y, confidences=confidence, outputs=f), *self._widths)
        if len(f) != len(batch.Y) or len(confidence) != len(batch.Y):
            raise misfit({"outputs": f, "confidences": confidence}, f"{len(batch.Y)} answers")
        self._record(batch, number, f, confidence, corrects=corrects)

    def correction(self, X: FloatArray, numbers: IntArray, n_labels: int) -> Correction:
        """Return the correction of the outputs of samples.

        `X` are their standardised features, `numbers` their numbers in the stream; labels beyond those known, up to
        `n_labels`, are not corrected.
        """
        p, known = self._widths
        recent = self.recent if X.shape[1] == p else no_recent_errors(X.shape[1], known)
        check_rows(X, recent.Z.shape[1])
        if len(numbers) != len(X):
            raise misfit({"numbers": numbers}, f"{len(X)} rows")
        scale, offset, n_effective = 1.0 - self.slopes[SHRINK], np.empty((len(X), known)), np.empty(len(X))
        scratch = np.empty(N_RECENT), np.empty(known)
        _shift_rows(X, numbers, *recent, self.rates, self.slopes, *scratch, offset, n_effective)
        missing = n_labels - known
        if missing:
            scale = np.pad(scale, (0, missing), constant_values=1.0)
            offset = np.pad(offset, ((0, 0), (0, missing)))
        return Correction(scale, offset, n_effective)

    def restarted(self, n_features: int, n_labels: int) -> "ErrorFeedback":
        """Return a new one with what the initial batch has shown, for `n_features` and `n_labels`; no recent errors."""
        n_initial, n_initial_positive = (_widened(a, n_labels) for a in (self.n_initial, self.n_initial_positive))
        return ErrorFeedback(n_features, n_initial, n_initial_positive, self.evidence)

    def empty_like(self) -> "ErrorFeedback":
        """Return a new one with the same base rates, without evidence or recent errors."""
        return ErrorFeedback(self._widths[0], self.n_initial, self.n_initial_positive)

    def merge(self, other: "ErrorFeedback", n_labels: int, columns: list[int]) -> None:
        """Add what the initial batch of `other` has shown; `columns` has the places of its labels among `n_labels`.

        Counts of an initial batch that both come from count once.
        """
        counts = ("n_initial", "n_initial_positive")
        mine, theirs = ([_widened(getattr(each, name), n_labels) for name in counts] for each in (self, other))
        shared = np.array_equal(mine, theirs)
        for name in ("evidence", *counts):
            total, added = _widened(getattr(self, name), n_labels), getattr(other, name)
            if name == "evidence" or not shared:
                total[..., columns[: added.shape[-1]]] += added
            setattr(self, name, total)
        self.recent = no_recent_errors(self._widths[0], n_labels)
        self._estimate()

    @property
    def _widths(self) -> tuple[int, int]:
        """Numbers of features and labels."""
        return self.recent.Z.shape[1], len(self.n_initial)

    def _fit_to(self, n_features: int, n_labels: int) -> None:
        """Make space for new labels. Samples of other features cannot be compared, so they are dropped."""
        missing = n_labels - len(self.n_initial)
        if missing > 0:
            source = {"label": new_entries(len(self.n_initial), n_labels)}
            self.recent = RECENT_ERRORS.rearranged(self.recent, source)
            vars(self).update(INITIAL_ERRORS.moved(self, source))
            self._estimate()
        if n_features != self.recent.Z.shape[1]:
            self.recent = no_recent_errors(n_features, len(self.n_initial))

    def _estimate(self) -> None:
        """Compute base rates, NaN where the initial batch had no answers, and both slopes, (2, K)."""
        n_labels = len(self.n_initial)
        self.rates = np.full(n_labels, np.nan)
        np.divide(self.n_initial_positive, self.n_initial, out=self.rates, where=self.n_initial > 0.0)
        self.slopes = np.zeros((2, n_labels))
        nothing = np.empty((0, n_labels))
        self._record(Batch(np.empty((0, self._widths[0])), nothing), 0, nothing, nothing)

    def _record(
        self, batch: Batch, number: int, f: FloatArray, confidence: FloatArray, *, corrects: bool = False
    ) -> None:
        """Call the loop for the rows of `batch`; compute the slopes, and what every sample reads.

        That is `mean_gain`, 0 where errors do not repeat, and `shrinkage`, in [0, 1).
        """
        scratch = np.empty(N_RECENT), *np.empty((3, len(self.n_initial)))
        state = *self.recent, self.rates, self.evidence, self.slopes
        self.shrinkage = _follow_errors(batch.X, number, f, batch.Y, confidence, corrects, *state, scratch)
        self.mean_gain = float(self.gains.mean()) if len(self.n_initial) else 0.0

    def arrays(self) -> Arrays:
        """Return all arrays by name; those of recent errors only where there are any."""
        recent = self.recent._asdict() if (self.recent.at > EMPTY).any() else {}
        return {**recent, **INITIAL_ERRORS.arrays_of(self)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_labels: int, seen: int) -> "ErrorFeedback":
        """Return what `arrays` gave, for at most `n_labels` labels and `seen` samples; DataError if they do not fit.

        Labels may have appeared since the last answer, and features have come or gone: the next answer adapts to it.
        """
        width, size = size_of(arrays, "Z", 1), size_of(arrays, "n_initial")
        has_recent = bool(set(RecentErrors._fields) & set(arrays))
        sizes = stream_sizes(width, size)
        table = RECENT_ERRORS.expected(sizes)
        table["at"] = table["at"]._replace(high=seen)
        check_arrays(arrays, INITIAL_ERRORS.expected(sizes) | (table if has_recent else {}))
        require(size <= n_labels, "n_initial", f"at most {n_labels} labels")
        require(arrays["n_initial_positive"] <= arrays["n_initial"], "n_initial_positive", "no more than n_initial")
        check_evidence("evidence", arrays["evidence"])
        made = cls(width, arrays["n_initial"], arrays["n_initial_positive"], arrays["evidence"])
        if has_recent:
            made.recent = RECENT_ERRORS.from_arrays(arrays)
        return made


class FollowedModel(Protocol):
    """A model that has learned, in its batch phase, how errors repeat."""

    n_features: int
    n_labels: int
    feedback: ErrorFeedback | None


def feedback_of(model: FollowedModel) -> ErrorFeedback:
    """Return error feedback that starts with what the initial batch of `model` has shown; the model is not changed."""
    return (model.feedback or ErrorFeedback()).restarted(model.n_features, model.n_labels)


def _widened(array: FloatArray, n_labels: int) -> FloatArray:
    """Return a copy with `n_labels` labels, which stand last; 0 for new ones."""
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, n_labels - array.shape[-1])])
