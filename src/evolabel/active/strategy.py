"""`QueryStrategy`: scores rows, finds the one to ask about, and counts the rows that have passed."""

import copy
from typing import Any

import numpy as np

from evolabel.active.query import (
    CONFIRM,
    PROBE,
    RANDOM,
    RANKING,
    WARM_UP,
    Query,
    QueryNames,
    Scores,
    empty_query,
    is_empty,
)
from evolabel.active.query_context import QueryContext
from evolabel.active.scoring import priorities
from evolabel.active.scoring.criteria import Criterion, Scorer, VarianceReduction, can_fire
from evolabel.active.scoring.scored_rows import ModelVersion, RowsAhead, ScoredRows, ScoringContext, WeightCache
from evolabel.active.scoring.second_moments import UnlabelledRows
from evolabel.active.selection import Selector
from evolabel.active.selection.token_bucket import Allowance, TokenBucket
from evolabel.classifier.inner import ClassifierInner, FittedModel
from evolabel.core.rows import FOLLOWS_NOTHING
from evolabel.errors import StateError
from evolabel.explain.unfamiliar import describe_unfamiliar
from evolabel.model.label_states import doubts
from evolabel.model.protocols import Model
from evolabel.stages.last_answers.arrays import OLDEST
from evolabel.streams.tabular.column_coding import Unseen
from evolabel.typing import BoolArray, FloatArray, IntArray


class QueryStrategy:
    """Scores rows by the criteria and lets the selector decide, within what the bucket allows.

    `query` changes nothing. `scan` and `count` count rows in the bucket, the selector and the second moments.

    Parameters
    ----------
    inner : ClassifierInner
        The classifier. Methods take its present `model`, which the caller has looked up once.
    bucket : TokenBucket
        Counts samples and questions.
    criteria : tuple of Criterion
        Give the scores.
    selector : Selector
        Decides by the scores; it is reset.
    pending : dict of int to Query
        Questions whose answers have not come yet, by number; the caller's own, which changes.
    min_labels : int
        Labels a question asks for at least.
    error_feedback : bool
        Whether recent errors correct the outputs of the rows that follow.
    """

    def __init__(
        self,
        inner: ClassifierInner,
        bucket: TokenBucket,
        criteria: tuple[Criterion, ...],
        selector: Selector,
        *,
        pending: dict[int, Query],
        min_labels: int,
        error_feedback: bool,
    ) -> None:
        self.inner, self.bucket, self.criteria = inner, bucket, criteria
        self.selector, self.pending = selector, pending
        self.unlabelled = UnlabelledRows(moments=any(isinstance(c, VarianceReduction) for c in criteria))
        self.context = QueryContext(bucket, error_feedback=error_feedback)
        self.retired: set[str] = set()
        """Names of labels that are predicted and never asked for."""
        self._names = [criterion.name for criterion in criteria]
        self._firing = [criterion for criterion in criteria if can_fire(criterion)]
        self._min_labels = min_labels
        self._counted_by: FittedModel | None = None  # the model when a sample was last counted
        # What follows only saves time.
        self._ahead: RowsAhead | None = None
        self._weight_cache = WeightCache()
        self._latest: ModelVersion | None = None
        self._scorer = Scorer(criteria)
        n_labels = inner.model.n_labels if inner.is_fitted else 1
        selector.reset(criteria, bucket.budget, bucket.unit(n_labels), min_labels)

    # ------------------------------------------------------------------ the model

    def check_model(self, model: Model) -> None:
        """StateError if `model` has other features than the samples counted so far: the classifier was fitted anew."""
        known = self._counted_by
        if known is None or known.model is model:
            return
        now = self.inner.fitted
        if not known.same_features(now):
            raise StateError(
                f"the classifier was fitted anew on other features ({now.n_features}, this learner has counted samples "
                f"of {known.n_features}); make a new ActiveLearner"
            )

    def follow_model(self, model: Model) -> FittedModel | None:
        """Restart selector, second moments and error feedback if the classifier was fitted anew; counts stay.

        Returns the model as it was when a sample was last counted, if `model` differs from it in any way.
        """
        self.inner.state.check_unused()
        before = self._counted_by
        if before is not None and before.is_still(model, self.inner.targets):
            return None
        self.check_model(model)
        self.selector = self._fitting_selector(model)
        if model.warm_up is None:
            self.unlabelled.begin(model)
        self._counted_by = self.inner.fitted
        return before

    def restore(self, rows_unchanged: int) -> None:
        """Continue with the present model, which has not changed for `rows_unchanged` rows: after loading."""
        self._counted_by = self.inner.fitted
        model = self._counted_by.model
        if model.warm_up is None:
            self.unlabelled.begin(model)
        self._weight_cache = WeightCache(rows_unchanged, self._version(model))

    # ------------------------------------------------------------------ queries

    def query(self, model: Model, row: FloatArray, unseen: tuple[Unseen, ...] = ()) -> Query:
        """The query about one checked `row`, (1, p). Changes nothing. No feature stands for its texts `unseen`."""
        query = self._query(model, row)
        if unseen:
            query.unfamiliar = describe_unfamiliar(query.x, model.ranges, self.inner.columns, unseen)
        return query

    def _query(self, model: Model, row: FloatArray) -> Query:
        """The query about one checked `row`, (1, p)."""
        if is_empty(row[0]):
            return empty_query(model, row[0])
        if model.warm_up is not None:
            affordable = self.bucket.affordable(model.n_labels) >= self.bucket.unit(model.n_labels)
            return self._cold_query(model, row, asked=affordable)
        selector, version = self._fitting_selector(model), self._version(model)
        scored = self._score(model, row, selector, self._weight_cache.weights(version))
        at, mask = selector.select(scored.values, self._allowance(model, 1), commit=False)
        return self._make_query(scored, 0, mask if at == 0 else None, selector)

    def outputs(self, model: Model, rows: FloatArray, first: int) -> FloatArray:
        """Outputs of `model` for checked `rows`, numbered from `first` on, corrected by recent errors."""
        numbers = np.arange(first, first + len(rows), dtype=np.int64)
        plain, correction = model.outputs(rows), self.context.of(model, rows, numbers).correction
        return plain if correction is None else correction.of(plain)

    def follows(self, model: Model, first: int) -> IntArray:
        """How many rows after the last counted one sample `first` comes, (1,); empty if no last answers count in it.

        They do where the samples right before it were answered at once. Then no error feedback corrects it.
        """
        follows, memory = first - self.bucket.seen, model.memory
        counted = self._counted_by is not None and self._counted_by.model is model
        if not counted or model.warm_up is not None or memory is None or not OLDEST < first <= self.bucket.seen + 1:
            return FOLLOWS_NOTHING
        return np.array([follows]) if memory.comes_at_once(follows) else FOLLOWS_NOTHING

    def scan(self, model: Model, rows: FloatArray) -> tuple[Query | None, int]:
        """Count checked `rows` of `model` until one is to be asked about; returns its query and the number counted.

        The row in question is not counted. The query is None if nothing is to be asked.

        At most `rows_until_change` rows, after `follow_model`.
        """
        query, passed = self._first_query(model, rows)
        self.bucket.skip(model.n_labels, passed)
        model.advance(passed)
        self._weight_cache.count(self._version(model), passed)
        self.unlabelled.add(model, rows[:passed])
        return query, passed

    def count(self, model: Model, query: Query) -> None:
        """Count the sample and question of `query`, after `follow_model`; BudgetError if it costs too much by now."""
        limit = self.bucket.count(model.n_labels, query.cost)
        query.number = self.bucket.seen
        model.advance(1)
        self._weight_cache.count(self._version(model), 1)
        if query.values is not None:
            self.selector.record(query.values, limit, cost=query.cost)
        self.unlabelled.add(model, query.x[None])

    def _allowance(self, model: Model, rows: int) -> Allowance:
        return self.bucket.allowance(model.n_labels, rows, self.context.urgency(model))

    def _version(self, model: Model) -> ModelVersion:
        """The present version; the same object as long as nothing has changed."""
        moments = self.unlabelled.moments_of(model)
        if self._latest is None or not self._latest.is_still(model, moments):
            self._latest = ModelVersion.of(model, moments)
        return self._latest

    def _score(self, model: Model, rows: FloatArray, selector: Selector, weights: FloatArray | None) -> ScoredRows:
        """The next rows of the stream with their outputs, scores, and the values that the `selector` compares."""
        context, moments = self.context.of_next(model, rows), self.unlabelled.moments_of(model)
        outputs, scores = self._scorer.score(
            model, rows, moments, weights=weights, correction=context.correction, exploration=context.exploration
        )
        values = selector.values(scores)
        if context.novelty_weight is not None:
            values = selector.weighted(values, context.novelty_weight)
        if self._has_priorities(model, selector):
            number, budget = self.bucket.seen + 1, self.bucket.budget
            drifting = self._unless_retired(model.drifting)  # no answer would end the drift of a retired label
            if self.bucket.per == "labels":
                values = priorities.prioritise_labels(values, number, budget, drifting)
                values = priorities.prioritise_doubts(values, outputs, self._unless_retired(self._to_confirm(model)))
            else:
                values = priorities.prioritise_samples(
                    values, number, budget, in_drift=bool(np.count_nonzero(drifting))
                )
        return ScoredRows(rows, outputs, scores, values)

    def _to_confirm(self, model: Model) -> BoolArray:
        """Labels that answers contradict more often than questions about sure outputs of them are pending."""
        counted = self._counted_by is not None and self._counted_by.model is model  # else they are about other labels
        pending = reversed(self.pending.values()) if counted else ()
        return priorities.labels_to_confirm(doubts(model), pending)

    def _has_priorities(self, model: Model, selector: Selector) -> bool:
        """Whether labels in a drift are asked for first, and some questions drawn at random.

        They are where drift is followed, unless the budget pays for everything.
        """
        return selector.takes_priorities and model.options.follow_drift and self.bucket.budget < 1.0

    def _first_query(self, model: Model, rows: FloatArray) -> tuple[Query | None, int]:
        """The query about the first row to ask about, and the number of rows before it, which the selector records."""
        if model.warm_up is not None:
            n_labels = model.n_labels
            at = int(np.searchsorted(self.bucket.limits(n_labels, len(rows)), self.bucket.unit(n_labels)))
            return self._cold_query(model, rows[at : at + 1], asked=True) if at < len(rows) else None, at
        scored, first = self._scored_ahead(model, rows)
        values = scored.values[first : first + len(rows)]
        at, mask = self.selector.select(values, self._allowance(model, len(rows)), commit=True)
        found = at < len(rows)
        self._ahead = self._ahead and self._ahead._replace(first=first + at + found)
        return self._make_query(scored, first + at, mask, self.selector) if found else None, at

    def _scored_ahead(self, model: Model, rows: FloatArray) -> tuple[ScoredRows, int]:
        """The rows scored, now or before, and the index of the first of them."""
        version, number = self._version(model), self.bucket.seen + 1
        to_confirm = self._to_confirm(model).tobytes() if self.bucket.per == "labels" else b""
        context = ScoringContext(self.context.changes(model), self.bucket.budget, frozenset(self.retired), to_confirm)
        if self._ahead is None or not self._ahead.holds_for(rows, version, number, context):
            weights = self._weight_cache.weights(version, len(rows))
            kept = rows.copy()  # the caller may write into its rows
            self._ahead = RowsAhead(version, number, context, self._score(model, kept, self.selector, weights))
        return self._ahead.scored, self._ahead.first

    def _cold_query(self, model: Model, row: FloatArray, *, asked: bool) -> Query:
        """A question about a whole sample, or none, without scores: a first model needs all labels."""
        prediction = model.outputs(row)[0]
        labels = self._unless_retired(np.full(len(prediction), asked))
        reasons = (WARM_UP,) if labels.any() else ()
        by_label = (reasons,) * int(np.count_nonzero(labels))
        price = self.price_of(labels)
        return self._described(Query(row[0].copy(), prediction, labels, reasons, {}, price, label_reasons=by_label))

    def _make_query(self, scored: ScoredRows, row: int, mask: BoolArray | None, selector: Selector) -> Query:
        """The query of a scored row; `mask`: labels to ask for, or that the sample is asked about; None: nothing."""
        x, prediction, value = scored.rows[row].copy(), scored.outputs[row].copy(), scored.values[row].copy()
        scores = dict(zip(self._names, scored.scores.of_row(row), strict=True))
        labels = np.zeros(len(prediction), np.bool_)
        if mask is not None:
            labels = self._unless_retired(mask if self.bucket.per == "labels" else ~labels)
        if mask is None or not np.count_nonzero(labels):
            return self._described(Query(x, prediction, labels, (), scores, 0, value))
        first = _asked_first(value, labels) if selector.takes_priorities else {}
        by_label = tuple(
            next(((reason,) for reason, those in first.items() if those[k]), why)
            for k, why in zip(np.flatnonzero(labels), self._reasons(scores, labels, selector), strict=True)
        )
        named = {name for why in by_label for name in why}
        reasons = tuple(name for name in (PROBE, CONFIRM, *self._names, RANDOM) if name in named) or (RANKING,)
        query = Query(x, prediction, labels, reasons, scores, self.price_of(labels), value, drawn=first.get(PROBE))
        query.label_reasons = by_label
        return self._described(query)

    def _unless_retired(self, labels: BoolArray) -> BoolArray:
        """`labels`, (K,), without those that are never asked for."""
        return labels & ~np.isin(self.inner.label_names, list(self.retired)) if self.retired else labels

    def _described(self, query: Query) -> Query:
        """The `query` with names, unfamiliar values in words and, if it asks, the probabilities of the labels."""
        model = self.inner.model
        query.names = QueryNames(self.inner.columns, self.inner.label_names)
        query.unfamiliar = describe_unfamiliar(query.x, model.ranges, query.names.columns)
        if query.asked:
            query.probabilities = model.calibrator().probabilities(query.prediction[None])[0]
        return query

    def _reasons(self, scores: Scores, labels: BoolArray, selector: Selector) -> list[tuple[str, ...]]:
        """For each of the `labels` asked for, the criteria whose `scores` exceed their threshold.

        Scores are multiplied by the present ease of the `selector`.
        """
        n_asked = int(np.count_nonzero(labels))
        if selector.ignores_criteria:
            return [(RANDOM,)] * n_asked
        fired = list[list[str]]([] for _ in range(n_asked))
        for criterion in self._firing:
            score = scores[criterion.name]
            strength = criterion.strength(score.reshape(1) if criterion.whole else score[labels])
            exceeded = np.broadcast_to(strength * selector.ease > 1.0, n_asked).tolist()
            for reasons, exceeds in zip(fired, exceeded, strict=True):
                if exceeds:
                    reasons.append(criterion.name)
        return [tuple(reasons) or (RANKING,) for reasons in fired]

    def price_of(self, labels: BoolArray) -> int:
        """Price of a question for these `labels` of a sample."""
        count = int(np.count_nonzero(labels))
        return count if self.bucket.per == "labels" else min(count, 1)

    def drawn_labels(self, query: Query) -> BoolArray:
        """Labels of `query` that stand for the stream: all where everything or at random is asked, else the probes."""
        if self.bucket.budget >= 1.0 or RANDOM in query.reasons:
            return np.ones(len(query.labels), np.bool_)
        return np.zeros(len(query.labels), np.bool_) if query.drawn is None else query.drawn

    def could_have_made(self, model: Model, query: Query) -> bool:
        """Whether price and values of `query` agree with the bucket and the selector, for `model`."""
        if query.cost != self.price_of(query.labels):
            return False
        return query.values is None or self._fitting_selector(model).fits(query.values)

    def _fitting_selector(self, model: Model) -> Selector:
        """The selector, or a copy that fits `model`: a query must not change anything.

        The copy is wider if labels have appeared, and empty if the classifier was fitted anew.
        """
        width = self.bucket.unit(model.n_labels)
        same_model = self._counted_by is not None and self._counted_by.model is model
        if same_model and self.selector.width == width:
            return self.selector
        other = copy.deepcopy(self.selector)
        if same_model:
            other.resize(width)
        else:
            other.reset(self.criteria, self.bucket.budget, width, self._min_labels)
        return other

    # ------------------------------------------------------------------ how far to look ahead

    def rows_until_affordable(self, model: Model) -> int:
        """Number of rows before anything can be asked."""
        return self.bucket.rows_before(model.n_labels, self.selector.least)

    def rows_until_change(self) -> int:
        """Number of rows that can be scored together, because counting them does not change their scores."""
        return self.unlabelled.rows_until_change()

    def rows_scored_ahead(self) -> int:
        """Number of rows behind the last query that were scored already."""
        return 0 if self._ahead is None else len(self._ahead.scored.rows) - self._ahead.first

    def is_unchanged(self, model: Model) -> bool:
        """Whether `model` has neither learned nor been edited since the last query of `scan`."""
        return self._ahead is not None and self._ahead.version.same_rules(self._version(model))

    def rows_unchanged(self) -> int:
        """Rows counted since the model last changed."""
        return self._weight_cache.rows_unchanged(self._version(self.inner.model)) if self.bucket.seen else 0

    def __getstate__(self) -> dict[str, Any]:
        unchanged = self.rows_unchanged()
        cache = WeightCache(unchanged, self._version(self.inner.model)) if self.bucket.seen else WeightCache()
        fresh = {"_ahead": None, "_weight_cache": cache, "_latest": None}
        return {**self.__dict__, **fresh}


def _asked_first(value: FloatArray, labels: BoolArray) -> dict[str, BoolArray]:
    """Return, by reason, those of the `labels` asked for that priorities have put first, by the `value` of the row."""
    is_probe, is_raised = value >= priorities.PROBE_SCORE, value >= priorities.CONFIRM_SCORE
    found = {PROBE: labels & is_probe, CONFIRM: labels & is_raised & ~is_probe}
    return {reason: those for reason, those in found.items() if those.any()}
