"""`Asking`: the half of `ActiveLearner` that predicts, and finds the samples to ask about."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils.interrupts import deliver
from evolabel._utils.validation import check_number, whole_number
from evolabel.active.answers.annotators import AnnotatorPool
from evolabel.active.answers.ledger import Ledger
from evolabel.active.empty_rows import FilledRows
from evolabel.active.query import Query
from evolabel.active.scoring.criteria import Criterion, read_criteria
from evolabel.active.selection import Selector, read_selector
from evolabel.active.selection.token_bucket import DEFAULT_BURST, TokenBucket
from evolabel.active.strategy import QueryStrategy
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.model.empty_rows import base_probabilities
from evolabel.stages.feedback.stage import Correction
from evolabel.stages.protocols import Model
from evolabel.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.explain.prediction import Explanation

_MOST_ROWS_AHEAD = 2048  # rows that `next_query` scores together at most

# Shuffles 10-15 of four sets, samples-based: .32 / .28 of the gap in PA / AP; with 1 it was .27 / .26, with 0 new rules
# would stay young for ever.
DEFAULT_ANTECEDENT_RATE = 0.2


class Asking:
    """Queries about samples; parameters and attributes are those of `ActiveLearner`."""

    def __init__(
        self,
        classifier: EvolvingFuzzyClassifier,
        budget: float = 0.1,
        per: str = "samples",
        *,
        criteria: str | Criterion | Sequence[str | Criterion] | None = None,
        selection: str | Selector | None = None,
        credit: int = 0,
        burst: int | None = DEFAULT_BURST,
        min_labels: int = 1,
        antecedent_rate: float = DEFAULT_ANTECEDENT_RATE,
        error_feedback: bool = True,
        max_pending: int = 10_000,
        annotators: AnnotatorPool | None = None,
    ) -> None:
        check_number("min_labels", min_labels, 1, whole=True)
        check_number("max_pending", max_pending, 1, whole=True)
        check_number("antecedent_rate", antecedent_rate, 0, 1)
        if not isinstance(classifier, EvolvingFuzzyClassifier):
            raise DataTypeError(f"an EvolvingFuzzyClassifier is needed, got {type(classifier).__name__}; pass one")
        self.bucket = TokenBucket(budget, per, credit, burst)
        if min_labels > 1 and per == "samples":
            raise ParameterError(f'min_labels={min_labels} is for per="labels"; samples are asked about as a whole')
        self.min_labels = int(min_labels)
        self.antecedent_rate = float(antecedent_rate)
        self.max_pending = int(max_pending)
        self.annotators = AnnotatorPool() if annotators is None else annotators
        self.ledger = Ledger()
        self.pending: dict[int, Query] = {}
        self._inner = classifier.inner
        self.strategy = QueryStrategy(
            self._inner,
            self.bucket,
            read_criteria(criteria, per),
            copy.deepcopy(read_selector(selection, per)),
            pending=self.pending,
            min_labels=self.min_labels,
            error_feedback=bool(error_feedback),
        )
        self._stride = self._patience = 1  # how far `next_query` scores ahead; they only save time

    @property
    def classifier(self) -> EvolvingFuzzyClassifier:
        """The classifier that is trained."""
        return self._inner.classifier

    @property
    def _lock(self) -> Any:
        return self._inner.lock

    # ------------------------------------------------------------------ queries

    @exclusive
    def query(self, x: object) -> Query:
        """The query about one sample: its prediction, and the labels to ask for, if any. Changes nothing.

        Parameters
        ----------
        x : array (p,), or a dictionary {feature: value}
            The sample; NaN, or not in the dictionary: missing. A row of a frame or a table of one row will do.
            A timestamp is a text or a datetime.

        Returns
        -------
        Query
            To be passed to `update`, with the answer if `query.asked`.
        """
        model = self._inner.model
        self.strategy.check_model(model)
        read = self._inner.validate_row(x)
        return self.strategy.query(model, read.rows, tuple(read.unseen))

    @uninterrupted
    def next_query(self, X: object) -> tuple[Query | None, int]:
        """Count unlabelled rows until one is to be asked about.

        The same as `query` and `update(query, None)` row by row, up to rounding, and faster.

        Parameters
        ----------
        X : array (n, p)
            The next rows of the stream.

        Returns
        -------
        query : Query or None
            The query about the first row to ask about, or None. This row is not counted: pass the query to `update` or
            `mark_pending`, then go on with the rows behind it.
        passed : int
            Number of rows counted, all of them before that row.
        """
        strategy, model = self.strategy, self._inner.model
        strategy.check_model(model)
        filled = FilledRows.of(self._inner.validate_rows(X), "not asked about, and not counted")
        rows = filled.rows
        self._follow_model(model)
        done, unaffordable = 0, strategy.rows_until_affordable(model)
        # While the model does not change, rows scored behind the next query stay valid, so more are scored at once.
        self._patience = min(2 * self._patience, _MOST_ROWS_AHEAD) if strategy.is_unchanged(model) else 1
        size = strategy.rows_scored_ahead() or (unaffordable + self._stride) * self._patience
        while done < len(rows):
            size = min(size, _MOST_ROWS_AHEAD)
            query, passed = strategy.scan(model, rows[done : done + min(size, strategy.rows_until_change())])
            done += passed
            if query is not None:
                self._stride = min(max(1, done - unaffordable + 1), _MOST_ROWS_AHEAD)
                return query, filled.passed(done)
            size = 2 * size
            deliver()
        return None, filled.passed(done)

    @exclusive
    def decision_function(self, X: object, first: int | None = None) -> FloatArray:
        """Outputs of the classifier for the next rows, corrected by recent errors, (n, K).

        Parameters
        ----------
        X : array (n, p) or list of dict
            The rows, or their values by the names of the features.
        first : int, optional
            Number of the first row in the stream, by default that of the next sample.
        """
        return self._outputs_and_empty(X, first)[0]

    def _outputs_and_empty(self, X: object, first: int | None) -> tuple[FloatArray, BoolArray | None]:
        """`decision_function` of the rows `X` from number `first` on, and which have no feature; None if all have."""
        filled = FilledRows.of(self._inner.validate_rows(X), "the output is the base rates of the labels")
        start, model = self._number(first), self._inner.model
        return filled.outputs(model, lambda rows: self.strategy.outputs(model, rows, start)), filled.empty

    @exclusive
    def predict_proba(self, X: object, first: int | None = None) -> FloatArray:
        """Probabilities of the labels of the next rows `X`, (n, K), from `decision_function` of the same arguments.

        The maps are those of the classifier (`classifier.predict_proba` does not correct by recent errors). `first` is
        the number of the first row in the stream.
        """
        outputs, empty = self._outputs_and_empty(X, first)
        P = self._inner.model.calibrator().probabilities(outputs)
        if empty is not None:
            P[empty] = base_probabilities(self._inner.model)
        return P

    @exclusive
    def predict(self, X: object, first: int | None = None) -> IntArray:
        """Labels of the next rows `X` as 0/1, (n, K), from `decision_function` of the same arguments.

        `classifier.predict` does not correct by recent errors. `first` is the number of the first row in the stream.
        """
        return self._inner.decide(self.decision_function(X, first)).astype(np.int64)

    @exclusive
    def explain(self, x: object, first: int | None = None, *, turns: int = 1) -> "Explanation":
        """`decision_function` of one sample `x` in parts that add up; `feedback` is the part of recent errors.

        `classifier.explain` gives the same parts without it. `first` is the number of the sample in the stream, `turns`
        the most changes per label that are offered because they would turn it.
        """
        start, model = self._number(first), self._inner.model

        def correct(rows: FloatArray) -> Correction | None:
            return self.strategy.context.of(model, rows, np.full(len(rows), start, np.int64)).correction

        return self._inner.explain(x, correct, turns)

    def _number(self, first: int | None) -> int:
        """Number of a sample in the stream: `first`, or that of the next sample."""
        return self.bucket.seen + 1 if first is None else whole_number("first", first, 1)

    # ------------------------------------------------------------------ the model

    def _follow_model(self, model: Model) -> None:
        """Continue with a classifier that was fitted anew; pending questions that do not fit it are given up."""
        before = self.strategy.follow_model(model)
        if before is None or not self.pending:
            return
        now = self._inner.fitted
        keeps = now.keeps_labels_of(before)
        for number, query in list(self.pending.items()):
            if not keeps or len(query.x) != now.n_features:
                self.ledger.answer(self.pending.pop(number), None)

    def _check_own(self, model: Model, query: Query) -> None:
        """An error if `query` was not made by this learner for `model`."""
        if not isinstance(query, Query):
            raise DataTypeError(
                f"a query is needed, got {type(query).__name__}; pass the result of query or next_query, or "
                "pending[number]"
            )
        self.strategy.check_model(model)
        if len(query.x) != model.n_features or len(query.labels) > model.n_labels:
            raise DataError("the query was made for other features or labels; pass one of this learner's own queries")
        if not self.strategy.could_have_made(model, query):
            raise DataError("the query was made by a learner of other settings; pass one of this learner's own queries")
