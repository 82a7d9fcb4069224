"""`Echo`: recent errors that repeat correct the outputs of the samples that follow.

In a stream that is a course of events, consecutive samples resemble each other more than their features tell, and so do
the errors of their labels. The mean error of recent answers, those to similar samples above all, then foretells a part
of the next one. Such a stream also moves away from its initial batch, so outputs say too much; they are drawn back
towards the base rates. How large both parts are is learned by regression, first from the initial batch, for every
label, as some follow the course of events and others do not; in a shuffled stream they are found to be none, but for
rare chance.
"""

from typing import NamedTuple

import numpy as np

from evolabel.core.members.feedback.recent_errors import Answered
from evolabel.core.rules.rule_base import NOTHING
from evolabel.core.sizes import check_batch, check_rows, misfit
from evolabel.core.stored.array_checks import Expected, check_arrays, check_evidence, floats, require, size_of, whole
from evolabel.kernels.compile import direct
from evolabel.kernels.evidence import belief
from evolabel.kernels.feedback import AGAIN, BACK, NOBODY, PLACES, follow_errors, shift_rows, weigh_all
from evolabel.typing import Arrays, FloatArray, IntArray

_follow_errors, _weigh_all, _shift_rows = direct(follow_errors), direct(weigh_all), direct(shift_rows)
_belief = direct(belief)

NO_EVIDENCE = np.zeros((2, 5, 0))


def base_rates(carried: FloatArray, annotated: FloatArray) -> FloatArray:
    """Share of the answers that were 1, label by label; NaN where there were none."""
    rates = np.full(len(annotated), np.nan)
    np.divide(carried, annotated, out=rates, where=annotated > 0.0)
    return rates


class Correction(NamedTuple):
    """Of the outputs of some samples: `trust` (K,) times them, and `shift` (n, K) added.

    `told` (n,): how many recent answers tell of each sample, those to similar ones above all.
    """

    trust: FloatArray
    shift: FloatArray
    told: FloatArray

    def of(self, outputs: FloatArray) -> FloatArray:
        """Outputs as they should be."""
        return np.asarray(self.trust * outputs + self.shift)


class Echo:
    """Recent errors of every label, and what they are worth.

    Parameters
    ----------
    n_features : int
        Features that samples are compared by; 0: samples are known by their numbers only.
    rates : array (n_labels,)
        Base rates of the labels, NaN where they are not known.
    evidence : array (2, 5, labels known by then)
        What is known beforehand, see `kernels.echo`: that of a model's initial batch, or nothing.
    """

    def __init__(self, n_features: int, rates: FloatArray, evidence: FloatArray) -> None:
        n_labels = len(rates)
        self.answered = Answered.none(n_features, n_labels)
        self.rates = np.array(rates, np.float64)
        self.evidence = np.pad(evidence, ((0, 0), (0, 0), (0, n_labels - evidence.shape[2])))
        self.slopes = np.zeros((2, n_labels))
        """The part of the way to the base rates that outputs are drawn back, and `gains`."""
        self._weigh()

    @property
    def gains(self) -> FloatArray:
        """The part of the mean recent error that is expected again, in [0, 1], label by label."""
        return np.asarray(self.slopes[AGAIN])

    @property
    def next_number(self) -> int:
        """Number of the sample after the last that was answered."""
        return max(int(self.answered.at.max()), 0) + 1

    def follow(self, X: FloatArray, out: FloatArray, Y: FloatArray) -> None:
        """Shift the outputs of the next rows, made before they were learned, and take in their answers, one by one."""
        self._follow(X, self.next_number, out, Y, np.ones(Y.shape), shifted=True)

    def listen(self, X: FloatArray, out: FloatArray, Y: FloatArray, believed: FloatArray) -> None:
        """Take in the answers to the next rows; their outputs, made before they were learned, stay as they are."""
        self._follow(X, self.next_number, out, Y, believed, shifted=False)

    def answer(
        self, x: FloatArray, number: int, y: FloatArray, f: FloatArray, confidence: FloatArray | None = None
    ) -> None:
        """The sample of this number was answered by y, NaN for unknown labels; its outputs were f."""
        believed = np.ones(len(y)) if confidence is None else confidence
        self._follow(x[None], number, f[None], y[None], believed[None], shifted=False)

    def _follow(
        self, X: FloatArray, number: int, f: FloatArray, Y: FloatArray, believed: FloatArray, *, shifted: bool
    ) -> None:
        self._fit_to(X.shape[1], Y.shape[1])
        check_batch(X, Y, NOTHING, believed, f, self.answered.Z.shape[1], len(self.rates))
        if len(f) != len(Y) or len(believed) != len(Y):
            raise misfit({"outputs": f, "confidences": believed}, f"{len(Y)} answers")
        scratch = np.empty(PLACES), *np.empty((3, Y.shape[1]))
        known = *self.answered, self.rates, self.evidence, self.slopes
        _follow_errors(X, number, f, Y, believed, shifted, *known, *scratch)
        self._sum_up()

    def correction(self, X: FloatArray, numbers: IntArray, n_labels: int) -> Correction:
        """Of the outputs of the samples of these numbers."""
        known, comparable = len(self.rates), X.shape[1] == self.answered.Z.shape[1]
        answered = self.answered if comparable else Answered.none(X.shape[1], known)
        check_rows(X, answered.Z.shape[1])
        if len(numbers) != len(X):
            raise misfit({"numbers": numbers}, f"{len(X)} rows")
        trust, shift, told = 1.0 - self.slopes[BACK], np.empty((len(X), known)), np.empty(len(X))
        scratch = np.empty(PLACES), np.empty(known)
        _shift_rows(X, numbers, *answered, self.rates, self.slopes, *scratch, shift, told)
        missing = n_labels - known
        if missing:
            trust = np.pad(trust, (0, missing), constant_values=1.0)
            shift = np.pad(shift, ((0, 0), (0, missing)))
        return Correction(trust, shift, told)

    def _fit_to(self, n_features: int, n_labels: int) -> None:
        """Labels have appeared, or features have come or gone: samples of other features cannot be compared."""
        missing = n_labels - len(self.rates)
        if missing > 0:
            r, c = (np.pad(part, ((0, 0), (0, missing))) for part in (self.answered.r, self.answered.c))
            self.answered = self.answered._replace(r=r, c=c)
            self.rates = np.pad(self.rates, (0, missing), constant_values=np.nan)
            self.evidence = np.pad(self.evidence, ((0, 0), (0, 0), (0, missing)))
            self.slopes = np.zeros((2, n_labels))
            self._weigh()
        if n_features != self.answered.Z.shape[1]:
            self.answered = Answered.none(n_features, len(self.rates))

    def _weigh(self) -> None:
        """Slopes by the evidence as it stands."""
        _weigh_all(self.evidence, self.rates, self.slopes)
        self._sum_up()

    def _sum_up(self) -> None:
        """What all labels together say of the echo, asked for at every sample."""
        self.mean_gain = float(self.gains.mean())
        """0 where errors do not repeat."""
        self.belief = _belief(self.evidence[AGAIN])
        """How far errors are believed to repeat, in [0, 1)."""

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        return {**self.answered._asdict(), "rates": self.rates, "evidence": self.evidence}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_labels: int, seen: int) -> "Echo":
        """What `arrays` gave, put together again; `seen`: samples counted so far.

        Labels may have appeared since its last answer, and features have come or gone: the next one will tell.
        """
        width, size = size_of(arrays, "Z", 1), size_of(arrays, "rates")
        check_arrays(arrays, _table(width, size, seen))
        require(size <= n_labels, "rates", f"at most {n_labels} labels")
        check_evidence("evidence", arrays["evidence"])
        made = cls(width, arrays["rates"], arrays["evidence"])
        made.answered = Answered(*(arrays[name].copy() for name in Answered._fields))
        return made


def _table(width: int, size: int, seen: int) -> dict[str, Expected]:
    """What the stored arrays of an echo must be."""
    return {
        "Z": floats(PLACES, width, missing=True),
        "at": whole(PLACES, low=NOBODY, high=seen),
        "r": floats(PLACES, size),
        "c": floats(PLACES, size, low=0.0, high=1.0),
        "rates": floats(size, low=0.0, high=1.0, missing=True),
        "evidence": floats(2, 5, size),
    }
