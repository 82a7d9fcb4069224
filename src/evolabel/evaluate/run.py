"""`Run`: the state of an evaluation between two steps."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from evolabel.errors import DataError
from evolabel.evaluate.delays import LabelDelay, PartialAnnotation
from evolabel.evaluate.learner import Learner, answer_and_learn, count_rules, questions_of
from evolabel.evaluate.plan import Plan
from evolabel.evaluate.results import Results
from evolabel.evaluate.trend import LearnerMetrics, Progress
from evolabel.typing import FloatArray

ProgressCallback = Callable[[Progress], object]


class Run:
    """An evaluation of several learners on one stream, and its results so far.

    Parameters
    ----------
    learners : dict of str to Learner
        Learners by name; they are trained in place.
    plan : Plan
        Parameters of the evaluation.
    total : int
        Number of rows after the initial batch; a stream that ends early has fewer.
    """

    def __init__(self, learners: Mapping[str, Learner], plan: Plan, total: int) -> None:
        self.total = total
        self.learners = dict(learners)
        self.tracked = {name: LearnerMetrics(name, plan.metrics, plan.window) for name in learners}
        self.annotation = PartialAnnotation(plan.annotated, plan.seed)
        self.delay = LabelDelay(*plan.delay, plan.seed)
        self.scores: dict[str, list[FloatArray]] = {name: [] for name in learners} if plan.keep_scores else {}
        self.done = 0

    def fit_initial(self, X: FloatArray, Y: FloatArray) -> None:
        """Fit every learner on the initial batch `X` with all labels `Y`; does nothing if it is empty."""
        if not len(X):
            return
        for name, learner in self.learners.items():
            start = perf_counter()
            with _learner_in_errors(name, "initial batch"):
                learner.fit(X, Y)
            self.tracked[name].fit_seconds = perf_counter() - start

    def step(self, X: FloatArray, Y: FloatArray, progress: ProgressCallback | None) -> None:
        """Predict the next rows `X` with every learner, train on the labels in `Y` that arrive, call `progress`."""
        seen = self.annotation.hide(Y)
        deliveries = self.delay.deliver(X, seen) if self.delay.longest else None
        for name, learner in self.learners.items():
            start = perf_counter()
            with _learner_in_errors(name, f"rows {self.done + 1} to {self.done + len(X)} after the initial batch"):
                scores, decisions = answer_and_learn(learner, X, seen, deliveries)
            seconds = perf_counter() - start
            self.tracked[name].update(Y, scores, decisions, count_rules(learner), seconds)
            if self.scores:
                self.scores[name].append(scores)
            if progress is not None:
                progress(self.tracked[name].progress(self.total))
        self.done += len(X)

    def results(self, settings: dict[str, Any]) -> Results:
        """Return the results so far, with these `settings`."""
        return Results(
            summary={
                name: tracked.summary(questions_of(self.learners[name])) for name, tracked in self.tracked.items()
            },
            trend=tuple(chain.from_iterable(tracked.points for tracked in self.tracked.values())),
            settings=settings,
            scores={name: np.concatenate(scores) for name, scores in self.scores.items()},
            learners=self.learners,
        )


@contextmanager
def _learner_in_errors(learner: str, where: str) -> Iterator[None]:
    """Prefix the message of a DataError with the learner's name and the rows."""
    try:
        yield
    except DataError as error:
        raise DataError(f"learner {learner!r}, {where}: {error}") from error
