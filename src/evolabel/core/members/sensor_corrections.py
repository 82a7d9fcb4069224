"""`SensorCorrection`: how the readings of a sensor that moved are corrected, as numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolabel.core.members.following import FollowingRules
from evolabel.core.rules.rule_base import RuleBase
from evolabel.kernels.members.state import CORRECTED_AT, FACTOR, OFFSET
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class SensorCorrection:
    """The corrected reading is `offset` + `factor` times the reading, from row `since` of the stream on.

    Examples
    --------
    >>> print(SensorCorrection(-12.0, 1.0, 6255))
    read 12 higher since row 6,255
    >>> print(SensorCorrection(0.3, 0.1, 6255))
    read 10 times as large and 3 lower since row 6,255
    """

    offset: float
    factor: float
    since: int

    def as_read(self, value: float) -> float:
        """Return what the sensor reads now where the corrected reading is `value`."""
        return (value - self.offset) / self.factor

    def __str__(self) -> str:
        """What the sensor does now, compared with before."""
        times, shift = 1.0 / self.factor, -self.offset / self.factor
        parts = [] if self.factor == 1.0 else [f"{times:.3g} times as large"]
        parts += [f"{abs(shift):.4g} {'higher' if shift > 0.0 else 'lower'}"] if shift else []
        since = f"since row {self.since:,}" if self.since else "from the start"
        return f"read {' and '.join(parts)} {since}"


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
