"""`Run`: the state of an evaluation between two steps."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from evolabel.errors import DataError
from evolabel.evaluate.delays import LabelDelay, PartialAnnotation
from evolabel.evaluate.learner import Learner, answer_and_learn, asked_by, count_rules
from evolabel.evaluate.plan import Plan
from evolabel.evaluate.results import Results
from evolabel.evaluate.trend import Progress, Scoreboard
from evolabel.typing import FloatArray

Listener = Callable[[Progress], object]


class Run:
    """Several learners on their way through one stream, and what came out so far.

    Parameters
    ----------
    learners : dict of str to Learner
        They are trained in place.
    plan : Plan
    total : int
        Rows there will be, without the initial batch; fewer where the stream ends early.
    """

    def __init__(self, learners: Mapping[str, Learner], plan: Plan, total: int) -> None:
        self.total = total
        self.learners = dict(learners)
        self.boards = {name: Scoreboard(name, plan.metrics, plan.window) for name in learners}
        self.annotation = PartialAnnotation(plan.annotated, plan.seed)
        self.delay = LabelDelay(*plan.delay, plan.seed)
        self.scores: dict[str, list[FloatArray]] = {name: [] for name in learners} if plan.keep_scores else {}
        self.done = 0

    def begin(self, X: FloatArray, Y: FloatArray) -> None:
        """Let every learner fit the initial batch, if there is one; it comes with all its labels."""
        if not len(X):
            return
        for name, learner in self.learners.items():
            start = perf_counter()
            with _naming(name, "initial batch"):
                learner.fit(X, Y)
            self.boards[name].fit_seconds = perf_counter() - start

    def step(self, X: FloatArray, Y: FloatArray, progress: Listener | None) -> None:
        """Let every learner answer the next rows and learn what becomes known meanwhile."""
        seen = self.annotation.hide(Y)
        lessons = self.delay.deliver(X, seen) if self.delay.longest else None
        for name, learner in self.learners.items():
            start = perf_counter()
            with _naming(name, f"rows {self.done + 1} to {self.done + len(X)} after the initial batch"):
                scores, decisions = answer_and_learn(learner, X, seen, lessons)
            seconds = perf_counter() - start
            self.boards[name].update(Y, scores, decisions, count_rules(learner), seconds)
            if self.scores:
                self.scores[name].append(scores)
            if progress is not None:
                progress(self.boards[name].progress(self.total))
        self.done += len(X)

    def results(self, settings: dict[str, Any]) -> Results:
        """What has come out so far."""
        return Results(
            summary={name: board.summary(asked_by(self.learners[name])) for name, board in self.boards.items()},
            trend=tuple(chain.from_iterable(board.points for board in self.boards.values())),
            settings=settings,
            scores={name: np.concatenate(scores) for name, scores in self.scores.items()},
            learners=self.learners,
        )


@contextmanager
def _naming(learner: str, where: str) -> Iterator[None]:
    """Say whose fault bad data is, and where."""
    try:
        yield
    except DataError as error:
        raise DataError(f"learner {learner!r}, {where}: {error}") from error
