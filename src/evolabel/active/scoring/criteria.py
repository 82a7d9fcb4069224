"""Criteria: scores of samples by how much an answer would help.

The paper has three (section 4): novelty, ambiguity, instability. The others were measured to be better where a budget
binds: they rank samples, and a selector takes the best of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeVar

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.loops.scores import AMBIGUITY, FLOOR, LEVERAGE, SOFT_COUNT, VARIANCE_REDUCTION, criterion_rows
from evolabel.active.scoring.row_statistics import RowStatistics, criterion_scores
from evolabel.active.scoring.scored_rows import ScoreTable, columns_of
from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.engine.compile import direct
from evolabel.errors import DataError, ParameterError
from evolabel.model.protocols import Model
from evolabel.stages.feedback.stage import Correction
from evolabel.stages.rules.weights import MANY_ROWS, NO_MOMENTS, NO_WEIGHTS, SOME_ROWS
from evolabel.typing import FloatArray, IntArray

_NOT_GIVEN = np.empty((0, 0))
_criterion_rows = direct(criterion_rows)

_CLOSEST = 1e-12  # distance of an output to 0.5 below which it is as ambiguous as can be


@dataclass(frozen=True)
class Criterion(ABC):
    """A reason to ask. Subclasses are frozen dataclasses with a `name`; `register` makes them available by it.

    Parameters
    ----------
    threshold : float
        Score above which the criterion asks by itself; infinity if it only ranks.
    weight : float
        Weight among several criteria: a factor of its rank (token selector), or a power (quantile selector).
    """

    threshold: float = np.inf
    weight: float = 1.0

    name: ClassVar[str] = ""
    whole: ClassVar[bool] = True
    """Whether it gives one score per sample, or one per label."""

    def __post_init__(self) -> None:
        if self.threshold != np.inf:
            check_number("threshold", self.threshold, 0, open_low=True, also=", or infinity")
        check_number("weight", self.weight, 0, open_low=True)

    @abstractmethod
    def score(self, rows: RowStatistics) -> FloatArray:
        """Scores of `rows`, (n,), or (n, K) if not `whole`; at least 0, larger is more useful."""

    def strength(self, scores: FloatArray) -> FloatArray:
        """`scores` relative to the threshold: above 1 the criterion asks by itself."""
        return scores / self.threshold


def can_fire(criterion: Criterion) -> bool:
    """Whether a score can exceed the threshold of `criterion`; if not, it only ranks."""
    return criterion.threshold != np.inf or type(criterion).strength is not Criterion.strength


C = TypeVar("C", bound=type[Criterion])

CRITERIA: dict[str, type[Criterion]] = {}
"""Criteria by name."""


def register(criterion: C) -> C:
    """Make the class `criterion` available by its name, in `criteria=` and in files; returns it."""
    if not criterion.name:
        raise ParameterError(f"{criterion.__name__} has no name; give the class an attribute `name`")
    if CRITERIA.setdefault(criterion.name, criterion) is not criterion:
        raise ParameterError(
            f"the name {criterion.name!r} is taken by {CRITERIA[criterion.name].__name__}; use another"
        )
    return criterion


@register
@dataclass(frozen=True)
class Novelty(Criterion):
    """Criterion 1: the evolution criterion, eq. (5), in the input space, because labels are not known yet.

    All or nothing: its threshold does not move with the budget.
    """

    threshold: float = 1.0
    name: ClassVar[str] = "novelty"

    def score(self, rows: RowStatistics) -> FloatArray:
        """Distances of `rows` over the distance at which a rule is created."""
        return rows.novelty

    def strength(self, scores: FloatArray) -> FloatArray:
        """Infinity where `scores` exceed the threshold, else 0."""
        return np.where(scores > self.threshold, np.inf, 0.0)


@register
@dataclass(frozen=True)
class Ambiguity(Criterion):
    """Criterion 2, eq. (30): an output between 1 - thresh2 and thresh2 is ambiguous, label by label.

    The score is f (1 - f) of the output f: the variance of an answer that is 1 with probability f. Outputs of labels
    with few answers are drawn towards 0.5 by their exploration weight.

    Parameters
    ----------
    new_labels : bool
        Whether labels with few answers are explored, see `NewLabelExploration`.
    """

    threshold: float = 0.6
    new_labels: bool = True
    name: ClassVar[str] = "ambiguity"
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("threshold", self.threshold, 0.5, 1, open_low=True)

    def score(self, rows: RowStatistics) -> FloatArray:
        """Variance of every answer to `rows`, and a floor, (n, K)."""
        return criterion_scores(AMBIGUITY, rows.outputs, exploration=rows.exploration if self.new_labels else None)

    def strength(self, scores: FloatArray) -> FloatArray:
        """Half width of the band over the distance to 0.5 that follows from the `scores`: 1 at the edge of the band."""
        distance = np.sqrt(np.maximum(0.25 + FLOOR - scores, 0.0))
        return np.asarray((self.threshold - 0.5) / np.maximum(distance, _CLOSEST))


@register
@dataclass(frozen=True)
class Uncertainty(Criterion):
    """One minus the confidence in the likelier answer, label by label, in [0, 0.5]: the scale others count in."""

    threshold: float = 0.4
    name: ClassVar[str] = "uncertainty"
    whole: ClassVar[bool] = False

    def score(self, rows: RowStatistics) -> FloatArray:
        """0.5 where both answers to one of `rows` are as likely, (n, K)."""
        return np.asarray(0.5 - np.abs(np.clip(rows.outputs, 0.0, 1.0) - 0.5))


@register
@dataclass(frozen=True)
class SoftCount(Criterion):
    """How many labels are ambiguous, softly: sum of exp(-(f - 0.5)^2 / 2 width^2)."""

    threshold: float = 1.0
    width: float = 0.1
    name: ClassVar[str] = "soft_count"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("width", self.width, 0, open_low=True)

    def score(self, rows: RowStatistics) -> FloatArray:
        """Number of ambiguous labels of each of `rows`."""
        return criterion_scores(SOFT_COUNT, rows.outputs, width=self.width)[:, 0]


@register
@dataclass(frozen=True)
class Instability(Criterion):
    """Criterion 3, eq. (32): the largest relative drop of the trace of a rule's P that the sample would bring."""

    threshold: float = 0.075
    name: ClassVar[str] = "instability"

    def score(self, rows: RowStatistics) -> FloatArray:
        """Largest relative drop over the rules for each of `rows`; nothing is updated."""
        return rows.trace_drop


@register
@dataclass(frozen=True)
class Leverage(Criterion):
    """Instability without units: the share of the output's variance at the sample that learning it would remove.

    Deviation: the trace drop depends on the features' units and is large in a narrow range of support only.
    """

    threshold: float = 0.5
    name: ClassVar[str] = "leverage"

    def score(self, rows: RowStatistics) -> FloatArray:
        """Leverage of each of `rows`, in [0, 1)."""
        return rows.leverage


@register
@dataclass(frozen=True)
class VarianceReduction(Criterion):
    """Drop of the mean variance of the outputs over the whole stream (I-optimality); it only ranks.

    It uses the second moments of all samples, labelled or not.
    """

    name: ClassVar[str] = "variance_reduction"

    def score(self, rows: RowStatistics) -> FloatArray:
        """Mean drop of the variance of outputs for each of `rows`."""
        return rows.variance_reduction


DEFAULT_CRITERIA: dict[str, tuple[Criterion, ...]] = {
    "labels": (Ambiguity(), Leverage(weight=0.1)),
    "samples": (SoftCount(), VarianceReduction()),
}
"""Criteria measured to close most of the gap between a static and a fully trained model."""

PAPER_CRITERIA: tuple[Criterion, ...] = (Novelty(), Ambiguity(new_labels=False), Instability())
"""The paper's three, with its thresholds."""


def read_criteria(criteria: "str | Criterion | Sequence[str | Criterion] | None", per: str) -> tuple[Criterion, ...]:
    """The `criteria` given by name or as objects; by default those measured to be best for `per`."""
    if criteria is None:
        return DEFAULT_CRITERIA[per]
    given = (criteria,) if isinstance(criteria, str | Criterion) else tuple(criteria)
    found = tuple(_find(criterion) for criterion in given)
    names = [criterion.name for criterion in found]
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"criteria={names} is not allowed; name at least one, and none of them twice")
    return found


def _find(criterion: object) -> Criterion:
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str) and criterion in CRITERIA:
        return CRITERIA[criterion]()
    raise ParameterError(
        f"{criterion!r} is no criterion; use one of {', '.join(sorted(CRITERIA))}, or an object derived from Criterion"
    )


_KINDS: dict[type[Criterion], int] = {  # a class derived from one of these may score differently
    Ambiguity: AMBIGUITY,
    SoftCount: SOFT_COUNT,
    Leverage: LEVERAGE,
    VarianceReduction: VARIANCE_REDUCTION,
}


class Scorer:
    """Scores rows by all `criteria`: those of `_KINDS` in one compiled loop, others by their own `score`.

    Parameters
    ----------
    criteria : sequence of Criterion
        Criteria of the learner.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self.criteria = tuple(criteria)
        self._kinds = np.array([_KINDS.get(type(criterion), -1) for criterion in criteria], np.int64)
        self._widths = np.array([getattr(criterion, "width", np.nan) for criterion in criteria], np.float64)
        self._is_built_in = bool((self._kinds >= 0).all())
        self._by_label = tuple(not criterion.whole for criterion in criteria)
        self._explores = any(isinstance(criterion, Ambiguity) and criterion.new_labels for criterion in criteria)
        self._needs_moments = any(isinstance(criterion, VarianceReduction) for criterion in criteria)

    def score(
        self,
        model: Model,
        X: FloatArray,
        moments: SecondMoments | None = None,
        *,
        weights: FloatArray | None = None,
        correction: Correction | None = None,
        exploration: FloatArray | None = None,
    ) -> tuple[FloatArray, ScoreTable]:
        """Outputs of the raw rows `X`, (n, K), and their scores by each criterion, checked.

        `model`, second `moments`, `weights`, `correction` and `exploration` are those of `RowStatistics`.
        """
        few = len(X) < (MANY_ROWS if weights is None else SOME_ROWS) and model.warm_up is None
        if not (few and self._is_built_in) or (self._needs_moments and moments is None):
            rows = RowStatistics(model, X, moments, weights=weights, correction=correction, exploration=exploration)
            return rows.outputs, ScoreTable.of([_checked(criterion, rows) for criterion in self.criteria])
        M = NO_MOMENTS if moments is None else moments.of(model.trained())
        outputs, psi, _, (q, _, t), _ = model.answer_few(X, NO_WEIGHTS if weights is None else weights, M)
        if correction is not None:
            outputs = correction.of(outputs)
        sizes, columns, width = _layout(self._by_label, outputs.shape[1])
        explored = exploration if self._explores and exploration is not None else _NOT_GIVEN
        table, total = np.empty((len(X), width)), 1.0 if moments is None else moments.total_of(M)
        _criterion_rows(outputs, psi, q, t, total, self._kinds, self._widths, explored, table)
        return outputs, ScoreTable(table, sizes, columns)


@lru_cache(64)
def _layout(by_label: tuple[bool, ...], n_labels: int) -> tuple[IntArray, list[int | slice], int]:
    """Return the sizes of the criteria, their columns, and the number of columns of the table of scores.

    `by_label` states of each criterion whether it has a score per label.
    """
    sizes = np.where(by_label, n_labels, 1)
    return sizes, columns_of(sizes, by_label), int(sizes.sum())


def _checked(criterion: Criterion, rows: RowStatistics) -> FloatArray:
    """Scores of `rows` by one `criterion`, (n,) or (n, K)."""
    shape = (rows.n,) if criterion.whole else (rows.n, rows.model.n_labels)
    table = np.asarray(criterion.score(rows), np.float64)
    if table.shape != shape:
        raise DataError(f"criterion {criterion.name!r} gave scores of shape {table.shape}; expected {shape}")
    if not table.min() >= 0.0:  # nor NaN
        raise DataError(f"criterion {criterion.name!r} gave a score that is NaN or negative; scores are numbers >= 0")
    return table
