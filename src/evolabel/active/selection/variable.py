"""`FirstCome` and `VariableThresholds`: ask as soon as a criterion exceeds its threshold (section 4.4)."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.loops.selection import walk_thresholds
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection.selector import Selector, by_label
from evolabel.active.selection.token_bucket import Allowance
from evolabel.core.schema import Schema, array
from evolabel.engine.compile import direct
from evolabel.errors import ParameterError
from evolabel.typing import BoolArray, FloatArray

_LOWEST_EASE, _HIGHEST_EASE = 0.1, 5.0  # thresh2 stays between 0.51 and 1, thresh3 between 0.015 and 0.75

_walk_thresholds = direct(walk_thresholds)


class EaseArrays(NamedTuple):
    """How easily thresholds are exceeded."""

    ease: Annotated[FloatArray, array(1, start=1.0, low=_LOWEST_EASE, high=_HIGHEST_EASE)]
    """Factor by which thresholds are easier than written, of `VariableThresholds`."""


class VariableThresholds(Selector):
    """Thresholds that follow the budget that is left: what a sample earns eases them, what a question costs tightens.

    One number, the ease, moves them all: the band of ambiguity is `ease` times as wide as written, a drop of the trace
    must exceed thresh3 / ease. So thresh2 falls while thresh3 rises. Deviation: the paper raises both, which for
    thresh2 would mean to ask more. A question that costs less than its sample earns does not tighten. Samples that the
    budget cannot pay for change nothing. The ease has a floor and a ceiling, because a band that is nearly closed takes
    hundreds of samples to open; the hard limit of the budget rules out a burst at the start.

    Criteria of whole samples ask for all labels, if the budget allows, others for the labels above their threshold.

    Parameters
    ----------
    step : float
        Relative change of the ease by what one sample earns.
    """

    name: ClassVar[str] = "variable"
    by_label: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("step",)
    schema: ClassVar[Schema[Any]] = Schema(EaseArrays)

    def __init__(self, step: float = 0.01) -> None:
        check_number("step", step, 0, 0.5)
        self.step = float(step)

    def reset(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Set the ease to 1; `criteria`, all with thresholds, `budget`, `width` and `least` as for `Selector.reset`."""
        ranking = [criterion.name for criterion in criteria if criterion.threshold == np.inf]
        if ranking:
            raise ParameterError(
                f"{', '.join(ranking)} has no threshold; name criteria that have one, such as ambiguity, "
                "or use another selection"
            )
        super().reset(criteria, budget, width, least)
        self._whole = np.array([criterion.whole for criterion in criteria])

    @property
    def ease(self) -> float:  # type: ignore[override]
        """Factor by which thresholds are easier than written."""
        return float(self.state.ease[0])

    def values(self, scores: ScoreTable) -> FloatArray:
        """Strengths of the `scores`, (n, criteria, width)."""
        strengths = [criterion.strength(column) for criterion, column in zip(self.criteria, scores, strict=True)]
        table = np.empty((len(scores), len(strengths), self.width))
        for place, strength in enumerate(strengths):
            table[:, place] = by_label(strength, self.width)
        return table

    def select(self, values: FloatArray, allowance: Allowance, *, commit: bool) -> tuple[int, BoolArray]:
        """First row to ask about and its labels, for `values` and `allowance`; `commit`: record the rows before it."""
        self.check_rows(values, allowance)
        strongest, mask = np.zeros(self.width), np.zeros(self.width, np.bool_)
        at = _walk_thresholds(
            values,
            self._whole,
            allowance.limit,
            self.least,
            self.step,
            self.state.ease,
            _LOWEST_EASE,
            _HIGHEST_EASE,
            strongest,
            mask,
            commit,
        )
        return at, mask

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one entry of `values`."""
        return len(self.criteria), self.width

    def record(self, value: FloatArray, limit: int, *, cost: int) -> None:
        """Change the ease by what the row has earned less its `cost`, if its `limit` sufficed; `value` is not used."""
        if limit >= self.least:
            ease, saved = self.state.ease, 1.0 - cost / (self.budget * self.width)
            ease[0] = min(max(ease[0] * (1.0 + self.step) ** saved, _LOWEST_EASE), _HIGHEST_EASE)


class FirstCome(VariableThresholds):
    """Fixed thresholds: every score above them is asked about while the budget allows."""

    name: ClassVar[str] = "first_come"
    parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(step=0.0)
