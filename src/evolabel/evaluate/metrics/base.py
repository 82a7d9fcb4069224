"""`Metric`: what all streaming metrics have in common.

A metric is two pure functions. `statistics` turns samples into rows of numbers that may be added up; `value` turns
their sum into the metric. Everything else (batches, merging, windows, fading, storing) is adding and lives here, in
`memory` and in `forms`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from evolabel.errors import CheckpointError, DataError
from evolabel.evaluate.metrics.memory import Fade, Memory
from evolabel.evaluate.metrics.rows import ScoredRows, read_rows
from evolabel.typing import AnyArray, BoolArray, FloatArray

# A sum that has faded below this is nothing: the quotient of two numbers that are hardly numbers any more is noise.
FADED = 1e-200


class Metric(ABC):
    """A number that says how good multi-label scores are, kept up to date sample by sample.

    `update(y_true, y_score)` takes one sample (K,) or a batch (n, K), with the same result. Labels are 0, 1 or NaN (not
    annotated: the pair of sample and label is left out), scores are finite. Later samples may have more labels. A
    sample that cannot be judged, such as one without any annotated label, is skipped and counted.

    Attributes
    ----------
    name : str
        Short name for tables and figures.
    bigger_is_better : bool
    takes_decisions : bool
        Does it judge predicted labels, so that a learner's own decisions (0 or 1) may stand in for its scores?
    n_samples, n_skipped : int
        Samples judged and samples skipped since the start.
    """

    name: str
    bigger_is_better: bool = True
    takes_decisions: bool = False

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory or Fade()

    @abstractmethod
    def statistics(self, rows: ScoredRows) -> FloatArray:
        """One row per sample, to be added up: 1 if it was judged, a part, and the whole it is a part of."""

    def value(self, sums: FloatArray) -> float:
        """The metric, from the sum of statistics of which at least one row was judged."""
        _, part, whole = sums
        return float(part / whole) if whole > FADED else 0.0

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {}

    def update(self, y_true: object, y_score: object) -> Self:
        """Judge one sample (K,) or several (n, K). Bad input is refused and changes nothing."""
        for block in read_rows(y_true, y_score).blocks():
            self._memory.add(self.statistics(block))
        return self

    def get(self) -> float:
        """The metric as of now; NaN while there is nothing it could say."""
        sums = self._memory.sums()
        return self.value(sums) if sums.size and sums[0] > FADED else float("nan")

    @property
    def n_samples(self) -> int:
        """Samples judged since the start."""
        return self._memory.n_judged

    @property
    def n_skipped(self) -> int:
        """Samples since the start that could not be judged."""
        return self._memory.n_rows - self._memory.n_judged

    def merge(self, other: "Metric") -> Self:
        """Add what another metric of the same kind has seen, as if its samples had come after this one's."""
        if repr(other) != repr(self):
            raise DataError(f"{other!r} cannot be merged into {self!r}; make the parts of a run by fresh()")
        self._memory.append(other._memory)
        return self

    def fresh(self) -> Self:
        """A metric with the same settings that has seen nothing yet."""
        return type(self)(**self.settings)

    def state(self) -> dict[str, AnyArray]:
        """All that was counted, as plain arrays that can be stored, with the metric's text (UTF-8) to identify it."""
        return {"metric": np.frombuffer(repr(self).encode(), np.uint8), **self._memory.state()}

    def restore(self, state: Mapping[str, AnyArray]) -> Self:
        """Go on from a `state()` of a metric with the same settings; the results are the same, bit for bit."""
        own = self.state()
        if state.keys() != own.keys() or not np.array_equal(state["metric"], own["metric"]):
            raise CheckpointError(f"this is no state of {self!r}; restore it into the kind of metric that wrote it")
        self._memory.restore(state)
        return self

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({settings})"


def mean_of(judged: BoolArray, values: AnyArray) -> FloatArray:
    """Statistics of a metric that is the mean of its samples' values."""
    return part_of_whole(judged, values, judged)


def part_of_whole(judged: BoolArray, part: AnyArray, whole: AnyArray) -> FloatArray:
    """Statistics of a metric that is a quotient of two sums; zeros where a sample was not judged."""
    return np.array((judged, part, whole), np.float64).T * judged[:, None]
