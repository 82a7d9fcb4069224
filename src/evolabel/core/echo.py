"""`Echo`: recent errors that repeat shift the outputs of the samples that follow.

In a stream that is a course of events, consecutive samples resemble each other more than their features tell, and so do
the errors of their labels. The mean error of recent answers then foretells a part of the next one. How large a part is
learned by regression, first from the initial batch; in a shuffled stream it is found to be none, and nothing changes.
"""

import math
from typing import Any

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.rule_base import NO_ROWS
from evolabel.kernels._compile import direct
from evolabel.kernels.echo import ANSWERS, DOUBT, ERRORS, MEMORY, PRODUCTS, SQUARES, follow_errors
from evolabel.kernels.state import FloatArray

Arrays = dict[str, np.ndarray[Any, Any]]

CAUTION = 1.5  # standard deviations the evidence must be away from none, and by which it is taken for less
FAINTEST = 1e-6  # a shift that is smaller is none

_follow_errors = direct(follow_errors)


class Echo:
    """Recent errors of every label, and what they are worth.

    Parameters
    ----------
    model : StreamModel
        Whose outputs are shifted; evidence begins with that of its initial batch.
    at : int
        Number of the stream's last sample.
    """

    def __init__(self, model: StreamModel, at: int = 0) -> None:
        self.model = model
        self.trained = model.warm_up is None
        self.evidence = model.echo_evidence.copy()
        self.at = at
        """Number of the sample at which the sums stand."""
        self.errors, self.weights = np.zeros((2, model.n_labels))
        self.gain = gain(self.evidence)
        """The part of the mean recent error that is expected again, in [0, 1]."""

    def is_of(self, model: StreamModel) -> bool:
        """Is it the echo of this very model, from its initial batch on?"""
        return self.model is model and self.trained == (model.warm_up is None)

    def answer(self, number: int, y: FloatArray, f: FloatArray, confidence: FloatArray | None = None) -> None:
        """The sample of this number was answered by y, NaN for unknown labels; its outputs were f."""
        self._widen(len(y))
        believed = NO_ROWS if confidence is None else confidence[None]
        if number > self.at:
            _follow_errors(f[None], y[None], believed, number - self.at, self.errors, self.weights, self.evidence)
            self.at = number
            self.gain = gain(self.evidence)
            return
        errors, weights = np.zeros((2, len(y)))  # came late: what is known of later samples is no evidence
        _follow_errors(f[None], y[None], believed, 1, errors, weights, np.zeros(4))
        faded = MEMORY ** (self.at - number)
        self.errors += faded * errors
        self.weights += faded * weights

    def shift(self, first: int, rows: int, n_labels: int) -> FloatArray | None:
        """What the outputs of the samples from number `first` on are shifted by, (rows, n_labels); None: by nothing."""
        if self.gain == 0.0:
            return None
        since = np.arange(first, first + rows, dtype=np.float64)[:, None] - self.at
        faded = MEMORY ** np.maximum(since, 0.0)
        shift = self.gain * faded * self.errors / (faded * self.weights + DOUBT)
        if np.abs(shift[0]).max(initial=0.0) < FAINTEST:
            return None
        missing = n_labels - shift.shape[1]
        return np.pad(shift, ((0, 0), (0, missing))) if missing else shift

    def _widen(self, n_labels: int) -> None:
        """Labels have appeared."""
        missing = n_labels - len(self.errors)
        if missing > 0:
            self.errors, self.weights = np.pad(self.errors, (0, missing)), np.pad(self.weights, (0, missing))

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        return {
            "errors": self.errors,
            "weights": self.weights,
            "evidence": self.evidence,
            "at": np.array([self.at], np.int64),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take over what was remembered."""
        shapes = [arrays[name].shape for name in ("errors", "weights", "evidence", "at")]
        size = len(arrays["errors"])
        if shapes != [(size,), (size,), (4,), (1,)] or size > self.model.n_labels:
            raise ValueError(f"shapes {shapes} do not fit together")
        self.errors, self.weights, self.evidence = (arrays[name].copy() for name in ("errors", "weights", "evidence"))
        self.at = int(arrays["at"][0])
        self.gain = gain(self.evidence)


def gain(evidence: FloatArray) -> float:
    """Slope of the regression of errors on the mean errors before them, less `CAUTION` standard deviations."""
    products, squares, errors, answers = (float(evidence[a]) for a in (PRODUCTS, SQUARES, ERRORS, ANSWERS))
    if squares <= 0.0:
        return 0.0
    return min(max((products - CAUTION * math.sqrt(squares * errors / answers)) / squares, 0.0), 1.0)
