"""Metrics by name, for command lines and settings files."""

import re
from typing import Any

from evolabel.errors import ParameterError
from evolabel.evaluate.metrics.base import Metric
from evolabel.evaluate.metrics.f1 import ExampleF1, MacroF1, MicroF1
from evolabel.evaluate.metrics.label_sets import HammingLoss, PartialAccuracy, SubsetAccuracy
from evolabel.evaluate.metrics.ranking import AveragePrecision, Coverage, OneError, RankingLoss


def metric_key(name: str) -> str:
    """Return `name` as a key of `METRICS`: "macro F1" and "Macro-F1" become macro_f1."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


METRICS: dict[str, type[Metric]] = {
    metric_key(kind.name): kind
    for kind in (
        PartialAccuracy,
        AveragePrecision,
        HammingLoss,
        SubsetAccuracy,
        ExampleF1,
        MicroF1,
        MacroF1,
        RankingLoss,
        OneError,
        Coverage,
    )
}


def metric_named(name: str, **settings: Any) -> Metric:
    """Return a new metric.

    Parameters
    ----------
    name : str
        One of `METRICS`; case, spaces and hyphens do not matter.
    **settings
        Parameters of its constructor.

    Raises
    ------
    ParameterError
        If there is no such metric.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import metric_named
    >>> [metric_named(name).name for name in "pa,ap,macro_f1".split(",")]
    ['PA', 'AP', 'macro F1']
    >>> metric_named("micro-F1", threshold=0.4)
    MicroF1(threshold=0.4)
    """
    if metric_key(name) not in METRICS:
        raise ParameterError(f"there is no metric {name!r}; use one of {', '.join(METRICS)}")
    return METRICS[metric_key(name)](**settings)
