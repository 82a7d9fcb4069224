"""`Sensors`: the stage that corrects readings of sensors that have moved."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from evolabel.core.rows import Rows
from evolabel.core.sizes import check_rows
from evolabel.engine.compile import direct, interpreted
from evolabel.stages.drift.arrays import (
    CORRECTED_AT,
    FACTOR,
    NEW_FACTOR,
    NEW_OFFSET,
    NEW_ROWS,
    NEW_SCATTER,
    OFFSET,
    SCORE_MEAN,
    SCORE_VARIANCE,
    UNWATCHED,
    USUAL_MEAN,
    USUAL_VARIANCE,
    MemberArrays,
)
from evolabel.stages.sensors.loops.watch import correct_rows, uses_new_view
from evolabel.stages.sensors.steady import steady_features
from evolabel.typing import FloatArray
from evolabel.words.corrected_names import SensorCorrection

_correct_rows = direct(correct_rows)
_uses_new_view: Any = interpreted(uses_new_view)


class Watch(Protocol):
    """The loop in which sensors are watched and corrections are tried: that of the drift stage."""

    arrays: MemberArrays

    @property
    def packed(self) -> Any:
        """The arrays as compiled loops take them."""


class Sensors:
    """The stage where no sensor is watched: rows are read as they come."""

    name = "sensors"

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


class WatchedSensors(Sensors):
    """Sensors that are watched row by row, and corrected where they have moved.

    Parameters
    ----------
    watch : Watch
        Where their arrays are.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def corrected(self, X: FloatArray) -> FloatArray:
        """Return the raw rows `X`, with the readings of sensors that moved as they would have been before."""
        rows = np.ascontiguousarray(X)
        check_rows(rows, self.watch.arrays.views.shape[1])
        out = np.empty(rows.shape)
        _correct_rows(self.watch.packed, rows, out)
        return out

    def as_read(self, X: FloatArray) -> FloatArray:
        """Return the corrected rows `X` as the sensors read them now: what `corrected` returns as `X`."""
        views, on_trial = self.watch.arrays.views, _uses_new_view(self.watch.arrays.trial)
        offset, factor = views[[NEW_OFFSET, NEW_FACTOR] if on_trial else [OFFSET, FACTOR]]
        return np.asarray((X - offset) / factor)

    def corrections(self, feature_names: Sequence[str]) -> dict[str, SensorCorrection]:
        """Return the corrections that were adopted, by the names of the features in `feature_names`."""
        offsets, factors = self.watch.arrays.views[[OFFSET, FACTOR]]
        since = self.watch.arrays.readings[CORRECTED_AT]
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
        self.watch.arrays.phase[steady_features(X)] = UNWATCHED

    def copy(self, other: Any) -> None:
        """Read as `other` sensors do: corrections and usual readings are copied, a trial is not."""
        mine, theirs = self.watch.arrays, other.watch.arrays
        mine.views[:] = np.tile(theirs.views[:NEW_OFFSET], (2, 1))
        mine.readings[:] = theirs.readings
        mine.readings[[SCORE_MEAN, SCORE_VARIANCE]] = theirs.readings[[USUAL_MEAN, USUAL_VARIANCE]]
        mine.readings[NEW_ROWS : NEW_SCATTER + 1] = 0.0
        mine.readings[CORRECTED_AT] = 0.0  # a row of another stream
        mine.phase[theirs.phase == UNWATCHED] = UNWATCHED

    @property
    def _adopted(self) -> FloatArray | None:
        """Adopted offsets and factors; None where no sensor is corrected, as nearly always."""
        views = self.watch.arrays.views
        return views if (views[OFFSET] != 0.0).any() or (views[FACTOR] != 1.0).any() else None
