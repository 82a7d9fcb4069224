"""What the stored arrays of the members must be beyond their ranges."""

import numpy as np

from evolabel.core.pace import check_persistence
from evolabel.core.schema import stream_sizes
from evolabel.core.stored_checks import check_arrays, require
from evolabel.stages.drift.arrays import (
    BORN,
    CALM,
    COMPARED_INDEPENDENT,
    CUT,
    GAIN_VARIANCE,
    LAG,
    MEMBER_ARRAYS,
    NEVER,
    RENEWED,
    ROWS,
    ROWS_COMPARED,
    SLOW_START,
)
from evolabel.stages.drift.loops.alarm import (
    IS_LOST,
    LOST_AT,
    MOST_ODDS,
    N_USUAL,
    RECENT_LOSS,
    RUN_PART,
    USUAL_LOSS,
    USUAL_MEMORY,
    USUAL_ODDS,
)
from evolabel.stages.drift.relatives import SMALL_VARIANCE
from evolabel.typing import Arrays, FloatArray


def check_members(arrays: Arrays, p: int, K: int, memory: int) -> None:
    """Check the `arrays` of the members of `p` features and `K` labels; the fast one remembers `memory` rows."""
    switches = {"asked"} if arrays["relatives"].size else ()
    check_arrays(arrays, MEMBER_ARRAYS.expected(stream_sizes(p, K), switches))
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
    check_positives(arrays["positives"], int(now))
    if switches:
        S = arrays["relatives"]
        require(np.array_equal(S, S.T) and np.linalg.eigvalsh(S)[0] > SMALL_VARIANCE / 2, "relatives", "covariances")
    require(arrays["episode"] <= now, "episode", "rows of the past")
    require((arrays["held"] == CALM) | (arrays["episode"] != NEVER), "held", "drifts of labels that are in one")
    least_0 = [ROWS_COMPARED, GAIN_VARIANCE, COMPARED_INDEPENDENT]
    require(arrays["paired"][least_0] >= 0.0, "paired", "counts and a variance of at least 0")


def check_positives(alarms: FloatArray, now: int) -> None:
    """Raise DataError unless the `alarms` on positives, whose values are in range, are possible at the row `now`."""
    shares = alarms[..., [RECENT_LOSS, USUAL_LOSS, RUN_PART, IS_LOST]]
    require(shares <= 1.0, "positives", "mean errors, part of an answer and a flag up to 1")
    require(alarms[..., USUAL_ODDS] <= MOST_ODDS, "positives", f"mean odds up to {MOST_ODDS:g}")
    require(alarms[..., N_USUAL] <= USUAL_MEMORY, "positives", "counts within their memory")
    require(alarms[..., LOST_AT] <= now, "positives", "alarms of the past")
