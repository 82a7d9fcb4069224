"""`Model`, which is all that the other packages and the modules of this one may use of a model."""

from typing import ClassVar, NamedTuple, Protocol

from evolabel.core.options import Options
from evolabel.core.rows import NOT_GIVEN, Batch, Rows
from evolabel.model.readers import Following
from evolabel.model.warm_up import WarmUp
from evolabel.stages.answered_forest.stage import AnsweredForest
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.stage import Decisions, PlainOutputs
from evolabel.stages.feedback.stage import ErrorFeedback
from evolabel.stages.first_tree.stage import FirstTree
from evolabel.stages.last_answers.stage import LastAnswers
from evolabel.stages.own.stage import CheckedStage
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.kind import RuleKind
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import Moments, VarianceTerms
from evolabel.stages.scaling.stage import Scaler
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.stages.written_rules.edits.journal import EditedModel
from evolabel.stages.written_rules.stage import WrittenRules
from evolabel.typing import BoolArray, FloatArray, IntArray


class FewAnswers(NamedTuple):
    """Outputs of raw rows, (n, K), memberships and distances, (n, C), and quadratic forms of rows and rules.

    `plain` are the outputs without the last answers, where the others follow them; else it is empty.
    """

    outputs: FloatArray
    psi: FloatArray
    D: FloatArray
    terms: VarianceTerms
    plain: FloatArray = NOT_GIVEN


class Model(EditedModel, Protocol):
    """A trained model, or one in its warm-up."""

    rule_kind: ClassVar[RuleKind]
    options: Options
    exclusive: bool
    n_answers: FloatArray
    ranges: FloatArray
    ridge: float
    local_ridge: float
    warm_up: WarmUp | None
    decisions: Decisions | None
    plain_outputs: PlainOutputs | None
    calibration: Calibration
    feedback: ErrorFeedback | None
    own_stages: list[CheckedStage]
    first_tree: FirstTree | None
    forest: AnsweredForest | None
    trees: ThresholdRules | None
    written: WrittenRules
    is_first: bool
    answers_are_few: bool
    memory: LastAnswers | None
    following: Following | None

    @property
    def users_stages(self) -> list[CheckedStage]:
        """Those of its own stages that a user wrote."""

    @property
    def n_seen(self) -> int:
        """Samples seen so far, the initial batch included."""

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has changed its meaning, and has not recovered."""

    def settings(self) -> Settings:
        """Return the settings of the loops."""

    def settings_for(self, scaler: Scaler) -> Settings:
        """Return the settings of the loops for the features of `scaler`."""

    def start_rules(self, scaler: Scaler, settings: Settings) -> RuleBase:
        """Set the rules to none, for rows that `scaler` scales, and return them."""

    def standardise(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X` in units of their standard deviations."""

    def outputs(self, X: FloatArray) -> FloatArray:
        """Return the outputs of eq. (2) for the raw rows `X`, (n, K)."""

    def answer(self, rows: Rows) -> Rows:
        """Answer `rows` by all stages that make outputs, and return them."""

    def answer_few(
        self, X: FloatArray, W: FloatArray = ..., moments: Moments | None = ..., follows: IntArray = ...
    ) -> FewAnswers:
        """Return the answers to few raw rows `X`, by the weights `W` unless they are empty, with forms by `moments`.

        Each row comes `follows` rows after the last learned one, where this is given.
        """

    def fill_few(self, X: FloatArray, W: FloatArray, moments: Moments, found: FewAnswers) -> FloatArray:
        """Fill `found` by one call of a compiled loop, as `pipeline.fill_few` does."""

    def base_rates(self) -> FloatArray:
        """Return the share of each label among the samples so far, (K,)."""

    def calibrator(self) -> Calibration:
        """Return the calibration of the outputs."""

    def fit(self, batch: Batch) -> None:
        """Learn the initial `batch`; what was learned before is dropped."""

    def learn(self, batch: Batch) -> None:
        """Learn the rows of `batch` one after the other."""

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that are not learned."""

    def grow_labels(self, n_labels: int, *, absent: bool = False) -> None:
        """Add labels up to `n_labels`; `absent`: the samples so far are known not to carry them."""
