"""`ActiveLearner`: a classifier that asks for labels where they help, and never beyond its budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np

from evolabel._utils.text import first_names
from evolabel._utils.validation import check_function
from evolabel.active.answers.read_answer import Answer, read_answer
from evolabel.active.asking import Asking
from evolabel.active.empty_rows import is_empty
from evolabel.active.presets import paper_settings
from evolabel.active.query import RANKING, Query
from evolabel.active.selection import RandomSelector
from evolabel.classifier.estimator import EvolvingFuzzyClassifier, OnEvent
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.samples import as_matrix
from evolabel.classifier.targets import LabelMatrix, checked_labels
from evolabel.errors import DataError, ParameterError, StateError
from evolabel.model.label_drift import restart_alarms
from evolabel.stages.protocols import Model
from evolabel.streams.tabular.column_coding import ColumnCoding


class ActiveLearner(Asking):
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
        inner = (EvolvingFuzzyClassifier() if classifier is None else classifier).inner
        if inner.is_fitted:
            raise ParameterError("the classifier has learned rows already; pass it to ActiveLearner itself")
        model = inner.new_model(len(coding.feature_names), len(labels))
        inner.begin(model, coding, LabelMatrix(list(labels)))
        return cls(inner.classifier, **settings)

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

    def _report(self, on_event: OnEvent | None, learn: Callable[[], None]) -> None:
        """Call `learn`, then `on_event` with each event that it has caused."""
        if on_event is None:
            learn()
            return
        check_function("on_event", on_event)
        with self._lock:  # events of other threads do not come in between
            before = self._inner.any_model.n_events
            learn()
            events = self._inner.events_since(before)
        for event in events:
            on_event(event)

    @uninterrupted
    def _update(self, query: Query, y: object, annotator: str | Sequence[str] | None) -> None:
        model = self._inner.model
        self._check_own(model, query)
        if is_empty(query.x):
            return  # neither counted nor learned
        answer = None if y is None else read_answer(y, annotator, query, self._inner.label_names)
        self._follow_model(model)
        if query.number is None:
            self.strategy.count(model, query)
            self.ledger.ask(query)
        else:
            self._close(query)
        answered = None if answer is None else answer.answered
        if self.bucket.budget < 1.0 and self.ledger.has_no_answer:
            restart_alarms(model.rules, model.thresholds)
        self.ledger.answer(query, answered)
        if query.asked or answer is not None:
            self.strategy.context.record_answer(model, query, answered)
        if answer is not None:
            self._learn(model, query, answer)

    def _learn(self, model: Model, query: Query, answer: Answer) -> None:
        """Train on one answer. Does nothing if every label is NaN (tied votes, or annotators of weight 0)."""
        y, confidence = answer.settle(self.annotators)
        if np.isnan(y).all():
            return
        cold_start = model.warm_up
        if cold_start is not None and self.bucket.budget < 1.0:
            cold_start.in_order = False  # rows that were asked about are not neighbours in the stream
        counted = self.strategy.drawn_labels(query)
        self._inner.add_labels(answer.new_labels)
        outputs = self._inner.learn_checked(
            query.x, y, confidence, antecedent_rate=self.antecedent_rate, counted=counted
        )
        if cold_start is None:
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

    @uninterrupted
    def pass_by(self, query: Query, *, held: bool = False) -> None:
        """Count the sample of `query` as seen and not asked, whatever the query proposes; nothing is spent.

        `held`: a limit other than the budget stopped the question, which the ledger counts.
        """
        model = self._inner.model
        self._check_own(model, query)
        self._follow_model(model)
        passed = replace(query, labels=np.zeros_like(query.labels), reasons=(), cost=0)
        self.strategy.count(model, passed)
        query.number = passed.number
        self.ledger.questions_held += held and query.asked

    def teach(self, x: object, y: object, *, on_event: OnEvent | None = None) -> None:
        """Learn labels `y` of a sample `x` that was counted before and not asked about; they cost nothing.

        `y` has 0, 1 or NaN for each label; `on_event` is as in `update`.
        """
        self._report(on_event, partial(self._teach, x, y))

    @uninterrupted
    def _teach(self, x: object, y: object) -> None:
        row = self._inner.validate_row(x).rows[0]
        labels = checked_labels(as_matrix([y], "y"))
        model = self._inner.model
        if labels.shape != (1, model.n_labels):
            raise DataError(f"y has {labels.shape[1]} labels; pass {model.n_labels} labels, NaN for unknown ones")
        if not np.isnan(labels).all():
            counted = np.ones(model.n_labels, np.bool_)
            self._inner.learn_checked(row, labels[0], None, antecedent_rate=self.antecedent_rate, counted=counted)
            self.ledger.labels_volunteered += int(np.count_nonzero(~np.isnan(labels)))

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
    def load(cls, path: "str | PathLike[str]") -> Self:
        """The learner that `save` has written to `path`; it continues with the same bits (`next_query` to rounding)."""
        from evolabel.active.storage import load_learner

        return load_learner(cls, path)

    @exclusive
    def to_bytes(self) -> bytes:
        """The contents of the file that `save` writes."""
        from evolabel.active.storage import learner_bytes

        self._follow_model(self._inner.model)
        return learner_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The learner in `data`, which `to_bytes` has made; ModelFileError if they are damaged."""
        from evolabel.active.storage import learner_from_bytes

        return learner_from_bytes(cls, data)

    @exclusive
    def seal(self) -> str:
        """Checksum of the whole state: two learners with the same seal go on with the same bits."""
        from evolabel.active.storage import learner_checksum

        self._follow_model(self._inner.model)
        return learner_checksum(self)

    def __repr__(self) -> str:
        criteria = tuple(criterion.name for criterion in self.strategy.criteria)
        limit = f"budget={self.bucket.budget!r}, per={self.bucket.per!r}"
        how = f"criteria={criteria!r}, selection={self.strategy.selector!r}"
        return f"{type(self).__name__}({self.classifier!r}, {limit}, {how})"
