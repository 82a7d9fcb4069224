"""`Echo`: recent errors that repeat shift the outputs of the samples that follow.

In a stream that is a course of events, consecutive samples resemble each other more than their features tell, and so do
the errors of their labels. The mean error of recent answers then foretells a part of the next one. How large a part is
learned by regression, first from the initial batch, for every label, as some follow the course of events and others do
not; in a shuffled stream it is found to be none, but for rare chance.
"""

from typing import Any

import numpy as np

from evolabel.core.rule_base import NO_ROWS
from evolabel.kernels._compile import direct
from evolabel.kernels.echo import DOUBT, MEMORY, follow_errors, gains
from evolabel.kernels.state import Arrays, FloatArray

_follow_errors, _gains = direct(follow_errors), direct(gains)

NO_EVIDENCE = np.zeros((5, 0))


def label_by_label(evidence: np.ndarray[Any, Any], n_labels: int) -> FloatArray:
    """Evidence as it is now, (5, n_labels); older files hold four sums over all labels, of which each has its share."""
    if evidence.shape == (4,):
        _, squares, errors, answers = evidence
        agreement = squares * errors / answers if answers else 0.0  # as if all answers were independent
        evidence = np.tile(np.append(evidence, agreement)[:, None] / max(n_labels, 1), n_labels)
    return np.array(evidence, np.float64, order="C")


class Echo:
    """Recent errors of every label, and what they are worth.

    Parameters
    ----------
    n_labels : int
    evidence : array (5, labels known by then)
        What is known beforehand, see `kernels.echo`: that of a model's initial batch, or nothing.
    """

    def __init__(self, n_labels: int, evidence: FloatArray) -> None:
        self.evidence = np.pad(evidence, ((0, 0), (0, n_labels - evidence.shape[1])))
        self.at = 0
        """Number of the sample at which the sums stand."""
        self.errors, self.weights = np.zeros((2, n_labels))
        self.gains = np.zeros(n_labels)
        """The part of the mean recent error that is expected again, in [0, 1], label by label."""
        self.mean_gain = 0.0
        """Their mean; 0 where errors do not repeat."""
        self._weigh()

    def follow(self, out: FloatArray, Y: FloatArray) -> None:
        """Shift the outputs of the next rows, made before they were learned, and take in their answers, one by one."""
        self._follow(out, Y, NO_ROWS, 1, shifted=True)
        self.at += len(Y)

    def answer(self, number: int, y: FloatArray, f: FloatArray, confidence: FloatArray | None = None) -> None:
        """The sample of this number was answered by y, NaN for unknown labels; its outputs were f."""
        believed = NO_ROWS if confidence is None else confidence[None]
        first = not self.weights.any()  # there is nothing yet that could fade
        if first or number > self.at:
            self._follow(f[None], y[None], believed, 1 if first else number - self.at, shifted=False)
            self.at = number
            return
        late = Echo(len(y), NO_EVIDENCE)  # what is known of later samples is no evidence
        late._follow(f[None], y[None], believed, 1, shifted=False)
        self._widen(len(y))
        faded = MEMORY ** (self.at - number)
        self.errors += faded * late.errors
        self.weights += faded * late.weights

    def _follow(self, f: FloatArray, Y: FloatArray, believed: FloatArray, gap: int, *, shifted: bool) -> None:
        self._widen(Y.shape[1])
        _follow_errors(f, Y, believed, gap, shifted, self.errors, self.weights, self.evidence, self.gains)
        self.mean_gain = float(self.gains.mean())

    def shift(self, numbers: FloatArray, n_labels: int) -> FloatArray | None:
        """What the outputs of the samples of these numbers are shifted by, (n, n_labels); None: by nothing."""
        if self.mean_gain == 0.0:
            return None
        faded = MEMORY ** np.maximum(numbers[:, None] - self.at, 0.0)
        shift = self.gains * faded * self.errors / (faded * self.weights + DOUBT)
        missing = n_labels - shift.shape[1]
        return np.pad(shift, ((0, 0), (0, missing))) if missing else shift

    def _widen(self, n_labels: int) -> None:
        """Labels have appeared."""
        missing = n_labels - len(self.errors)
        if missing > 0:
            self.errors, self.weights = np.pad(self.errors, (0, missing)), np.pad(self.weights, (0, missing))
            self.evidence, self.gains = np.pad(self.evidence, ((0, 0), (0, missing))), np.pad(self.gains, (0, missing))
            self._weigh()

    def _weigh(self) -> None:
        _gains(self.evidence, self.gains)
        self.mean_gain = float(self.gains.mean())

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        return {
            "errors": self.errors,
            "weights": self.weights,
            "evidence": self.evidence,
            "at": np.array([self.at], np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_labels: int) -> "Echo":
        """What `arrays` gave, put together again."""
        shapes = [arrays[name].shape for name in ("errors", "weights", "evidence", "at")]
        size = len(arrays["errors"])
        if shapes not in ([(size,), (size,), (5, size), (1,)], [(size,), (size,), (4,), (1,)]) or size > n_labels:
            raise ValueError(f"shapes {shapes} do not fit together, or not to {n_labels} labels")
        if not all(np.isfinite(arrays[name]).all() for name in ("errors", "weights", "evidence")):
            raise ValueError("errors, weights and evidence are not finite")
        made = cls(n_labels, label_by_label(arrays["evidence"], size))
        made.at = int(arrays["at"][0])
        made.errors[:size], made.weights[:size] = arrays["errors"], arrays["weights"]
        return made
