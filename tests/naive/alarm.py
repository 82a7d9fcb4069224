"""Twins of `stages.drift.loops.alarm` and `positives`: one alarm as an object with named numbers."""

from math import exp, log, sqrt

import numpy as np

from evolabel.typing import FloatArray
from naive.pace import is_rare


class NaiveAlarm:
    """Compares the recent mean loss with that of calm times; all numbers of the study are written out."""

    def __init__(self) -> None:
        self.short = self.long = self.mean = self.variance = self.calm = 0.0
        self.raised, self.since = False, 0
        self.log_odds, self.calm_odds, self.odds_while_raised, self.counted_at = -float("inf"), 0.0, 0.0, 0

    def vector(self) -> FloatArray:
        """The numbers in the order of the kernel."""
        odds_now = self.odds_while_raised if self.raised else exp(self.log_odds)
        means = [self.short, self.long, self.mean, self.variance, self.calm]
        return np.array([*means, float(self.raised), self.since, odds_now, self.calm_odds, self.counted_at])

    def error(self, share: float) -> float:
        """Standard error of a recent mean and the calm mean together."""
        return sqrt(self.variance * (share + 1.0 / min(max(self.calm, 1.0), 1000.0)))

    def is_back(self, spread: float) -> bool:
        """Near the calm level, and not a multiple of it?"""
        near = max(self.error(0.5 / window_of(spread)), min(0.02, 0.25 * spread))
        nothing = 0.05 * spread if spread >= 0.1875 else 0.001
        return self.short < self.mean + near and self.short < self.mean + max(self.mean, nothing)

    def watch(
        self,
        loss: float,
        spread: float,
        row: int,
        weight: float,
        margin: float,
        *,
        prior: float = 0.0,
        found: bool = True,
    ) -> str:
        """What the loss has caused: "raised", "rise" or "quiet"; it falls back only if positives are found."""
        window = window_of(spread)
        first = 1.0 / (self.calm + weight)
        self.short += weight * max(first, 1.0 / window) * (loss - self.short)
        self.long += weight * max(first, 1.0 / 400.0) * (loss - self.long)
        if self.raised:
            self.odds_while_raised += weight / window * (odds(loss) - self.odds_while_raised)
            self.fall_back(spread, row, found)
            return "quiet"
        needed = self.needed(spread, margin)
        known = self.calm > 2.0 * window
        if (prior > 0.0 or (known and prior == 0.0)) and row - self.counted_at >= 3:
            self.learn_odds(loss, weight, prior)
            self.counted_at = row
        contradicted = self.log_odds > log(50000.0) + 0.5 * margin**2
        if (known and self.short > self.mean + needed) or contradicted:
            self.raise_at(row, spread, margin)
            return "raised"
        caused = "quiet"
        if self.calm > 400.0:
            error = self.error(1.0 / 799.0)
            if self.long > self.mean + max((2.0 + margin) * error, min(0.01, 0.1 * spread)):
                self.long, caused = self.mean, "rise"
            if self.long > self.mean + error:
                return caused
        if prior <= 0.0 or self.log_odds <= log(1000.0):
            self.learn(loss, weight)
        return caused

    def recount(self, before: float, n_eff: float, answers: float) -> None:
        """Calm answers count for less where answers begin to persist, odds whenever an answer does."""
        if before == 1.0 > n_eff:
            self.calm = min(self.calm, n_eff * answers)
        if self.log_odds > 0.0 and not self.raised:
            self.log_odds *= min(n_eff / before, 1.0)

    def needed(self, spread: float, margin: float) -> float:
        """Distance from the calm mean that raises it."""
        window = window_of(spread)
        return max((5.0 + margin) * self.error(0.5 / window), min(0.08, max(spread, 4.0 / window)))

    def raise_at(self, row: int, spread: float, margin: float) -> None:
        """Raised; the recent mean is then at least where the mean itself would have raised it."""
        self.raised, self.since, self.log_odds, self.odds_while_raised = True, row, -float("inf"), 9.0
        self.short = max(self.short, min(self.mean + self.needed(spread, margin), 1.0))

    def usual_odds(self, prior: float) -> float:
        """Mean odds of calm times, of at most 1,000 answers, and of `prior` answers of odds 1; at least 1."""
        n = min(self.calm, 1000.0)
        return max((n * self.calm_odds + prior) / (n + prior), 1.0) if n + prior >= 1.0 else 1.0

    def learn_odds(self, loss: float, weight: float, prior: float) -> None:
        """The logarithms of the odds, summed from the last time the sum was below 0."""
        changed = odds(loss) / self.usual_odds(prior)
        self.log_odds = max(self.log_odds, 0.0) + log(weight * changed + (1.0 - weight))

    def fall_back(self, spread: float, row: int, found: bool) -> None:
        """Lowered at the calm level; after 2,000 rows the present level is the calm one."""
        back = self.is_back(spread) and found
        if back or row - self.since > 2000:
            self.raised, self.long = False, self.short
        if not back and not self.raised:
            self.mean, self.calm, self.calm_odds = self.short, 50.0, self.odds_while_raised

    def learn(self, loss: float, weight: float) -> None:
        """Mean and variance of calm times; after 1,000 of them old ones fade."""
        self.calm += weight
        step = weight / min(self.calm, 1000.0)
        e = loss - self.mean
        self.mean += step * e
        self.variance = (1.0 - step) * (self.variance + step * e * e)
        self.calm_odds += step * (odds(loss) - self.calm_odds)


class NaivePositives:
    """Watches how well a label is predicted where it is positive, or predicted to be."""

    def __init__(self) -> None:
        self.mean = self.usual = self.usual_odds = self.n = self.part = 0.0
        self.since_row = 0
        self.log_odds = -float("inf")
        self.raised, self.since = False, 0

    def vector(self) -> FloatArray:
        """The numbers in the order of the kernel."""
        means = [self.mean, self.usual, self.usual_odds, self.n, exp(self.log_odds)]
        return np.array([*means, self.since_row, self.part, float(self.raised), self.since])

    def are_found(self) -> bool:
        """As well as in calm times, or too few to know?"""
        more = 0.1 if self.usual > 0.1 else max(self.usual, 0.05)
        return self.n < 20.0 or self.since_row > 500 or self.mean < self.usual + more

    def watch(
        self, loss: float, y: float, weight: float, n_eff: float, share: float, row: int, margin: float, *, calm: bool
    ) -> bool:
        """Whether this answer raises it; of an episode that persists, the first row counts, and one per answer."""
        if weight == 0.0 or not self.counts(loss, y, n_eff):
            return False
        w = weight
        self.mean += w * max(1.0 / (self.n + w), 0.05) * (loss - self.mean)
        if self.raised:
            if self.are_found():
                self.raised = False
            elif row - self.since > 2000:
                self.forget()
            return False
        if self.n >= 20.0:
            more = w * log(odds(loss) / max(self.usual_odds, 1.0))
            self.log_odds = min(max(self.log_odds, 0.0) + more, log(1e12))
        limit = log(50000.0 * share) + 0.5 * margin**2 if share > 0.0 else -1e300
        risen = self.mean > self.usual + 3.0 * sqrt(self.usual * (1.0 - self.usual) / 39.0)
        if is_rare(share, n_eff) and self.log_odds > limit and risen:
            self.raised, self.since, self.log_odds = True, row, -float("inf")
            return True
        if calm and self.log_odds <= log(30.0):
            self.n = min(self.n + w, 200.0)
            self.usual += w / self.n * (loss - self.usual)
            self.usual_odds += w / self.n * (odds(loss) - self.usual_odds)
        return False

    def counts(self, loss: float, y: float, n_eff: float) -> bool:
        """Whether the row is positive or was predicted to be, and is not part of an episode that has counted."""
        if y == 0.0 and loss < 0.25:
            self.since_row += 1
            return False
        self.part = 1.0 if self.since_row > 10 else min(self.part + n_eff, 1.0)
        self.since_row = 0
        counted = self.part == 1.0
        self.part *= not counted
        return counted

    def forget(self) -> None:
        """What is usual is learned anew."""
        self.n, self.log_odds, self.raised = 0.0, -float("inf"), False


def odds(loss: float) -> float:
    """Probability of an answer this far off if its opposite is expected, divided by that if it is expected."""
    p = 1.0 - float(np.clip(sqrt(loss), 0.1, 0.9))
    return min((1.0 - p) / p, 9.0)


def window_of(spread: float) -> float:
    """50 answers for common labels, 500 for rare ones."""
    return float(np.clip(5.0 / (spread + 1e-9), 50.0, 500.0))
