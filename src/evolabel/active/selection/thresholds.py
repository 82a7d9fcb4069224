"""`FirstCome` and `VariableThresholds`: ask as soon as a criterion fires, as in the paper."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.active.selection.selector import Filter, Purse, by_label
from evolabel.core.stored.array_checks import Expected, floats
from evolabel.errors import ParameterError
from evolabel.kernels.compile import direct
from evolabel.kernels.selection import walk_thresholds
from evolabel.typing import Arrays, BoolArray, FloatArray

LOWEST, HIGHEST = 0.1, 5.0  # thresh2 stays between 0.51 and 1, thresh3 between 0.015 and 0.75

_walk_thresholds = direct(walk_thresholds)


class VariableThresholds(Filter):
    """Thresholds that tighten with every question and ease with every sample that could be paid and was not asked.

    One number, the ease, moves them all: the band of ambiguity is `ease` times as wide as written, a drop of the trace
    must exceed thresh3 / ease. So thresh2 falls while thresh3 rises. Deviation: the paper raises both, which for
    thresh2 would mean to ask more. The ease has a floor and a ceiling, because a band that is nearly closed takes
    hundreds of samples to open; the hard limit of the budget rules out a burst at the start.

    Criteria of whole samples ask for all labels, if they can be paid, others for the labels that fire.

    Parameters
    ----------
    step : float
        Relative change of the ease per sample.
    """

    name: ClassVar[str] = "variable"
    by_label: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("step",)

    def __init__(self, step: float = 0.01) -> None:
        check_number("step", step, 0, 0.5)
        self.step = float(step)

    def begin(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """See `Filter`."""
        ranking = [criterion.name for criterion in criteria if criterion.threshold == np.inf]
        if ranking:
            raise ParameterError(
                f"{', '.join(ranking)} has no threshold to fire at; name criteria that have one, such as ambiguity, "
                "or use another selection"
            )
        super().begin(criteria, budget, width, least)
        self._whole = np.array([criterion.whole for criterion in criteria])
        self._ease = np.ones(1)

    @property
    def ease(self) -> float:  # type: ignore[override]
        """Factor by which thresholds are easier than written."""
        return float(self._ease[0])

    def parts(self, scores: ScoreTable) -> FloatArray:
        """Strengths, (n, criteria, width)."""
        strengths = [criterion.strength(column) for criterion, column in zip(self.criteria, scores, strict=True)]
        table = np.empty((len(scores), len(strengths), self.width))
        for place, strength in enumerate(strengths):
            table[:, place] = by_label(strength, self.width)
        return table

    def walk(self, parts: FloatArray, purse: Purse, *, commit: bool) -> tuple[int, BoolArray]:
        """See `Filter`."""
        self.check_rows(parts, purse)
        loudest, mask = np.zeros(self.width), np.zeros(self.width, np.bool_)
        at = _walk_thresholds(
            parts,
            self._whole,
            purse.free,
            self.least,
            self.step,
            self._ease,
            LOWEST,
            HIGHEST,
            loudest,
            mask,
            commit,
        )
        return at, mask

    @property
    def row_shape(self) -> tuple[int, ...]:
        """See `Filter`."""
        return len(self.criteria), self.width

    def note(self, part: FloatArray, free: int, *, asked: bool) -> None:
        """See `Filter`."""
        if asked or free >= self.least:
            change = 1.0 - self.step if asked else 1.0 + self.step
            self._ease[0] = min(max(self._ease[0] * change, LOWEST), HIGHEST)

    def arrays(self) -> Arrays:
        """See `Filter`."""
        return {"ease": self._ease}

    def table(self) -> dict[str, Expected]:
        """See `Filter`."""
        return {"ease": floats(1, low=LOWEST, high=HIGHEST)}


class FirstCome(VariableThresholds):
    """Thresholds that stay as they are: whatever fires is asked while it can be paid."""

    name: ClassVar[str] = "first_come"
    parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(step=0.0)
