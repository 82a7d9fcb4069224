"""`TokenBucket`: what may be asked, counted so that the budget holds at every moment of the stream."""

import sys
from fractions import Fraction

import numpy as np

from evolabel._utils.text import call_of
from evolabel._utils.validation import check_number
from evolabel.core.stored.array_checks import MOST
from evolabel.core.stored.fact_checks import StoredFacts
from evolabel.errors import BudgetError, ParameterError
from evolabel.typing import FloatArray, IntArray

PRICES = ("samples", "labels")
MOST_CREDIT = 10**12  # times the number of labels it stays far within 64 bits
MOST_LABELS = 1_000_000  # of a stored learner
COUNTS = ("seen", "asked", "earning", "lost")
BURST = 200  # rows whose earnings are saved at most; see docs/active-learning.md for what it costs: nothing measurable
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
    burst : int or None
        Rows whose earnings can be saved at most, though never less than the price of one whole sample. What is earned
        beyond is lost, so a pause is not followed by questions about every row. Credit is not cut: nothing is earned
        while more than that is left of it. None saves everything.

    Examples
    --------
    >>> from evolabel.active import TokenBucket
    >>> bucket = TokenBucket(budget=0.1)
    >>> for _ in range(25):
    ...     bucket.see(1, cost=bucket.affordable(1))
    >>> bucket.seen, bucket.asked
    (25, 2)
    >>> bucket.pass_by(1, rows=100_000)
    >>> bucket.affordable(1)
    20
    """

    def __init__(self, budget: float, per: str = "samples", credit: int = 0, burst: int | None = BURST) -> None:
        check_number("budget", budget, 0, 1, open_low=True)
        check_number("credit", credit, 0, MOST_CREDIT, whole=True)
        if burst is not None:
            check_number("burst", burst, 1, whole=True)
        if per not in PRICES:
            raise ParameterError(f"per={per!r} is unknown; use one of {', '.join(PRICES)}")
        self.budget = float(budget)
        self.per = per
        self.credit = int(credit)
        self.burst = None if burst is None else int(burst)
        self.seen = 0
        self.asked = 0
        self.earning = 0
        """Units seen: samples, or labels of samples."""
        self.lost = 0
        """What was earned beyond `burst`, in parts of a token (see `_purse`)."""
        share = exact_share(self.budget)
        self._part, self._whole = share.numerator, share.denominator

    def unit(self, n_labels: int) -> int:
        """What a whole sample costs."""
        return n_labels if self.per == "labels" else 1

    def limit(self, n_labels: int, ahead: int = 1) -> int:
        """The most that may have been asked in all once `ahead` further samples are seen."""
        return self.asked + self._saved(n_labels, ahead) // self._whole

    def affordable(self, n_labels: int) -> int:
        """The most that the next sample's question may cost."""
        return self.limit(n_labels) - self.asked

    def rows_before(self, n_labels: int, cost: int) -> int:
        """How many of the next rows cannot be asked about, because a question of this cost cannot be paid yet.

        `sys.maxsize` if it never can be, because so much is not saved.
        """
        saved, step, most = self._purse(n_labels)
        needed = cost * self._whole
        if needed <= saved:
            return 0
        return sys.maxsize if most is not None and needed > most else -(-(needed - saved) // step) - 1

    def free(self, n_labels: int, rows: int) -> IntArray:
        """`affordable` at each of the next rows, if none before it is asked about."""
        if rows == 1:
            return np.array([self.affordable(n_labels)], np.int64)
        growing = self._rows_that_earn(n_labels, rows)
        all_earned = self._all_earned(n_labels, growing)
        earned = all_earned - self._lost_tokens()
        limits = earned.astype(np.int64)
        nearly_whole = np.abs(earned - limits - 0.5) >= 0.5 - ROUNDING * (all_earned[-1:].sum() + 1.0)
        for row in nearly_whole.nonzero()[0].tolist():
            limits[row] = self.limit(n_labels, row + 1)
        if growing < rows:
            limits = np.append(limits, np.full(rows - growing, self.limit(n_labels, growing + 1)))
        return limits - self.asked

    def tokens(self, n_labels: int, rows: int) -> FloatArray:
        """The same, fractions included: for pacing, not for the promise."""
        growing = self._rows_that_earn(n_labels, rows)
        tokens = self._all_earned(n_labels, growing) - self._lost_tokens() - self.asked
        if growing == rows:
            return tokens
        return np.append(tokens, np.full(rows - growing, self._saved(n_labels, growing + 1) / self._whole))

    def next_purse(self, n_labels: int) -> tuple[float, int]:
        """`tokens` and `free` of the next row alone."""
        saved, step, most = self._purse(n_labels)
        if most is not None and saved + step > most:
            saved = max(saved, most)
            return saved / self._whole, saved // self._whole
        units = self.earning + self.unit(n_labels) * (self.credit + 1)
        return self.budget * units - self._lost_tokens() - self.asked, (saved + step) // self._whole

    def _purse(self, n_labels: int) -> tuple[int, int, int | None]:
        """What is left to spend, what each further row earns, and what is saved at most (None: no limit).

        All in parts of a token, `_whole` of which are a token: whole numbers, so nothing is ever rounded.
        """
        unit = self.unit(n_labels)
        saved = self._part * (self.earning + unit * self.credit) - self._whole * self.asked - self.lost
        most = None if self.burst is None else unit * max(self._part * self.burst, self._whole)
        return saved, self._part * unit, most

    def _saved(self, n_labels: int, ahead: int) -> int:
        """What is left to spend once `ahead` further samples are seen, in parts of a token."""
        saved, step, most = self._purse(n_labels)
        earned = saved + step * ahead
        return earned if most is None else max(saved, min(earned, most))

    def _rows_that_earn(self, n_labels: int, rows: int) -> int:
        """How many of the next `rows` rows earn their full share, before what is saved reaches its limit."""
        saved, step, most = self._purse(n_labels)
        return rows if most is None else min(rows, max(0, (most - saved) // step))

    def _lost_tokens(self) -> float:
        """What was lost, in tokens."""
        return self.lost / self._whole

    def _all_earned(self, n_labels: int, rows: int) -> FloatArray:
        """Tokens earned from the beginning on, once each of the next rows is seen, up to rounding."""
        unit = self.unit(n_labels)
        first = self.earning + unit * (self.credit + 1)
        return self.budget * np.arange(first, first + unit * rows, unit, dtype=np.float64)

    def see(self, n_labels: int, cost: int = 0) -> None:
        """One more sample is seen, and a question of this cost asked."""
        if cost > self.affordable(n_labels):
            raise BudgetError(
                f"the question costs {cost}, but only {max(self.affordable(n_labels), 0)} can be asked by now "
                f"({self.asked} of {self.limit(n_labels)} {self.per} are spent); query the sample again"
            )
        self.pass_by(n_labels, 1)
        self.asked += cost

    def pass_by(self, n_labels: int, rows: int) -> None:
        """Further samples are seen, and nothing is asked."""
        saved, step, _ = self._purse(n_labels)
        self.lost += saved + step * rows - self._saved(n_labels, rows)
        self.earning += self.unit(n_labels) * rows
        self.seen += rows

    def facts(self) -> dict[str, int]:
        """The counts as values that JSON can hold."""
        return {name: getattr(self, name) for name in COUNTS}

    def restore(self, facts: StoredFacts) -> None:
        """Take over what `facts` gave; DataError if more was asked than the budget allows."""
        facts.only(*COUNTS)
        seen, asked, earning = (facts.whole(name) for name in COUNTS[:3])
        lost = facts.whole("lost", high=MOST**8)
        most = seen * (MOST_LABELS if self.per == "labels" else 1)
        if not seen <= earning <= most:
            raise facts.refuse("earning", f"{seen} to {most}, as {seen} samples were seen")
        credit = self.credit * (MOST_LABELS if self.per == "labels" else 1)  # labels may have been more
        if self._whole * asked + lost > self._part * (earning + credit):
            raise facts.refuse("asked", "no more than the budget allows")
        self.seen, self.asked, self.earning, self.lost = seen, asked, earning, lost

    @property
    def share(self) -> float:
        """Share of the stream asked so far, to be compared with `budget`; with `credit` it may be larger."""
        return self.asked / self.earning if self.earning else 0.0

    def __repr__(self) -> str:
        return call_of(self)


def exact_share(budget: float) -> Fraction:
    """The budget to count with: 0.29 is not 29/100 in binary, and promises hold for it as written and as stored."""
    return min(Fraction(repr(budget)), Fraction(budget))
