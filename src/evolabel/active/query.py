"""`Query`: what the learner thinks of a sample, and what it wants to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from evolabel.typing import BoolArray, FloatArray

WARM_UP = "warm_up"
"""Reason of a question while there is no model yet."""

RANKING = "ranking"
"""Reason of a question that is the best of the last ones, although no criterion fires by its own threshold."""

RANDOM = "random"
"""Reason of a question drawn at random."""

Scores = Mapping[str, FloatArray]


class Arrival(NamedTuple):
    """A sample as it came: its row, its outputs, and what the filter needs to know of it."""

    x: FloatArray
    prediction: FloatArray
    part: FloatArray | None = None
    """None while there is no model yet."""


@dataclass(eq=False)
class Query:
    """A sample, its prediction, and the question about it, if there is one.

    Attributes
    ----------
    x : array (p,)
        The sample in question.
    prediction : array (K,)
        Continuous outputs for it, from the time of the query.
    labels : bool array (K,)
        Labels asked for; none if it is not asked about.
    reasons : tuple of str
        Criteria that fired. "ranking": none did, but the sample is among the best of the last ones.
    scores : dict
        What each criterion says: a number, or one per label.
    cost : int
        1, or the number of labels asked for; 0 if not asked.
    arrived : Arrival
        The sample that has just come: the one in question, unless the learner looks back (`recent`).
    about : int or None
        Number in the stream of the earlier sample in question, if it looks back.
    number : int or None
        Its place in the stream once the learner has counted it.
    """

    x: FloatArray
    prediction: FloatArray
    labels: BoolArray
    reasons: tuple[str, ...]
    scores: Scores
    cost: int
    arrived: Arrival = field(repr=False)
    about: int | None = None
    number: int | None = None

    @property
    def asked(self) -> bool:
        """Is a person needed?"""
        return self.cost > 0
