"""What the stored arrays of the members must be beyond their ranges."""

import numpy as np

from evolabel.core.array_checks import LARGEST, check_arrays, require
from evolabel.core.pace import check_persistence
from evolabel.core.schema import stream_sizes
from evolabel.stages.drift.arrays import (
    ANSWERS,
    BORN,
    COMPARED_INDEPENDENT,
    CORRECTED_AT,
    CUT,
    FACTOR,
    GAIN_VARIANCE,
    HIGHEST_MEAN,
    IS_ON,
    LAG,
    LEAST_VARIANCE,
    LOWEST_MEAN,
    MEMBER_ARRAYS,
    MOST_VARIANCE,
    NEVER,
    NEW_FACTOR,
    NEW_MEAN,
    NEW_ROWS,
    NEW_SCATTER,
    ON_TRIAL,
    READ_MEAN,
    READ_VARIANCE,
    RENEWED,
    ROWS,
    ROWS_COMPARED,
    RUN_ENDED,
    RUN_ROWS,
    RUNS,
    RUNS_SCATTER,
    SCORE_MEAN,
    SCORE_VARIANCE,
    SINCE_SUSPECT,
    SLOW_START,
    STARTED,
    USUAL_MEAN,
    USUAL_VARIANCE,
)
from evolabel.typing import Arrays


def check_members(arrays: Arrays, p: int, K: int, memory: int) -> None:
    """Check the `arrays` of the members of `p` features and `K` labels; the fast one remembers `memory` rows."""
    check_arrays(arrays, MEMBER_ARRAYS.expected(stream_sizes(p, K)))
    clock, now = arrays["clock"], arrays["clock"][ROWS]
    lag, of_row = arrays["time"][LAG], arrays["time"][LAG + 1 :]
    time, since = now - np.floor(lag), clock[[BORN, CUT, RENEWED]]
    require(now >= 0, "clock", "rows of the past")
    require((time >= 0) & (of_row > 0.0) & (of_row <= 1.0), "time", "no more than the rows, and shares of a row")
    require((since >= NEVER) & (since <= time), "clock", "times of the past")
    check_persistence(arrays["persistence"])
    require(clock[SLOW_START] >= -memory, "clock", "a memory of the slow member that began in the stream")
    require(clock[SLOW_START] <= time, "clock", "times of the past")
    require(arrays["share"][0] <= 1.0, "share", "shares in [0, 1]")
    require(arrays["alarms"][:, :, :4] <= 1.0, "alarms", "means and variances of losses in [0, 1]")
    require(arrays["episode"] <= now, "episode", "rows of the past")
    least_0 = [ROWS_COMPARED, GAIN_VARIANCE, COMPARED_INDEPENDENT]
    require(arrays["paired"][least_0] >= 0.0, "paired", "counts and a variance of at least 0")
    trial = arrays["trial"]
    require(np.isin(trial[[IS_ON, RUN_ENDED]], (0.0, 1.0)), "trial", "0 or 1, whether there is a trial and a new run")
    counts = trial[[*range(STARTED, ANSWERS + 1), RUN_ROWS, RUNS, RUNS_SCATTER]]
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
    require((arrays["readings"][NEW_ROWS] > 0.0) | ~on_trial, "readings", "rows of every feature on trial")
