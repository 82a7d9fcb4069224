"""What printed text says of a corrected sensor, once: how it reads now, compared with before.

All printed numbers are in the units that the sensors read now. The names themselves stay as they are.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from typing import Any

from evolabel._utils.text import one_line
from evolabel.core.members.sensor_corrections import SensorCorrection

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
