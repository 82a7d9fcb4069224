"""Streaming multi-label metrics: updated by samples or batches, merged, over a window, or fading.

`metric.update(y_true, y_score)` adds one sample or many, `metric.get()` returns the value. Labels that are NaN are left
out; samples without any annotated label are skipped. Other conventions, and the equivalent function of scikit-learn:

| metric             | a sample without positive labels    | scikit-learn                            |
|--------------------|-------------------------------------|-----------------------------------------|
| `PartialAccuracy`  | counts, eq. (34)                    | 1 - `hamming_loss`                      |
| `HammingLoss`      | counts                              | `hamming_loss`                          |
| `SubsetAccuracy`   | counts                              | `accuracy_score`                        |
| `ExampleF1`        | 0                                   | `f1_score`, "samples", zero_division=0  |
| `MicroF1`          | counts                              | `f1_score`, "micro", zero_division=0    |
| `MacroF1`          | counts                              | `f1_score`, "macro", zero_division=0    |
| `BalancedAccuracy` | counts                              | mean of `balanced_accuracy_score`       |
| `AveragePrecision` | skipped, eq. (33); 1 if count_empty | `label_ranking_average_precision_score` |
| `KappaTemporal`    | counts                              |                                         |
| `RankingLoss`      | 0, as if all labels are positive    | `label_ranking_loss`                    |
| `OneError`         | skipped                             |                                         |
| `Coverage`         | 0; ranks start at 1                 | `coverage_error`                        |
| `SetCoverage`      | counts                              |                                         |
| `SetSize`          | counts                              |                                         |

`SetCoverage` and `SetSize` evaluate prediction sets instead of scores (`prediction_sets.sets_as_scores`).
"""

import re
from typing import Any

from evolabel.errors import ParameterError
from evolabel.evaluate.metrics.base import Fading, Metric, Sliding
from evolabel.evaluate.metrics.kappa_temporal import KappaTemporal
from evolabel.evaluate.metrics.label_sets import (
    BalancedAccuracy,
    ExampleF1,
    HammingLoss,
    MacroF1,
    MicroF1,
    PartialAccuracy,
    SubsetAccuracy,
)
from evolabel.evaluate.metrics.prediction_sets import SetCoverage, SetSize
from evolabel.evaluate.metrics.ranking import AveragePrecision, Coverage, OneError, RankingLoss

__all__ = [
    "METRICS",
    "AveragePrecision",
    "BalancedAccuracy",
    "Coverage",
    "ExampleF1",
    "Fading",
    "HammingLoss",
    "KappaTemporal",
    "MacroF1",
    "Metric",
    "MicroF1",
    "OneError",
    "PartialAccuracy",
    "RankingLoss",
    "SetCoverage",
    "SetSize",
    "Sliding",
    "SubsetAccuracy",
    "metric_named",
]


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
        BalancedAccuracy,
        KappaTemporal,
        RankingLoss,
        OneError,
        Coverage,
        SetCoverage,
        SetSize,
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
