"""`Questions`: how many labels a learner has queried, and why."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Questions:
    """Number of queries of a learner. A learner that queries labels offers it as attribute `questions_`.

    Parameters
    ----------
    asked : int
        Number of samples, or of labels, queried.
    share : float
        The same as a share of the stream.
    per : str
        What is counted: "samples" or "labels".
    reasons : dict of str to int
        Number of queries for which each criterion fired; several can fire for one query.

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
    def pooled(cls, runs: Sequence[Self]) -> Self:
        """Return the sums over several `runs`, with the mean of their shares."""
        reasons: Counter[str] = Counter()
        for run in runs:
            reasons.update(run.reasons)
        share = sum(run.share for run in runs) / len(runs)
        return cls(sum(run.asked for run in runs), share, runs[0].per, dict(reasons.most_common()))

    @classmethod
    def from_dict(cls, values: dict[str, Any] | None) -> Self | None:
        """Return the questions stored in a file as `values`, None where there are none."""
        return None if values is None else cls(**values)
