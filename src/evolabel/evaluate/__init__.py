"""Evaluation of learners on streams: metrics, test-then-train runs (`prequential`), results."""

from evolabel.evaluate.label_statistics import LabelScores, LabelStatistics, label_scores
from evolabel.evaluate.learner import Learner
from evolabel.evaluate.metrics import (
    METRICS,
    AveragePrecision,
    BalancedAccuracy,
    Coverage,
    ExampleF1,
    Fading,
    HammingLoss,
    KappaTemporal,
    MacroF1,
    Metric,
    MicroF1,
    OneError,
    PartialAccuracy,
    RankingLoss,
    SetCoverage,
    SetSize,
    Sliding,
    SubsetAccuracy,
    metric_named,
)
from evolabel.evaluate.metrics.label_sets import partial_accuracy
from evolabel.evaluate.metrics.prediction_sets import set_coverage, set_size
from evolabel.evaluate.metrics.ranking import average_precision
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.repeated import RankingRow, Repeated, Spread, best_value, repeat
from evolabel.evaluate.results import Results
from evolabel.evaluate.trend import Point, Progress, Questions, Summary

__all__ = [
    "METRICS",
    "AveragePrecision",
    "BalancedAccuracy",
    "Coverage",
    "ExampleF1",
    "Fading",
    "HammingLoss",
    "KappaTemporal",
    "LabelScores",
    "LabelStatistics",
    "Learner",
    "MacroF1",
    "Metric",
    "MicroF1",
    "OneError",
    "PartialAccuracy",
    "Point",
    "Progress",
    "Questions",
    "RankingLoss",
    "RankingRow",
    "Repeated",
    "Results",
    "SetCoverage",
    "SetSize",
    "Sliding",
    "Spread",
    "SubsetAccuracy",
    "Summary",
    "average_precision",
    "best_value",
    "label_scores",
    "metric_named",
    "partial_accuracy",
    "prequential",
    "repeat",
    "set_coverage",
    "set_size",
]
