"""`Scout`: looks at samples, finds the one to ask about, and keeps count of those that have passed."""

import copy
from typing import Any

import numpy as np

from evolabel.active.query import Arrival, Query
from evolabel.active.question_writer import QuestionWriter
from evolabel.active.recent import RecentSamples, best_of
from evolabel.active.scoring.context import Expected, Experience
from evolabel.active.scoring.criteria import Criterion, VarianceReduction, score_table
from evolabel.active.scoring.model_version import StandingModel, Version
from evolabel.active.scoring.row_scorer import RowScorer
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.active.scoring.scored_rows import Judged
from evolabel.active.scoring.unlabelled import Unlabelled
from evolabel.active.selection import Filter, Purse
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.classifier.inner import Pupil, TaughtModel
from evolabel.core.row_statistics import RowStatistics
from evolabel.errors import StateError
from evolabel.typing import FloatArray

ONE_SAMPLE = np.ones(1, np.bool_)


class Scout:
    """Scores rows by the criteria and lets the filter decide, within what the bucket allows.

    `query` changes nothing; `pass_by` and `count` tell bucket, filter and all that remembers samples what has passed.
    """

    def __init__(
        self,
        pupil: Pupil,
        bucket: TokenBucket,
        criteria: tuple[Criterion, ...],
        chooser: Filter,
        *,
        min_labels: int,
        recent: int,
        refine: str,
        echo: bool,
    ) -> None:
        self.pupil = pupil
        self.bucket = bucket
        self.criteria = criteria
        self.recent = RecentSamples(recent) if recent else None
        self.unlabelled = Unlabelled(refine, moments=any(isinstance(c, VarianceReduction) for c in criteria))
        self.chooser = chooser
        self.experience = Experience(pupil, bucket, echo=echo)
        self._writer = QuestionWriter(criteria, bucket)
        self._ahead: tuple[Judged, int] | None = None  # and the first row of them to come; a matter of speed only
        self._standing = StandingModel()
        self._latest: Version | None = None
        self._min_labels = min_labels
        self._taught: TaughtModel | None = None  # when a sample was last counted
        self._scorer = RowScorer(criteria)
        self.chooser.begin(criteria, bucket.budget, bucket.unit(pupil.n_labels_by_now), min_labels)

    # ------------------------------------------------------------------ the model

    def check_model(self) -> None:
        """StateError if the classifier was fitted anew on other features than those of the samples counted so far."""
        known = self._taught
        if known is None or known.model is self.pupil.model:
            return
        now = self.pupil.taught
        if not known.same_features(now):
            raise StateError(
                f"the classifier was fitted anew on other features ({now.n_features}, this learner has counted samples "
                f"of {known.n_features}); make a new ActiveLearner"
            )

    def meet_model(self) -> TaughtModel | None:
        """Begin anew what belongs to one model if the classifier was fitted anew.

        Filter, second moments and error feedback begin anew; counts and recent samples stay. Returns the model as it
        was when a sample was last counted, if it has changed in any way since.
        """
        before, model = self._taught, self.pupil.model
        if before is not None and before.is_still(model, self.pupil.classifier._targets):
            return None
        self.check_model()
        now = self.pupil.taught
        self.unlabelled.check(now.model)
        self.chooser = self._fitting_chooser()
        if now.model.warm_up is None:
            self.unlabelled.begin(now.model)
        self._taught = now
        return before

    def resume(self, rows_standing: int) -> None:
        """Go on with the model as it is, which so many rows have passed without a change: after loading."""
        self._taught = self.pupil.taught
        if self._taught.model.warm_up is None:
            self.unlabelled.begin(self._taught.model)
        self._standing = StandingModel(rows_standing, self._version())

    # ------------------------------------------------------------------ asking

    def query(self, row: FloatArray) -> Query:
        """What is to be asked about one row, if anything. Changes nothing."""
        self.unlabelled.check(self.pupil.model)
        if self._takes_any():
            payable = self.bucket.affordable(self.pupil.n_labels) >= self.bucket.unit(self.pupil.n_labels)
            return self._ask_any(row, row[:0], asked=payable)
        chooser, version = self._fitting_chooser(), self._version()
        weights = self._standing.weights(version)
        outputs, scores, parts = self._score(row, chooser, version, weights)
        at, mask = chooser.walk(parts, self.purse(1), commit=False)
        arrival = Arrival(row[0].copy(), outputs[0], parts[0])
        return self._writer.write(arrival, scores.of_row(0), mask if at == 0 else None, chooser)

    def _takes_any(self) -> bool:
        """Does the purse alone decide when to ask?"""
        return self.recent is not None or self.pupil.model.warm_up is not None

    def purse(self, rows: int) -> Purse:
        """What each of the next rows may cost, and how full the purse looks to the filter."""
        n_labels, haste = self.pupil.n_labels, self.experience.haste
        if rows == 1:  # without numpy, which costs more than the arithmetic
            tokens, free = self.bucket.next_purse(n_labels)
            return Purse(np.array([tokens * haste]), np.array([free], np.int64))
        return Purse(self.bucket.tokens(n_labels, rows) * haste, self.bucket.free(n_labels, rows))

    def rows_that_cannot_be_paid(self) -> int:
        """How many rows must pass before anything can be asked."""
        return self.bucket.rows_before(self.pupil.n_labels, self.chooser.least)

    def _version(self) -> Version:
        """The version of today; the same object as long as it is the same."""
        model = self.pupil.model
        moments = self.unlabelled.moments_of(model)
        if self._latest is None or not self._latest.is_still(model, moments):
            self._latest = Version.of(model, moments)
        return self._latest

    def _look(self, rows: FloatArray, expected: Expected, weights: FloatArray | None = None) -> RowStatistics:
        """What the model makes of samples, by all that was experienced so far."""
        model = self.pupil.model
        return RowStatistics(
            model, rows, self.unlabelled.moments_of(model), weights, expected.correction, expected.doubts
        )

    def _score(
        self, rows: FloatArray, chooser: Filter, version: Version, weights: FloatArray | None
    ) -> tuple[FloatArray, ScoreTable, FloatArray]:
        """Outputs of the rows that come next, their scores, and what the filter needs to know of these."""
        expected = self.experience.of_next(rows)
        if self._scorer.suits(len(rows), version, weights):
            moments = self.unlabelled.moments_of(version.model)
            outputs, scores = self._scorer.score(rows, expected, version, weights, moments)
        else:
            look = self._look(rows, expected, weights)
            outputs, scores = look.outputs, score_table(self.criteria, look, self.pupil.n_labels)
        parts = chooser.parts(scores)
        if expected.worth is not None:
            parts = chooser.weighed(parts, expected.worth)
        return outputs, scores, parts

    def _judge(self, rows: FloatArray, chooser: Filter, version: Version, weights: FloatArray | None) -> Judged:
        """The rows that come next, with their scores."""
        place = self.bucket.seen + 1, self.experience.changes
        outputs, scores, parts = self._score(rows, chooser, version, weights)
        return Judged(version, *place, rows, outputs, scores, parts)

    def _foresee(self, rows: FloatArray) -> tuple[Judged, int]:
        """Rows judged now or before, and which of them is the first; whoever passed the rows may write into them."""
        version, place = self._version(), (self.bucket.seen + 1, self.experience.changes)
        if self._ahead is None or not self._ahead[0].holds_for(rows, self._ahead[1], version, *place):
            weights = self._standing.weights(version, len(rows))
            self._ahead = self._judge(rows.copy(), self.chooser, version, weights), 0
        return self._ahead

    def _walk(self, rows: FloatArray) -> tuple[Query | None, int]:
        """The question about the first row that is worth one, and how many rows come before; the filter sees those."""
        judged, first = self._foresee(rows)
        at, mask = self.chooser.walk(judged.parts[first : first + len(rows)], self.purse(len(rows)), commit=True)
        found = at < len(rows)
        self._ahead = judged, first + at + found
        return self._writer.about_row(judged, first + at, mask, self.chooser) if found else None, at

    def _take_any(self, rows: FloatArray) -> tuple[Query | None, int]:
        """The question about the first row that can be paid, and how many rows come before."""
        n_labels = self.pupil.n_labels
        at = int(np.searchsorted(self.bucket.free(n_labels, len(rows)), self.bucket.unit(n_labels)))
        return self._ask_any(rows[at : at + 1], rows[:at], asked=True) if at < len(rows) else None, at

    def _ask_any(self, row: FloatArray, passed: FloatArray, *, asked: bool) -> Query:
        """A question the purse decides on, if it is `asked`: about this row, or about one of the last."""
        if self.recent is not None:
            return self._look_back(row, passed, asked=asked)
        look = self._look(row, self.experience.of_next(row))
        return self._writer.all_or_nothing(Arrival(row[0].copy(), look.outputs[0]), asked=asked)

    def _look_back(self, row: FloatArray, passed: FloatArray, *, asked: bool) -> Query:
        """With a token in hand, the best of the last samples is asked about; decided by the model as it is now."""
        assert self.recent is not None
        number = self.experience.next_numbers(len(passed) + 1)[-1:]
        here = self._look(row, self.experience.of(row, number))
        arrival = Arrival(row[0].copy(), here.outputs[0])
        if not (asked and here.ready):
            return self._writer.all_or_nothing(arrival, asked=asked)
        rows = self.recent.candidates(np.concatenate([passed, row]), self.bucket.seen + 1)
        table = np.array(list(rows.values()))
        look = self._look(table, self.experience.of(table, np.array(list(rows), np.int64)))
        scores = score_table(self.criteria, look, self.pupil.n_labels)
        best = best_of(self.criteria, scores)
        judged = Judged(self._version(), min(rows), 0, look.X, look.outputs, scores, np.empty((look.n, 0)))
        query = self._writer.about_row(judged, best, ONE_SAMPLE, self.chooser)
        query.arrived = arrival
        query.about = None if best == look.n - 1 else list(rows)[best]
        return query

    def could_have_made(self, query: Query) -> bool:
        """Do price and parts of a query agree with this learner's budget and filter?"""
        part = query.arrived.part
        fair = query.cost == self._writer.price_of(query.labels)
        return fair and (part is None or self._fitting_chooser().fits(part))

    def _fitting_chooser(self) -> Filter:
        """The filter, or a copy that fits the model as it is by now: a query must not change anything.

        It is wider where labels have appeared, and remembers nothing where the model was fitted anew.
        """
        width = self.bucket.unit(self.pupil.n_labels)
        known = self._taught is not None and self._taught.model is self.pupil.model
        if known and self.chooser.width == width:
            return self.chooser
        other = copy.deepcopy(self.chooser)
        if known:
            other.resize(width)
        else:
            other.begin(self.criteria, self.bucket.budget, width, self._min_labels)
        return other

    # ------------------------------------------------------------------ remembering

    def rows_until_change(self) -> int:
        """How many rows can be looked at together, because passing them changes nothing they are judged by."""
        return self.unlabelled.rows_until_change()

    def rows_known_ahead(self) -> int:
        """How many rows were looked at already when the last question was found."""
        return 0 if self._ahead is None else len(self._ahead[0].rows) - self._ahead[1]

    def stands_still(self) -> bool:
        """Has nothing been learned or edited since the last question was found?"""
        return self._ahead is not None and self._ahead[0].version.same_rules(self._version())

    def rows_standing(self) -> int:
        """How many rows have passed since the model last changed."""
        return self._standing.rows(self._version()) if self.bucket.seen else 0

    def __getstate__(self) -> dict[str, Any]:
        standing = StandingModel(self.rows_standing(), self._version()) if self.bucket.seen else StandingModel()
        return {
            **self.__dict__,
            "_ahead": None,
            "_standing": standing,
            "_scorer": RowScorer(self.criteria),
            "_latest": None,
        }

    def pass_by(self, rows: FloatArray) -> tuple[Query | None, int]:
        """Count rows as seen until one is to be asked about. No more than `rows_until_change` at a time.

        Like `count`, to be called after `meet_model`.
        """
        self.unlabelled.check(self.pupil.model)
        query, passed = self._take_any(rows) if self._takes_any() else self._walk(rows)
        if self.recent is not None:
            self.recent.add(rows[:passed], self.bucket.seen + 1)
        self.bucket.pass_by(self.pupil.n_labels, passed)
        self._standing.pass_by(self._version(), passed)
        self.unlabelled.take(self.pupil.model, rows[:passed], taught=False)
        return query, passed

    def count(self, query: Query, *, taught: bool) -> None:
        """A sample is seen, and its question, if there is one, asked; BudgetError if it cannot be paid any more.

        StateError if it looks back at a sample that is no candidate any more, as another question was about it.
        """
        self.unlabelled.check(self.pupil.model)
        if self.recent is not None and query.about is not None and query.about not in self.recent.rows:
            raise StateError(
                f"sample {query.about} was asked about since this query was made, or lies too far back by now; "
                "query the sample that has just come again"
            )
        free = self.bucket.affordable(self.pupil.n_labels)
        self.bucket.see(self.pupil.n_labels, query.cost)
        query.number = self.bucket.seen
        self._standing.pass_by(self._version(), 1)
        arrived = query.arrived
        if arrived.part is not None:
            self.chooser.note(arrived.part, free, asked=query.asked)
        if self.recent is not None:
            self.recent.add(arrived.x[None], query.number)
            if taught:
                self.recent.remove(query.number if query.about is None else query.about)
        self.unlabelled.take(self.pupil.model, arrived.x[None], taught=taught)
