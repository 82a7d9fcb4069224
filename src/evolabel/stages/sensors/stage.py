"""`Sensors`: the stage that corrects readings of sensors that have moved."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from evolabel.core.rows import Rows, check_rows
from evolabel.core.stored_checks import check_names
from evolabel.engine.compile import direct, interpreted
from evolabel.engine.packed_state import pack
from evolabel.stages.sensors.arrays import (
    CORRECTED_AT,
    CORRECTION_DROPPED,
    FACTOR,
    INPUTS_MOVED,
    NEW_FACTOR,
    NEW_OFFSET,
    NEW_ROWS,
    NEW_SCATTER,
    OFFSET,
    SCORE_MEAN,
    SCORE_VARIANCE,
    SENSOR_ARRAYS,
    SENSOR_MOVED,
    UNWATCHED,
    USUAL_MEAN,
    USUAL_VARIANCE,
    SensorState,
    allocate_sensors,
    check_sensors,
    sensor_state,
)
from evolabel.stages.sensors.loops import COLLECTED_ROWS, correct_rows, uses_new_view
from evolabel.typing import Arrays, BoolArray, FloatArray
from evolabel.words.names import SensorCorrection

_correct_rows = direct(correct_rows)
_uses_new_view: Any = interpreted(uses_new_view)


_KINDS = {SENSOR_MOVED: "sensor moved", INPUTS_MOVED: "inputs moved", CORRECTION_DROPPED: "correction dropped"}


class MovedSensor(NamedTuple):
    """A sensor that has moved: row of the verdict, number of the feature, and how it is read.

    `mean` and `variance` are those of its readings in calm times, `old` and `new` the offset and factor of its
    corrected reading before and after the verdict. Where a correction is dropped, rows were corrected by it `since` a
    row of the stream; else this is -1, and the rows that are to be corrected are not known.
    """

    row: int
    feature: int
    mean: float
    variance: float
    old: tuple[float, ...]
    new: tuple[float, ...]
    since: int = -1


class Sensors:
    """The stage where no sensor is watched: rows are read as they come."""

    name = "sensors"

    def __init__(self) -> None:
        self.moved: list[MovedSensor] = []  # those that the last rows of the stream have shown

    def answer(self, rows: Rows) -> None:
        """Set what is read of `rows`: their raw features, corrected."""
        rows.read = self.corrected(rows.X)

    def corrected(self, X: FloatArray) -> FloatArray:
        """Return the raw rows `X`, with the readings of sensors that moved as they would have been before."""
        return X

    def as_read(self, X: FloatArray) -> FloatArray:
        """Return the corrected rows `X` as the sensors read them now: what `corrected` returns as `X`."""
        return X

    def corrections(self, feature_names: Sequence[str]) -> dict[str, SensorCorrection]:
        """Return the corrections that were adopted, by the names of the features in `feature_names`."""
        return {}

    def as_read_now(self, X: FloatArray) -> FloatArray:
        """Return the corrected values `X`, (n, p), in the units that the sensors read by the adopted corrections."""
        return X

    def as_corrected(self, X: FloatArray) -> FloatArray:
        """Return the values `X`, (n, p), which the sensors read now, in units corrected as adopted."""
        return X

    def leave_out_steady(self, X: FloatArray) -> None:
        """Exclude features that only rise, or only fall, in the initial rows `X` from those that are watched."""

    def copy(self, other: Any) -> None:
        """Read as `other` sensors do: corrections and usual readings are copied, a trial is not."""

    def stored(self) -> Arrays:
        """Return the arrays of the sensors by name, as files have them."""
        return {}

    def restore(self, arrays: Arrays, now: int) -> None:
        """Set the sensors to copies of stored `arrays`; DataError if they are not those of sensors at the row `now`."""
        check_names(arrays, ())


class WatchedSensors(Sensors):
    """Sensors that are watched row by row, and corrected where they have moved.

    The loop of the drift stage watches them, because the errors of its members are what a verdict needs.

    Parameters
    ----------
    n_features : int
        Number of features.

    Attributes
    ----------
    arrays : SensorArrays
        Corrections, usual readings and the trial.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.arrays = allocate_sensors(n_features)
        self._kept: tuple[SensorState, Any] | None = None

    @property
    def state(self) -> SensorState:
        """The arrays with scratch arrays, made again when the arrays were replaced."""
        return self._made()[0]

    @property
    def packed(self) -> Any:
        """The state as compiled loops take it."""
        return self._made()[1]

    def _made(self) -> tuple[SensorState, Any]:
        kept = self._kept
        if kept is None or kept[0].arrays is not self.arrays:
            state = sensor_state(self.arrays)
            if kept is not None and len(kept[0].x) == len(state.x):
                state.x[:] = kept[0].x  # needed after a rule was created for the row
            kept = self._kept = state, pack(state)
        return kept

    def corrected(self, X: FloatArray) -> FloatArray:
        """Return the raw rows `X`, with the readings of sensors that moved as they would have been before."""
        rows = np.ascontiguousarray(X)
        check_rows(rows, self.arrays.views.shape[1])
        out = np.empty(rows.shape)
        _correct_rows(self.packed, rows, out)
        return out

    def as_read(self, X: FloatArray) -> FloatArray:
        """Return the corrected rows `X` as the sensors read them now: what `corrected` returns as `X`."""
        views, on_trial = self.arrays.views, _uses_new_view(self.arrays.trial)
        offset, factor = views[[NEW_OFFSET, NEW_FACTOR] if on_trial else [OFFSET, FACTOR]]
        return np.asarray((X - offset) / factor)

    def corrections(self, feature_names: Sequence[str]) -> dict[str, SensorCorrection]:
        """Return the corrections that were adopted, by the names of the features in `feature_names`."""
        offsets, factors = self.arrays.views[[OFFSET, FACTOR]]
        since = self.arrays.readings[CORRECTED_AT]
        return {
            feature_names[j]: SensorCorrection(float(offsets[j]), float(factors[j]), int(since[j]))
            for j in np.flatnonzero((offsets != 0.0) | (factors != 1.0)).tolist()
        }

    def as_read_now(self, X: FloatArray) -> FloatArray:
        """Return the corrected values `X`, (n, p), in the units that the sensors read by the adopted corrections."""
        views = self._adopted
        return X if views is None else np.asarray((X - views[OFFSET]) / views[FACTOR])

    def as_corrected(self, X: FloatArray) -> FloatArray:
        """Return the values `X`, (n, p), which the sensors read now, in units corrected as adopted."""
        views = self._adopted
        return X if views is None else np.asarray(views[OFFSET] + views[FACTOR] * X)

    def leave_out_steady(self, X: FloatArray) -> None:
        """Exclude features that only rise, or only fall, in the initial rows `X` from those that are watched."""
        self.arrays.phase[steady_features(X)] = UNWATCHED

    def copy(self, other: Any) -> None:
        """Read as `other` sensors do: corrections and usual readings are copied, a trial is not."""
        mine, theirs = self.arrays, other.arrays
        mine.views[:] = np.tile(theirs.views[:NEW_OFFSET], (2, 1))
        mine.readings[:] = theirs.readings
        mine.readings[[SCORE_MEAN, SCORE_VARIANCE]] = theirs.readings[[USUAL_MEAN, USUAL_VARIANCE]]
        mine.readings[NEW_ROWS : NEW_SCATTER + 1] = 0.0
        mine.readings[CORRECTED_AT] = 0.0  # a row of another stream
        mine.phase[theirs.phase == UNWATCHED] = UNWATCHED

    @property
    def _adopted(self) -> FloatArray | None:
        """Adopted offsets and factors; None where no sensor is corrected, as nearly always."""
        views = self.arrays.views
        return views if (views[OFFSET] != 0.0).any() or (views[FACTOR] != 1.0).any() else None

    def verdicts(self, row: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield kind and details of an event for each feature of a trial that has ended at the `row` of the stream.

        Those that are read in another way from now on are appended to `moved`. The verdicts are cleared.
        """
        state = self.state
        for feature in np.flatnonzero(state.verdict).tolist():
            before, after, deviations, variance, *old, since = state.moved[:, feature].tolist()
            verdict = int(state.verdict[feature])
            kind = _KINDS[verdict]
            if verdict != INPUTS_MOVED:
                new = self.arrays.views[[OFFSET, FACTOR], feature].tolist()
                first = int(since) if verdict == CORRECTION_DROPPED else -1
                self.moved.append(MovedSensor(row, feature, before, variance, tuple(old), tuple(new), first))
            yield kind, {"feature": feature, "before": before, "after": after, "deviations": deviations}
        state.verdict[:] = 0

    def take_features(self, other: Any, sources: dict[str, Any]) -> None:
        """Copy the arrays of `other` sensors with their features at `sources` (`core.schema.of_features`)."""
        self.arrays = SENSOR_ARRAYS.rearranged(other.arrays, sources)

    def stored(self) -> Arrays:
        """Return the arrays of the sensors by name, as files have them."""
        return self.arrays._asdict()

    def restore(self, arrays: Arrays, now: int) -> None:
        """Set the sensors to copies of stored `arrays`; DataError if they are not those of sensors at the row `now`."""
        check_sensors(arrays, len(self.arrays.phase), now)
        self.arrays = SENSOR_ARRAYS.from_arrays(arrays)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "moved": []}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = SENSOR_ARRAYS.writeable(self.arrays)


_STEADY = 0.05  # of the range of a feature: rows that come a little late do not make it fall


def steady_features(X: FloatArray) -> BoolArray:
    """Return which features only rise, or only fall, in the initial rows `X`, (p,), although no sensor has moved."""
    return _rises(X) | _rises(-X)


def _rises(X: FloatArray) -> BoolArray:
    """Return which columns of `X` never fall by more than `_STEADY` of their range, and have enough known values."""
    known = ~np.isnan(X)
    low, high = np.min(X, axis=0, where=known, initial=np.inf), np.max(X, axis=0, where=known, initial=-np.inf)
    peak = np.maximum.accumulate(np.where(known, X, -np.inf), axis=0)
    fall = np.where(known, peak - np.where(known, X, 0.0), 0.0).max(axis=0)
    return np.asarray((known.sum(axis=0) >= COLLECTED_ROWS) & (low < high) & (fall <= _STEADY * (high - low)))
