"""`Selector`: decides which rows a person is asked about, from their scores and the available budget."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from evolabel.active.loops.selection import best_scores
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection.token_bucket import Allowance
from evolabel.core.rows import misfit
from evolabel.core.schema import Schema, new_entries
from evolabel.core.stored_checks import check_arrays, require
from evolabel.engine.compile import direct
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_best_scores = direct(best_scores)

NOTHING_ALLOWED = Allowance(np.zeros(1), np.full(1, -1, np.int64))
"""Allowance of one row that cannot be asked about, so that selecting only records it."""


class NoArrays(NamedTuple):
    """The arrays of a selector that has no state."""


class Selector(ABC):
    """Decides which rows are asked about. Its state is a few arrays; the same rows give the same decisions.

    Rows are `width` labels wide: 1 where whole samples are asked about, which is also their price. A subclass turns
    scores into `values`, one entry per row, and selects by them.

    Attributes
    ----------
    schema : Schema
        Its arrays, a NamedTuple, each declared by `array` along the axes of `sizes`.
    state : NamedTuple
        The arrays, made by `reset`.
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    by_label: ClassVar[bool] = False
    """Whether a row of `values` has an entry for every label."""
    takes_priorities: ClassVar[bool] = False
    """Whether a label or sample is asked for first if its entry in `values` is larger than all others."""
    ignores_criteria: ClassVar[bool] = False
    """Whether the scores do not matter."""

    schema: ClassVar[Schema[Any]] = Schema(NoArrays)
    state: Any

    ease = 1.0
    """Factor by which the thresholds of criteria are exceeded more easily at the moment."""

    def reset(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Start with an empty state.

        `criteria` give the scores, `budget` is the share of the stream that may be asked, rows are `width` labels
        wide, and a question asks for at least `least` labels.
        """
        self.criteria = tuple(criteria)
        self.budget = budget
        self.min_labels = least
        self._set_width(width)
        self.state = self.schema.allocate(self.sizes())

    def sizes(self) -> dict[str, int]:
        """Lengths of the axes of the arrays, by name."""
        return {"label": self.width, "criterion": len(self.criteria)}

    def resize(self, width: int) -> None:
        """Extend the state to rows of this `width`; what it holds stays."""
        self._rearrange(width, {})

    def _rearrange(self, width: int, sources: dict[str, IntArray]) -> None:
        """Extend the state to rows of this `width`; other axes than that of the labels have `sources`, see `Schema`."""
        labels = new_entries(self.width, width)
        self.state = self.schema.rearranged(self.state, {"label": labels, **sources})
        self._set_width(width)

    def _set_width(self, width: int) -> None:
        self.width, self.least = width, min(self.min_labels, width)

    @abstractmethod
    def values(self, scores: ScoreTable) -> FloatArray:
        """What rows are compared by, one entry per row, from the `scores` of all criteria."""

    def weighted(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """`values` of rows times their `weights`, (n,); most selectors ignore the weights."""
        return values

    @abstractmethod
    def select(self, values: FloatArray, allowance: Allowance, *, commit: bool) -> tuple[int, BoolArray]:
        """The first row to ask about and the labels to ask for; the number of rows if there is none.

        Rows have these `values` and this `allowance`. With `commit` the rows before it are recorded.
        """

    @property
    @abstractmethod
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one entry of `values`."""

    def check_rows(self, values: FloatArray, allowance: Allowance) -> None:
        """InternalError unless `values` have their shape and `allowance` has an entry for every row."""
        if values.shape[1:] != self.row_shape or not len(values) <= len(allowance.limit) == len(allowance.paced):
            arrays = {"values": values, "paced": allowance.paced, "limit": allowance.limit}
            raise misfit(arrays, f"rows of shape {self.row_shape}")

    def fits(self, value: FloatArray) -> bool:
        """Whether the `value` of one row can be recorded; it may be narrower if labels have appeared since."""
        if value.shape == self.row_shape:
            return True
        *rest, last = self.row_shape
        narrower = self.by_label and value.ndim > 0 and 0 < value.shape[-1] < last
        return narrower and value.shape[:-1] == tuple(rest)

    @abstractmethod
    def record(self, value: FloatArray, limit: int, *, cost: int) -> None:
        """Record the `value` of one row, the `cost` of its question (0: none), and the `limit` of that cost."""

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.parameters)
        return f"{type(self).__name__}({settings})"

    def arrays(self) -> Arrays:
        """The state, by name."""
        return self.schema.arrays_of(self.state)

    def restore(self, arrays: Arrays, units: int) -> None:
        """Take over the state in `arrays`, stored after `units` units were seen; DataError if it does not fit."""
        self.state = self.read(arrays, units)

    def read(self, arrays: Arrays, units: int) -> Any:
        """The state in `arrays`, as `schema` has it; arguments and errors as of `restore`."""
        check_arrays(arrays, self.schema.expected(self.sizes()))
        return self.schema.from_arrays(arrays)


def check_window(counters: IntArray, size: int) -> None:
    """DataError if stored `counters` point beyond a window of this `size`: loops do not check bounds."""
    filled, following = counters.tolist()
    require(filled <= size and following < size, "counters", f"counts within a window of {size}")
    require(filled == size or following == filled, "counters", "the next row behind the last one")


def by_sample(scores: FloatArray) -> FloatArray:
    """Scores of whole samples, (n,): the largest over the labels of `scores`, (n,) or (n, K)."""
    if scores.ndim == 1:
        return scores
    best = np.empty(len(scores))
    _best_scores(np.ascontiguousarray(scores, np.float64), best)
    return best


def by_label(scores: FloatArray, width: int) -> FloatArray:
    """`scores` of every label, (n, width); those of whole samples hold for all labels: (n, 1), to be broadcast."""
    if scores.ndim == 2 and scores.shape[1] == width:
        return scores
    return by_sample(scores)[:, None]


def widened(value: FloatArray, width: int) -> FloatArray:
    """`value` with 0 for labels that have appeared since, up to `width`."""
    missing = width - value.shape[-1]
    return value if missing == 0 else np.pad(value, [(0, 0)] * (value.ndim - 1) + [(0, missing)])
