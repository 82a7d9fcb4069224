"""Corrections of sensors that have moved, by the names of their features."""

from collections.abc import Sequence

import numpy as np

from evolabel.stages.drift.arrays import CORRECTED_AT, FACTOR, OFFSET
from evolabel.stages.drift.stage import FollowingRules
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray
from evolabel.words.corrected_names import SensorCorrection


def sensor_corrections(rules: RuleBase, feature_names: Sequence[str]) -> dict[str, SensorCorrection]:
    """Return the corrections that `rules` have adopted, by the names of the features in `feature_names`."""
    if not isinstance(rules, FollowingRules):
        return {}
    offsets, factors = rules.members.views[OFFSET], rules.members.views[FACTOR]
    since = rules.members.readings[CORRECTED_AT]
    return {
        feature_names[j]: SensorCorrection(float(offsets[j]), float(factors[j]), int(since[j]))
        for j in np.flatnonzero((offsets != 0.0) | (factors != 1.0)).tolist()
    }


def as_read_now(rules: RuleBase, X: FloatArray) -> FloatArray:
    """Return the corrected values `X`, (n, p), in the units that the sensors of `rules` read now."""
    views = _views(rules)
    return X if views is None else np.asarray((X - views[OFFSET]) / views[FACTOR])


def as_corrected(rules: RuleBase, X: FloatArray) -> FloatArray:
    """Return the values `X`, (n, p), which the sensors of `rules` read now, in corrected units."""
    views = _views(rules)
    return X if views is None else np.asarray(views[OFFSET] + views[FACTOR] * X)


def _views(rules: RuleBase) -> FloatArray | None:
    """Return the adopted offsets and factors of `rules`; None where no sensor is corrected, as nearly always."""
    if not isinstance(rules, FollowingRules):
        return None
    views = rules.members.views
    return views if (views[OFFSET] != 0.0).any() or (views[FACTOR] != 1.0).any() else None
