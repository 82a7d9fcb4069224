"""Threshold rules as named arrays for a file, and back; bins of values are derived again, not stored."""

import numpy as np

from evolabel.stages.threshold_rules.arrays import MAIN, MAIN_ROWS, OF_RING, RARE, RARE_ROWS, THRESHOLD_ARRAYS
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.typing import Arrays, BoolArray, IntArray


def places_in_use(clock: IntArray) -> BoolArray:
    """Return which places of the ring hold a row, by the `clock` of the threshold rules."""
    place = np.arange(MAIN_ROWS + RARE_ROWS)
    return np.asarray(np.where(place < MAIN_ROWS, place < clock[MAIN], place - MAIN_ROWS < clock[RARE]))


def thresholds_to_arrays(thresholds: ThresholdRules) -> Arrays:
    """Return the arrays of `thresholds` by name, those of the ring for its places in use."""
    t = thresholds.arrays
    used = places_in_use(t.clock)
    arrays: Arrays = {
        name: getattr(t, name)[used] if name in OF_RING else getattr(t, name) for name in THRESHOLD_ARRAYS.stored
    }
    return {**arrays, "Y": arrays["Y"].astype(np.bool_)}


def fill_thresholds(thresholds: ThresholdRules, arrays: Arrays) -> None:
    """Fill `thresholds`, which have learned nothing, with stored `arrays` that were checked."""
    t = thresholds.arrays
    used = places_in_use(arrays["clock"])
    for name in THRESHOLD_ARRAYS.stored:
        array = getattr(t, name)
        array[used if name in OF_RING else ...] = arrays[name]
    thresholds.derive_codes()
