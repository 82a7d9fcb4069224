"""`TokenBucket`: what may be asked, counted so that the budget holds at every moment of the stream."""

from fractions import Fraction

import numpy as np

from evolabel.errors import BudgetError, ParameterError
from evolabel.kernels.state import FloatArray, IntArray
from evolabel.ranges import check_number
from evolabel.wording import call_of

PRICES = ("samples", "labels")
MOST_CREDIT = 10**12  # times the number of labels it stays far within 64 bits
ROUNDING = 1e-12  # relative, of a product of floats: nearer to a whole number, only exact counting tells the side


class TokenBucket:
    """Counts what was seen and asked, and never lets `asked` exceed `budget` times what was seen.

    A question costs 1 (`per="samples"`), or the number of labels it asks for (`per="labels"`). With labels, a sample
    earns the number of labels known when it is seen; labels that appear later earn nothing for the past, so
    asked <= budget * K * seen stays true however K grows (credited samples earn for all labels known by now).

    Parameters
    ----------
    budget : float
        Share of the stream, in (0, 1].
    per : {"samples", "labels"}
        What is counted.
    credit : int
        Samples counted as seen before the first one, such as an initial batch that was labelled anyway. The promise
        then reads asked <= budget * (seen + credit).

    Examples
    --------
    >>> from evolabel.active import TokenBucket
    >>> bucket = TokenBucket(budget=0.1)
    >>> for _ in range(25):
    ...     bucket.see(1, cost=bucket.affordable(1))
    >>> bucket.seen, bucket.asked
    (25, 2)
    """

    def __init__(self, budget: float, per: str = "samples", credit: int = 0) -> None:
        check_number("budget", budget, 0, 1, open_low=True)
        check_number("credit", credit, 0, MOST_CREDIT, whole=True)
        if per not in PRICES:
            raise ParameterError(f"per={per!r} is unknown; use one of {', '.join(PRICES)}")
        self.budget = float(budget)
        self.per = per
        self.credit = int(credit)
        self.seen = 0
        self.asked = 0
        self.earning = 0
        """Units seen: samples, or labels of samples."""
        share = exact_share(self.budget)
        self._part, self._whole = share.numerator, share.denominator

    def unit(self, n_labels: int) -> int:
        """What a whole sample costs."""
        return n_labels if self.per == "labels" else 1

    def limit(self, n_labels: int, ahead: int = 1) -> int:
        """The most that may have been asked in all once `ahead` further samples are seen."""
        return self._units(n_labels, ahead) * self._part // self._whole

    def affordable(self, n_labels: int) -> int:
        """The most that the next sample's question may cost."""
        return self.limit(n_labels) - self.asked

    def rows_before(self, n_labels: int, cost: int) -> int:
        """How many of the next rows cannot be asked about, because a question of this cost cannot be paid yet."""
        units = -(-(self.asked + cost) * self._whole // self._part)  # needed, rounded up
        return max(0, -((self.earning - units) // self.unit(n_labels)) - self.credit - 1)

    def free(self, n_labels: int, rows: int) -> IntArray:
        """`affordable` at each of the next rows, if none before it is asked about."""
        if rows == 1:
            return np.array([self.affordable(n_labels)], np.int64)
        earned = self._earned(n_labels, rows)
        limits = earned.astype(np.int64)
        nearly_whole = np.abs(earned - limits - 0.5) >= 0.5 - ROUNDING * (earned[-1] + 1.0)
        for row in nearly_whole.nonzero()[0].tolist():
            limits[row] = self.limit(n_labels, row + 1)
        return limits - self.asked

    def tokens(self, n_labels: int, rows: int) -> FloatArray:
        """The same, fractions included: for pacing, not for the promise."""
        return self._earned(n_labels, rows) - self.asked

    def next_purse(self, n_labels: int) -> tuple[float, int]:
        """`tokens` and `free` of the next row alone."""
        return self.budget * self._units(n_labels) - self.asked, self.affordable(n_labels)

    def _units(self, n_labels: int, ahead: int = 1) -> int:
        """What counts as seen once `ahead` further samples are, credit included."""
        return self.earning + self.unit(n_labels) * (self.credit + ahead)

    def _earned(self, n_labels: int, rows: int) -> FloatArray:
        """What may have been asked once each of the next rows is seen, up to rounding."""
        unit, first = self.unit(n_labels), self._units(n_labels)
        if rows == 1:
            return np.array([self.budget * first])
        return self.budget * np.arange(first, first + unit * rows, unit, dtype=np.float64)

    def see(self, n_labels: int, cost: int = 0) -> None:
        """One more sample is seen, and a question of this cost asked."""
        if cost > self.affordable(n_labels):
            raise BudgetError(
                f"the question costs {cost}, but only {max(self.affordable(n_labels), 0)} can be asked by now "
                f"({self.asked} of {self.limit(n_labels)} {self.per} are spent); query the sample again"
            )
        self.earning += self.unit(n_labels)
        self.seen += 1
        self.asked += cost

    def pass_by(self, n_labels: int, rows: int) -> None:
        """Further samples are seen, and nothing is asked."""
        self.earning += self.unit(n_labels) * rows
        self.seen += rows

    @property
    def share(self) -> float:
        """Share of the stream asked so far, to be compared with `budget`; with `credit` it may be larger."""
        return self.asked / self.earning if self.earning else 0.0

    def __repr__(self) -> str:
        return call_of(self)


def exact_share(budget: float) -> Fraction:
    """The budget to count with: 0.29 is not 29/100 in binary, and promises hold for it as written and as stored."""
    return min(Fraction(repr(budget)), Fraction(budget))
