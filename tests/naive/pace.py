"""Twin of `core.pace`: all answers of a label are kept, and every number is formed anew from them."""

from math import sqrt

import numpy as np


class NaiveAnswers:
    """The answers of one label, 0 or 1, in their order."""

    def __init__(self) -> None:
        self.answers: list[float] = []
        self.shares = [0.0]  # before each answer
        self.last = 1.0, 1.0

    def learn(self, y: float) -> tuple[float, float]:
        """Add an answer; return how many independent ones it counts for, and the time that passes with it."""
        self.add(y)
        n_eff = self.independent()
        self.last = n_eff, pace_of(n_eff)
        return self.last

    def add(self, y: float) -> None:
        """Keep an answer, and the share of positives after it."""
        self.answers.append(y)
        n = len(self.answers)
        self.shares.append(sum(self.answers) / (n + 1) if n < 1000 else 0.999 * self.shares[-1] + 0.001 * y)

    def counts(self) -> tuple[float, float]:
        """Changes seen, and those to be expected if each were drawn by the share; beyond 1,000 old ones fade."""
        y, p = np.array(self.answers), np.array(self.shares[1:-1])
        changes, chances = y[1:] != y[:-1], np.where(y[:-1] == 1.0, 1.0 - p, p)
        if chances.sum() <= 1000.0:
            return float(changes.sum()), float(chances.sum())
        seen = expected = 0.0
        for change, chance in zip(changes, chances, strict=True):
            fade = 1000.0 / max(expected + chance, 1000.0)
            seen, expected = fade * (seen + change), fade * (expected + chance)
        return seen, expected

    def episodes(self) -> tuple[float, float]:
        """Positives of a rare label more than 10 answers after the one before, and those to be expected at random."""
        seen = expected = 0.0
        last = -1
        for i, (y, p) in enumerate(zip(self.answers, self.shares, strict=False)):
            if y == 1.0 and 0.0 < p < 0.15:
                seen, expected = seen + (i - last > 10), expected + (1.0 - p) ** 10
                fade = 1000.0 / max(expected, 1000.0)
                seen, expected = fade * seen, fade * expected
            last = i if y == 1.0 else last
        return seen, expected

    def independent(self) -> float:
        """One beyond three quarters of the changes to be expected, with two standard errors and one more.

        Less if a rare label has fewer than half of the episodes.
        """
        seen, expected = self.counts()
        rate = (seen + 2.0 * sqrt(seen) + 1.0) / expected if expected >= 10.0 else 1.0
        rate = rate if rate <= 0.75 else 1.0
        seen, expected = self.episodes()
        if expected >= 10.0 and self.shares[-1] < 0.15:
            of_episodes = (seen + 2.0 * sqrt(seen) + 1.0) / expected
            rate = min(rate, of_episodes) if of_episodes <= 0.5 else rate
        return rate / (2.0 - rate) if rate < 1.0 else 1.0


def is_rare(share: float, n_eff: float) -> bool:
    """Below .15 by two standard errors of the independent answers among the last 1,000; random ones leave no doubt."""
    n = 1000.0 * n_eff
    return share < 0.15 if n_eff == 1.0 else share + 2.0 * sqrt(share * (1.0 - share) / n + 0.25 / n**2) < 0.15


def pace_of(n_eff: float) -> float:
    """More time than independent answers, all of it from .2239 of them on."""
    return float(min(1.0, 7.0 * n_eff**1.3))
