"""Outputs for many (alpha, beta) from one structure pass, and the same by separate runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeGuard, cast

import numpy as np
from sklearn.base import clone

from evolabel.core import rows as core_batch
from evolabel.errors import DivergenceError
from evolabel.model.protocols import Model
from evolabel.model.start.batch_phase import fit_statistics
from evolabel.paper.classifier import PaperClassifier
from evolabel.paper.rules.kind import objective
from evolabel.paper.rules.proximal import Problem, minimise_all
from evolabel.paper.rules.stage import PaperRules
from evolabel.paper.tuning.batch import Tunable
from evolabel.stages.rules.stage import RuleBase
from evolabel.tuning.checkpoint import fingerprint
from evolabel.typing import FloatArray

Rows = tuple[FloatArray, FloatArray]
"""Samples (rows, features) and labels (rows, labels)."""

_CACHED_MINIMA = 32  # more than there are rules and folds between two structures with the same rules


def separate_answers(
    estimator: Tunable, points: Sequence[dict[str, Any]], batch: Rows, X: FloatArray, decided: bool = False
) -> FloatArray:
    """Fit `estimator` once per point; return its outputs (points, rows, labels), NaN where the weights diverged.

    `points` have values by parameter; `estimator` has all others. It is trained on the samples and labels of `batch`
    and answers the samples `X`, by 1 and 0 instead of outputs if `decided`: by its thresholds.
    """
    answers = []
    for point in points:
        try:
            trained = clone(estimator).set_params(**point).fit(*batch)
            outputs = trained.decision_function(X)
            answers.append(np.where(np.isfinite(outputs), trained.predict(X), np.nan) if decided else outputs)
        except DivergenceError:
            answers.append(np.full((len(X), batch[1].shape[1]), np.nan))
    return np.array(answers)


def shared_answers(
    estimator: Tunable, points: Sequence[dict[str, Any]], batch: Rows, X: FloatArray, decided: bool = False
) -> FloatArray:
    """Return what `separate_answers` returns, for points that differ in alpha and beta only, from one structure pass.

    Statistics do not depend on alpha and beta; the consequents of all `points` are minimised on them together. The
    arguments `estimator`, `batch`, `X` and `decided` are those of `separate_answers`.
    """
    if not can_share(estimator):
        return separate_answers(estimator, points, batch, X, decided)
    own = {"alpha": estimator.alpha, "beta": estimator.beta}
    alphas, betas = (np.array([float({**own, **point}[name]) for point in points]) for name in own)
    most = {"alpha": max(float(alphas.max()), 1.0), "beta": float(betas.max())}  # collects the statistics of all points
    model = clone(estimator).set_params(**most).inner.new_model(X.shape[1], batch[1].shape[1])
    rules, Z = cast(PaperRules, fit_statistics(model, core_batch.Batch(*batch))), model.scale(X)
    answers = np.zeros((len(points), len(X), batch[1].shape[1]))
    memberships = rules.memberships(Z)[0]
    for slot in range(1, rules.n_rules + 1):
        minima = _minima(_Descent(objective(rules, slot), np.array(rules.arrays.W[slot]), alphas, betas))
        regressors = _regressors(rules, Z, slot)
        answers += memberships[:, slot - 1, None] * (regressors @ minima.transpose(0, 2, 1))
    return np.array([_decided(model, outputs) for outputs in answers]) if decided else answers


def _decided(model: Model, outputs: FloatArray) -> FloatArray:
    """Return 1 where `outputs` are decided as on by `model`, else 0; NaN where they are not finite."""
    rule = model.decisions
    plain = outputs >= model.options.threshold
    return np.where(np.isfinite(outputs), plain if rule is None else rule.decide(outputs, model.calibration), np.nan)


@dataclass(frozen=True, eq=False)
class _Descent:
    """All inputs of the minimisation of one rule, as a cache key: two are equal if all their numbers are equal."""

    problem: Problem
    start: FloatArray
    alphas: FloatArray
    betas: FloatArray

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the statistics, the starting weights and the grid: equal runs have equal ones."""
        p = self.problem
        return fingerprint(p.H, p.G, p.penalty, p.anchor, p.B, self.start, self.alphas, self.betas)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descent) and self.digest == other.digest


@lru_cache(_CACHED_MINIMA)
def _minima(descent: _Descent) -> FloatArray:
    """Return the minima for all pairs. Another vigilance often gives the same rules, so results are cached."""
    return minimise_all(descent.problem, descent.start, descent.alphas, descent.betas)


def can_share(estimator: Tunable) -> TypeGuard[PaperClassifier]:
    """Return whether all (alpha, beta) of `estimator` can use one structure pass; else every point is fitted alone.

    This needs the rules of the paper in a single rule base, and a convex objective that is minimised by safe steps.
    """
    if not isinstance(estimator, PaperClassifier):
        return False
    if isinstance(estimator.class_weight, dict) or estimator.optimise == "subset_accuracy":
        return False
    return bool(estimator.prox_steps) and estimator.coupling != "paper" and estimator.lipschitz != "paper"


def _regressors(rules: RuleBase, Z: FloatArray, slot: int) -> FloatArray:
    """Return the regressors (z, 1) of the rows `Z` for the rule in `slot`; missing features are filled in by it."""
    if not np.isnan(Z).any():
        return np.hstack([Z, np.ones((len(Z), 1))])
    return np.array([rules.regressor(z, slot) for z in Z])
