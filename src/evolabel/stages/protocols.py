"""Interfaces: `Member` and `Refiner` of a model, and `Model`, which is all that the packages above `core` may use.

An output is made in stages: scaling, memberships of the rules, members, refiners, decision thresholds. No stage learns
a row before all stages have answered it.
"""

from typing import TYPE_CHECKING, Any, Protocol

from evolabel.core.options import Options
from evolabel.core.rows import Batch, Memberships
from evolabel.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from collections import deque

    from evolabel.model.start.cold_start import WarmUp
    from evolabel.stages.calibration.stage import Calibration
    from evolabel.stages.decisions.stage import Decisions
    from evolabel.stages.rules.arrays import Settings
    from evolabel.stages.rules.stage import RuleBase
    from evolabel.stages.scaling.stage import Scaler
    from evolabel.stages.threshold_rules.stage import ThresholdRules
    from evolabel.stages.written_rules.edits.undo import Change
    from evolabel.stages.written_rules.stage import WrittenRules


class Member(Protocol):
    """Predicts the labels of rows from their features and memberships."""

    def answer(self, batch: Batch, memberships: Memberships) -> FloatArray:
        """Return the outputs for the rows of `batch`, (n, K), given their `memberships`; changes nothing."""

    def learn(self, batch: Batch, memberships: Memberships) -> None:
        """Learn the rows of `batch`, given their `memberships`."""


class Refiner(Protocol):
    """Changes the outputs of the members."""

    def answer(self, batch: Batch, f: FloatArray) -> FloatArray:
        """Return the outputs `f` of the rows of `batch`, (n, K), refined, or `f` itself; changes nothing."""

    def learn(self, batch: Batch, f: FloatArray) -> None:
        """Learn the rows of `batch`, whose outputs before were `f`."""


class Watcher(Refiner, Protocol):
    """A refiner that a model trains on its initial batch and does not use itself."""

    def fit(self, batch: Batch, f: FloatArray, *, in_order: bool = True) -> None:
        """Learn the initial `batch` with the outputs `f` before each row; `in_order`: rows follow each other."""

    def empty_like(self) -> "Watcher":
        """Return one for the same labels that has learned nothing."""

    def merge(self, other: Any, n_labels: int, columns: list[int]) -> None:
        """Add what `other` has learned; `columns` has the places of its labels among `n_labels`."""


class Model(Protocol):
    """A trained model, or one in its cold start (`warm_up`), as the packages above `core` read and train it."""

    options: Options
    n_features: int
    n_labels: int
    n_answers: FloatArray
    ranges: FloatArray
    ridge: float
    local_ridge: float
    scaler: "Scaler | None"
    rules: "RuleBase | None"
    thresholds: "ThresholdRules | None"
    written: "WrittenRules"
    warm_up: "WarmUp | None"
    decisions: "Decisions | None"
    calibration: "Calibration"
    watchers: tuple[Watcher, ...]
    changes: "deque[Change]"

    @property
    def n_seen(self) -> int:
        """Samples seen so far, the initial batch included."""

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has changed its meaning, and has not recovered."""

    def trained(self) -> "RuleBase":
        """Return the rule base of a model whose cold start is over."""

    def settings_for(self, scaler: "Scaler") -> "Settings":
        """Return the settings of the kernels for the features of `scaler`."""

    def new_rules(self, scaler: "Scaler", settings: "Settings") -> "RuleBase":
        """Return a rule base without rules for rows that `scaler` scales."""

    def scale(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X`."""

    def standardise(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X` in units of their standard deviations."""

    def outputs(self, X: FloatArray) -> FloatArray:
        """Return the outputs of eq. (2) for the raw rows `X`, (n, K)."""

    def base_rates(self) -> FloatArray:
        """Return the share of each label among the samples so far, (K,)."""

    def calibrator(self) -> "Calibration":
        """Return the calibration of the outputs."""

    def fit(self, batch: Batch) -> None:
        """Learn the initial `batch`; what was learned before is dropped."""

    def learn(self, batch: Batch) -> None:
        """Learn the rows of `batch` one after the other."""

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that are not learned."""

    def grow_labels(self, n_labels: int, *, absent: bool = False) -> None:
        """Add labels up to `n_labels`; `absent`: the samples so far are known not to carry them."""
