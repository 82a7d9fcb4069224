"""`BudgetedLearner`: active learning in the evaluation harness; labels of the stream are the answers."""

from typing import Any, NamedTuple, Self

import numpy as np

from evolabel import errors
from evolabel._utils.validation import check_function
from evolabel.active.learner import ActiveLearner
from evolabel.active.query import Query
from evolabel.active.selection import RandomSelector
from evolabel.active.simulation.annotator import SimulatedAnnotator
from evolabel.classifier.estimator import EvolvingFuzzyClassifier, OnEvent
from evolabel.core.events import Event
from evolabel.evaluate import Questions
from evolabel.typing import FloatArray

_BLOCK = 64  # rows passed to `next_query` at a time


class _LateAnswer(NamedTuple):
    """An answer that has not arrived yet; `due`: samples seen when it arrives."""

    due: int
    query: Query
    answer: FloatArray | None


class BudgetedLearner:
    """An `ActiveLearner` as a learner of the harness: it gets all rows, but only the labels it has asked for.

    It needs an initial batch, which is fully labelled and not counted.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier, optional
        The classifier to be trained; it is copied.
    budget, per
        As for `ActiveLearner`.
    annotator : SimulatedAnnotator, optional
        Who answers; by default correct and at once.
    options
        Further parameters of `ActiveLearner`, such as `criteria`.

    Attributes
    ----------
    learner_ : ActiveLearner
    share_ : float, share of the stream asked for so far
    reasons_ : dict, number of questions by criterion that exceeded its threshold

    Examples
    --------
    >>> from evolabel.active import BudgetedLearner
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = BudgetedLearner(budget=0.1, per="labels").fit(X[:200], Y[:200])
    >>> scores = learner.test_then_train(X[200:], Y[200:])
    >>> print(f"{partial_accuracy(Y[200:], scores):.2f} with {learner.share_:.3f} of the labels")
    0.83 with 0.098 of the labels
    """

    def __init__(
        self,
        base: EvolvingFuzzyClassifier | None = None,
        budget: float = 0.1,
        per: str = "samples",
        *,
        annotator: SimulatedAnnotator | None = None,
        **options: Any,
    ) -> None:
        self.base = base
        self.budget = budget
        self.per = per
        self.annotator = annotator
        self.options = options

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Train on an initial batch of rows `X` and labels `y`; the budget is counted from there on."""
        from sklearn.base import clone

        classifier = clone(EvolvingFuzzyClassifier() if self.base is None else self.base).fit(X, y)
        self.learner_ = ActiveLearner(classifier, self.budget, self.per, **self._settings())
        self._person = SimulatedAnnotator() if self.annotator is None else self.annotator.anew()
        self._late: list[_LateAnswer] = []
        self._n_initial = len(X)
        return self

    def test_then_train(self, X: FloatArray, y: FloatArray, *, on_event: OnEvent | None = None) -> FloatArray:
        """Outputs for the rows `X`, each from before its labels `y` may be asked for and learned.

        `on_event` is called with each new event of the classifier, in their order, after all rows. `sample` of such an
        event is the row of the stream, the initial batch included; in `events_` of the classifier, which learns answers
        only, it is the number of answered samples, except for shifts of the stream.
        """
        if on_event is not None:
            check_function("on_event", on_event)
        scores, done = np.empty(y.shape), 0
        events: list[Event] = []
        while done < len(X):
            events += self._deliver()
            rows = X[done : self._stop(done)]
            query, outputs = self._resume(rows)
            scores[done : done + len(outputs)] = outputs
            done += len(outputs)
            if query is not None:
                self._ask(query, y[done - 1])
        events += self._deliver()
        if on_event is not None:
            for event in events:
                on_event(event)
        return scores

    def partial_fit(self, X: FloatArray, y: FloatArray, *, on_event: OnEvent | None = None) -> Self:
        """Continue with rows `X`; labels `y` are used where they are asked for. `on_event`: see `test_then_train`."""
        self.test_then_train(X, y, on_event=on_event)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Outputs for the next rows `X`."""
        return self.learner_.decision_function(X)

    @property
    def n_rules_(self) -> int:
        """Number of rules of the classifier."""
        return self.learner_.classifier.n_rules_

    @property
    def share_(self) -> float:
        """Share of the samples, or labels, asked for so far."""
        return self.learner_.bucket.share

    @property
    def reasons_(self) -> dict[str, int]:
        """Number of questions for which each criterion exceeded its threshold."""
        return dict(self.learner_.ledger.reasons)

    @property
    def questions_(self) -> Questions:
        """What was asked so far, for the results of the harness."""
        bucket = self.learner_.bucket
        return Questions(bucket.asked, bucket.share, bucket.per, self.reasons_, self.learner_.ledger.met)

    def _resume(self, rows: FloatArray) -> tuple[Query | None, FloatArray]:
        """The next question, if there is one, and the outputs of all rows up to and including its row."""
        learner = self.learner_
        first = learner.bucket.seen + 1
        found, passed = learner.next_query(rows)
        return found, learner.decision_function(rows[: passed + (found is not None)], first)

    def _ask(self, query: Query, truth: FloatArray) -> None:
        """Ask the annotator about a sample with these true labels; the answer may arrive later."""
        number = self.learner_.mark_pending(query)
        answer = self._person.answer(truth, query.labels)
        self._late.append(_LateAnswer(number + self._person.wait(), query, answer))

    def _deliver(self) -> list[Event]:
        """Pass the answers that have arrived to the learner, and return the events, with rows of the stream."""
        seen, classifier = self.learner_.bucket.seen, self.learner_.classifier
        before = classifier.inner.any_model.n_events
        for late in [late for late in self._late if late.due <= seen]:
            self._late.remove(late)
            self.learner_.update(late.query, late.answer)
        new = classifier.inner.events_since(before)
        return [event._replace(sample=self._n_initial + seen) for event in new]

    def _stop(self, row: int) -> int:
        """The row before which the next answer arrives; near, because `next_query` checks all rows again."""
        seen = self.learner_.bucket.seen
        return row + min((late.due - seen for late in self._late if late.due < seen + _BLOCK), default=_BLOCK)

    def __getattr__(self, name: str) -> Any:
        if name == "learner_":
            raise errors.NotTrainedError("this learner has no labels yet; call fit with an initial batch first")
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def _settings(self) -> dict[str, Any]:
        """Further parameters of the active learner."""
        return self.options

    def __repr__(self) -> str:
        settings = {"base": self.base, "budget": self.budget, "per": self.per, "annotator": self.annotator}
        settings_text = ", ".join(f"{name}={value!r}" for name, value in {**settings, **self.options}.items())
        return f"{type(self).__name__}({settings_text})"


class RandomSelection(BudgetedLearner):
    """The same number of questions at random, under the same limit: the baseline of every selection.

    Parameters
    ----------
    base, budget, per, annotator
        As for `BudgetedLearner`.
    seed : int
        Seed of the draws.
    options
        Further parameters of `ActiveLearner` that do not choose questions, such as `error_feedback`.
    """

    def __init__(
        self,
        base: EvolvingFuzzyClassifier | None = None,
        budget: float = 0.1,
        per: str = "samples",
        *,
        seed: int = 0,
        annotator: SimulatedAnnotator | None = None,
        **options: Any,
    ) -> None:
        super().__init__(base, budget, per, annotator=annotator, **options)
        self.seed = seed

    def _settings(self) -> dict[str, Any]:
        return {"criteria": "ambiguity", "selection": RandomSelector(self.seed), **self.options}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, seed={self.seed})"
