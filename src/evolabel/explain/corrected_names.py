"""Names of features in printed text: a corrected one is followed by what its sensor reads now.

Conditions of rules are in the units from before the sensor moved. The names themselves stay as they are.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evolabel.core.members.sensor_corrections import SensorCorrection

Corrections = Mapping[str, SensorCorrection]
"""Corrections by the names of their features."""


def note_on(feature: str, corrections: Corrections) -> str:
    """Return " (read 12 higher since row 6,255)" for a `feature` among `corrections`, else nothing."""
    return f" ({corrections[feature]})" if feature in corrections else ""


def correction_values(corrections: Corrections) -> dict[str, Any]:
    """Return `corrections` as values that JSON can hold."""
    return {feature: {**asdict(found), "text": str(found)} for feature, found in corrections.items()}
