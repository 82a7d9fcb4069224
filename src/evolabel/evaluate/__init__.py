"""How good a model is: metrics along a stream, test-then-train runs, their results."""

from evolabel.evaluate.learner import Learner
from evolabel.evaluate.metrics import (
    METRICS,
    AveragePrecision,
    Coverage,
    ExampleF1,
    Fading,
    HammingLoss,
    MacroF1,
    Metric,
    MicroF1,
    OneError,
    PartialAccuracy,
    RankingLoss,
    Sliding,
    SubsetAccuracy,
    metric_named,
)
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.questions import Questions
from evolabel.evaluate.repeated import Repeated, Spread, Standing, best_value, repeat
from evolabel.evaluate.results import Results
from evolabel.evaluate.scores import average_precision, partial_accuracy
from evolabel.evaluate.trend import Point, Progress, Summary

__all__ = [
    "METRICS",
    "AveragePrecision",
    "Coverage",
    "ExampleF1",
    "Fading",
    "HammingLoss",
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
    "Repeated",
    "Results",
    "Sliding",
    "Spread",
    "Standing",
    "SubsetAccuracy",
    "Summary",
    "average_precision",
    "best_value",
    "metric_named",
    "partial_accuracy",
    "prequential",
    "repeat",
]
