"""`Plan`: the parameters of a run; `Run`: its state between two steps, with labels that arrive late or not at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils.validation import whole_number
from evolabel.errors import DataError, ParameterError
from evolabel.evaluate.learner import LabelledRows, Learner, answer_and_learn
from evolabel.evaluate.metrics import Metric, metric_key, metric_named
from evolabel.evaluate.results import Results
from evolabel.evaluate.shifts import ShiftLog, reports_events
from evolabel.evaluate.trend import LearnerMetrics, Progress
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.evaluate.drift_watch import DriftWatch

Metrics = str | Metric | Iterable[str | Metric]
ProgressCallback = Callable[[Progress], object]


@dataclass(frozen=True)
class Plan:
    """Parameters of `prequential` that do not depend on learners and stream; `delay` is (shortest, longest)."""

    metrics: dict[str, Metric]
    window: int
    every: int
    delay: tuple[int, int]
    annotated: float
    seed: int
    keep_scores: bool
    watch_drift: bool = False

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for results."""
        metrics = {name: repr(metric) for name, metric in self.metrics.items()}
        return {**vars(self), "metrics": metrics, "delay": list(self.delay)}


def delay_range(delay: int | tuple[int, int]) -> tuple[int, int]:
    """Return the checked `delay` of `prequential` as (shortest, longest)."""
    shortest, longest = delay if isinstance(delay, tuple) and len(delay) == 2 else (delay, delay)
    shortest, longest = (whole_number("delay", end, 0) for end in (shortest, longest))
    if shortest > longest:
        raise ParameterError(f"delay={delay!r} is not allowed; use (shortest, longest) in this order")
    return shortest, longest


def named_metrics(metrics: Metrics) -> dict[str, Metric]:
    """Return the checked `metrics` by the name under which they were requested, or by their own name."""
    chosen = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    named = dict(map(_named_metric, chosen))
    if not named or len(named) < len(chosen):
        raise ParameterError(f"metrics={chosen!r} is not allowed; name at least one metric, and none twice")
    return named


def _named_metric(metric: object) -> tuple[str, Metric]:
    if isinstance(metric, str):
        return metric_key(metric), metric_named(metric)
    if isinstance(metric, Metric):
        return metric.name, metric
    raise ParameterError(f'{metric!r} is no metric; use a name such as "pa", or a metric such as PartialAccuracy()')


class LabelDelay:
    """Stores rows until their labels arrive.

    The labels of a row arrive once as many further rows have been predicted as its delay; with a delay of 0, right
    after the row itself. Delays are drawn uniformly from `shortest` to `longest`, by `default_rng((seed, 1)).integers`,
    so that labels of later rows can arrive first. Labels that arrive at the same time keep the order of their rows.

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> [rows.ravel().tolist() for rows, labels in LabelDelay(2, 2, seed=0).deliver(X, X)]
    [[], [], [0.0], [1.0]]
    """

    def __init__(self, shortest: int, longest: int, seed: int) -> None:
        self.shortest = shortest
        self.longest = longest
        self._random = np.random.default_rng((seed, 1))
        self._n_rows = 0
        self._due: dict[int, list[tuple[FloatArray, FloatArray]]] = {}

    def deliver(self, X: FloatArray, Y: FloatArray) -> list[LabelledRows]:
        """Store the next rows `X` with labels `Y`; return, for each of them, the rows whose labels arrive after it."""
        delays = self._random.integers(self.shortest, self.longest, len(X), endpoint=True)
        deliveries = []
        for x, y, delay in zip(X, Y, delays.tolist(), strict=True):
            self._due.setdefault(self._n_rows + delay, []).append((x, y))
            arrived = self._due.pop(self._n_rows, [])
            self._n_rows += 1
            rows, labels = zip(*arrived, strict=True) if arrived else (X[:0], Y[:0])
            deliveries.append((np.array(rows), np.array(labels)))
        return deliveries


class Run:
    """An evaluation of several `learners` by name, trained in place, on one stream by a `plan`, and its results so far.

    The stream has `total` rows after the initial batch, or fewer if it ends early, and labels with the names
    `label_names`. `log_of` returns the `ShiftLog` of the learner with a given name.
    """

    def __init__(
        self,
        learners: Mapping[str, Learner],
        plan: Plan,
        total: int,
        log_of: Callable[[str], ShiftLog],
        label_names: Sequence[str],
    ) -> None:
        self.total = total
        self.learners = dict(learners)
        self.tracked = {name: LearnerMetrics(name, plan.metrics, plan.window, label_names) for name in learners}
        self.annotated = plan.annotated
        self._annotation = np.random.default_rng((plan.seed, 0))  # a number per label, which is kept below `annotated`
        self.delay = LabelDelay(*plan.delay, plan.seed)
        self.scores: dict[str, list[FloatArray]] = {name: [] for name in learners} if plan.keep_scores else {}
        self.watches = {name: _drift_watch(len(label_names)) for name in learners} if plan.watch_drift else {}
        self.logs = {name: log_of(name) for name, learner in learners.items() if reports_events(learner)}
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
        seen = np.where(self._annotation.random(Y.shape) < self.annotated, Y, np.nan)
        deliveries = self.delay.deliver(X, seen) if self.delay.longest else None
        for name, learner in self.learners.items():
            start = perf_counter()
            with _learner_in_errors(name, f"rows {self.done + 1} to {self.done + len(X)} after the initial batch"):
                answers = answer_and_learn(learner, X, seen, deliveries, self.logs.get(name))
            seconds = perf_counter() - start
            self.tracked[name].update(Y, answers, float(getattr(learner, "n_rules_", np.nan)), seconds)
            if self.scores:
                self.scores[name].append(answers.scores)
            if self.watches:
                self.watches[name].update(Y, answers.scores)
            if progress is not None:
                progress(self.tracked[name].progress(self.total))
        self.done += len(X)

    def results(self, settings: dict[str, Any]) -> Results:
        """Return the results so far, with these `settings`."""
        return Results(
            summary={
                name: tracked.summary(
                    getattr(self.learners[name], "questions_", None),
                    self.watches[name].drifts if name in self.watches else None,
                    tuple(self.logs[name].shifts) if name in self.logs else None,
                )
                for name, tracked in self.tracked.items()
            },
            trend=tuple(chain.from_iterable(tracked.points for tracked in self.tracked.values())),
            settings=settings,
            scores={name: np.concatenate(scores) for name, scores in self.scores.items()},
            learners=self.learners,
            label_counts={name: tracked.labels for name, tracked in self.tracked.items()},
        )


def _drift_watch(n_labels: int) -> "DriftWatch":
    from evolabel.evaluate.drift_watch import DriftWatch  # compiled kernels, which other runs do not need

    return DriftWatch(n_labels)


@contextmanager
def _learner_in_errors(learner: str, where: str) -> Iterator[None]:
    """Prefix the message of a DataError with the learner's name and the rows."""
    try:
        yield
    except DataError as error:
        raise DataError(f"learner {learner!r}, {where}: {error}") from error
