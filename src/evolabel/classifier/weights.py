"""Sample weights and per-label confidences, checked."""

import numpy as np

from evolabel.classifier.samples import as_array, one_line, ordinary
from evolabel.errors import DataError
from evolabel.typing import FloatArray

LARGEST = 1e12  # heavier samples would leave nothing of the others
SMALLEST = 1e-100  # less is nothing: products of weights would leave the range of float64


def read_sample_weight(weight: object, rows: int) -> FloatArray:
    """Return one `weight` >= 0 for each of `rows` samples; empty if None. Weights below `SMALLEST` count as 0."""
    if weight is None:
        return np.empty(0)
    if np.isscalar(weight):
        weight = np.full(rows, weight)
    array = _numbers(weight, "sample_weight")
    if array.shape != (rows,):
        raise DataError(f"sample_weight.shape == {array.shape}, expected ({rows},); give one weight per sample")
    if not ((array >= 0.0) & (array <= LARGEST)).all():
        raise DataError(f"sample_weight has entries that are negative, NaN or beyond {LARGEST:g}; use weights around 1")
    return _without_tiny(array)


def read_confidence(confidence: object, rows: int, labels: int) -> FloatArray:
    """Return the `confidence` in [0, 1] of each of `rows` samples and `labels`; empty if None."""
    if confidence is None:
        return np.empty((0, 0))
    array = _numbers(confidence, "confidence")
    if array.ndim == 1:
        array = array[:, None]
    if array.shape not in ((rows, labels), (rows, 1)):
        raise DataError(f"confidence has shape {array.shape}, expected ({rows}, {labels}) or ({rows},)")
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise DataError("confidence has entries outside [0, 1]; 1 is certain, 0 is as good as not annotated")
    return _without_tiny(ordinary(np.broadcast_to(array, (rows, labels))))


def _without_tiny(array: FloatArray) -> FloatArray:
    """The array with 0 in place of what is smaller than `SMALLEST`; the same object if nothing is."""
    tiny = (array > 0.0) & (array < SMALLEST)
    return np.where(tiny, 0.0, array) if tiny.any() else array


def without_unsure(labels: FloatArray, confidences: FloatArray) -> FloatArray:
    """Return `labels` with NaN (not annotated) where `confidences` are 0."""
    return np.where(confidences == 0.0, np.nan, labels) if len(confidences) else labels


def _numbers(data: object, name: str) -> FloatArray:
    array = as_array(data, name)
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} holds {array.dtype}, real numbers are required")
    try:
        return ordinary(array)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers only ({one_line(error)})") from None
