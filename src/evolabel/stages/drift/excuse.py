"""Labels that a moved sensor excuses: their alarms are lowered, because the correction of the sensor mends them."""

from evolabel.stages.drift.loops import positives
from evolabel.stages.drift.loops.alarm import CALM_MEAN, IS_RAISED, LONG_MEAN, ODDS, SHORT_MEAN
from evolabel.typing import FloatArray


def excuse(alarm: FloatArray, of_positives: FloatArray) -> None:
    """Lower the `alarm` of a label and the one `of_positives`; recent losses count as those of calm times."""
    alarm[[SHORT_MEAN, LONG_MEAN]] = alarm[CALM_MEAN]
    alarm[[IS_RAISED, ODDS]] = 0.0
    of_positives[positives.RECENT_LOSS] = of_positives[positives.USUAL_LOSS]
    of_positives[[positives.LOST_ODDS, positives.IS_LOST]] = 0.0
