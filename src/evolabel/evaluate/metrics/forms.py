"""Metrics that forget: over the last samples (`Sliding`), or with fading weights of older samples (`Fading`)."""

from typing import Any

from evolabel._utils.validation import check_number, whole_number
from evolabel.errors import ParameterError
from evolabel.evaluate.metrics.base import Metric
from evolabel.evaluate.metrics.scored_labels import ScoredLabels
from evolabel.evaluate.metrics.sums import FadingSum, RunningSum, WindowSum
from evolabel.typing import FloatArray


class _Form(Metric):
    """Base class: the statistics of another metric, summed in another way."""

    def __init__(self, metric: Metric, running_sum: RunningSum, how: str) -> None:
        if not isinstance(metric, Metric) or isinstance(metric, _Form):
            raise ParameterError(f"metric={metric!r} is not allowed; use a plain metric such as PartialAccuracy()")
        super().__init__(running_sum)
        self.metric = metric.fresh()
        self.name = f"{metric.name} ({how})"
        self.bigger_is_better = metric.bigger_is_better
        self.takes_decisions = metric.takes_decisions

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
