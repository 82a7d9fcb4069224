"""How one learner does along the stream: every metric, the rules and the time, at each step and at the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import NamedTuple

import numpy as np

from evolabel.evaluate.metrics import Metric, Sliding
from evolabel.evaluate.questions import Questions
from evolabel.typing import BoolArray, FloatArray


class Point(NamedTuple):
    """One value on a trend line.

    `sample` is how many rows had been answered by then; the initial batch is not counted. Metrics come in the forms
    "cumulative" (since the beginning) and "sliding" (the last rows only), "rules" and "ms_per_sample" as "current".
    """

    learner: str
    sample: int
    metric: str
    form: str
    value: float


@dataclass(frozen=True)
class Progress:
    """How far a learner has come; metrics and speed are those since the beginning of the stream."""

    learner: str
    done: int
    total: int
    metrics: dict[str, float]
    rules: float
    samples_per_second: float


@dataclass(frozen=True)
class Summary:
    """What came out for one learner: every metric over the whole stream, and what it cost.

    `rules` is NaN for a learner without rules. `skipped` counts, for each metric, samples it could not judge.
    `fit_seconds` is the time the initial batch took; `ms_per_sample` is without it. `questions` is None for a learner
    that does not ask.
    """

    learner: str
    metrics: dict[str, float]
    rules: float
    ms_per_sample: float
    fit_seconds: float
    samples: int
    skipped: dict[str, int]
    questions: Questions | None = None


class Scoreboard:
    """One learner's metrics and trend lines.

    Parameters
    ----------
    learner : str
    metrics : dict of str to Metric
        By the names they have in the results. Only their kinds are used: counting starts afresh.
    window : int
        Rows the sliding form looks back.
    """

    def __init__(self, learner: str, metrics: Mapping[str, Metric], window: int) -> None:
        self.learner = learner
        self.points: list[Point] = []
        self.samples = 0
        self.rules = nan
        self.seconds = 0.0
        self.fit_seconds = 0.0
        self._cumulative = {name: metric.fresh() for name, metric in metrics.items()}
        self._sliding = {name: Sliding(metric, window) for name, metric in metrics.items()}

    def update(self, Y: FloatArray, scores: FloatArray, decisions: BoolArray, rules: float, seconds: float) -> None:
        """Take in a step: the true labels, scores, predicted labels, the rules there are now, and the time it took."""
        predicted = decisions.astype(np.float64)
        for metric in (*self._cumulative.values(), *self._sliding.values()):
            metric.update(Y, predicted if metric.takes_decisions else scores)
        self.samples += len(Y)
        self.rules = rules
        self.seconds += seconds
        self._record("cumulative", self.metrics())
        self._record("sliding", {name: metric.get() for name, metric in self._sliding.items()})
        self._record("current", {"rules": rules, "ms_per_sample": 1e3 * seconds / len(Y)})

    def metrics(self) -> dict[str, float]:
        """Every metric since the beginning."""
        return {name: metric.get() for name, metric in self._cumulative.items()}

    def progress(self, total: int) -> Progress:
        """How far the learner has come on its way through `total` rows."""
        speed = self.samples / self.seconds if self.seconds else inf
        return Progress(self.learner, self.samples, total, self.metrics(), self.rules, speed)

    def summary(self, questions: Questions | None = None) -> Summary:
        """What has come out so far, and what was asked for it."""
        return Summary(
            learner=self.learner,
            metrics=self.metrics(),
            rules=self.rules,
            ms_per_sample=1e3 * self.seconds / self.samples,
            fit_seconds=self.fit_seconds,
            samples=self.samples,
            skipped={name: metric.n_skipped for name, metric in self._cumulative.items()},
            questions=questions,
        )

    def _record(self, form: str, values: dict[str, float]) -> None:
        self.points += [Point(self.learner, self.samples, metric, form, value) for metric, value in values.items()]
