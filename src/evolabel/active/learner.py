"""`ActiveLearner`: a classifier that asks for labels where they help, and never beyond its budget."""

import copy
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evolabel._utils.interrupts import deliver
from evolabel._utils.validation import check_number, whole_number
from evolabel.active.answers.annotators import AnnotatorPool
from evolabel.active.answers.ledger import Ledger
from evolabel.active.answers.read_answer import read_answer
from evolabel.active.presets import paper_asking
from evolabel.active.query import Query
from evolabel.active.scoring.criteria import Criterion, read_criteria
from evolabel.active.selection import Filter, read_filter
from evolabel.active.selection.token_bucket import BURST, TokenBucket
from evolabel.active.strategy import Scout
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.inner import Pupil
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.core.members.feedback.error_feedback import Correction
from evolabel.errors import DataError, DataTypeError, ParameterError, StateError
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from evolabel.explain.prediction import Explanation

LONGEST = 2048  # rows `watch` looks at in one go, at most

# Shuffles 10-15 of four sets, samples-based: .32 / .28 of the gap in PA / AP; with 1 it was .27 / .26, with 0 new rules
# would stay young for ever.
MOBILITY = 0.2


class ActiveLearner:
    """Walks along a stream, asks about few of its samples, and teaches a classifier the answers.

    Promise: at every moment the number of samples (or labels) asked is at most `budget` times the number seen, for any
    stream, and whatever becomes of the questions.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        Trained on an initial batch, or on a few rows at least; it is taught in place. It may be fitted anew on the same
        features: what the learner has counted stays, what it has learned about the former model begins anew, and
        questions on their way about labels that are no longer there are given up. Other features need a new learner.
    budget : float
        Share of the stream that may be asked, in (0, 1].
    per : {"samples", "labels"}
        Whether whole samples are asked about and counted, or single labels. Labels pay off far more.
    criteria : str, Criterion or sequence of them, optional
        What makes a sample worth a question; by default what was measured to help most.
    selection : {"quantile", "tokens", "first_come", "variable"} or Filter, optional
        How samples are chosen by the criteria's scores, by default `QuantileFilter`, tau = 5 with labels and
        10 with samples.
    credit : int
        Samples counted as seen before the stream begins.
    burst : int or None
        Rows whose earnings can be saved at most, so that a pause is not followed by questions about every row; None
        saves everything. See `TokenBucket`.
    recent : int
        Ask about the best of this many last samples (`per="samples"`); 0 decides on each sample at once.
    min_labels : int
        Ask for at least so many labels at a time (`per="labels"`).
    mobility : float
        How far an answered sample moves the rule it falls into: 1 as far as without a budget, 0 not at all. Few answers
        cannot keep consequents abreast of rules that wander.
    refine : {"none", "coverage", "scaling"}
        What samples nobody is asked about may change in the classifier; measured in docs/active-learning.md.
    echo : bool
        Whether recent errors correct the outputs of the samples that follow, and the choice of questions, as far as the
        initial batch and the answers show that errors repeat: they do where the stream is a course of events, not where
        rows were shuffled.
    max_pending : int
        Questions on their way that are kept; one more, and the oldest is given up as refused. Memory stays bounded
        where answers never come.
    annotators : AnnotatorPool, optional
        How far annotators are believed.

    Attributes
    ----------
    bucket : TokenBucket, with `seen`, `asked` and the `share` asked so far
    ledger : Ledger, what became of the questions
    pending : dict of the questions on their way, by number

    Notes
    -----
    Methods can be called from any thread and hold Ctrl-C back until all is whole, by the lock of the classifier.

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
        selection: str | Filter | None = None,
        credit: int = 0,
        burst: int | None = BURST,
        recent: int = 0,
        min_labels: int = 1,
        mobility: float = MOBILITY,
        refine: str = "none",
        echo: bool = True,
        max_pending: int = 10_000,
        annotators: AnnotatorPool | None = None,
    ) -> None:
        check_number("recent", recent, 0, whole=True)
        check_number("min_labels", min_labels, 1, whole=True)
        check_number("max_pending", max_pending, 1, whole=True)
        self.bucket = TokenBucket(budget, per, credit, burst)
        if min_labels > 1 and per == "samples":
            raise ParameterError(f'min_labels={min_labels} is for per="labels"; samples are asked about as a whole')
        if recent and selection is not None:
            raise ParameterError(f"recent={recent} ranks the last samples by the criteria; leave selection out")
        if recent and per == "labels":
            raise ParameterError(f'recent={recent} is for per="samples"; labels are chosen as well at once')
        self.min_labels = int(min_labels)
        self.max_pending = int(max_pending)
        self.annotators = AnnotatorPool() if annotators is None else annotators
        self.ledger = Ledger()
        self.pending: dict[int, Query] = {}
        self._pupil = Pupil(classifier, mobility)
        self._scout = Scout(
            self._pupil,
            self.bucket,
            read_criteria(criteria, per),
            copy.deepcopy(read_filter(selection, per)),
            min_labels=self.min_labels,
            recent=int(recent),
            refine=refine,
            echo=bool(echo),
        )
        self._stride = self._patience = 1  # how far `watch` looks ahead; a matter of speed only

    @classmethod
    def paper(
        cls, classifier: EvolvingFuzzyClassifier, budget: float = 0.1, per: str = "samples", *, step: float = 0.01
    ) -> Self:
        """The paper's three criteria with its thresholds, which vary by `step` per sample; 0 keeps them fixed."""
        return cls(classifier, budget, per, **paper_asking(step))

    @property
    def classifier(self) -> EvolvingFuzzyClassifier:
        """The classifier that is taught."""
        return self._pupil.classifier

    @property
    def _lock(self) -> Any:
        return self._pupil.classifier._lock

    # ------------------------------------------------------------------ asking

    @exclusive
    def query(self, x: object) -> Query:
        """What is to be asked about a sample, if anything. Changes nothing: neither classifier nor learner."""
        self._scout.check_model()
        return self._scout.query(self._pupil.row(x))

    @uninterrupted
    def watch(self, X: object) -> tuple[Query | None, int]:
        """Pass by unlabelled rows until one is to be asked about; returns its query and how many rows were passed.

        As `query` and `update(query, None)` row by row, up to rounding and faster. The row in question is not counted:
        hand the query to `update` or `pend`, then go on with the rows behind it. None: no row is to be asked about.
        """
        self._scout.check_model()
        rows = self._pupil.rows(X)
        self._meet_model()
        done, poor = 0, self._scout.rows_that_cannot_be_paid()
        # As long as questions teach nothing, what is seen beyond the next one is not seen in vain.
        self._patience = min(2 * self._patience, LONGEST) if self._scout.stands_still() else 1
        size = self._scout.rows_known_ahead() or (poor + self._stride) * self._patience
        while done < len(rows):
            query, passed = self._scout.pass_by(rows[done : done + min(size, LONGEST, self._scout.rows_until_change())])
            done += passed
            if query is not None:
                self._stride = min(max(1, done - poor + 1), LONGEST)
                return query, done
            size = min(2 * size, LONGEST)
            deliver()
        return None, done

    @exclusive
    def decision_function(self, X: object, first: int | None = None) -> FloatArray:
        """Outputs for the rows that come next, (n, K): those of the classifier, corrected by the echo of recent errors.

        `first` is the number of the first row in the stream, by default that of the next sample.
        """
        rows = self._pupil.rows(X)
        start = self.bucket.seen + 1 if first is None else whole_number("first", first, 1)
        numbers = np.arange(start, start + len(rows), dtype=np.int64)
        plain, correction = self._pupil.model.outputs(rows), self._scout.experience.of(rows, numbers).correction
        return plain if correction is None else correction.of(plain)

    @exclusive
    def predict(self, X: object, first: int | None = None) -> IntArray:
        """Labels of the rows that come next as 0/1, (n, K), the echo included: `classifier.predict` knows of none."""
        return np.asarray(self.decision_function(X, first) >= self.classifier.thresholds_, np.int64)

    @exclusive
    def explain(self, x: object, first: int | None = None) -> "Explanation":
        """`decision_function` of one sample in parts that add up; `feedback` is the part of recent errors.

        `classifier.explain` gives the same parts without it. Of a query that looks back, pass `first=query.about`.
        """
        start = self.bucket.seen + 1 if first is None else whole_number("first", first, 1)

        def correct(rows: FloatArray) -> Correction | None:
            return self._scout.experience.of(rows, np.full(len(rows), start, np.int64)).correction

        return self._pupil.explain(x, correct)

    # ------------------------------------------------------------------ learning

    @uninterrupted
    def pend(self, query: Query) -> int:
        """The question is on its way to a person: count it now, learn the answer by `update` whenever it comes.

        Returns the question's number, by which `pending` finds it again.
        """
        self._check_own(query)
        if query.number is not None:
            raise StateError(f"question {query.number} is counted already; hand its answer to update")
        if not query.asked:
            raise StateError("nothing is asked about this sample; call update(query, None)")
        self._meet_model()
        self._scout.count(query, taught=True)
        self.ledger.ask(query)
        self.pending[self.bucket.seen] = query
        if len(self.pending) > self.max_pending:
            oldest = self.pending.pop(next(iter(self.pending)))
            self.ledger.answer(oldest, None)
        return self.bucket.seen

    @uninterrupted
    def update(self, query: Query, y: object = None, annotator: str | Sequence[str] | None = None) -> None:
        """Count the sample, unless it was counted by `pend`, and learn the answer, if there is one.

        Parameters
        ----------
        query : Query
            Made by `query` or `watch` of this learner.
        y : array (K,) of 0, 1, NaN, or a dictionary {label: 0 or 1}, or None
            The answer; NaN, or not in the dictionary: that label was not answered; None: not asked, or refused. Labels
            nobody asked for are welcome and cost nothing. A longer array lets labels appear. Rows of frames are read
            by their names, too.
        annotator : str or list of str, optional
            Who has answered, for `annotators`; several have given one row of y each.
        """
        self._check_own(query)
        answer = read_answer(y, annotator, query, self._pupil.label_names)
        self._meet_model()
        if query.number is None:
            self._scout.count(query, taught=query.asked or answer is not None)
            self.ledger.ask(query)
        else:
            self._close(query)
        told = None if answer is None else answer.told
        self.ledger.answer(query, told)
        if query.asked or answer is not None:
            self._scout.experience.met(query, told)
        if answer is not None:
            self._learn(query, *answer.settle(self.annotators))

    def _learn(self, query: Query, y: FloatArray, confidence: FloatArray | None) -> None:
        """Teach the classifier one answer, unless it is a draw, or nobody is believed."""
        if np.isnan(y).all():
            return
        warm_up = self._pupil.model.warm_up
        if warm_up is not None and self.bucket.budget < 1.0:
            warm_up.in_order = False  # rows that are asked for are no neighbours
        outputs = self._pupil.teach(query.x, y, confidence)
        if warm_up is None:
            self._scout.experience.heard(query, y, outputs, confidence)

    def _close(self, query: Query) -> None:
        """A question counted before is answered now."""
        number = query.number or 0
        known = self.pending.get(number)
        if known is None or not np.array_equal(known.x, query.x, equal_nan=True):
            raise StateError(f"sample {number} is closed: answered or given up already, or of another learner")
        del self.pending[number]

    def _meet_model(self) -> None:
        """Take over a classifier that was fitted anew; questions on their way that do not fit it are given up."""
        before = self._scout.meet_model()
        if before is None or not self.pending:
            return
        now = self._pupil.taught
        keeps = now.keeps_labels_of(before)
        for number, query in list(self.pending.items()):
            if not keeps or len(query.x) != now.n_features:
                self.ledger.answer(self.pending.pop(number), None)

    def _check_own(self, query: Query) -> None:
        if not isinstance(query, Query):
            raise DataTypeError(
                f"a query is needed, got {type(query).__name__}; pass what query or watch returned, or pending[number]"
            )
        self._scout.check_model()
        model = self._pupil.model
        if len(query.x) != model.n_features or len(query.labels) > model.n_labels:
            raise DataError("the query was made for other features or labels; pass one of this learner's own queries")
        if not self._scout.could_have_made(query):
            raise DataError("the query was made by a learner of other settings; pass one of this learner's own queries")

    # ------------------------------------------------------------------ files

    @uninterrupted
    def save(self, path: "str | PathLike[str]") -> None:
        """Write classifier and learner to one file, questions on their way included, atomically."""
        from evolabel.active.storage import save_learner

        self._meet_model()
        save_learner(self, path)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> Self:
        """A learner written by `save`, going on as if nothing had happened, bit for bit (`watch` to rounding)."""
        from evolabel.active.storage import load_learner

        return load_learner(cls, path)

    def __repr__(self) -> str:
        scout, criteria = self._scout, tuple(criterion.name for criterion in self._scout.criteria)
        way = f"selection={scout.chooser!r}" if scout.recent is None else f"recent={scout.recent.size}"
        limit = f"budget={self.bucket.budget!r}, per={self.bucket.per!r}"
        return f"{type(self).__name__}({self.classifier!r}, {limit}, criteria={criteria!r}, {way})"
