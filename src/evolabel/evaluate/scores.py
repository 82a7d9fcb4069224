"""The paper's two scores, for whole arrays: the streaming metrics in one call."""

from evolabel.evaluate.metrics.label_sets import PartialAccuracy
from evolabel.evaluate.metrics.ranking import AveragePrecision
from evolabel.typing import FloatArray


def partial_accuracy(Y: FloatArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Eq. (34): share of (sample, label) pairs predicted rightly; NaN labels (not annotated) are left out."""
    return PartialAccuracy(threshold).update(Y, scores).get()


def average_precision(Y: FloatArray, scores: FloatArray) -> float:
    """Eq. (33): mean over samples of how well their labels are ranked; samples without any label are left out."""
    return AveragePrecision().update(Y, scores).get()
