"""Names in the text of rules: in quotes where they could not be read back, and with a note where a sensor has moved.

All printed numbers are in the units that the sensors read now. The names themselves stay as they are.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evolabel._utils.text import one_line

KEY_WORDS = (
    *("IF", "THEN", "WITH", "CONFIDENCE", "WEIGHT", "CALLED"),
    *("IS", "AND", "BETWEEN", "ABOVE", "BELOW", "LIKELY", "UNLIKELY"),
)
NOT = "NOT"  # a key word after IS only, so that names may be "not"
OR, NEITHER, NOR, MISSING, KNOWN = "OR", "NEITHER", "NOR", "MISSING", "KNOWN"  # the same
_PRINTED_WORDS = {*KEY_WORDS, NOT, OR, NEITHER, NOR, MISSING, KNOWN}
_UNQUOTED = re.compile(r'[^\s,"]+')
_NOTE = re.compile(r"\bon today's gauge")  # as the correction of a sensor begins


def quoted(name: str) -> str:
    """Return `name` in quotes, with a backslash before quotes and backslashes."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def written_name(name: str) -> str:
    """Return `name`, in quotes unless it is one word and no key word."""
    return name if _UNQUOTED.fullmatch(name) and name.upper() not in KEY_WORDS else quoted(name)


def printed_name(name: str) -> str:
    """Return `name` on one line, in quotes only where the printed rule could not be read back.

    Examples
    --------
    >>> printed_name("oil pressure"), printed_name("salt and pepper"), printed_name("not leak")
    ('oil pressure', '"salt and pepper"', '"not leak"')
    """
    line = one_line(name)
    words = line.split()
    plain = line == " ".join(words) and all(_UNQUOTED.fullmatch(word) for word in words) and not _NOTE.search(line)
    return line if words and plain and not _PRINTED_WORDS & {word.upper() for word in words} else quoted(line)


@dataclass(frozen=True)
class SensorCorrection:
    """The corrected reading is `offset` + `factor` times the reading, from row `since` of the stream on.

    Examples
    --------
    >>> print(SensorCorrection(-12.0, 1.0, 6255))
    read 12 higher, corrected since row 6,255
    >>> print(SensorCorrection(0.3, 0.1, 6255))
    read 10 times as large and 3 lower, corrected since row 6,255
    """

    offset: float
    factor: float
    since: int

    def as_read(self, value: float) -> float:
        """Return what the sensor reads now where the corrected reading is `value`."""
        return (value - self.offset) / self.factor

    def as_before(self, value: float) -> float:
        """Return what the sensor read before it moved where it reads `value` now."""
        return self.offset + self.factor * value

    @property
    def before(self) -> str:
        """Up to when limits were those of the readings before; the sensor itself had moved earlier."""
        return "before the correction" + (f" at row {self.since:,}" if self.since else "")

    def __str__(self) -> str:
        """What the sensor does now, compared with before."""
        times, shift = 1.0 / self.factor, -self.offset / self.factor
        parts = [] if self.factor == 1.0 else [f"{times:.3g} times as large"]
        parts += [f"{abs(shift):.4g} {'higher' if shift > 0.0 else 'lower'}"] if shift else []
        since = f" since row {self.since:,}" if self.since else ""
        return f"read {' and '.join(parts)}, corrected{since}"


Corrections = Mapping[str, SensorCorrection]
"""Corrections by the names of their features."""


def correction_note(corrections: Corrections, names: Collection[str], style: Callable[[str], str] = one_line) -> str:
    """Return one sentence about those of the `names` that are among the `corrections`; empty for none.

    Names are printed in this `style`.
    """
    found = [f"{style(name)} ({corrections[name]})" for name in dict.fromkeys(names) if name in corrections]
    return f"Corrected, with values as read now: {', '.join(found)}." if found else ""


def correction_values(corrections: Corrections) -> dict[str, Any]:
    """Return `corrections` as values that JSON can hold."""
    return {feature: {**asdict(found), "text": str(found)} for feature, found in corrections.items()}
