"""What answers that a learner chose to ask for are worth, in answers to questions drawn at random.

A model learns most from an answer that contradicts its prediction. A part of the questions is drawn at random, so
that the share of the model's errors in the stream is estimated without bias. All answers asked for are worth as many
random answers as would have met as many errors. This is an estimate from one stream; `benchmarks/worth_of_answers.py`
measures how far it is from the number of random answers with which the same score is reached.
"""

from collections.abc import Iterable
from typing import NamedTuple

FEWEST_ERRORS = 3  # met by random answers, before a number is stated
_TAIL = 0.025  # on either side of the interval


class RandomAnswers(NamedTuple):
    """A number of random answers: its 95 % interval, and `about` the number; None where only `low` is known."""

    low: int
    about: int | None
    high: int | None


class ErrorsMet(NamedTuple):
    """Labels asked for and `answered`, those of them `drawn` at random, and of how many the prediction was wrong.

    Examples
    --------
    >>> from evolabel.evaluate import ErrorsMet
    >>> print(ErrorsMet(answered=2701, wrong=1032, drawn=295, drawn_wrong=55))
    2,701 answers are worth about 5,535 drawn at random (4,321 to 7,226)
    """

    answered: int = 0
    wrong: int = 0
    drawn: int = 0
    drawn_wrong: int = 0

    def plus(self, other: Iterable[int]) -> "ErrorsMet":
        """Return the sums of these counts and of `other`, in the same order."""
        return ErrorsMet(*(one + two for one, two in zip(self, other, strict=True)))

    @property
    def worth(self) -> RandomAnswers | None:
        """How many random answers would have met as many errors; None where that is not known yet.

        Of all errors met, those of random answers are a share p, with a Beta distribution; all would have taken
        drawn / p random answers. Before these have met three errors only the lower end is stated, and only if it is
        above the number of answers.
        """
        from scipy.special import betaincinv

        if not self.drawn:
            return None
        a, b = self.drawn_wrong + 0.5, self.wrong - self.drawn_wrong + 0.5
        low, high = (round(self.drawn / float(betaincinv(a, b, share))) for share in (1.0 - _TAIL, _TAIL))
        if self.drawn_wrong >= FEWEST_ERRORS:
            return RandomAnswers(low, round(self.drawn * self.wrong / self.drawn_wrong), high)
        return RandomAnswers(low, None, None) if low > self.answered else None

    def __str__(self) -> str:
        found, answers = self.worth, f"{self.answered:,} answers"
        if found is None:
            return f"{answers}: how many drawn at random they are worth is not yet known"
        if found.about is None:
            return f"{answers} are worth at least {found.low:,} drawn at random; how many is not yet known"
        return f"{answers} are worth about {found.about:,} drawn at random ({found.low:,} to {found.high:,})"


NONE_MET = ErrorsMet()
