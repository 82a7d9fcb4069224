"""`RowScorer`: outputs of few rows and their scores by the built-in criteria, in one call of a kernel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evolabel.active.loops import scores as kernels
from evolabel.active.scoring.criteria import Ambiguity, Criterion, Leverage, SoftCount, VarianceReduction
from evolabel.active.scoring.model_version import ModelVersion
from evolabel.active.scoring.row_context import RowContext
from evolabel.active.scoring.score_table import ScoreTable, columns_of
from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.core.sizes import check_rows
from evolabel.engine.compile import direct_by_profile
from evolabel.stages.rules.weights import MANY_ROWS, NO_MOMENTS, NO_WEIGHTS, SOME_ROWS
from evolabel.typing import FloatArray, IntArray

_KINDS: dict[type[Criterion], int] = {  # a class derived from one of these may score differently
    Ambiguity: kernels.AMBIGUITY,
    SoftCount: kernels.SOFT_COUNT,
    Leverage: kernels.LEVERAGE,
    VarianceReduction: kernels.VARIANCE_REDUCTION,
}
_NO_ROWS = np.empty((0, 0))
_NOT_CORRECTED = np.empty(0), _NO_ROWS  # scale and offset

_score_rows: Any = direct_by_profile(kernels.score_rows)


class _Layout(NamedTuple):
    """Where the scores of each criterion stand in a table, for one number of labels."""

    n_labels: int
    sizes: IntArray
    columns: list[int | slice]
    width: int


class _Arguments(NamedTuple):
    """Arguments of the kernel that depend on the model, the weights and the number of rows only."""

    version: ModelVersion
    weights: FloatArray | None
    n: int
    constant: tuple[Any, ...]
    """Arguments between the corrections and the results."""
    layout: _Layout


class RowScorer:
    """Scores few rows by built-in `criteria`, with the bits of `RowStatistics` at a fraction of its time.

    Parameters
    ----------
    criteria : sequence of Criterion
        Criteria of the learner.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._by_label = [not criterion.whole for criterion in criteria]
        self._kinds = np.array([_KINDS.get(type(criterion), -1) for criterion in criteria], np.int64)
        self._widths = np.array([getattr(criterion, "width", np.nan) for criterion in criteria], np.float64)
        self._built_in = bool((self._kinds >= 0).all())
        self._explores = any(isinstance(criterion, Ambiguity) and criterion.new_labels for criterion in criteria)
        self._arguments: _Arguments | None = None

    def can_score(self, rows: int, version: ModelVersion, weights: FloatArray | None) -> bool:
        """Whether the kernel scores this number of `rows` by `version`: few rows, built-in criteria, a trained model.

        `weights` W of the rules, if they are given, lower the number of rows.
        """
        few = rows < (MANY_ROWS if weights is None else SOME_ROWS)
        model = version.model
        if not (few and self._built_in and model.warm_up is None):
            return False
        return not len(model.written)

    def score(
        self,
        rows: FloatArray,
        context: RowContext,
        version: ModelVersion,
        weights: FloatArray | None,
        moments: SecondMoments | None,
    ) -> tuple[FloatArray, ScoreTable]:
        """Outputs of raw `rows`, (n, K), and their scores by each criterion.

        `context` of the rows, `version` of the model, its `weights` W if they are computed already, and second
        `moments` if a criterion needs them.
        """
        kept, n = self._arguments, len(rows)
        check_rows(rows, version.model.n_features)
        if kept is None or kept.weights is not weights or kept.n != n or not kept.version.same(version):
            constant = self._constant_arguments(n, version, weights, moments)
            layout = kept.layout if kept is not None else None
            if layout is None or layout.n_labels != version.n_labels:
                layout = self._new_layout(version.n_labels)
            kept = _Arguments(version, weights, n, constant, layout)
            self._arguments = kept  # in one step, so that Ctrl-C leaves the old ones or the new ones
        outputs, table = np.empty((n, version.n_labels)), np.empty((n, kept.layout.width))
        correction, exploration = context.correction, context.exploration
        correct = _NOT_CORRECTED if correction is None else (correction.scale, correction.offset)
        explored = _NO_ROWS if exploration is None or not self._explores else exploration
        _score_rows(*kept.constant, rows, correct, explored, outputs, table)
        return outputs, ScoreTable(table, kept.layout.sizes, kept.layout.columns)

    def _new_layout(self, n_labels: int) -> _Layout:
        sizes = np.where(self._by_label, n_labels, 1)
        return _Layout(n_labels, sizes, columns_of(sizes, self._by_label), int(sizes.sum()))

    def _constant_arguments(
        self, n: int, version: ModelVersion, weights: FloatArray | None, moments: SecondMoments | None
    ) -> tuple[Any, ...]:
        model = version.model
        assert model.scaler is not None
        rules = model.trained()
        M = NO_MOMENTS if moments is None else moments.of(rules)
        terms, p, K = np.empty((5, n, rules.n_rules)), rules.n_features, rules.n_labels
        scratch = terms, np.empty((n, p)), np.empty((n, p + 1)), np.empty((n, p)), np.empty((n, K))
        return (
            *rules.packed(),
            rules.packed_members,
            None if model.thresholds is None else model.thresholds.packed,
            model.scaler.knots,
            NO_WEIGHTS if weights is None else weights,
            M,
            M.total if len(M.M) else 1.0,
            self._kinds,
            self._widths,
            scratch,
        )
