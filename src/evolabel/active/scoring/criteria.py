"""Why a sample may be worth a question: small objects that score what a model makes of it.

The paper has three (section 4): novelty, ambiguity, instability. The others were measured to be better where a budget
binds: they rank samples, and a filter takes the best of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.core.row_statistics import RowStatistics, criterion_scores
from evolabel.errors import DataError, ParameterError
from evolabel.kernels.scores import AMBIGUITY, FLOOR, SOFT_COUNT
from evolabel.typing import FloatArray

CLOSEST = 1e-12  # outputs nearer to 0.5 are as ambiguous as can be


@dataclass(frozen=True)
class Criterion(ABC):
    """A reason to ask. Subclasses are frozen dataclasses with a `name`, made known to files by `register`.

    Parameters
    ----------
    threshold : float
        Where the criterion fires by itself; infinity if it only ranks.
    weight : float
        How much it counts among several: as a factor of its rank (token filter), or as a power (quantile filter).
    """

    threshold: float = np.inf
    weight: float = 1.0

    name: ClassVar[str] = ""
    whole: ClassVar[bool] = True
    """Whether it asks for all labels of a sample, or scores and asks for them one by one."""

    def __post_init__(self) -> None:
        if self.threshold != np.inf:
            check_number("threshold", self.threshold, 0, open_low=True, also=", or infinity")
        check_number("weight", self.weight, 0, open_low=True)

    @abstractmethod
    def score(self, look: RowStatistics) -> FloatArray:
        """Higher is more worth asking, never negative: (n,), or (n, K) if not `whole`."""

    def strength(self, scores: FloatArray) -> FloatArray:
        """Scores relative to the threshold: above 1 the criterion fires."""
        return scores / self.threshold


def can_fire(criterion: Criterion) -> bool:
    """False: it only ranks, because no score exceeds its threshold."""
    return criterion.threshold != np.inf or type(criterion).strength is not Criterion.strength


C = TypeVar("C", bound=type[Criterion])

CRITERIA: dict[str, type[Criterion]] = {}
"""Criteria that go by a name."""


def register(criterion: C) -> C:
    """Let a criterion go by its name, in `criteria=` and in files."""
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

    It fires, or it does not: its threshold does not move with the budget.
    """

    threshold: float = 1.0
    name: ClassVar[str] = "novelty"

    def score(self, look: RowStatistics) -> FloatArray:
        """Distance over the distance at which a rule is born."""
        return look.novelty

    def strength(self, scores: FloatArray) -> FloatArray:
        """All or nothing."""
        return np.where(scores > self.threshold, np.inf, 0.0)


@register
@dataclass(frozen=True)
class Ambiguity(Criterion):
    """Criterion 2, eq. (30): an output between 1 - thresh2 and thresh2 is ambiguous, label by label.

    As a score f (1 - f) of the output f: the variance of an answer that is 1 with probability f. Outputs of labels that
    are little known are drawn towards 0.5, as far as they are to be doubted.

    Parameters
    ----------
    newcomers : bool
        Whether labels may be doubted because few answers are known of them.
    """

    threshold: float = 0.6
    newcomers: bool = True
    name: ClassVar[str] = "ambiguity"
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("threshold", self.threshold, 0.5, 1, open_low=True)

    def score(self, look: RowStatistics) -> FloatArray:
        """Variance of every answer, and a floor, (n, K)."""
        doubts = np.empty((0, 0)) if look.doubts is None or not self.newcomers else look.doubts
        return criterion_scores(AMBIGUITY, look.outputs, doubts=doubts)

    def strength(self, scores: FloatArray) -> FloatArray:
        """Half width of the band over the distance to 0.5, so that a moving threshold scales the band."""
        distance = np.sqrt(np.maximum(0.25 + FLOOR - scores, 0.0))
        return np.asarray((self.threshold - 0.5) / np.maximum(distance, CLOSEST))


@register
@dataclass(frozen=True)
class Uncertainty(Criterion):
    """One minus the confidence in the likelier answer, label by label, in [0, 0.5]: the scale others count in."""

    threshold: float = 0.4
    name: ClassVar[str] = "uncertainty"
    whole: ClassVar[bool] = False

    def score(self, look: RowStatistics) -> FloatArray:
        """0.5 where both answers are as likely, (n, K)."""
        return np.asarray(0.5 - np.abs(np.clip(look.outputs, 0.0, 1.0) - 0.5))


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

    def score(self, look: RowStatistics) -> FloatArray:
        """Ambiguous labels of each sample."""
        return criterion_scores(SOFT_COUNT, look.outputs, width=self.width)[:, 0]


@register
@dataclass(frozen=True)
class Instability(Criterion):
    """Criterion 3, eq. (32): by which share the sample would let the trace of a rule's P sink, at most."""

    threshold: float = 0.075
    name: ClassVar[str] = "instability"

    def score(self, look: RowStatistics) -> FloatArray:
        """Largest relative drop over the rules, without updating anything."""
        return look.trace_drop


@register
@dataclass(frozen=True)
class Leverage(Criterion):
    """Instability without units: the share of the output's variance at the sample that learning it would remove.

    Deviation: the trace drop depends on the features' units and fires in a narrow range of support only.
    """

    threshold: float = 0.5
    name: ClassVar[str] = "leverage"

    def score(self, look: RowStatistics) -> FloatArray:
        """In [0, 1)."""
        return look.leverage


@register
@dataclass(frozen=True)
class VarianceReduction(Criterion):
    """How much surer the outputs on the whole stream would become (I-optimality); it only ranks.

    The one measured use of unlabelled samples: they tell where the stream is.
    """

    name: ClassVar[str] = "variance_reduction"

    def score(self, look: RowStatistics) -> FloatArray:
        """Mean drop of the variance of outputs."""
        return look.variance_reduction


DEFAULTS: dict[str, tuple[Criterion, ...]] = {
    "labels": (Ambiguity(), Leverage(weight=0.1)),
    "samples": (SoftCount(), VarianceReduction()),
}
"""What was measured to close most of the gap between a static and a fully taught model."""

PAPER: tuple[Criterion, ...] = (Novelty(), Ambiguity(newcomers=False), Instability())
"""The paper's three, with its thresholds."""


def read_criteria(criteria: "str | Criterion | Sequence[str | Criterion] | None", per: str) -> tuple[Criterion, ...]:
    """Criteria by name, as objects, or the measured ones."""
    if criteria is None:
        return DEFAULTS[per]
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


def score_table(criteria: Sequence[Criterion], look: RowStatistics, n_labels: int) -> ScoreTable:
    """Scores of all criteria, checked: (n,) or (n, K) each."""
    shapes = [(look.n,) if criterion.whole else (look.n, n_labels) for criterion in criteria]
    return ScoreTable.of(
        [_checked(criterion, criterion.score(look), shape) for criterion, shape in zip(criteria, shapes, strict=True)]
    )


def _checked(criterion: Criterion, scores: object, shape: tuple[int, ...]) -> FloatArray:
    table = np.asarray(scores, np.float64)
    if table.shape != shape:
        raise DataError(f"criterion {criterion.name!r} gave scores of shape {table.shape}; expected {shape}")
    if not table.min() >= 0.0:  # nor NaN
        raise DataError(f"criterion {criterion.name!r} gave a score that is NaN or negative; scores are numbers >= 0")
    return table
