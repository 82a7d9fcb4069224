"""`Metric`: base class of the streaming metrics, and its two forms that forget: `Sliding` and `Fading`.

A metric is two pure functions. `statistics` maps samples to rows of numbers that can be added; `value` maps their sum
to the metric. Everything else (batches, merging, windows, fading, storing) is addition, done here and in `sums`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from evolabel._utils.validation import check_number, whole_number
from evolabel.errors import CheckpointError, DataError, ParameterError
from evolabel.evaluate.metrics.scored_labels import ScoredLabels, read_scored_labels
from evolabel.evaluate.metrics.sums import FadingSum, RunningSum, WindowSum
from evolabel.typing import AnyArray, BoolArray, FloatArray

# A sum that has faded below this counts as 0: a quotient of two numbers near the underflow limit is noise.
MIN_SUM = 1e-200


class Metric(ABC):
    """A measure of multi-label scores that is updated sample by sample.

    Labels are 0, 1 or NaN (not annotated: the pair of sample and label is left out), scores are finite. Later samples
    may have more labels. A sample that cannot be evaluated, such as one without any annotated label, is skipped and
    counted in `n_skipped`.

    Attributes
    ----------
    name : str
        Short name for tables and figures.
    bigger_is_better : bool
        False for losses.
    takes_decisions : bool
        Whether the metric evaluates predicted labels, so that a learner's decisions (0 or 1) can replace its scores.
    takes_sets : bool
        Whether the metric evaluates prediction sets, which then replace the scores.
    n_samples, n_skipped : int
        Number of samples evaluated and of samples skipped.
    """

    name: str
    bigger_is_better: bool = True
    takes_decisions: bool = False
    takes_sets: bool = False

    def __init__(self, running_sum: RunningSum | None = None) -> None:
        self._sum = running_sum or FadingSum()
        self._carried: dict[str, AnyArray] = {}  # what the statistics of the next sample depend on besides it

    @abstractmethod
    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return one line per sample of `rows`, to be added: 1 if it counts, a part, and the whole of that part."""

    def value(self, sums: FloatArray) -> float:
        """Return the metric from `sums`, the sum of statistics of which at least one line counts."""
        _, part, whole = sums
        return float(part / whole) if whole > MIN_SUM else 0.0

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {}

    def update(self, y_true: object, y_score: object) -> Self:
        """Add one sample or a batch, with the same result, and return the metric; bad input changes nothing.

        Parameters
        ----------
        y_true : array of shape (K,) or (n, K)
            Labels: 0, 1 or NaN (not annotated).
        y_score : array of the same shape
            Scores, finite.

        Raises
        ------
        DataError
            If the shapes differ, or a label or a score is not allowed.
        """
        for block in read_scored_labels(y_true, y_score).blocks():
            self._sum.add(self.statistics(block))
        return self

    def get(self) -> float:
        """Return the current value, NaN before the first sample that counts."""
        sums = self._sum.sums()
        return self.value(sums) if sums.size and sums[0] > MIN_SUM else float("nan")

    @property
    def n_samples(self) -> int:
        """Number of samples evaluated since the start."""
        return self._sum.n_counted

    @property
    def n_skipped(self) -> int:
        """Number of samples skipped since the start."""
        return self._sum.n_rows - self._sum.n_counted

    def merge(self, other: "Metric") -> Self:
        """Add the counts of another metric, as if its samples had come after this one's.

        Parameters
        ----------
        other : Metric
            A metric of the same class with the same settings.

        Raises
        ------
        DataError
            If class or settings of `other` differ.
        """
        if repr(other) != repr(self):
            raise DataError(f"{other!r} cannot be merged into {self!r}; make the parts of a run by fresh()")
        self._sum.append(other.state())
        return self

    def fresh(self) -> Self:
        """Return a new metric with the same settings and no counts."""
        return type(self)(**self.settings)

    def state(self) -> dict[str, AnyArray]:
        """Return all counts as plain arrays that can be stored, with the metric's repr (UTF-8) to identify it."""
        return {"metric": np.frombuffer(repr(self).encode(), np.uint8), **self._sum.state(), **self._carried}

    def restore(self, state: Mapping[str, AnyArray]) -> Self:
        """Continue from a stored state; later values are the same, bit for bit.

        Parameters
        ----------
        state : dict of str to ndarray
            Returned by `state()` of a metric of the same class with the same settings.

        Raises
        ------
        CheckpointError
            If `state` belongs to another metric.
        """
        own = self.state()
        if state.keys() != own.keys() or not np.array_equal(state["metric"], own["metric"]):
            raise CheckpointError(f"this is no state of {self!r}; restore it into the kind of metric that wrote it")
        self._sum.restore(state)
        self._carried.update({name: state[name].copy() for name in self._carried})
        return self

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({settings})"


def mean_statistics(counts: BoolArray, values: AnyArray) -> FloatArray:
    """Return the statistics of a metric that is the mean of `values` over the samples with `counts`."""
    return ratio_statistics(counts, values, counts)


def ratio_statistics(counts: BoolArray, part: AnyArray, whole: AnyArray) -> FloatArray:
    """Return the statistics of a metric that is the sum of `part` over that of `whole`; zeros without `counts`."""
    return np.array((counts, part, whole), np.float64).T * counts[:, None]


class _Form(Metric):
    """Base class: the statistics of another metric, summed in another way."""

    def __init__(self, metric: Metric, running_sum: RunningSum, how: str) -> None:
        if not isinstance(metric, Metric) or isinstance(metric, _Form):
            raise ParameterError(f"metric={metric!r} is not allowed; use a plain metric such as PartialAccuracy()")
        super().__init__(running_sum)
        self.metric = metric.fresh()
        self._carried = self.metric._carried  # noqa: SLF001 (of a metric, too)
        self.name = f"{metric.name} ({how})"
        self.bigger_is_better = metric.bigger_is_better
        self.takes_decisions = metric.takes_decisions
        self.takes_sets = metric.takes_sets

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return the statistics of the metric for `rows`."""
        return self.metric.statistics(rows)

    def value(self, sums: FloatArray) -> float:
        """Return the value of the metric for `sums`."""
        return self.metric.value(sums)


class Sliding(_Form):
    """A metric over the last samples of the stream only.

    Skipped samples take a place in the window, so that all metrics cover the same part of the stream. The cost of a
    sample does not depend on the window, the memory does; rounding errors do not accumulate.

    Parameters
    ----------
    metric : Metric
        Any metric but `Sliding` and `Fading`; its counts are not used.
    window : int
        Number of samples in the window.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import PartialAccuracy, Sliding
    >>> metric = Sliding(PartialAccuracy(), window=2)
    >>> metric.update([[1, 1], [1, 0], [0, 0]], [[0, 0], [1, 1], [0, 0]]).get()
    0.75
    >>> metric.name
    'PA (last 2)'
    """

    def __init__(self, metric: Metric, window: int) -> None:
        self.window = whole_number("window", window, 1)
        super().__init__(metric, WindowSum(self.window), f"last {self.window}")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"metric": self.metric, "window": self.window}


class Fading(_Form):
    """A metric in which every sample counts a little less than the one after it.

    The sample i samples back has the weight factor^i; all weights together are at most 1 / (1 - factor). Skipped
    samples fade the others as well.

    Parameters
    ----------
    metric : Metric
        Any metric but `Sliding` and `Fading`; its counts are not used.
    factor : float
        Above 0 and at most 1; 1 forgets nothing.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import Fading, PartialAccuracy
    >>> metric = Fading(PartialAccuracy(), factor=0.5)
    >>> metric.update([[1, 1], [1, 0], [0, 0]], [[0, 0], [1, 1], [0, 0]]).get()
    0.714
    >>> metric.name
    'PA (fading 0.5)'
    """

    def __init__(self, metric: Metric, factor: float) -> None:
        self.factor = check_number("factor", factor, 0, 1, open_low=True)
        super().__init__(metric, FadingSum(self.factor), f"fading {factor:g}")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"metric": self.metric, "factor": self.factor}
