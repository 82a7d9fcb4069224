"""Threshold rules after a sensor has moved: rows that were learned before this was known are corrected.

A sensor is corrected some 250 rows after it has moved, when a trial has shown it. The rows in between stand in the ring
as they were read, and steps were found and means learned from them. These rows are the run of neighbours that becomes
most likely by the correction, with the mean and the variance of the readings in calm times.
"""

import numpy as np

from evolabel.stages.sensors.loops.watch import WATCHED_UP_TO
from evolabel.stages.sensors.stage import MovedSensor
from evolabel.stages.threshold_rules.arrays import MAIN_ROWS, ThresholdArrays
from evolabel.typing import FloatArray, IntArray


def correct_ring(t: ThresholdArrays, moved: MovedSensor) -> IntArray:
    """Correct the readings of the sensor `moved` in the ring of `t`; return the labels whose trees ask about it.

    An empty array is returned where no row is to be corrected. The caller derives the codes of the values anew.
    """
    first, last = _wrong_rows(t, moved)
    wrong = (t.rows >= first) & (t.rows <= last)
    t.X[wrong, moved.feature] = _corrected(t.X[wrong, moved.feature], moved)
    asking = (t.feature == moved.feature).any(axis=1) & wrong.any()
    return np.flatnonzero(asking)


def _wrong_rows(t: ThresholdArrays, moved: MovedSensor) -> tuple[int, int]:
    """Return the first and last row in the main ring of `t` whose reading of the sensor `moved` is not corrected yet.

    Rows are numbers, as in `t.rows`; the last is smaller than the first if there is none. No value counts for more than
    `WATCHED_UP_TO` deviations.
    """
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
