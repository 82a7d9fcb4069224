"""The arrays by which sensors are watched and corrected.

`SensorArrays` are stored; `SensorState` adds what one row needs.

| array    | row            | meaning                                                                            |
|----------|----------------|------------------------------------------------------------------------------------|
| views    | OFFSET, FACTOR | a and b of the view in use: the corrected reading is a + b x                       |
|          | NEW_OFFSET ... | those of the view on trial; in a review those from before the correction           |
| readings | SCORE_MEAN     | fading mean of the score, cut at +-`WATCHED_UP_TO`, over `SCORE_WINDOW` rows      |
|          | SCORE_VARIANCE | its variance                                                                       |
|          | USUAL_MEAN     | the mean at its last usual place: 0, until inputs have moved                       |
|          | USUAL_VARIANCE | the variance there: 1, until inputs have moved                                     |
|          | LOWEST_MEAN    | lowest and highest mean of all usual places so far: 0                              |
|          | HIGHEST_MEAN   |                                                                                    |
|          | LEAST_VARIANCE | least and most variance of them: 1                                                 |
|          | MOST_VARIANCE  |                                                                                    |
|          | SINCE_SUSPECT  | these four numbers of the places since the feature was suspect                     |
|          | READ_MEAN      | mean of the raw reading in calm times, over `READING_MEMORY` rows                     |
|          | READ_VARIANCE  | its variance                                                                       |
|          | CALM_ROWS      | rows in both                                                                       |
|          | NEW_ROWS       | rows since the feature was suspect                                                 |
|          | NEW_MEAN       | mean of the raw reading in them                                                    |
|          | NEW_SCATTER    | sum of their squared deviations                                                    |
|          | CORRECTED_AT   | row of the stream since which the view in use is used, 0: the first one            |
| phase    |                | WATCHED, COLLECTING, ON_TRIAL, UNWATCHED or REVIEWED                               |
| trial    | IS_ON          | 1: there is a trial, 2 (`REVIEW`): corrections that were adopted are reviewed      |
|          | STARTED        | first row of the trial, or of the part of it that all features on trial share      |
|          | LOSS_AS_READ   | fading mean of the slow member's error by the view in use                          |
|          | LOSS_MOVED     | and by the view on trial                                                           |
|          | ANSWERS        | rows with labels in the trial                                                      |
|          | RUN_ENDED      | 1: an answer has changed since the last row of the trial                           |
|          | RUN_GAIN       | sum of LOSS_AS_READ minus LOSS_MOVED over the `RUN_ROWS` rows of the present run   |
|          | RUNS, RUNS_GAIN| runs that have ended, mean of their mean gains, and sum of the squared deviations  |
|          | RUNS_SCATTER   |                                                                                    |
|          | UNSETTLED      | 1: a feature is on trial, or has begun to leave its usual places                   |
|          | BEGUN          | first row of the trial or review, also where later suspects have joined it         |
|          | PERSISTS       | 1: answers persist                                                                 |
"""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE, LARGEST, MOST, MOST_SQUARED, check_arrays, require
from evolabel.engine.packed_state import declare
from evolabel.typing import Arrays, FloatArray, IntArray

# Rows of `views` and `readings`, values of `phase`, and index of `trial`.
OFFSET, FACTOR, NEW_OFFSET, NEW_FACTOR = 0, 1, 2, 3
SCORE_MEAN, SCORE_VARIANCE, USUAL_MEAN, USUAL_VARIANCE = 0, 1, 2, 3
READ_MEAN, READ_VARIANCE, CALM_ROWS, NEW_ROWS, NEW_MEAN, NEW_SCATTER, CORRECTED_AT = 4, 5, 6, 7, 8, 9, 10
LOWEST_MEAN, HIGHEST_MEAN, LEAST_VARIANCE, MOST_VARIANCE, SINCE_SUSPECT = 11, 12, 13, 14, 15
N_READINGS = 19
WATCHED, COLLECTING, ON_TRIAL, UNWATCHED, REVIEWED = 0, 1, 2, 3, 4
IS_ON, STARTED, LOSS_AS_READ, LOSS_MOVED, ANSWERS = 0, 1, 2, 3, 4
RUN_ENDED, RUN_GAIN, RUN_ROWS, RUNS, RUNS_GAIN, RUNS_SCATTER = 5, 6, 7, 8, 9, 10
UNSETTLED, BEGUN, PERSISTS = 11, 12, 13
N_TRIAL = 14
REVIEW = 2.0  # value of IS_ON

NO_VERDICT, SENSOR_MOVED, INPUTS_MOVED, CORRECTION_DROPPED = 0, 1, 2, 3  # of `verdict`

_FIRST_VIEWS = np.array([[0.0], [1.0], [0.0], [1.0]])
_FIRST_READINGS = np.zeros((N_READINGS, 1))
_FIRST_READINGS[[SCORE_VARIANCE, USUAL_VARIANCE, LEAST_VARIANCE, MOST_VARIANCE]] = 1.0


class SensorArrays(NamedTuple):
    """What is known of the sensors."""

    views: Annotated[FloatArray, array(4, "feature", start=_FIRST_VIEWS, low=-FINITE, high=FINITE)]
    """Corrections of sensors, adopted and tried."""
    readings: Annotated[
        FloatArray, array(N_READINGS, "feature", start=_FIRST_READINGS, low=-MOST_SQUARED, high=MOST_SQUARED)
    ]
    """Of the features that are watched; see the indices above."""
    phase: Annotated[IntArray, array("feature", high=REVIEWED)]
    """What is done about each feature."""
    trial: Annotated[FloatArray, array(N_TRIAL, low=-float(MOST), high=float(MOST))]
    """Of the trial of a correction."""


SENSOR_ARRAYS = Schema(SensorArrays)


class SensorState(NamedTuple):
    """The arrays of the sensors, and what one row fills.

    `x` has the raw features of the present row, corrected, `verdict` what a trial has shown of each feature, else 0.
    `moved` has its mean before and after, the difference in deviations, its variance before, the offset and factor
    of its readings before, and of a correction that is dropped the row since which rows were corrected.
    """

    arrays: SensorArrays
    x: FloatArray
    verdict: IntArray
    moved: FloatArray


def sensor_state(arrays: SensorArrays) -> SensorState:
    """Return `arrays` with scratch arrays, as loops take them."""
    p = len(arrays.phase)
    return SensorState(arrays, x=np.zeros(p), verdict=np.zeros(p, np.int64), moved=np.zeros((7, p)))


def allocate_sensors(n_features: int) -> SensorArrays:
    """Return the state of `n_features` sensors that have read nothing."""
    return SENSOR_ARRAYS.allocate(stream_sizes(n_features, 0))


def check_sensors(arrays: Arrays, p: int, now: int) -> None:
    """Check the stored `arrays` of `p` sensors that have read `now` rows."""
    check_arrays(arrays, SENSOR_ARRAYS.expected(stream_sizes(p, 0)))
    trial = arrays["trial"]
    require(np.isin(trial[[RUN_ENDED, UNSETTLED]], (0.0, 1.0)), "trial", "0 or 1, whether a run has ended")
    require(np.isin(trial[IS_ON], (0.0, 1.0, REVIEW)), "trial", "0, 1 or 2, whether there is a trial or a review")
    counts = trial[[*range(STARTED, ANSWERS + 1), RUN_ROWS, RUNS, RUNS_SCATTER, BEGUN]]
    require(counts >= 0.0, "trial", "rows, losses, counts and a sum of squares of at least 0")
    require(arrays["views"][[FACTOR, NEW_FACTOR]] > 0.0, "views", "factors above 0")
    require(arrays["readings"][CORRECTED_AT] <= now, "readings", "rows of the past")
    variances = [SCORE_VARIANCE, USUAL_VARIANCE, LEAST_VARIANCE, MOST_VARIANCE, SINCE_SUSPECT + 2, SINCE_SUSPECT + 3]
    require(arrays["readings"][variances] >= 0.0, "readings", "variances of at least 0")
    require(arrays["readings"][READ_VARIANCE:NEW_MEAN] >= 0.0, "readings", "a variance and counts of at least 0")
    means = [SCORE_MEAN, USUAL_MEAN, READ_MEAN, NEW_MEAN, LOWEST_MEAN, HIGHEST_MEAN, SINCE_SUSPECT, SINCE_SUSPECT + 1]
    require(np.abs(arrays["readings"][means]) <= LARGEST, "readings", f"means of at most {LARGEST:g}")
    require(arrays["readings"][NEW_SCATTER] >= 0.0, "readings", "sums of squares of at least 0")
    on_trial = arrays["phase"] == ON_TRIAL
    require((arrays["trial"][IS_ON] == 1.0) | ~on_trial, "phase", "features on trial only where there is a trial")
    reviewed = (arrays["trial"][IS_ON] == REVIEW) | (arrays["phase"] != REVIEWED)
    require(reviewed, "phase", "features that are reviewed only where there is a review")
    require((arrays["readings"][NEW_ROWS] > 0.0) | ~on_trial, "readings", "rows of every feature on trial")


declare(SensorArrays, allocate_sensors(1))
declare(SensorState, sensor_state(allocate_sensors(1)))
