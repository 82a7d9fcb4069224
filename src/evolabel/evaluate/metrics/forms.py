"""Metrics that forget: over the last samples (`Sliding`), or with older samples counting less and less (`Fading`)."""

from typing import Any

from evolabel._utils.validation import check_number, whole_number
from evolabel.errors import ParameterError
from evolabel.evaluate.metrics.base import Metric
from evolabel.evaluate.metrics.memory import Fade, Memory, Window
from evolabel.evaluate.metrics.rows import ScoredRows
from evolabel.typing import FloatArray


class Form(Metric):
    """Another metric's statistics, remembered in another way."""

    def __init__(self, metric: Metric, memory: Memory, how: str) -> None:
        if not isinstance(metric, Metric) or isinstance(metric, Form):
            raise ParameterError(f"metric={metric!r} is not allowed; use a plain metric such as PartialAccuracy()")
        super().__init__(memory)
        self.metric = metric.fresh()
        self.name = f"{metric.name} ({how})"
        self.bigger_is_better = metric.bigger_is_better
        self.takes_decisions = metric.takes_decisions

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """Those of the metric."""
        return self.metric.statistics(rows)

    def value(self, sums: FloatArray) -> float:
        """That of the metric."""
        return self.metric.value(sums)


class Sliding(Form):
    """A metric over the last samples of the stream only.

    Skipped samples have their place in the window, so that all metrics look at the same part of the stream. The price
    of a sample does not depend on the window, the memory does; no rounding error piles up.

    Parameters
    ----------
    metric : Metric
        Any plain metric; what it has seen already is not taken over.
    window : int
        How many samples count.

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
        super().__init__(metric, Window(self.window), f"last {self.window}")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"metric": self.metric, "window": self.window}


class Fading(Form):
    """A metric in which every sample counts a little less than the one after it.

    The sample that lies i samples back has the weight factor^i; all together weigh at most 1 / (1 - factor). Skipped
    samples age the others, too.

    Parameters
    ----------
    metric : Metric
        Any plain metric; what it has seen already is not taken over.
    factor : float
        Above 0 and at most 1, which forgets nothing.

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
        super().__init__(metric, Fade(self.factor), f"fading {factor:g}")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"metric": self.metric, "factor": self.factor}
