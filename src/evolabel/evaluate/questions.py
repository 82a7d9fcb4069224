"""`Questions`: what a learner that asks for labels has asked, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Questions:
    """How much a learner has asked for. A learner of the harness shows it as `questions_`.

    Parameters
    ----------
    asked : int
        Samples, or labels, asked for.
    share : float
        The same as a share of the stream.
    per : str
        What is counted: "samples" or "labels".
    reasons : dict of str to int
        For how many questions each criterion fired; several can fire for one.

    Examples
    --------
    >>> from evolabel.evaluate import Questions
    >>> print(Questions(98, 0.098, "labels", {"ambiguity": 61, "ranking": 9}))
    9.8 % of labels
    """

    asked: int
    share: float
    per: str
    reasons: dict[str, int]

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % of {self.per}"

    @classmethod
    def over(cls, runs: Sequence[Self]) -> Self:
        """Of several runs: everything asked, by whatever reason, and the mean share."""
        reasons: Counter[str] = Counter()
        for run in runs:
            reasons.update(run.reasons)
        share = sum(run.share for run in runs) / len(runs)
        return cls(sum(run.asked for run in runs), share, runs[0].per, dict(reasons.most_common()))

    @classmethod
    def read(cls, values: dict[str, Any] | None) -> Self | None:
        """From what was written to a file."""
        return None if values is None else cls(**values)
