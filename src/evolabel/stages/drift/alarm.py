"""`DriftAlarm`: watches the losses of any learner, label by label, and detects that they have risen."""

from typing import Literal, NamedTuple, Self

import numpy as np

from evolabel._utils.validation import check_number, whole_number
from evolabel.core.stored_checks import MOST, Expected, check_arrays, floats, require, size_of, whole
from evolabel.engine.compile import direct
from evolabel.errors import DataError
from evolabel.stages.drift.arrays import N_ALARM
from evolabel.stages.drift.loops.alarm import (
    CALM_COUNT,
    CALM_MEAN,
    CALM_ODDS,
    CALM_VARIANCE,
    COUNTED_AT,
    IS_RAISED,
    MOST_ODDS,
    ODDS,
    QUIET,
    RAISED,
    RAISED_AT,
    RISE,
    SHORT_MEAN,
    watch_labels,
)
from evolabel.typing import AnyArray, Arrays, BoolArray, FloatArray, IntArray

_SHARE_MEMORY = 1000.0  # labels over which the share of a label fades
UNKNOWN_SHARE = 0.5  # of a label of which nothing was given: windows are the shortest

Finding = Literal["drift", "warning"]

_watch_labels = direct(watch_labels)


class AlarmState(NamedTuple):
    """Arrays of a `DriftAlarm` of K labels; they are changed in place."""

    alarms: FloatArray
    """One alarm per label, see `stages.drift.loops.alarm`; (K, N_ALARM)."""
    found: IntArray
    """What the last row has caused: QUIET, RISE or RAISED; (K,)."""
    shares: FloatArray
    """Shares of the labels; (K,)."""
    labels_seen: FloatArray
    """Labels by which the shares were estimated, each counted by its weight; (K,)."""
    n_rows: IntArray
    """Rows of the stream so far; (1,)."""

    @classmethod
    def none(cls, n_labels: int) -> "AlarmState":
        """Return the state of `n_labels` alarms before the first loss."""
        nothing = np.zeros(n_labels)
        found, shares = np.full(n_labels, QUIET, np.int64), np.full(n_labels, UNKNOWN_SHARE)
        return cls(np.zeros((n_labels, N_ALARM)), found, shares, nothing, np.zeros(1, np.int64))


class DriftAlarm:
    """Detects drift by the losses of a learner: one alarm per label, each compares recent losses with calm times.

    The mean loss over the last 50 answers, up to 500 for a rare label, is compared with mean and variance of the losses
    in calm times. A *drift* is a jump of that mean, or a series of answers that contradict sure outputs: it is detected
    once, and the alarm stays raised until the loss is back, or for 2,000 rows, when the new level becomes the calm one.
    A *warning* is a slow rise of the mean over 400 answers. The answers of the first two windows raise no alarm.

    Parameters
    ----------
    n_labels : int
        Number of labels, each with its own loss. More of them raise the thresholds, so that false alarms stay rare.

    Notes
    -----
    Any loss between 0 and 1 can be watched. The squared error of a probability is better than an error of 0 or 1: few
    errors, which come in clusters by chance, raise an alarm of such a learner now and then, and how sure an output was
    is read from its squared error. Losses are compared with
    earlier ones of the same kind: a loss of asked labels and one of random labels belong to two alarms.

    Examples
    --------
    The second label of the last 1,000 rows is the opposite of what it was:

    >>> import numpy as np
    >>> from evolabel import DriftAlarm
    >>> from evolabel.baselines import GlobalRLS
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = (X > 0.0).astype(float)
    >>> Y[1000:, 1] = 1.0 - Y[1000:, 1]
    >>> scores = GlobalRLS().fit(X[:50], Y[:50]).test_then_train(X[50:], Y[50:])
    >>> alarm = DriftAlarm(n_labels=2)
    >>> for row, (f, y) in enumerate(zip(scores.clip(0.0, 1.0), Y[50:]), start=50):
    ...     if alarm.update((f - y) ** 2, y) == "drift":
    ...         print(f"row {row}: labels {alarm.drifted}")
    row 1010: labels (1,)
    """

    def __init__(self, n_labels: int = 1) -> None:
        self.state = AlarmState.none(whole_number("n_labels", n_labels, 1))

    @property
    def n_labels(self) -> int:
        """How many labels are watched: columns of Y and of outputs."""
        return len(self.state.shares)

    @property
    def n_rows(self) -> int:
        """Rows of the stream so far: calls of `update`, and rows counted by `advance`."""
        return int(self.state.n_rows[0])

    @property
    def shares(self) -> FloatArray:
        """Share of the rows with each label, 0.5 until labels or shares are given; (n_labels,)."""
        return self.state.shares.copy()

    @property
    def drift_detected(self) -> bool:
        """Whether the last row has raised the alarm of a label."""
        return bool((self.state.found == RAISED).any())

    @property
    def warning_detected(self) -> bool:
        """Whether the last row has shown a slow rise of the loss of a label."""
        return bool((self.state.found == RISE).any())

    @property
    def drifted(self) -> tuple[int, ...]:
        """The labels whose alarms were raised by the last row."""
        return tuple(np.flatnonzero(self.state.found == RAISED).tolist())

    @property
    def is_raised(self) -> BoolArray:
        """Whether the alarm of each label is raised, since this row or an earlier one; (n_labels,)."""
        return np.asarray(self.state.alarms[:, IS_RAISED] > 0.0)

    @property
    def recent_losses(self) -> FloatArray:
        """Mean recent loss of each label, 0 before the first; when an alarm is raised, at least what raises it."""
        return self.state.alarms[:, SHORT_MEAN].copy()

    @property
    def calm_losses(self) -> FloatArray:
        """Mean loss of each label in calm times, 0 before the first; (n_labels,)."""
        return self.state.alarms[:, CALM_MEAN].copy()

    def update(
        self, losses: object, labels: object = None, *, shares: object = None, weight: float = 1.0
    ) -> Finding | None:
        """Watch the losses of the next row; return "drift", "warning" or None. Input that raises changes nothing.

        Parameters
        ----------
        losses : float or array (n_labels,)
            Losses from 0 to 1; NaN: the label was not answered, its loss is skipped.
        labels : float or array (n_labels,), optional
            The labels of the row, 0, 1 or NaN; by them the shares of the labels are estimated, over the last 1,000.
        shares : float or array (n_labels,), optional
            Shares of the labels from 0 to 1, instead of `labels`, where the caller has them.
        weight : float
            Weight of the row, above 0 and at most 1.

        Raises
        ------
        DataError
            If an array has the wrong length or values that are not allowed.
        ParameterError
            If `weight` is not allowed.
        """
        read = self._read("losses", losses)
        weight = check_number("weight", weight, 0, 1, open_low=True)
        if labels is not None and shares is not None:
            raise DataError("both labels and shares were given; pass one of them")
        if labels is not None:
            self._count_labels(self._read("labels", labels, binary=True), weight)
        elif shares is not None:
            self.state.shares[:] = self._read("shares", shares, missing=False)
        spreads = self.state.shares * (1.0 - self.state.shares)
        margin = float(np.sqrt(2.0 * np.log(self.n_labels + 1.0)))
        _watch_labels(self.state.alarms, read, spreads, self.n_rows, weight, margin, self.state.found)
        self.state.n_rows[0] += 1
        return "drift" if self.drift_detected else "warning" if self.warning_detected else None

    def advance(self, n_rows: int) -> None:
        """Count `n_rows` further rows of the stream, of which no label was answered."""
        self.state.n_rows[0] += whole_number("n_rows", n_rows, 0)
        self.state.found[:] = QUIET

    def arrays(self) -> Arrays:
        """Return the state as arrays by name, for a file."""
        return {name: array.copy() for name, array in self.state._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the alarm whose `arrays` these are, with the same bits; DataError if they do not fit together."""
        size = size_of(arrays, "shares")
        check_arrays(arrays, _table(size))
        require(size > 0, "shares", "at least one label")
        _check_alarms(arrays["alarms"], int(arrays["n_rows"][0]))
        made = cls(size)
        made.state = AlarmState(**{name: array.copy() for name, array in arrays.items()})
        return made

    def _read(self, name: str, values: object, *, missing: bool = True, binary: bool = False) -> FloatArray:
        """Return a copy of the `values` of all labels, checked; an error names them `name`.

        They are from 0 to 1, NaN only if `missing`, nothing in between if `binary`.
        """
        try:
            array = np.array(values, np.float64)
        except (TypeError, ValueError):
            raise DataError(f"{name} are {type(values).__name__}, which cannot be read as numbers") from None
        if array.ndim == 0:
            array = array[None]
        if array.shape != self.state.shares.shape:
            raise DataError(f"{name} have the shape {array.shape}; expected {self.state.shares.shape}, one per label")
        allowed = (array == 0.0) | (array == 1.0) if binary else (array >= 0.0) & (array <= 1.0)
        if missing:
            allowed |= np.isnan(array)
        if not allowed.all():
            expected = "0 or 1" if binary else "numbers from 0 to 1"
            also = ", or NaN to skip the label" if missing else ""
            raise DataError(f"{name} hold {array[~allowed][0]}; expected {expected}{also}")
        return array

    def _count_labels(self, labels: FloatArray, weight: float) -> None:
        """Update the shares of the `labels` that are not NaN, each of this `weight`."""
        seen = ~np.isnan(labels)
        self.state.labels_seen[seen] += weight
        step = weight / np.minimum(self.state.labels_seen[seen], _SHARE_MEMORY)
        self.state.shares[seen] += step * (labels[seen] - self.state.shares[seen])


def _table(size: int) -> dict[str, Expected]:
    """Return what the stored arrays of `size` labels must be."""
    return {
        "alarms": floats(size, N_ALARM, low=0.0, high=MOST),
        "found": whole(size, low=QUIET, high=RAISED),
        "shares": floats(size, low=0.0, high=1.0),
        "labels_seen": floats(size, low=0.0, high=MOST),
        "n_rows": whole(1),
    }


def _check_alarms(alarms: AnyArray, n_rows: int) -> None:
    """Raise DataError unless means and variances of `alarms` are possible, and none was raised after `n_rows` rows."""
    others = [CALM_COUNT, IS_RAISED, RAISED_AT, ODDS, CALM_ODDS, COUNTED_AT]
    require(np.delete(alarms, others, axis=1) <= 1.0, "alarms", "means and variances up to 1")
    require(np.isin(alarms[:, IS_RAISED], (0.0, 1.0)), "alarms", "0 or 1 for a raised alarm")
    require(alarms[:, [RAISED_AT, COUNTED_AT]] <= n_rows, "alarms", f"alarms raised within {n_rows} rows")
    require(alarms[:, CALM_ODDS] <= MOST_ODDS, "alarms", f"mean odds up to {MOST_ODDS:g}")
    unseen = alarms[:, CALM_COUNT] == 0.0
    require(alarms[unseen][:, CALM_VARIANCE] == 0.0, "alarms", "no variance without losses")
