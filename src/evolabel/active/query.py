"""`Query`: a sample, its prediction, and the labels a person is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evolabel.active.question_text import QueryNames, question_text
from evolabel.typing import BoolArray, FloatArray

COLD_START = "warm_up"
"""Reason of a question that is asked before there is a model."""

RANKING = "ranking"
"""Reason of a question about a row that ranks high although no criterion exceeds its own threshold."""

RANDOM = "random"
"""Reason of a question that a selector has drawn at random."""

PROBE = "probe"
"""Reason of a label or sample drawn at random beside those that criteria choose, so that a drift is noticed."""

CONFIRM = "confirm"
"""Reason of a label asked for to show whether an earlier answer, which contradicted a sure output, was a drift."""

Scores = Mapping[str, FloatArray]


@dataclass(eq=False)
class Query:
    """A sample, its prediction, and the question about it, if there is one; `print` shows it to an annotator.

    Attributes
    ----------
    x : array (p,)
        The sample.
    prediction : array (K,)
        Continuous outputs at the time of the query.
    labels : bool array (K,)
        Labels a person is asked for; none where the sample is not asked about.
    reasons : tuple of str
        Criteria whose score exceeds their threshold; ("ranking",) if none does.
    scores : dict
        Score by each criterion: a number, or one per label.
    cost : int
        What the question costs: 1, or the number of labels asked for; 0 if nothing is asked.
    values : array or None
        What the selector compares the sample by; None before there is a model.
    unfamiliar : tuple of str
        Values of the sample far outside the range seen, and texts never seen, in words.
    number : int or None
        Number of the sample in the stream, once the learner has counted it.
    probabilities : array (K,) or None
        Probability of each label at the time of the query; None if nothing is asked and the sample has a feature.
    drawn : bool array (K,) or None
        Labels that were drawn at random; None if none was.
    names : QueryNames or None
        Names of the columns and labels.
    label_reasons : tuple of tuples of str
        The reasons of each label asked for, in the order of the labels.
    """

    x: FloatArray
    prediction: FloatArray
    labels: BoolArray
    reasons: tuple[str, ...]
    scores: Scores
    cost: int
    values: FloatArray | None = field(default=None, repr=False)
    number: int | None = None
    unfamiliar: tuple[str, ...] = ()
    probabilities: FloatArray | None = None
    drawn: BoolArray | None = field(default=None, repr=False)
    names: QueryNames | None = field(default=None, repr=False)
    label_reasons: tuple[tuple[str, ...], ...] = ()

    @property
    def asked(self) -> bool:
        """Whether a person is asked for any label of the sample."""
        return self.cost > 0

    def __str__(self) -> str:
        return question_text(self)
