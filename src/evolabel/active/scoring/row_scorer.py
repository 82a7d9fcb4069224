"""`RowScorer`: outputs of few rows and their scores by the built-in criteria, in one call of a kernel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evolabel.active.scoring.context import Expected
from evolabel.active.scoring.criteria import Ambiguity, Criterion, Leverage, SoftCount, VarianceReduction
from evolabel.active.scoring.model_version import Version
from evolabel.active.scoring.score_table import ScoreTable, places_of
from evolabel.core.rules.weights import MANY_ROWS, NO_MOMENTS, NO_WEIGHTS, SOME_ROWS
from evolabel.core.second_moments import SecondMoments
from evolabel.core.sizes import check_rows
from evolabel.kernels import scores as kernels
from evolabel.kernels.compile import direct
from evolabel.typing import FloatArray, IntArray

KINDS: dict[type[Criterion], int] = {
    Ambiguity: kernels.AMBIGUITY,
    SoftCount: kernels.SOFT_COUNT,
    Leverage: kernels.LEVERAGE,
    VarianceReduction: kernels.VARIANCE_REDUCTION,
}
"""Criteria that the kernel computes; classes derived from them may score differently."""

NO_ROWS = np.empty((0, 0))
NOT_CORRECTED = np.empty(0), NO_ROWS  # scale and offset

_score_rows: Any = direct(kernels.score_rows)


class Kept(NamedTuple):
    """What does not change from row to row: for which model, weights and number of rows, and what follows from them."""

    version: Version
    weights: FloatArray | None
    n: int
    arguments: tuple[Any, ...]
    """Arguments of the kernel between the corrections and the results."""
    sizes: IntArray
    places: list[int | slice]
    width: int


class RowScorer:
    """Scores few rows by `criteria`, with the bits of `RowStatistics`, at a fraction of its price.

    The arguments of the kernel that do not change from row to row are kept for as long as the model is the same.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._by_label = [not criterion.whole for criterion in criteria]
        self._kinds = np.array([KINDS.get(type(criterion), -1) for criterion in criteria], np.int64)
        self._widths = np.array([getattr(criterion, "width", np.nan) for criterion in criteria], np.float64)
        self._built_in = bool((self._kinds >= 0).all())
        self._uses_doubts = any(isinstance(criterion, Ambiguity) and criterion.newcomers for criterion in criteria)
        self._kept: Kept | None = None

    def suits(self, rows: int, version: Version, weights: FloatArray | None) -> bool:
        """Whether the kernel can score so many rows of this model: built-in criteria, a trained model, few rows."""
        few = rows < (MANY_ROWS if weights is None else SOME_ROWS)
        return few and self._built_in and version.model.warm_up is None

    def score(
        self,
        rows: FloatArray,
        expected: Expected,
        version: Version,
        weights: FloatArray | None,
        moments: SecondMoments | None,
    ) -> tuple[FloatArray, ScoreTable]:
        """Outputs of raw rows, (n, K), and their scores by each criterion."""
        kept, n = self._kept, len(rows)
        check_rows(rows, version.model.n_features)
        if kept is None or kept.weights is not weights or kept.n != n or not kept.version.same(version):
            sizes = np.where(self._by_label, version.n_labels, 1)
            constant = self._constant_arguments(n, version, weights, moments)
            kept = Kept(version, weights, n, constant, sizes, places_of(sizes, self._by_label), int(sizes.sum()))
            self._kept = kept  # one step: Ctrl-C leaves the old one or the new one
        outputs, table = np.empty((n, version.n_labels)), np.empty((n, kept.width))
        correction, doubts = expected.correction, expected.doubts
        correct = NOT_CORRECTED if correction is None else (correction.scale, correction.offset)
        _score_rows(
            rows,
            *correct,
            NO_ROWS if doubts is None or not self._uses_doubts else doubts,
            *kept.arguments,
            outputs,
            table,
        )
        return outputs, ScoreTable(table, kept.sizes, kept.places)

    def _constant_arguments(
        self, n: int, version: Version, weights: FloatArray | None, moments: SecondMoments | None
    ) -> tuple[Any, ...]:
        """Arguments of the kernel between the corrections and the results."""
        model = version.model
        assert model.scaler is not None
        rules = model.trained()
        M = NO_MOMENTS if moments is None else moments.of(rules)
        scratch = np.empty((5, n, rules.n_rules)), np.empty((n, rules.n_features)), np.empty((n, rules.n_features + 1))
        return (
            model.scaler.knots,
            rules.parcel(),
            NO_WEIGHTS if weights is None else weights,
            *M,
            M.total if len(M.M) else 1.0,
            self._kinds,
            self._widths,
            *scratch,
        )
