"""The paper's two scores, for whole arrays. NaN labels (not annotated) are left out."""

import numpy as np

from evolabel.kernels.state import FloatArray


def partial_accuracy(Y: FloatArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Eq. (34): share of (sample, label) pairs predicted rightly; 1 minus the Hamming loss."""
    known = ~np.isnan(Y)
    return float(((scores >= threshold) == (Y == 1.0))[known].mean())


def average_precision(Y: FloatArray, scores: FloatArray) -> float:
    """Eq. (33): mean over samples of how well their labels are ranked above the others.

    Deviation: tied scores all take the largest rank of the tie; the printed formula can exceed 1 there. Samples
    without any label have no ranking and are left out.
    """
    precisions = [_sample_precision(y == 1.0, s) for y, s in _annotated(Y, scores) if (y == 1.0).any()]
    return float(np.mean(precisions)) if precisions else float("nan")


def _annotated(Y: FloatArray, scores: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    known = ~np.isnan(Y)
    return [(y[k], s[k]) for y, s, k in zip(Y, scores, known, strict=True)]


def _sample_precision(on: np.ndarray[tuple[int], np.dtype[np.bool_]], scores: FloatArray) -> float:
    at_least = scores[None, :] >= scores[on][:, None]
    return float((at_least[:, on].sum(axis=1) / at_least.sum(axis=1)).mean())
