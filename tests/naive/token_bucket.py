"""Twin of `evolabel.active.TokenBucket`: fractions, row by row."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass
class NaiveBucket:
    """Tokens as fractions."""

    share: Fraction
    per: str
    credit: int
    burst: int | None
    saved: Fraction = Fraction(0)
    credited: int = 0
    """Number of labels for which the credit was given."""

    def available(self, K):
        """What the question about the next row may cost."""
        unit = K if self.per == "labels" else 1
        saved = self.saved + self.share * self.credit * (unit - self.credited)
        most = None if self.burst is None else max(self.share * unit * self.burst, Fraction(unit))
        earned = saved + self.share * unit
        return earned if most is None else max(saved, min(earned, most))

    def count(self, K, cost):
        self.saved = self.available(K) - cost
        self.credited = K if self.per == "labels" else 1
