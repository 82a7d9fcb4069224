"""`ActiveLearner`: a classifier that asks for labels where they help, and never beyond its budget."""

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from evolabel._utils.interrupts import deliver, exclusive, uninterrupted
from evolabel._utils.rollback import put_back_on_error
from evolabel._utils.text import first_names
from evolabel._utils.validation import check_function, check_number, whole_number
from evolabel.active.answers import AnnotatorPool, Answer, Ledger, read_answer
from evolabel.active.empty_rows import FilledRows
from evolabel.active.presets import paper_settings
from evolabel.active.query import RANKING, Query, is_empty
from evolabel.active.scoring.criteria import Criterion, read_criteria
from evolabel.active.selection import RandomSelector, Selector, read_selector
from evolabel.active.selection.token_bucket import DEFAULT_BURST, TokenBucket
from evolabel.active.strategy import QueryStrategy
from evolabel.classifier.estimator import EvolvingFuzzyClassifier, OnEvent
from evolabel.classifier.samples import as_matrix, checked_labels
from evolabel.classifier.targets import LabelMatrix
from evolabel.errors import DataError, DataTypeError, ParameterError, StateError
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.label_states import restart_alarms
from evolabel.model.pipeline import start_forest
from evolabel.model.protocols import Model
from evolabel.stages.feedback.stage import Correction
from evolabel.streams.tabular.column_coding import ColumnCoding
from evolabel.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.explain.prediction import Explanation


class NextAnswers(NamedTuple):
    """Outputs of the rows behind the last learned one, with and without the last answers."""

    outputs: FloatArray
    plain: FloatArray
    """Those without the last answers, equal where these do not count."""
    empty: BoolArray | None
    """Which rows have no feature; None if all have."""


_MOST_ROWS_AHEAD = 2048  # rows that `next_query` scores together at most

# Shuffles 10-15 of four sets, samples-based: .32 / .28 of the gap in PA / AP; with 1 it was .27 / .26, with 0 new rules
# would stay young for ever.
DEFAULT_ANTECEDENT_RATE = 0.2


class ActiveLearner:
    """Asks about few samples of a stream and trains a classifier on the answers.

    Promise: at every moment the number of samples (or labels) asked is at most `budget` times the number seen, for any
    stream, and whatever becomes of the questions.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        Trained on an initial batch, or on a few rows at least; it is trained in place. It may be fitted anew on the
        same features: counts stay, what was learned about the former model starts anew, and pending questions about
        labels that are no longer there are given up. Other features need a new learner.
    budget : float
        Share of the stream that may be asked, in (0, 1].
    per : {"samples", "labels"}
        What is asked about and counted: whole samples, or single labels, which gain more but touch more samples.
    criteria : str, Criterion or sequence of them, optional
        Scores of samples; by default those that were measured to help most.
    selection : {"quantile", "tokens", "first_come", "variable", "random"} or Selector, optional
        How samples are chosen by their scores; by default `QuantileSelector`, tau = 5 with labels and 10 with samples.
    credit : int
        Samples counted as seen before the stream begins.
    burst : int or None
        Rows whose earnings can be saved at most, so that a pause is not followed by questions about every row; None
        saves everything. See `TokenBucket`.
    min_labels : int
        Labels a question asks for at least (`per="labels"`).
    antecedent_rate : float
        Factor in [0, 1] of an answered sample's weight in the antecedents: 1 moves rules as far as without a budget,
        0 not at all. With few answers the consequents cannot follow rules that move far.
    error_feedback : bool
        Whether recent errors correct the outputs of the samples that follow, and the choice of questions, as far as the
        initial batch and the answers show that errors repeat: they do where neighbouring rows are related, not where
        rows were shuffled.
    max_pending : int
        Pending questions that are kept; with one more, the oldest is given up as refused. Memory stays bounded where
        answers never come.
    annotators : AnnotatorPool, optional
        Weights of the annotators.

    Attributes
    ----------
    bucket : TokenBucket
        Counts, with `seen`, `asked` and the `share` asked so far.
    ledger : Ledger
        What became of the questions.
    pending : dict
        Questions that wait for an answer, by number.

    Notes
    -----
    Methods can be called from any thread. They take the lock of the classifier, and Ctrl-C takes effect when they end.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.active import ActiveLearner
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:200], Y[:200]), budget=0.1)
    >>> for x, y in zip(X[200:], Y[200:]):
    ...     query = learner.query(x)
    ...     learner.update(query, y if query.asked else None)
    >>> learner.bucket.seen, learner.bucket.asked
    (400, 39)
    """

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
        """The classifier that each answer trains; save it alone to predict without asking."""
        found = self._inner.classifier
        assert isinstance(found, EvolvingFuzzyClassifier)
        return found

    @property
    def budget(self) -> float:
        """Share of the stream that may be asked about. It may be set, for the samples to come.

        What was seen before has earned under the budget before. To set it is a ParameterError for a learner with
        credit, and with selection="random", whose draws hold for one budget.
        """
        return self.bucket.budget

    @budget.setter
    @uninterrupted
    def budget(self, budget: float) -> None:
        if isinstance(self.strategy.selector, RandomSelector):
            raise ParameterError('selection="random" draws its questions for one budget; make a new learner')
        self.bucket.set_budget(budget)
        self.strategy.selector.budget = self.bucket.budget

    @classmethod
    def start(
        cls,
        features: Sequence[str] | Mapping[str, Sequence[str] | None],
        labels: Sequence[str],
        classifier: EvolvingFuzzyClassifier | None = None,
        **settings: Any,
    ) -> Self:
        """A learner that has seen nothing: it answers with the shares of the labels, and asks as soon as it can afford.

        Parameters
        ----------
        features : list of str, or dict of str to list of str or None
            Names of the features; in a dictionary a feature of texts has the list of its texts, others have None.
        labels : list of str
            Names of the labels.
        classifier : EvolvingFuzzyClassifier, optional
            Untrained; by default one of default parameters.
        **settings
            `budget`, `per` and the other parameters of the class.
        """
        named = features if isinstance(features, Mapping) else dict.fromkeys(features)
        if not named or len(named) < len(features) or len(set(labels)) < len(labels) or not labels:
            raise DataError("features and labels need one name each, all different; pass lists of names")
        coding = ColumnCoding(tuple(named), tuple(tuple(texts) if texts else None for texts in named.values()))
        trained = EvolvingFuzzyClassifier() if classifier is None else classifier
        inner = trained.inner
        if inner.is_fitted:
            raise ParameterError("the classifier has learned rows already; pass it to ActiveLearner itself")
        model = inner.new_model(len(coding.feature_names), len(labels))
        inner.begin(model, coding, LabelMatrix(list(labels)))
        return cls(trained, **settings)

    @classmethod
    def paper(
        cls, classifier: EvolvingFuzzyClassifier, budget: float = 0.1, per: str = "samples", *, step: float = 0.01
    ) -> Self:
        """A learner with the paper's three criteria and thresholds.

        Parameters
        ----------
        classifier, budget, per
            As for the class.
        step : float
            Relative change of the thresholds per sample; 0 keeps them fixed.
        """
        return cls(classifier, budget, per, **paper_settings(step))

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
        model = self._inner.model
        with put_back_on_error(self) if model.users_stages else nullcontext():
            return self._next_query(model, X)

    def _next_query(self, model: Model, X: object) -> tuple[Query | None, int]:
        """Do as `next_query`; an error leaves the rows that were counted before it."""
        strategy = self.strategy
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

    # ------------------------------------------------------------------ answers

    @uninterrupted
    def mark_pending(self, query: Query, labels: Sequence[str] | None = None) -> int:
        """Count the question of `query` now; its answer comes later, by `update`.

        Parameters
        ----------
        query : Query
            Made by `query` or `next_query` of this learner.
        labels : list of str, optional
            Names of the labels to ask for, instead of those that the query proposes.

        Returns
        -------
        int
            Number of the question, under which `pending` holds it.
        """
        model = self._inner.model
        self._check_own(model, query)
        if query.number is not None:
            raise StateError(f"question {query.number} is counted already; pass its answer to update")
        if labels is not None:
            query = self._asking(query, labels)
        if not query.asked:
            raise StateError("nothing is asked about this sample; call update(query, None)")
        self._follow_model(model)
        self.strategy.count(model, query)
        self.ledger.ask(query)
        self.pending[self.bucket.seen] = query
        if len(self.pending) > self.max_pending:
            oldest = self.pending.pop(next(iter(self.pending)))
            self.ledger.answer(oldest, None)
        return self.bucket.seen

    def update(
        self,
        query: Query,
        y: object = None,
        annotator: str | Sequence[str] | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> None:
        """Count the sample, unless `mark_pending` has counted it, and train on the answer, if there is one.

        Parameters
        ----------
        query : Query
            Made by `query` or `next_query` of this learner.
        y : array (K,) of 0, 1, NaN, or a dictionary {label: 0 or 1}, or None
            The answer; NaN, or not in the dictionary: that label was not answered; None: not asked, or refused. Labels
            that were not asked for are used as well and cost nothing. A longer array or a new name adds labels. Rows
            of frames are read by their names, too.
        annotator : str or list of str, optional
            Who has answered, for `annotators`; several have given one row of y each.
        on_event : function, optional
            Called with each event that the answer has caused (a drift, a new rule, ...), in their order, when the
            learner has learned it. After Ctrl-C they are in `classifier.events_` only.
        """
        self._report(on_event, partial(self._update, query, y, annotator))

    @uninterrupted
    def skip(self, query: Query, *, over_limit: bool = False) -> None:
        """Count the sample of `query` as seen and not asked, whatever the query proposes; nothing is spent.

        `over_limit`: a limit other than the budget stopped the question, which the ledger counts.
        """
        model = self._inner.model
        self._check_own(model, query)
        self._follow_model(model)
        skipped = replace(query, labels=np.zeros_like(query.labels), reasons=(), cost=0)
        self.strategy.count(model, skipped)
        query.number = skipped.number
        self.ledger.questions_held += over_limit and query.asked

    def learn(
        self, x: object, y: object, *, late: int | None = None, annotator: str | None = None,
        on_event: OnEvent | None = None,
    ) -> None:  # fmt: skip
        """Learn labels `y` of a sample `x` that was counted before and not asked about; they cost nothing.

        `y` has 0, 1 or NaN for each label; `late` is how many samples were counted after it, None if that is not known.
        With an `annotator` they have the weight of this person, whose agreement with others they do not change.
        `on_event` is as in `update`.
        """
        passed = self.bucket.seen if late is None else whole_number("late", late, 0)
        weight = 1.0 if annotator is None else self.annotators.weight(annotator)
        if weight > 0.0:
            self._report(on_event, partial(self._learn_labels, x, y, passed, weight))

    @uninterrupted
    def _learn_labels(self, x: object, y: object, late: int, weight: float) -> None:
        row = self._inner.validate_row(x).rows[0]
        labels = checked_labels(as_matrix([y], "y"))
        model = self._inner.model
        if labels.shape != (1, model.n_labels):
            raise DataError(f"y has {labels.shape[1]} labels; pass {model.n_labels} labels, NaN for unknown ones")
        if not np.isnan(labels).all():
            counted = np.ones(model.n_labels, np.bool_)
            rate, confidence = self.antecedent_rate, None if weight == 1.0 else np.full(model.n_labels, weight)
            self._inner.learn_checked(row, labels[0], confidence, antecedent_rate=rate, counted=counted, late=late)
            self.ledger.labels_volunteered += int(np.count_nonzero(~np.isnan(labels)))

    # ------------------------------------------------------------------ predictions

    @exclusive
    def decision_function(self, X: object, first: int | None = None) -> FloatArray:
        """Outputs of the classifier for the next rows, corrected by recent errors, (n, K).

        Where the last four samples were answered at once, the last answers count in the first row instead, as in
        `test_then_train` of the classifier.

        Parameters
        ----------
        X : array (n, p) or list of dict
            The rows, or their values by the names of the features.
        first : int, optional
            Number of the first row in the stream, by default that of the next sample.
        """
        return self._answered(X, first).outputs

    def _answered(self, X: object, first: int | None) -> NextAnswers:
        """`decision_function` of the rows `X` from number `first` on, and what it comes from."""
        filled = FilledRows.of(self._inner.validate_rows(X), "the output is the base rates of the labels")
        start, model = self._number(first), self._inner.model
        plain = filled.outputs(model, lambda rows: self.strategy.outputs(model, rows, start))
        follows = self.strategy.follows(model, start)
        if not len(follows) or not len(filled.rows):
            return NextAnswers(plain, plain, filled.empty)
        outputs, row, at = plain.copy(), filled.rows[:1], filled.passed(0)
        plain[at], outputs[at] = model.outputs(row)[0], model.answer_few(row, follows=follows).outputs[0]
        return NextAnswers(outputs, plain, filled.empty)

    @exclusive
    def predict_proba(self, X: object, first: int | None = None) -> FloatArray:
        """Probabilities of the labels of the next rows `X`, (n, K), from `decision_function` of the same arguments.

        The maps are those of the classifier (`classifier.predict_proba` does not correct by recent errors). `first` is
        the number of the first row in the stream.
        """
        found = self._answered(X, first)
        P = self._inner.state.probabilities_after(found.outputs, found.plain)
        if found.empty is not None:
            P[found.empty] = base_probabilities(self._inner.model)
        return P

    @exclusive
    def predict(self, X: object, first: int | None = None) -> IntArray:
        """Labels of the next rows `X` as 0/1, (n, K), from `decision_function` of the same arguments.

        `classifier.predict` does not correct by recent errors. `first` is the number of the first row in the stream.
        """
        found = self._answered(X, first)
        plain = None if found.outputs is found.plain else found.plain
        return self._inner.decide(found.outputs, plain).astype(np.int64)

    @exclusive
    def explain(self, x: object, first: int | None = None, *, changes: int = 1) -> "Explanation":
        """`decision_function` of one sample `x` in parts that add up; `feedback` is the part of recent errors.

        Where the last answers count, they are a part instead. `classifier.explain` has neither. `first` is the number
        of the sample in the stream, `changes` the most changes per label that are offered because they would turn it.
        """
        start, model = self._number(first), self._inner.model
        if len(self.strategy.follows(model, start)) and start > self.bucket.seen:
            return self._inner.explain(x, None, changes, follows=1)

        def correct(rows: FloatArray) -> Correction | None:
            return self.strategy.context.of(model, rows, np.full(len(rows), start, np.int64)).correction

        return self._inner.explain(x, correct, changes)

    @property
    def next_follows(self) -> bool:
        """Whether the last answers count in the answer to the next sample, as `decision_function` states."""
        return len(self.strategy.follows(self._inner.model, self._number(None))) > 0

    def _number(self, first: int | None) -> int:
        """Number of a sample in the stream: `first`, or that of the next sample."""
        return self.bucket.seen + 1 if first is None else whole_number("first", first, 1)

    # ------------------------------------------------------------------ labels and classifier

    @uninterrupted
    def add_label(self, name: str) -> None:
        """Add a label called `name`, of which nothing is known yet; it is asked for like any other."""
        names = self._inner.label_names
        if not isinstance(name, str) or not name or name in names:
            raise DataError(f"a new label needs a name of its own, got {name!r}; the labels are {first_names(names)}")
        self._follow_model(self._inner.model)
        self._inner.grow_labels([name])

    @uninterrupted
    def retire_label(self, name: str) -> None:
        """Never ask for the label called `name` again; it is predicted, and answers to it are learned."""
        names = self._inner.label_names
        if name not in names:
            raise DataError(f"there is no label {name!r}; the labels are {first_names(names)}")
        self.strategy.retired.add(name)

    @uninterrupted
    def replace_classifier(self, classifier: EvolvingFuzzyClassifier) -> None:
        """Go on with another trained `classifier` of the same features and labels; counts and questions stay."""
        before, now = self._inner.fitted, classifier.inner.fitted
        if not before.same_features(now) or before.targets.names != now.targets.names:
            raise DataError("the classifier has other features or labels; pass one trained on those of this learner")
        self._inner.classifier, self._inner.state = classifier, classifier.inner.state

    # ------------------------------------------------------------------ files

    @uninterrupted
    def save(self, path: "str | PathLike[str]") -> None:
        """Write classifier and learner, pending questions included, to one file at `path`, atomically."""
        from evolabel.active.storage import save_learner

        self._follow_model(self._inner.model)
        save_learner(self, path)

    @classmethod
    def load(cls, path: "str | PathLike[str]", *, stages: Sequence[Any] = ()) -> Self:
        """The learner that `save` has written to `path`; it continues with the same bits (`next_query` to rounding).

        Files hold no code: if its classifier has stages of your own, pass them as the parameter `stages` was.
        """
        from evolabel.active.storage import load_learner

        return load_learner(cls, path, stages)

    @exclusive
    def to_bytes(self) -> bytes:
        """The contents of the file that `save` writes."""
        from evolabel.active.storage import learner_bytes

        self._follow_model(self._inner.model)
        return learner_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, *, stages: Sequence[Any] = ()) -> Self:
        """The learner in `data`, which `to_bytes` has made; ModelFileError if they are damaged. `stages`: as `load`."""
        from evolabel.active.storage import learner_from_bytes

        return learner_from_bytes(cls, data, stages)

    @exclusive
    def checksum(self) -> str:
        """Checksum of the whole state: two learners with the same checksum continue with the same bits."""
        from evolabel.active.storage import learner_checksum

        self._follow_model(self._inner.model)
        return learner_checksum(self)

    # ------------------------------------------------------------------ inner workings

    @property
    def _lock(self) -> Any:
        return self._inner.lock

    def _report(self, on_event: OnEvent | None, learn: Callable[[], None]) -> None:
        """Call `learn`, warn of labels that are never predicted, then call `on_event` with each event it has caused."""
        if on_event is None:
            with self._lock:
                learn()
                self._inner.note_silent_labels()
            return
        check_function("on_event", on_event)
        with self._lock:  # events of other threads do not come in between
            before = self._inner.any_model.n_events
            learn()
            self._inner.note_silent_labels()
            events = self._inner.events_since(before)
        for event in events:
            on_event(event)

    @uninterrupted
    def _update(self, query: Query, y: object, annotator: str | Sequence[str] | None) -> None:
        model = self._inner.model
        self._check_own(model, query)
        if is_empty(query.x):
            return  # neither counted nor learned
        with put_back_on_error(self, query) if model.users_stages else nullcontext():
            self._count_and_learn(model, query, y, annotator)

    def _count_and_learn(self, model: Model, query: Query, y: object, annotator: str | Sequence[str] | None) -> None:
        """Count the sample of `query`, unless it is counted, and train on the answer `y` of an `annotator`, if any."""
        answer = None if y is None else read_answer(y, annotator, query, self._inner.label_names)
        self._follow_model(model)
        if query.number is None:
            self.strategy.count(model, query)
            self.ledger.ask(query)
        else:
            self._close(query)
        answered = None if answer is None else answer.answered
        if self.bucket.budget < 1.0 and self.ledger.has_no_answer:
            restart_alarms(model)
        self.ledger.answer(query, answered)
        if query.asked or answer is not None:
            self.strategy.context.record_answer(model, query, answered)
        if answer is not None:
            self._learn_answer(model, query, answer)

    def _learn_answer(self, model: Model, query: Query, answer: Answer) -> None:
        """Train on one answer. Does nothing if every label is NaN (tied votes, or annotators of weight 0)."""
        y, confidence = answer.combined(self.annotators)
        if np.isnan(y).all():
            return
        warm_up = model.warm_up
        if self.bucket.budget < 1.0:
            start_forest(model)
            if warm_up is not None:
                warm_up.in_order = False  # rows that were asked about are not neighbours in the stream
        counted = self.strategy.drawn_labels(query)
        if warm_up is None:
            self.ledger.meet(query, y, counted)
        self._inner.add_labels(answer.new_labels)
        late = self.bucket.seen - (query.number or 0)
        outputs = self._inner.learn_checked(
            query.x, y, confidence, antecedent_rate=self.antecedent_rate, counted=counted, late=late
        )
        if warm_up is None:
            self.strategy.context.record_error(model, query, y, outputs, confidence)

    def _asking(self, query: Query, labels: Sequence[str]) -> Query:
        """The `query` with a question for the labels of these names."""
        names = self._inner.label_names
        if unknown := [name for name in labels if name not in names]:
            raise DataError(f"there is no label {unknown[0]!r}; the labels are {first_names(names)}")
        asked = np.isin(names, list(labels))
        reasons = query.reasons or (RANKING,)
        by_label = (reasons,) * int(np.count_nonzero(asked))
        cost = self.strategy.price_of(asked)
        shares = self._inner.model.calibrator().probabilities(query.prediction[None])[0]
        return replace(query, labels=asked, reasons=reasons, label_reasons=by_label, cost=cost, probabilities=shares)

    def _close(self, query: Query) -> None:
        """Remove a counted question from the pending ones."""
        number = query.number or 0
        known = self.pending.get(number)
        if known is None or not np.array_equal(known.x, query.x, equal_nan=True):
            raise StateError(
                f"sample {number} is not pending: it was passed to update before, was given up, or is another "
                "learner's; call query for the next sample"
            )
        del self.pending[number]

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

    def __repr__(self) -> str:
        criteria = tuple(criterion.name for criterion in self.strategy.criteria)
        limit = f"budget={self.bucket.budget!r}, per={self.bucket.per!r}"
        how = f"criteria={criteria!r}, selection={self.strategy.selector!r}"
        return f"{type(self).__name__}({self.classifier!r}, {limit}, {how})"
