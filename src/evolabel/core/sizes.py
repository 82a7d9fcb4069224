"""Sizes of arrays, checked once before they reach a kernel: kernels do not look at bounds.

Data of users is checked before, with more helpful messages (`classifier`). What fails here is a defect of evolabel,
and an error is better than a write beyond an array.
"""

import numpy as np

from evolabel.core.rows import Batch
from evolabel.errors import InternalError
from evolabel.typing import AnyArray, FloatArray

FLOAT64 = np.dtype(np.float64)

_contiguous = np.ascontiguousarray


def check_batch(batch: Batch, n_features: int, n_labels: int) -> None:
    """Raise InternalError unless `batch` has X (n, `n_features`), Y (n, `n_labels`), and others fit Y or are empty.

    All must be C-contiguous and of eight bytes per entry. For X and Y, which are always 2-D, bytes are compared, and
    `ascontiguousarray` gives back the same object: these are the fastest ways to see it.
    """
    X, Y, weights, confidences, outputs, decisions, raw, read, *_ = batch
    n = len(X)
    if (
        X.nbytes != 8 * n * n_features
        or Y.nbytes != 8 * n * n_labels
        or len(Y) != n
        or _contiguous(X) is not X
        or _contiguous(Y) is not Y
        or (len(weights) and not is_ready(weights, (n,)))
        or (len(confidences) and not is_ready(confidences, (n, n_labels)))
        or (
            len(outputs)
            and (outputs.shape != Y.shape or outputs.nbytes != Y.nbytes or _contiguous(outputs) is not outputs)
        )
        or (len(decisions) and not is_ready(decisions, (n, n_labels)))
        or (len(raw) and not is_ready(raw, (n, n_features)))
        or (len(read) and not is_ready(read, (n, n_features)))
    ):
        raise misfit(batch._asdict(), f"{n_features} features and {n_labels} labels")


def check_outputs(batch: Batch, n_labels: int) -> None:
    """Raise InternalError unless outputs and probabilities of `batch`, and all given beside them, fit `n_labels`."""
    P = batch.probabilities
    check_batch(Batch(batch.outputs, *batch[1:4], decisions=batch.decisions), n_labels, n_labels)
    if len(P) and not is_ready(P, batch.Y.shape):
        raise misfit({"probabilities": P}, f"{n_labels} labels")


def check_rows(X: FloatArray, n_features: int) -> None:
    """Raise InternalError unless `X` is (n, `n_features`), C-contiguous and of eight bytes per entry."""
    if X.nbytes != 8 * len(X) * n_features or _contiguous(X) is not X:
        raise misfit({"X": X}, f"{n_features} features")


def is_ready(array: FloatArray, shape: tuple[int, ...]) -> bool:
    """Whether `array` has this `shape` and is C-contiguous float64."""
    return array.shape == shape and array.dtype == FLOAT64 and bool(array.flags.c_contiguous)


def misfit(arrays: dict[str, AnyArray], expected: str) -> InternalError:
    """Return the error that lists `arrays` that do not fit what was `expected`."""
    found = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items())
    return InternalError(f"arrays for a kernel do not fit {expected}: {found}; this is a defect, please report it")
