"""Active learning in the evaluation harness: the labels of the stream answer, but only where they are asked for."""

from typing import Any, NamedTuple, Self

import numpy as np

from evolabel import errors
from evolabel.active.learner import ActiveLearner
from evolabel.active.query import Query
from evolabel.active.selection import RandomFilter
from evolabel.active.simulation.annotator import SimulatedAnnotator
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.evaluate import Questions
from evolabel.typing import FloatArray

BLOCK = 64  # rows handed to `watch` at a time


class _Letter(NamedTuple):
    """An answer on its way, and how many samples must have been seen when it arrives."""

    due: int
    query: Query
    answer: FloatArray | None


class BudgetedLearner:
    """An `ActiveLearner` as a learner of the harness: it sees all rows, but only the labels it has asked for.

    It needs an initial batch, which is fully labelled and not counted.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier, optional
        The classifier to be taught; it is copied.
    budget, per
        As for `ActiveLearner`.
    annotator : SimulatedAnnotator, optional
        Who answers; by default a person who knows everything at once.
    options
        Further parameters of `ActiveLearner`, such as `criteria`.

    Attributes
    ----------
    learner_ : ActiveLearner
    share_ : float, share of the stream asked for so far
    reasons_ : dict, how often each criterion fired for a question

    Examples
    --------
    >>> from evolabel.active import BudgetedLearner
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = BudgetedLearner(budget=0.1, per="labels").fit(X[:200], Y[:200])
    >>> scores = learner.test_then_train(X[200:], Y[200:])
    >>> print(f"{partial_accuracy(Y[200:], scores):.2f} with {learner.share_:.3f} of the labels")
    0.84 with 0.099 of the labels
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
        """Learn an initial batch; the budget is counted from there on."""
        from sklearn.base import clone

        classifier = clone(EvolvingFuzzyClassifier() if self.base is None else self.base).fit(X, y)
        self.learner_ = ActiveLearner(classifier, self.budget, self.per, **self._ways())
        self._person = SimulatedAnnotator() if self.annotator is None else self.annotator.anew()
        self._letters: list[_Letter] = []
        self._truths: dict[int, FloatArray] = {}
        return self

    def test_then_train(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Answer every row, then ask about it, or not."""
        self._check_fitted()
        scores, done = np.empty(y.shape), 0
        while done < len(X):
            self._deliver()
            rows = X[done : self._stop(done)]
            query, outputs = self._go_on(rows)
            scores[done : done + len(outputs)] = outputs
            done += len(outputs)
            self._remember(y[done - len(outputs) : done], counted=query is None)
            if query is not None:
                self._send(query)
        self._deliver()
        return scores

    def partial_fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Go along further rows."""
        self.test_then_train(X, y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Outputs for the rows that come next."""
        self._check_fitted()
        return self.learner_.decision_function(X)

    @property
    def n_rules_(self) -> int:
        """Rules of the classifier."""
        self._check_fitted()
        return self.learner_.classifier.n_rules_

    @property
    def share_(self) -> float:
        """Share of the samples, or labels, asked for so far."""
        self._check_fitted()
        return self.learner_.bucket.share

    @property
    def reasons_(self) -> dict[str, int]:
        """How often each criterion fired for a question."""
        self._check_fitted()
        return dict(self.learner_.ledger.reasons)

    @property
    def questions_(self) -> Questions:
        """What was asked so far, for the results of the harness."""
        self._check_fitted()
        bucket = self.learner_.bucket
        return Questions(bucket.asked, bucket.share, bucket.per, self.reasons_)

    def _go_on(self, rows: FloatArray) -> tuple[Query | None, FloatArray]:
        """Up to the next question: the question, if there is one, and the outputs of all rows up to there."""
        learner = self.learner_
        if self.options.get("refine", "none") != "none":  # the classifier changes with every row
            query = learner.query(rows[0])
            if not query.asked:
                learner.update(query, None)
            return query if query.asked else None, query.arrived.prediction[None]
        first = learner.bucket.seen + 1
        found, passed = learner.watch(rows)
        return found, learner.decision_function(rows[: passed + (found is not None)], first)

    def _remember(self, labels: FloatArray, *, counted: bool) -> None:
        """The labels of the rows that have come, as long as a question can be about them."""
        last = self.learner_.bucket.seen + (not counted)
        self._truths |= {last - len(labels) + 1 + i: y for i, y in enumerate(labels)}
        for number in list(self._truths)[: -max(self.options.get("recent", 0), 1)]:
            del self._truths[number]

    def _send(self, query: Query) -> None:
        """Put a question to the person; the answer may take time."""
        number = self.learner_.pend(query)
        truth = self._truths[number if query.about is None else query.about]
        answer = self._person.answer(truth, query.labels)
        self._letters.append(_Letter(number + self._person.wait(), query, answer))

    def _deliver(self) -> None:
        """Hand over the answers whose time has come."""
        seen = self.learner_.bucket.seen
        for letter in [letter for letter in self._letters if letter.due <= seen]:
            self._letters.remove(letter)
            self.learner_.update(letter.query, letter.answer)

    def _stop(self, row: int) -> int:
        """The row before which the next answer arrives; not too far away, as all rows are checked again by `watch`."""
        seen = self.learner_.bucket.seen
        return row + min((letter.due - seen for letter in self._letters if letter.due < seen + BLOCK), default=BLOCK)

    def _check_fitted(self) -> None:
        if "learner_" not in self.__dict__:
            raise errors.NotTrainedError("this learner knows no labels yet; call fit with an initial batch first")

    def _ways(self) -> dict[str, Any]:
        """How the active learner is to ask."""
        return self.options

    def __repr__(self) -> str:
        settings = {"base": self.base, "budget": self.budget, "per": self.per, "annotator": self.annotator}
        told = ", ".join(f"{name}={value!r}" for name, value in {**settings, **self.options}.items())
        return f"{type(self).__name__}({told})"


class RandomSelection(BudgetedLearner):
    """The same number of questions at random, under the same limit: what every selection has to beat.

    Parameters
    ----------
    base, budget, per, annotator
        As for `BudgetedLearner`.
    seed : int
        Of the draws.
    options
        Further parameters of `ActiveLearner` that do not say what to ask, such as `echo`.
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

    def _ways(self) -> dict[str, Any]:
        return {"criteria": "ambiguity", "selection": RandomFilter(self.seed), **self.options}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, seed={self.seed})"
