"""Metrics, number of rules, queries and time of one learner: at each step of the stream, and at the end."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from math import inf, nan
from typing import Any, NamedTuple, Self

import numpy as np

from evolabel.core.events import Event
from evolabel.evaluate.formats import nan_to_none
from evolabel.evaluate.label_statistics import LabelScores, LabelStatistics
from evolabel.evaluate.learner import LearnerAnswers
from evolabel.evaluate.metrics import Metric, Sliding
from evolabel.evaluate.shifts import event_values
from evolabel.evaluate.worth import NONE_MET, ErrorsMet
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Questions:
    """Number of queries of a learner. A learner that queries labels offers it as attribute `questions_`.

    Parameters
    ----------
    asked : int
        Number of samples, or of labels, queried.
    share : float
        The same as a share of the stream.
    per : str
        What is counted: "samples" or "labels".
    reasons : dict of str to int
        Number of queries for which each criterion fired; several can fire for one query.
    met : ErrorsMet
        How many answers there were, and in how many of them predictions were wrong.

    Examples
    --------
    >>> from evolabel.evaluate import Questions
    >>> print(Questions(98, 0.098, "labels", {"ambiguity": 61, "ranking": 9}))
    9.8 % of labels
    """

    asked: int
    share: float
    per: str
    reasons: dict[str, int]
    met: ErrorsMet = NONE_MET

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % of {self.per}"

    @classmethod
    def pooled(cls, runs: Sequence[Self]) -> Self:
        """Return the sums over several `runs`, with the mean of their shares."""
        reasons: Counter[str] = Counter()
        for run in runs:
            reasons.update(run.reasons)
        share = sum(run.share for run in runs) / len(runs)
        met = reduce(ErrorsMet.plus, (run.met for run in runs))
        return cls(sum(run.asked for run in runs), share, runs[0].per, dict(reasons.most_common()), met)

    @classmethod
    def from_dict(cls, values: dict[str, Any] | None) -> Self | None:
        """Return the questions stored in a file as `values`, None where there are none."""
        return None if values is None else cls(**{**values, "met": ErrorsMet(*values.get("met", ()))})


class Point(NamedTuple):
    """One value of a trend.

    `sample` is the number of rows predicted so far, without the initial batch. The form is "cumulative" (since the
    beginning) or "sliding" (the last rows only) for metrics, and "current" for "rules" and "ms_per_sample".
    """

    learner: str
    sample: int
    metric: str
    form: str
    value: float


@dataclass(frozen=True)
class Progress:
    """Progress of a learner; metrics and speed are those since the beginning of the stream."""

    learner: str
    done: int
    total: int
    metrics: dict[str, float]
    rules: float
    samples_per_second: float


@dataclass(frozen=True)
class Summary:
    """Results of one learner: every metric over the whole stream, and the cost.

    `rules` is NaN for a learner without rules. `skipped` counts, for each metric, the samples it left out.
    `fit_seconds` is the time of the initial batch, which `ms_per_sample` does not include. `questions` is None for a
    learner that does not query labels. `drifts` has, for each label, the numbers of the samples at which the learner's
    loss has jumped; None unless drift was watched. `events` has the shifts of the stream that the learner itself has
    reported, their samples counted with the initial batch; None if it reports none. `labels` has the results of each
    label; its Brier score is NaN for a learner without probabilities, and where labels arrive late.
    """

    learner: str
    metrics: dict[str, float]
    rules: float
    ms_per_sample: float
    fit_seconds: float
    samples: int
    skipped: dict[str, int]
    questions: Questions | None = None
    drifts: list[list[int]] | None = None
    events: tuple[Event, ...] | None = None
    labels: tuple[LabelScores, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the results as plain values for a file."""
        events = None if self.events is None else [event_values(event) for event in self.events]
        labels = [nan_to_none(asdict(row)) for row in self.labels]
        return {**nan_to_none(asdict(self)), "events": events, "labels": labels}


class LearnerMetrics:
    """Metrics and trend of the learner called `learner`, whose labels have the names `label_names`.

    The `metrics`, by their names in the results, are copied without their counts; the sliding form has `window` rows.
    """

    def __init__(self, learner: str, metrics: Mapping[str, Metric], window: int, label_names: Sequence[str]) -> None:
        self.learner = learner
        self.labels = LabelStatistics(label_names)
        self.points: list[Point] = []
        self.samples = 0
        self.rules = nan
        self.seconds = 0.0
        self.fit_seconds = 0.0
        self._cumulative = {name: metric.fresh() for name, metric in metrics.items()}
        self._sliding = {name: Sliding(metric, window) for name, metric in metrics.items()}

    def update(self, Y: FloatArray, answers: LearnerAnswers, rules: float, seconds: float) -> None:
        """Add one step to metrics and trend: the true labels `Y` and the `answers` of the learner.

        `rules` is the number of rules after the step, which took `seconds`.
        """
        predicted = answers.decisions.astype(np.float64)
        for metric in (*self._cumulative.values(), *self._sliding.values()):
            table = answers.sets if metric.takes_sets else predicted if metric.takes_decisions else answers.scores
            if table is not None:
                metric.update(Y, table)
        self.labels.update(Y, *answers[:3])
        self.samples += len(Y)
        self.rules = rules
        self.seconds += seconds
        self._record("cumulative", self.metrics())
        self._record("sliding", {name: metric.get() for name, metric in self._sliding.items()})
        self._record("current", {"rules": rules, "ms_per_sample": 1e3 * seconds / len(Y)})

    def metrics(self) -> dict[str, float]:
        """Return every metric since the beginning."""
        return {name: metric.get() for name, metric in self._cumulative.items()}

    def progress(self, total: int) -> Progress:
        """Return the progress of the learner on a stream of `total` rows."""
        speed = self.samples / self.seconds if self.seconds else inf
        return Progress(self.learner, self.samples, total, self.metrics(), self.rules, speed)

    def summary(
        self,
        questions: Questions | None = None,
        drifts: list[list[int]] | None = None,
        events: tuple[Event, ...] | None = None,
    ) -> Summary:
        """Return the results so far, with the learner's `questions` and `events` and the `drifts` of its loss."""
        return Summary(
            learner=self.learner,
            metrics=self.metrics(),
            rules=self.rules,
            ms_per_sample=1e3 * self.seconds / self.samples,
            fit_seconds=self.fit_seconds,
            samples=self.samples,
            skipped={name: metric.n_skipped for name, metric in self._cumulative.items()},
            questions=questions,
            drifts=drifts,
            events=events,
            labels=tuple(self.labels.rows()),
        )

    def _record(self, form: str, values: dict[str, float]) -> None:
        self.points += [Point(self.learner, self.samples, metric, form, value) for metric, value in values.items()]
