"""Evaluation of learners on streams: metrics, test-then-train runs (`prequential`), results."""

from evolabel.evaluate import metrics
from evolabel.evaluate.label_statistics import LabelScores, LabelStatistics, label_scores
from evolabel.evaluate.learner import Learner
from evolabel.evaluate.metrics import *  # noqa: F403
from evolabel.evaluate.metrics.label_sets import partial_accuracy
from evolabel.evaluate.metrics.prediction_sets import set_coverage, set_size
from evolabel.evaluate.metrics.ranking import average_precision
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.repeated import RankingRow, Repeated, Spread, best_value, repeat
from evolabel.evaluate.results import Results
from evolabel.evaluate.trend import Point, Progress, Questions, Summary
from evolabel.evaluate.worth import ErrorsMet, RandomAnswers

__all__ = [
    "ErrorsMet",
    "LabelScores",
    "LabelStatistics",
    "Learner",
    "Point",
    "Progress",
    "Questions",
    "RandomAnswers",
    "RankingRow",
    "Repeated",
    "Results",
    "Spread",
    "Summary",
    "average_precision",
    "best_value",
    "label_scores",
    "partial_accuracy",
    "prequential",
    "repeat",
    "set_coverage",
    "set_size",
]
__all__ += metrics.__all__
