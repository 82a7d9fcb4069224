"""`Batch`: rows with labels and weights, as they come to a model; `Rows`: on their way through its stages.

Their sizes are checked once before they reach a compiled loop, because loops do not look at bounds. Data of users is
checked before, with more helpful messages (`classifier`). What fails here is a defect of evolabel, and an error is
better than a write beyond an array.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from evolabel.errors import InternalError
from evolabel.typing import AnyArray, BoolArray, FloatArray, IntArray

_FLOAT64 = np.dtype(np.float64)
_contiguous = np.ascontiguousarray

NO_WEIGHTS = np.empty(0)
NOT_GIVEN = np.empty((0, 0))
NO_CONSEQUENTS = np.empty((0, 0, 0))
NO_EPISODES = np.empty(0, np.int64)
FOLLOWS_NOTHING = np.empty(0, np.int64)


_NO_MOMENTS = np.empty((0, 0, 0)), np.empty((0, 0, 0)), np.empty(0, np.int64)
_NO_TERMS = NOT_GIVEN, NOT_GIVEN, NOT_GIVEN


class Batch(NamedTuple):
    """Checked rows on their way through the model. Empty arrays: not given."""

    X: FloatArray
    """Features, (n, p), raw or scaled; NaN: missing."""
    Y: FloatArray
    """Labels, (n, K): 0, 1, NaN (not annotated)."""
    weights: FloatArray = NO_WEIGHTS
    """Sample weights, (n,) or (0,)."""
    confidences: FloatArray = NOT_GIVEN
    """Confidence of each label, (n, K) in [0, 1] or (0, 0)."""
    outputs: FloatArray = NOT_GIVEN
    """Receives the output for each row before the row is learned, (n, K) or (0, 0)."""
    decisions: FloatArray = NOT_GIVEN
    """Receives the decisions before each row, 0 or 1, where a model learns how to decide, (n, K) or (0, 0)."""
    raw: FloatArray = NOT_GIVEN
    """Raw features where `X` is scaled, (n, p) or (0, 0); members beside the rules read them."""
    read: FloatArray = NOT_GIVEN
    """Receives the raw features with sensors corrected, as each row was read, (n, p) or (0, 0)."""
    probabilities: FloatArray = NOT_GIVEN
    """Receives the probabilities of the labels before each row, (n, K) or (0, 0)."""
    coverages: FloatArray = NO_WEIGHTS
    """Coverage of the prediction set asked for each row, (n,) or (0,)."""
    set_limits: FloatArray = NOT_GIVEN
    """Receives the thresholds of the prediction sets at `coverages` before each row, (n, K) or (0, 0)."""
    plain: FloatArray = NOT_GIVEN
    """Receives the outputs before each row without what the last answers add, where a model has a memory of them."""

    def rows(self, part: slice | BoolArray | IntArray) -> "Batch":
        """Return the rows in `part`; for a slice, arrays are views, so that outputs reach the whole batch."""
        return Batch(*(array[part] if len(array) else array for array in self))

    def labelled(self) -> BoolArray:
        """Return which rows are learned from, (n,): those of a weight above 0 with an annotated label."""
        annotated = np.asarray(~np.isnan(self.Y).all(axis=1))
        return annotated & (self.weights > 0.0) if len(self.weights) else annotated

    def answer_weights(self) -> FloatArray:
        """Return the weight of each label, (n, K) in [0, 1]: its confidence, times the sample weight if below 1."""
        sure = self.confidences if len(self.confidences) else np.ones(self.Y.shape)
        return sure * np.minimum(self.weights, 1.0)[:, None] if len(self.weights) else sure


class Watch(Protocol):
    """The drift stage, as stages behind it see it where they have to."""

    @property
    def is_unsettled(self) -> bool:
        """Whether a sensor may have moved."""

    @property
    def drifts_held(self) -> dict[int, dict[str, Any]]:
        """Labels whose drifts are no event yet, by number, with an empty dictionary each."""


class Rows:
    """Rows on their way through the stages: each stage reads what earlier ones have written.

    A stage of a user gets `X`, `Y`, `weights`, `confidences`, `read` and `episode`, which it cannot write, `outputs`,
    `n_rows` and `n_seen`. `Z`, `psi`, `D`, `W`, `moments` and `terms` are empty there, `drifts_ended` is None.

    Parameters
    ----------
    X : array (n, p)
        Raw features, NaN where they are missing.
    Y, weights, confidences : array
        As in a `Batch`; empty where the rows are only answered.
    outputs : array (n, K)
        Receives the outputs; a stage finds those of the stages in front of it.

    Attributes
    ----------
    read : array (n, p)
        `X`, with the readings of sensors that moved corrected.
    Z : array (n, p)
        `read`, scaled.
    psi, D : array (n, C)
        Memberships of the rows in the rules, eq. (2), and mean squared distances to them.
    W : array (1 + C, K, q)
        Consequents of all rules, where they were formed for many rows; else empty.
    moments, terms : tuple of arrays
        Of `stages.rules.weights.answers`, where questions are scored; else empty.
    n_rows : int or None
        Rows of the stream up to the last of these; None where they are not counted.
    n_seen : int or None
        Samples learned up to the last of these; None where they are only answered, and in an initial batch.
    episode : array (K,)
        Row of the stream at which each label has drifted, -1 while it is calm.
    drifts_ended : array (K,) or None
        Labels whose drifts are ended by the stage that has set it, and not by the drift stage.
    watch : Watch or None
        The drift stage after the last of these rows; None where they are only answered.
    follows : array (n,)
        How many rows after the last learned one each of them comes; empty where this is not known.
    followed : array (n, K)
        Where the rows are learned, receives outputs that follow the last answers; or empty.
    fits : tuple of int or None
        Numbers of features and labels by which the arrays for learning were checked; None: they were not.
    """

    # Set where they are needed; as attributes of the class they cost no time where a row is learned alone.
    Z = psi = D = followed = NOT_GIVEN
    W = NO_CONSEQUENTS
    moments: tuple[FloatArray, FloatArray, IntArray] = _NO_MOMENTS
    terms: tuple[FloatArray, FloatArray, FloatArray] = _NO_TERMS
    n_rows: int | None = None
    n_seen: int | None = None
    episode, follows = NO_EPISODES, FOLLOWS_NOTHING
    drifts_ended: BoolArray | None = None
    watch: Watch | None = None
    fits: tuple[int, int] | None = None

    def __init__(
        self,
        X: FloatArray,
        Y: FloatArray = NOT_GIVEN,
        weights: FloatArray = NO_WEIGHTS,
        confidences: FloatArray = NOT_GIVEN,
        *,
        outputs: FloatArray = NOT_GIVEN,
        W: FloatArray = NO_CONSEQUENTS,
    ) -> None:
        self.X = self.read = X
        self.Y, self.weights, self.confidences, self.outputs = Y, weights, confidences, outputs
        if W is not NO_CONSEQUENTS:
            self.W = W

    @property
    def is_unsettled(self) -> bool:
        """Whether a sensor may have moved after the last of these rows."""
        return self.watch is not None and self.watch.is_unsettled

    @cached_property
    def drifts_held(self) -> dict[int, dict[str, Any]]:
        """Labels whose drifts are no event yet, by number; what a stage has found of one, its event will have."""
        return {} if self.watch is None else self.watch.drifts_held

    def part(self, start: int, end: int) -> "Rows":
        """Return the rows from `start` to `end`: views, so that outputs of the part are outputs of the whole."""
        rows, after = slice(start, end), len(self.X) - end
        weights = self.weights[rows] if len(self.weights) else self.weights
        confidences = self.confidences[rows] if len(self.confidences) else self.confidences
        part = Rows(self.X[rows], self.Y[rows] if len(self.Y) else self.Y, weights, confidences)
        part.outputs, part.read, part.episode = self.outputs[rows], self.read[rows], self.episode
        part.follows = self.follows[rows] if len(self.follows) else self.follows
        part.followed = self.followed[rows] if len(self.followed) else self.followed
        part.n_rows = None if self.n_rows is None else self.n_rows - after
        part.n_seen = None if self.n_seen is None else self.n_seen - after
        return part

    def each(self) -> Iterator["Rows"]:
        """Yield the rows one by one, as `part` returns them."""
        for i in range(len(self.X)):
            yield self.part(i, i + 1)


# ---------------------------------------------------------------------- sizes


def check_batch(batch: Batch, n_features: int, n_labels: int) -> None:
    """Raise InternalError unless `batch` has X (n, `n_features`), Y (n, `n_labels`), and others fit Y or are empty.

    All must be C-contiguous and of eight bytes per entry. For X and Y, which are always 2-D, bytes are compared, and
    `ascontiguousarray` gives back the same object: these are the fastest ways to see it.
    """
    X, Y, weights, confidences, outputs, decisions, raw, read, P, coverages, limits, plain = batch
    n = len(X)
    if (
        X.nbytes != 8 * n * n_features
        or Y.nbytes != 8 * n * n_labels
        or len(Y) != n
        or _contiguous(X) is not X
        or _contiguous(Y) is not Y
        or (len(weights) and not is_ready(weights, (n,)))
        or (len(confidences) and not is_ready(confidences, (n, n_labels)))
        or (
            len(outputs)
            and (outputs.shape != Y.shape or outputs.nbytes != Y.nbytes or _contiguous(outputs) is not outputs)
        )
        or (len(read) and not is_ready(read, (n, n_features)))
        or (len(raw) and not is_ready(raw, (n, n_features)))
        or (len(plain) and not is_ready(plain, Y.shape))
        or (len(P) and not is_ready(P, Y.shape))
        or (len(decisions) and not is_ready(decisions, Y.shape))
        or (len(limits) and not (is_ready(limits, Y.shape) and is_ready(coverages, (n,))))
    ):
        raise misfit(batch._asdict(), f"{n_features} features and {n_labels} labels")


def check_learned(rows: Rows, n_features: int, n_labels: int) -> None:
    """Raise InternalError unless the arrays of `rows` that stages learn fit `n_features` and `n_labels`."""
    if rows.fits != (n_features, n_labels):
        check_batch(Batch(rows.read, rows.Y, rows.weights, rows.confidences, rows.outputs), n_features, n_labels)


def check_outputs(batch: Batch, n_labels: int) -> None:
    """Raise InternalError unless outputs and probabilities of `batch`, and all given beside them, fit `n_labels`."""
    check_batch(batch._replace(X=batch.outputs, outputs=NOT_GIVEN, raw=NOT_GIVEN, read=NOT_GIVEN), n_labels, n_labels)


def check_rows(X: FloatArray, n_features: int) -> None:
    """Raise InternalError unless `X` is (n, `n_features`), C-contiguous and of eight bytes per entry."""
    if X.nbytes != 8 * len(X) * n_features or _contiguous(X) is not X:
        raise misfit({"X": X}, f"{n_features} features")


def is_ready(array: FloatArray, shape: tuple[int, ...]) -> bool:
    """Whether `array` has this `shape` and is C-contiguous float64."""
    return array.shape == shape and array.dtype == _FLOAT64 and bool(array.flags.c_contiguous)


def misfit(arrays: dict[str, AnyArray], expected: str) -> InternalError:
    """Return the error that lists `arrays` that do not fit what was `expected`."""
    found = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items())
    return InternalError(f"arrays for a loop do not fit {expected}: {found}; this is a defect, please report it")
