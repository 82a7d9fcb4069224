"""`Model`, which is all that the packages above `model` may use of one, and `Watcher`."""

from typing import TYPE_CHECKING, Any, Protocol

from evolabel.core.options import Options
from evolabel.core.rows import Batch, Rows
from evolabel.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from collections import deque

    from evolabel.model.few_rows import FewAnswers
    from evolabel.model.start.cold_start import WarmUp
    from evolabel.stages.calibration.stage import Calibration
    from evolabel.stages.decisions.stage import Decisions
    from evolabel.stages.drift.stage import NoDrift
    from evolabel.stages.own.stage import CheckedStage
    from evolabel.stages.rules.arrays import Settings
    from evolabel.stages.rules.stage import RuleBase
    from evolabel.stages.rules.weights import Moments
    from evolabel.stages.scaling.stage import Scaler
    from evolabel.stages.threshold_rules.stage import ThresholdRules
    from evolabel.stages.written_rules.edits.journal import EditEntry
    from evolabel.stages.written_rules.stage import WrittenRules


class Watcher(Protocol):
    """Learns the errors of a model along its initial batch; its user goes on with a copy."""

    def answer(self, batch: Batch, f: FloatArray) -> FloatArray:
        """Return the outputs `f` of the rows of `batch`, (n, K), corrected, or `f` itself; changes nothing."""

    def learn(self, batch: Batch, f: FloatArray) -> None:
        """Learn the rows of `batch`, whose outputs before were `f`."""

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
    own_stages: "list[CheckedStage]"
    written: "WrittenRules"
    warm_up: "WarmUp | None"
    decisions: "Decisions | None"
    calibration: "Calibration"
    watchers: tuple[Watcher, ...]
    journal: "deque[EditEntry]"

    @property
    def drift(self) -> "NoDrift":
        """What follows drift beside the rules of a model whose cold start is over."""

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

    def start_rules(self, scaler: "Scaler", settings: "Settings") -> "RuleBase":
        """Set the rules to none, for rows that `scaler` scales, and return them."""

    def scale(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X`."""

    def standardise(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X` in units of their standard deviations."""

    def outputs(self, X: FloatArray) -> FloatArray:
        """Return the outputs of eq. (2) for the raw rows `X`, (n, K)."""

    def answer(self, rows: Rows) -> Rows:
        """Answer `rows` by all stages that make outputs, and return them."""

    def answer_few(self, X: FloatArray, W: FloatArray = ..., moments: "Moments" = ...) -> "FewAnswers":
        """Return the answers to few raw rows `X`, by the weights `W` unless they are empty, and their forms."""

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
