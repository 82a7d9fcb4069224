"""`Plan`: the checked parameters of a run that all learners share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evolabel._utils.validation import check_number, whole_number
from evolabel.errors import ParameterError
from evolabel.evaluate.metrics import Metric, metric_named
from evolabel.evaluate.metrics.names import metric_key

Metrics = str | Metric | Iterable[str | Metric]


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

    def settings(self) -> dict[str, Any]:
        """Return the parameters as plain values, for results."""
        metrics = {name: repr(metric) for name, metric in self.metrics.items()}
        return {**vars(self), "metrics": metrics, "delay": list(self.delay)}


def read_plan(
    metrics: Metrics,
    *,
    window: int,
    every: int,
    delay: int | tuple[int, int],
    annotated: float,
    seed: int,
    keep_scores: bool,
) -> Plan:
    """Return a `Plan` of checked parameters; raise ParameterError for the first bad one.

    `metrics`, `window`, `every`, `delay`, `annotated`, `seed` and `keep_scores` are those of `prequential`.
    """
    return Plan(
        metrics=_named_metrics(metrics),
        window=whole_number("window", window, 1),
        every=whole_number("every", every, 1),
        delay=_delay_range(delay),
        annotated=check_number("annotated", annotated, 0, 1, open_low=True),
        seed=whole_number("seed", seed, 0),
        keep_scores=bool(keep_scores),
    )


def _delay_range(delay: int | tuple[int, int]) -> tuple[int, int]:
    shortest, longest = delay if isinstance(delay, tuple) and len(delay) == 2 else (delay, delay)
    shortest, longest = (whole_number("delay", end, 0) for end in (shortest, longest))
    if shortest > longest:
        raise ParameterError(f"delay={delay!r} is not allowed; use (shortest, longest) in this order")
    return shortest, longest


def _named_metrics(metrics: Metrics) -> dict[str, Metric]:
    """Metrics by the name under which they were requested, or by their own name."""
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
