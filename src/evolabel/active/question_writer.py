"""`QuestionWriter`: from the decision about a sample to its `Query`, with the labels asked for, the price and why."""

from collections.abc import Sequence

import numpy as np

from evolabel.active.query import RANDOM, RANKING, WARM_UP, Arrival, Query, Scores
from evolabel.active.scoring.criteria import Criterion, can_fire
from evolabel.active.scoring.scored_rows import Judged
from evolabel.active.selection import Filter
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.typing import BoolArray, FloatArray


class QuestionWriter:
    """Writes the queries of a learner with these criteria and this budget; it decides nothing and changes nothing."""

    def __init__(self, criteria: Sequence[Criterion], bucket: TokenBucket) -> None:
        self.bucket = bucket
        self._names = [criterion.name for criterion in criteria]
        self._firing = [criterion for criterion in criteria if can_fire(criterion)]

    def about_row(self, judged: Judged, row: int, mask: BoolArray | None, chooser: Filter) -> Query:
        """The query of one of the rows, decided on as for `write`."""
        x, prediction, part = (table[row].copy() for table in (judged.rows, judged.outputs, judged.parts))
        scores = [score.copy() for score in judged.scores.of_row(row)]
        return self.write(Arrival(x, prediction, part), scores, mask, chooser)

    def write(
        self, arrival: Arrival, by_criterion: Sequence[FloatArray], mask: BoolArray | None, chooser: Filter
    ) -> Query:
        """The query of a sample with these scores; `mask`: which labels are asked for, or that the sample is.

        `mask` None: nothing is asked for.
        """
        x, prediction, _ = arrival
        scores = dict(zip(self._names, by_criterion, strict=True))
        if mask is None:
            return Query(x, prediction, np.zeros(len(prediction), np.bool_), (), scores, 0, arrival)
        labels = mask if self.bucket.per == "labels" else np.ones(len(prediction), np.bool_)
        reasons, cost = self._reasons(scores, labels, chooser), self.price_of(labels)
        return Query(x, prediction, labels, reasons, scores, cost, arrival)

    def all_or_nothing(self, arrival: Arrival, *, asked: bool) -> Query:
        """A question about a whole sample, or none; a first model needs all labels. No criterion is looked at."""
        x, prediction, _ = arrival
        labels = np.full(len(prediction), asked)
        return Query(x, prediction, labels, (WARM_UP,) if asked else (), {}, self.price_of(labels), arrival)

    def price_of(self, labels: BoolArray) -> int:
        """What it costs to ask for these labels of a sample."""
        count = int(np.count_nonzero(labels))
        return count if self.bucket.per == "labels" else min(count, 1)

    def _reasons(self, scores: Scores, labels: BoolArray, chooser: Filter) -> tuple[str, ...]:
        """Criteria that fire by their own threshold, as easy as it is at the moment, on what is asked for."""
        if chooser.blind:
            return (RANDOM,)
        fired, ease = [], chooser.ease
        for criterion in self._firing:
            score = scores[criterion.name]
            if criterion.strength(score.reshape(1) if criterion.whole else score[labels]).max() * ease > 1.0:
                fired.append(criterion.name)
        return tuple(fired) or (RANKING,)
