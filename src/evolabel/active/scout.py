"""`Scout`: looks at samples and finds the one to ask about. It changes nothing but the memory of its filter."""

import copy
from typing import Any

import numpy as np

from evolabel.active.budget import TokenBucket
from evolabel.active.criteria import Criterion, VarianceReduction, score_table
from evolabel.active.filters import Filter, Purse
from evolabel.active.foresight import Judged, StandingModel, Version
from evolabel.active.pupil import Pupil
from evolabel.active.query import RANDOM, RANKING, WARM_UP, Arrival, Query
from evolabel.active.recent import RecentSamples, best_of
from evolabel.active.unlabelled import Unlabelled
from evolabel.core.look import Look
from evolabel.kernels.selection import BoolArray
from evolabel.kernels.state import FloatArray


class Scout:
    """Scores rows by the criteria and lets the filter decide, within what the bucket allows."""

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
    ) -> None:
        self.pupil = pupil
        self.bucket = bucket
        self.criteria = criteria
        self.recent = RecentSamples(recent) if recent else None
        self.unlabelled = Unlabelled(refine, moments=any(isinstance(c, VarianceReduction) for c in criteria))
        self.chooser = chooser
        self._ahead: Judged | None = None  # a matter of speed only, as is the next
        self._standing = StandingModel()
        self.chooser.begin(criteria, bucket.budget, bucket.unit(pupil.n_labels_by_now), min_labels)

    # ------------------------------------------------------------------ asking

    def first_question(self, rows: FloatArray, *, commit: bool = False) -> tuple[Query, int]:
        """The query of the first row to ask about (of the last row, if there is none), and how many rows come before.

        With `commit` the filter remembers those.
        """
        self.unlabelled.check(self.pupil.model)
        if self.recent is not None:
            at = int(np.searchsorted(self.purse(len(rows)).free, 1))
            row = min(at, len(rows) - 1)
            return self._look_back(rows[row : row + 1], rows[:row], asked=at < len(rows)), at
        if self.pupil.model.warm_up is not None:
            return self._take_any(self._look(rows))
        return self._walk(self._judged(rows, keep=commit), commit)

    def purse(self, rows: int) -> Purse:
        """What each of the next rows may cost."""
        n_labels = self.pupil.n_labels
        return Purse(self.bucket.tokens(n_labels, rows), self.bucket.free(n_labels, rows))

    def rows_that_cannot_be_paid(self) -> int:
        """How many rows must pass before anything can be asked."""
        return self.bucket.rows_before(self.pupil.n_labels, self.chooser.least)

    def _look(self, rows: FloatArray, weights: FloatArray | None = None) -> Look:
        return Look(self.pupil.model, rows, self.unlabelled.moments_of(self.pupil.model), weights)

    def _judged(self, rows: FloatArray, *, keep: bool) -> Judged:
        """Outputs and scores of rows, looked at now or before; to be kept, they are on their own.

        Whoever passed the rows may write into them. What is not kept is judged as a row alone, bit for bit.
        """
        version = Version.of(self.pupil.model, self.unlabelled.moments_of(self.pupil.model))
        if keep and self._ahead is not None and self._ahead.holds_for(rows, version):
            return self._ahead.part(slice(len(rows)))
        if keep:
            rows = rows.copy()
        look = self._look(rows, self._standing.weights(version, len(rows)) if keep else None)
        scores = score_table(self.criteria, look, self.pupil.n_labels)
        return Judged(version, rows, look.outputs, scores, self._fitting_chooser().parts(scores))

    def _walk(self, judged: Judged, commit: bool) -> tuple[Query, int]:
        chooser, rows, parts = self._fitting_chooser(), judged.rows, judged.parts
        at, mask = chooser.walk(parts, self.purse(len(rows)), commit=commit)
        row = min(at, len(rows) - 1)
        mask &= at < len(rows)
        if commit:
            self._ahead = judged.behind(at)
        arrival = Arrival(rows[row].copy(), judged.outputs[row].copy(), parts[row].copy())
        return self._question(arrival, mask, [column[row].copy() for column in judged.scores], chooser.ease), at

    def _take_any(self, look: Look) -> tuple[Query, int]:
        """While the warm-up lasts, whole samples are asked about as they come: a first model needs all labels."""
        at = int(np.searchsorted(self.purse(look.n).free, self.bucket.unit(self.pupil.n_labels)))
        return self._all_or_nothing(look, min(at, look.n - 1), asked=at < look.n), at

    def _all_or_nothing(self, look: Look, row: int, *, asked: bool) -> Query:
        """A question about the whole sample, or none; no criterion is looked at."""
        labels = np.full(self.pupil.n_labels, asked)
        arrival = Arrival(look.X[row].copy(), look.outputs[row])
        cost = self.bucket.unit(len(labels)) if asked else 0
        return Query(arrival.x, arrival.prediction, labels, (WARM_UP,) if asked else (), {}, cost, arrival)

    def _look_back(self, row: FloatArray, passed: FloatArray, *, asked: bool) -> Query:
        """With a token in hand, the best of the last samples is asked about; decided by the model as it is now."""
        assert self.recent is not None
        here = self._look(row)
        if not (asked and here.ready):
            return self._all_or_nothing(here, 0, asked=asked)
        rows = self.recent.candidates(np.concatenate([passed, row]), self.bucket.seen + 1)
        look = self._look(np.array(list(rows.values())))
        scores = score_table(self.criteria, look, self.pupil.n_labels)
        best = best_of(self.criteria, scores)
        chosen = Arrival(look.X[best], look.outputs[best])
        query = self._question(chosen, np.ones(1, bool), [column[best] for column in scores], 1.0)
        query.arrived = Arrival(row[0].copy(), here.outputs[0])
        query.about = None if best == look.n - 1 else list(rows)[best]
        return query

    def _question(self, arrival: Arrival, mask: BoolArray, scores: list[FloatArray], ease: float) -> Query:
        cost = int(np.count_nonzero(mask))
        labels = mask if self.bucket.per == "labels" else np.full(self.pupil.n_labels, cost > 0)
        named = {criterion.name: column for criterion, column in zip(self.criteria, scores, strict=True)}
        reasons = self._reasons(scores, labels, ease) if cost else ()
        return Query(arrival.x, arrival.prediction, labels, reasons, named, cost, arrival)

    def _reasons(self, scores: list[FloatArray], labels: BoolArray, ease: float) -> tuple[str, ...]:
        """Criteria that fire by their own threshold on what is asked for."""
        if self.chooser.blind:
            return (RANDOM,)
        fired = []
        for criterion, column in zip(self.criteria, scores, strict=True):
            strength = criterion.strength(np.atleast_1d(column))
            if (strength if criterion.whole else strength[labels]).max() * ease > 1.0:
                fired.append(criterion.name)
        return tuple(fired) or (RANKING,)

    def could_have_made(self, query: Query) -> bool:
        """Do price and parts of a query agree with this learner's budget and filter?"""
        count = int(np.count_nonzero(query.labels))
        price = count if self.bucket.per == "labels" else min(count, 1)
        part = query.arrived.part
        return query.cost == price and (part is None or self._fitting_chooser().fits(part))

    def _fitting_chooser(self) -> Filter:
        """The filter, or a copy as wide as the labels are by now: a query must not change anything."""
        width = self.bucket.unit(self.pupil.n_labels)
        if self.chooser.width == width:
            return self.chooser
        wider = copy.deepcopy(self.chooser)
        wider.resize(width)
        return wider

    # ------------------------------------------------------------------ remembering

    def rows_until_change(self) -> int:
        """How many rows can be looked at together, because passing them changes nothing they are judged by."""
        return self.unlabelled.rows_until_change()

    def rows_known_ahead(self) -> int:
        """How many rows were looked at already when the last question was found."""
        return 0 if self._ahead is None else len(self._ahead.rows)

    def stands_still(self) -> bool:
        """Has nothing been learned or edited since the last question was found?"""
        now = Version.of(self.pupil.model, self.unlabelled.moments_of(self.pupil.model))
        return self._ahead is not None and self._ahead.version.same_rules(now)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ahead": None, "_standing": StandingModel()}

    def pass_by(self, rows: FloatArray) -> tuple[Query | None, int]:
        """Count rows as seen until one is to be asked about. No more than `rows_until_change` at a time."""
        self.chooser = self._fitting_chooser()
        query, passed = self.first_question(rows, commit=True)
        if self.recent is not None:
            self.recent.add(rows[:passed], self.bucket.seen + 1)
        self.bucket.pass_by(self.pupil.n_labels, passed)
        self.unlabelled.take(self.pupil.model, rows[:passed], taught=False)
        return (query if passed < len(rows) else None), passed

    def count(self, query: Query, *, taught: bool) -> None:
        """A sample is seen, and its question, if there is one, asked; BudgetError if it cannot be paid any more."""
        self.unlabelled.check(self.pupil.model)
        purse = self.purse(1)
        self.bucket.see(self.pupil.n_labels, query.cost)
        query.number = self.bucket.seen
        self.chooser = self._fitting_chooser()
        arrived = query.arrived
        if arrived.part is not None:
            self.chooser.note(arrived.part, purse, asked=query.asked)
        if self.recent is not None:
            self.recent.add(arrived.x[None], query.number)
            if taught:
                self.recent.remove(query.number if query.about is None else query.about)
        self.unlabelled.take(self.pupil.model, arrived.x[None], taught=taught)
