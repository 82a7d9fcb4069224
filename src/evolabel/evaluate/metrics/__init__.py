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
| `AveragePrecision` | skipped, eq. (33); 1 if count_empty | `label_ranking_average_precision_score` |
| `RankingLoss`      | 0, as if all labels are positive    | `label_ranking_loss`                    |
| `OneError`         | skipped                             |                                         |
| `Coverage`         | 0; ranks start at 1                 | `coverage_error`                        |
"""

from evolabel.evaluate.metrics.base import Metric
from evolabel.evaluate.metrics.f1 import ExampleF1, MacroF1, MicroF1
from evolabel.evaluate.metrics.forms import Fading, Sliding
from evolabel.evaluate.metrics.label_sets import HammingLoss, PartialAccuracy, SubsetAccuracy
from evolabel.evaluate.metrics.names import METRICS, metric_named
from evolabel.evaluate.metrics.ranking import AveragePrecision, Coverage, OneError, RankingLoss

__all__ = [
    "METRICS",
    "AveragePrecision",
    "Coverage",
    "ExampleF1",
    "Fading",
    "HammingLoss",
    "MacroF1",
    "Metric",
    "MicroF1",
    "OneError",
    "PartialAccuracy",
    "RankingLoss",
    "Sliding",
    "SubsetAccuracy",
    "metric_named",
]
