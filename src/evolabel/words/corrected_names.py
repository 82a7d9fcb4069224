"""What printed text says of a corrected sensor, once: how it reads now, compared with before.

All printed numbers are in the units that the sensors read now. The names themselves stay as they are.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evolabel._utils.text import one_line


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


Corrections = Mapping[str, SensorCorrection]
"""Corrections by the names of their features."""


def note_on(feature: str, corrections: Corrections) -> str:
    """Return " (read 12 higher since row 6,255)" for a `feature` among `corrections`, else nothing."""
    return f" ({corrections[feature]})" if feature in corrections else ""


def correction_note(corrections: Corrections, names: Collection[str], style: Callable[[str], str] = one_line) -> str:
    """Return one sentence about those of the `names` that are among the `corrections`; empty for none.

    Names are printed in this `style`.
    """
    found = [f"{style(name)} ({corrections[name]})" for name in dict.fromkeys(names) if name in corrections]
    return f"Corrected, with values as read now: {', '.join(found)}." if found else ""


def correction_values(corrections: Corrections) -> dict[str, Any]:
    """Return `corrections` as values that JSON can hold."""
    return {feature: {**asdict(found), "text": str(found)} for feature, found in corrections.items()}
