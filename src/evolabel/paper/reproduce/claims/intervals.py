"""Means over seeds with their 95 % intervals (Student's t), and what an interval says about a bound."""

from collections.abc import Sequence
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from scipy.special import stdtrit

Ruling = Literal["holds", "does not hold", "undecided", "cannot be checked"]
HOLDS: Ruling = "holds"
FAILS: Ruling = "does not hold"
NOT_DECIDED: Ruling = "undecided"
UNKNOWN: Ruling = "cannot be checked"

_CONFIDENCE = 0.95


class SeedInterval(NamedTuple):
    """The `mean` of the values of several seeds and the interval around it; without end for a single seed."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "SeedInterval":
        """The interval of `values`, one per seed.

        Examples
        --------
        >>> low, high = SeedInterval.of([1.0, 2.0, 3.0])[1:]
        >>> print(f"{low:.2f} to {high:.2f}")
        -0.48 to 4.48
        """
        mean = fmean(values)
        if len(values) == 1:
            return cls(mean, -inf, inf)
        half = float(stdtrit(len(values) - 1, 0.5 + _CONFIDENCE / 2)) * stdev(values) / sqrt(len(values))
        return cls(mean, mean - half, mean + half)

    def ruling(self, least: float, most: float) -> Ruling:
        """Whether the value lies between `least` and `most`: undecided where the interval crosses one of them."""
        if least <= self.low and self.high <= most:
            return HOLDS
        return FAILS if self.high < least or self.low > most else NOT_DECIDED
