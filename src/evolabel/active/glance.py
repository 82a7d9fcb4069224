"""`Glance`: what the measured criteria say of a sample that comes alone, in one call of a kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evolabel.active.criteria import Ambiguity, Criterion, Leverage, SoftCount, VarianceReduction
from evolabel.active.version import Version
from evolabel.core.echo import Correction
from evolabel.core.rule_base import NO_ROWS, RuleBase
from evolabel.core.second_moments import NO_MOMENTS, SecondMoments
from evolabel.kernels import glance as kernels
from evolabel.kernels._compile import direct
from evolabel.kernels.state import FloatArray

KINDS: dict[type[Criterion], int] = {
    Ambiguity: kernels.AMBIGUITY,
    SoftCount: kernels.SOFT_COUNT,
    Leverage: kernels.LEVERAGE,
    VarianceReduction: kernels.VARIANCE_REDUCTION,
}
"""Criteria a kernel knows; what is derived from them may score otherwise."""

NO_WEIGHTS = np.empty((0, 0, 0))
UNMOVED = np.empty(0), NO_ROWS  # trust and shift

_glance: Any = direct(kernels.glance)


class Glance:
    """Outputs and scores of single rows. What does not change from row to row is laid out once for each model.

    Only for trained models, and for criteria that `can_judge_by` says yes to.
    """

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._by_label = {criterion.name: not criterion.whole for criterion in criteria}
        self._kinds = np.array([KINDS[type(criterion)] for criterion in criteria], np.int64)
        self._widths = np.array([getattr(criterion, "width", np.nan) for criterion in criteria], np.float64)
        self._informed = any(isinstance(criterion, Leverage | VarianceReduction) for criterion in criteria)
        self._doubts = any(isinstance(criterion, Ambiguity) and criterion.newcomers for criterion in criteria)
        self._known: tuple[Version, FloatArray | None] | None = None  # what the lay-out was made for
        self._lay_out: tuple[Any, ...] = ()
        self._columns = 0
        self._places: dict[str, int | slice] = {}

    @staticmethod
    def can_judge_by(criteria: Sequence[Criterion]) -> bool:
        """Does a kernel know all of them?"""
        return all(type(criterion) in KINDS for criterion in criteria)

    def judge(
        self,
        row: FloatArray,
        correction: Correction | None,
        doubts: FloatArray | None,
        version: Version,
        weights: FloatArray | None,
        moments: SecondMoments | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Outputs, (1, K), and the scores of all criteria side by side, (1, S), of a raw row, (1, p)."""
        known = self._known
        if known is None or known[1] is not weights or not known[0].same(version):
            self._lay_out = self._laid_out(version, weights, moments)
            self._known = version, weights
            self._find_places(version.n_labels)
        outputs, scores = np.empty((1, version.n_labels)), np.empty((1, self._columns))
        moved = UNMOVED if correction is None else (correction.trust, correction.shift)
        doubted = NO_ROWS if doubts is None or not self._doubts else doubts
        _glance(row, *moved, doubted, *self._lay_out, outputs, scores)
        return outputs, scores

    def by_name(self, scores: FloatArray) -> dict[str, FloatArray]:
        """The scores of the row that was judged last, criterion by criterion: one, or one per label."""
        row = scores[0]
        return {name: row[place] for name, place in self._places.items()}

    def _find_places(self, n_labels: int) -> None:
        """Columns of each criterion in the scores of a row."""
        self._columns, self._places = 0, {}
        for name, by_label in self._by_label.items():
            start = self._columns
            self._columns += n_labels if by_label else 1
            self._places[name] = slice(start, self._columns) if by_label else start

    def _laid_out(self, version: Version, weights: FloatArray | None, moments: SecondMoments | None) -> tuple[Any, ...]:
        """Arguments of the kernel between the row and what it fills in."""
        model = version.model
        assert model.scaler is not None
        rules = model.trained()
        W = NO_WEIGHTS if weights is None else weights
        M = NO_MOMENTS if moments is None else moments.of(rules)
        return (
            *model.scaler.knots,
            rules.parcel(),
            W,
            W.reshape(len(W), W[:1].size),
            *M,
            M.total if len(M.M) else 1.0,
            self._informed,
            self._kinds,
            self._widths,
            *_scratch(rules),
        )


def _scratch(rules: RuleBase) -> tuple[FloatArray, ...]:
    """Z, places, V, mean_W and flat_V of the kernel."""
    p, K, q = rules.n_features, rules.n_labels, rules.n_features + 1
    mean_W = np.empty((1, K, q))
    return np.empty((1, p)), np.empty((5, 1, rules.n_rules)), np.empty((1, q)), mean_W, mean_W.reshape(1, -1)
