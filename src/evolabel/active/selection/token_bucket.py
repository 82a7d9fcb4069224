"""`TokenBucket`: what may be asked, counted so that the budget holds at every moment of the stream."""

import sys
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from evolabel._utils.text import call_of
from evolabel._utils.validation import check_number
from evolabel.core.stored_checks import MOST, StoredFacts
from evolabel.errors import BudgetError, ParameterError
from evolabel.typing import FloatArray, IntArray

DEFAULT_BURST = 200  # rows, so that a pause does not end in hundreds of questions

_UNITS = ("samples", "labels")
_MOST_CREDIT = 10**12  # samples; times the number of labels it stays far within 64 bits
_MOST_LABELS = 1_000_000  # labels of a stored learner
_COUNTS = ("seen", "asked", "earning", "lost", "settled", "settled_units")
_ROUNDING = 1e-12  # relative error of a product of floats: nearer to a whole number, only exact counting decides


class Allowance(NamedTuple):
    """Available budget at each of some rows, if no row before it is asked about."""

    paced: FloatArray
    """With fractions and times the urgency factor: what selectors pace their questions by."""
    limit: IntArray
    """What the question about the row may cost at most."""


class TokenBucket:
    """Counts what was seen and asked, and never lets `asked` exceed `budget` times what was seen.

    A question costs 1 (`per="samples"`), or the number of labels it asks for (`per="labels"`). With labels, a sample
    earns the number of labels known when it is seen; labels that appear later earn nothing for the past, so
    asked <= budget * K * seen stays true however K grows (credited samples earn for all labels known by now).

    Parameters
    ----------
    budget : float
        Share of the stream that may be asked, in (0, 1].
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
    ...     limit = bucket.count(1, cost=bucket.affordable(1))
    >>> bucket.seen, bucket.asked
    (25, 2)
    >>> bucket.skip(1, rows=100_000)
    >>> bucket.affordable(1)
    20
    """

    def __init__(self, budget: float, per: str = "samples", credit: int = 0, burst: int | None = DEFAULT_BURST) -> None:
        check_number("budget", budget, 0, 1, open_low=True)
        check_number("credit", credit, 0, _MOST_CREDIT, whole=True)
        if burst is not None:
            check_number("burst", burst, 1, whole=True)
        if per not in _UNITS:
            raise ParameterError(f"per={per!r} is unknown; use one of {', '.join(_UNITS)}")
        self.budget = float(budget)
        self.per = per
        self.credit = int(credit)
        self.burst = None if burst is None else int(burst)
        self.seen = 0
        self.asked = 0
        self.earning = 0
        """Units seen: samples, or labels of samples."""
        self.lost = 0
        """What was earned beyond `burst`, in parts of a token (see `_parts`)."""
        self.settled = 0
        """What was earned under earlier budgets, in parts of a token."""
        self.settled_units = 0
        """Units seen under earlier budgets."""
        share = exact_share(self.budget)
        self._part, self._whole = share.numerator, share.denominator

    def set_budget(self, budget: float) -> None:
        """Change the budget for what is seen from now on: what was seen before has earned under its own budget.

        The promise then reads asked <= sum of the budgets times the units seen under each. ParameterError if there is
        credit, which no `budget` in force has earned.
        """
        check_number("budget", budget, 0, 1, open_low=True)
        if self.credit:
            raise ParameterError(f"the budget cannot change with credit={self.credit}; make a new learner")
        share = exact_share(float(budget))
        earned = self.settled + self._part * (self.earning - self.settled_units)
        self.settled = earned * share.denominator // self._whole  # rounded down, so that the promise holds
        rounded_up = -(-self.lost * share.denominator // self._whole)
        self.lost = min(rounded_up, self.settled - share.denominator * self.asked)
        self.settled_units = self.earning
        self.budget = float(budget)
        self._part, self._whole = share.numerator, share.denominator

    def unit(self, n_labels: int) -> int:
        """Price of a question about a whole sample of `n_labels` labels."""
        return n_labels if self.per == "labels" else 1

    def limit(self, n_labels: int, ahead: int = 1) -> int:
        """The most that may have been asked in all once `ahead` further samples of `n_labels` labels are seen."""
        return self.asked + self._saved(n_labels, ahead) // self._whole

    def affordable(self, n_labels: int) -> int:
        """The most that the question about the next sample, of `n_labels` labels, may cost."""
        return self._saved(n_labels, 1) // self._whole

    def rows_before(self, n_labels: int, cost: int) -> int:
        """Number of next rows, of `n_labels` labels, that a question of this `cost` cannot be asked about yet.

        `sys.maxsize` if it never can be, because `burst` does not save as much.
        """
        saved, step, most = self._parts(n_labels)
        needed = cost * self._whole
        if needed <= saved:
            return 0
        return sys.maxsize if most is not None and needed > most else -(-(needed - saved) // step) - 1

    def limits(self, n_labels: int, rows: int) -> IntArray:
        """`affordable` at each of the next `rows` rows, if none before it is asked about; `n_labels` labels each."""
        if rows == 1:
            return np.array([self.affordable(n_labels)], np.int64)
        growing = self._rows_that_earn(n_labels, rows)
        all_earned = self._all_earned(n_labels, growing)
        earned = all_earned - self._lost_tokens()
        limits = earned.astype(np.int64)
        nearly_whole = np.abs(earned - limits - 0.5) >= 0.5 - _ROUNDING * (all_earned[-1:].sum() + 1.0)
        for row in nearly_whole.nonzero()[0].tolist():
            limits[row] = self.limit(n_labels, row + 1)
        if growing < rows:
            limits = np.append(limits, np.full(rows - growing, self.limit(n_labels, growing + 1)))
        return limits - self.asked

    def tokens(self, n_labels: int, rows: int) -> FloatArray:
        """`limits` of the same `rows` and `n_labels` with fractions: for pacing, not for the promise."""
        growing = self._rows_that_earn(n_labels, rows)
        tokens = self._all_earned(n_labels, growing) - self._lost_tokens() - self.asked
        if growing == rows:
            return tokens
        return np.append(tokens, np.full(rows - growing, self._saved(n_labels, growing + 1) / self._whole))

    def allowance(self, n_labels: int, rows: int, urgency: float = 1.0) -> Allowance:
        """`tokens` times the factor `urgency`, and `limits`, of the next `rows` rows of `n_labels` labels."""
        if rows == 1:  # without arrays, which cost more than the arithmetic
            tokens, limit = self._next_tokens(n_labels)
            return Allowance(np.array([tokens * urgency]), np.array([limit]))
        return Allowance(self.tokens(n_labels, rows) * urgency, self.limits(n_labels, rows))

    def _next_tokens(self, n_labels: int) -> tuple[float, int]:
        """`tokens` and `limits` of the next row alone."""
        saved, step, most = self._parts(n_labels)
        if most is not None and saved + step > most:
            saved = max(saved, most)
            return saved / self._whole, saved // self._whole
        units = self.earning - self.settled_units + self.unit(n_labels) * (self.credit + 1)
        tokens = self.budget * units + self.settled / self._whole
        return tokens - self._lost_tokens() - self.asked, (saved + step) // self._whole

    def _parts(self, n_labels: int) -> tuple[int, int, int | None]:
        """What is left to spend, what each further row earns, and what is saved at most (None: no limit).

        All in parts of a token, `_whole` of which are a token: whole numbers, so nothing is ever rounded.
        """
        unit = n_labels if self.per == "labels" else 1
        earned = self.settled + self._part * (self.earning - self.settled_units + unit * self.credit)
        saved = earned - self._whole * self.asked - self.lost
        most = None if self.burst is None else unit * max(self._part * self.burst, self._whole)
        return saved, self._part * unit, most

    def _saved(self, n_labels: int, ahead: int) -> int:
        """What is left to spend once `ahead` further samples are seen, in parts of a token."""
        saved, step, most = self._parts(n_labels)
        earned = saved + step * ahead
        return earned if most is None else max(saved, min(earned, most))

    def _rows_that_earn(self, n_labels: int, rows: int) -> int:
        """Number of the next `rows` rows that earn their full share, before what is saved reaches its limit."""
        saved, step, most = self._parts(n_labels)
        return rows if most is None else min(rows, max(0, (most - saved) // step))

    def _lost_tokens(self) -> float:
        """What was lost, in tokens."""
        return self.lost / self._whole

    def _all_earned(self, n_labels: int, rows: int) -> FloatArray:
        """Tokens earned from the beginning on, once each of the next rows is seen, up to rounding."""
        unit = self.unit(n_labels)
        first = self.earning - self.settled_units + unit * (self.credit + 1)
        since = self.budget * np.arange(first, first + unit * rows, unit, dtype=np.float64)
        return since + self.settled / self._whole

    def count(self, n_labels: int, cost: int = 0) -> int:
        """Count one sample of `n_labels` labels and a question of this `cost`; returns what it could have cost at most.

        Raises
        ------
        BudgetError
            If the question costs more than that. Nothing is counted then.
        """
        saved, step, most = self._parts(n_labels)
        earned = saved + step
        kept = earned if most is None else max(saved, min(earned, most))
        limit = kept // self._whole
        if cost > limit:
            raise BudgetError(
                f"the question costs {cost}, but only {max(limit, 0)} can be asked by now "
                f"({self.asked} of {self.asked + limit} {self.per} are spent); query the sample again"
            )
        self.lost += earned - kept
        self.earning += self.unit(n_labels)
        self.seen += 1
        self.asked += cost
        return limit

    def skip(self, n_labels: int, rows: int) -> None:
        """Count `rows` samples of `n_labels` labels that nothing is asked about."""
        saved, step, _ = self._parts(n_labels)
        self.lost += saved + step * rows - self._saved(n_labels, rows)
        self.earning += self.unit(n_labels) * rows
        self.seen += rows

    def facts(self) -> dict[str, int]:
        """The counts as values that JSON can hold."""
        return {name: getattr(self, name) for name in _COUNTS}

    def restore(self, facts: StoredFacts) -> None:
        """Take over the counts in `facts`; DataError if more was asked than the budget allows."""
        facts.only(*_COUNTS)
        seen, asked, earning = (facts.whole(name) for name in _COUNTS[:3])
        lost, settled = facts.whole("lost", high=MOST**8), facts.whole("settled", high=MOST**8)
        settled_units = facts.whole("settled_units", high=earning)
        most = seen * (_MOST_LABELS if self.per == "labels" else 1)
        if not seen <= earning <= most:
            raise facts.refuse("earning", f"{seen} to {most}, as {seen} samples were seen")
        credit = self.credit * (_MOST_LABELS if self.per == "labels" else 1)  # labels may have been more
        if settled > self._whole * settled_units:
            raise facts.refuse("settled", "no more than a token per unit seen under earlier budgets")
        if self._whole * asked + lost > settled + self._part * (earning - settled_units + credit):
            raise facts.refuse("asked", "no more than the budget allows")
        self.seen, self.asked, self.earning, self.lost = seen, asked, earning, lost
        self.settled, self.settled_units = settled, settled_units

    @property
    def promised(self) -> float:
        """Share of what was seen that may have been asked by now: the mean of the budgets that were in force."""
        earned = self.settled + self._part * (self.earning - self.settled_units)
        return earned / self._whole / self.earning if self.earning else self.budget

    @property
    def share(self) -> float:
        """Share of the stream asked so far, to be compared with `budget`; with `credit` it may be larger."""
        return self.asked / self.earning if self.earning else 0.0

    def __repr__(self) -> str:
        return call_of(self)


def exact_share(budget: float) -> Fraction:
    """`budget` as the smaller of the fraction that is written and the one that is stored: 0.29 is not 29/100 in binary.

    The promise then holds for both.
    """
    return min(Fraction(repr(budget)), Fraction(budget))
