"""Answers for many (alpha, beta) from one structure pass, and the same the long way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from evolabel.core import batch as core_batch
from evolabel.core.initial.batch_phase import fit_statistics
from evolabel.core.rules.proximal import Problem, minimise_all
from evolabel.core.rules.rule_base import RuleBase
from evolabel.errors import DivergenceError
from evolabel.evaluate.learner import ON
from evolabel.tuning.checkpoint import fingerprint
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier
    from evolabel.tuning.batch import Tunable

E = TypeVar("E", bound="Tunable")
Batch = tuple[FloatArray, FloatArray]

KEPT = 32  # descents: more than there are rules and folds between two structures that agree


def separate_answers(
    estimator: "Tunable", points: Sequence[dict[str, Any]], batch: Batch, X: FloatArray, decided: bool = False
) -> FloatArray:
    """Fit once per point; outputs (points, rows, labels), NaN where the consequents blew up.

    `decided`: instead of outputs 1 where they reach the thresholds of the trained estimator, else 0.
    """
    answers = []
    for point in points:
        try:
            trained = _fresh(estimator, point).fit(*batch)
            outputs = trained.decision_function(X)
            answers.append(_decisions(outputs, getattr(trained, "thresholds_", ON)) if decided else outputs)
        except DivergenceError:
            answers.append(np.full((len(X), batch[1].shape[1]), np.nan))
    return np.array(answers)


def shared_answers(
    estimator: "Tunable", points: Sequence[dict[str, Any]], batch: Batch, X: FloatArray, decided: bool = False
) -> FloatArray:
    """The same for points that differ in alpha and beta only, from one structure pass.

    Statistics do not depend on alpha and beta; the consequents of all points are minimised on them together.
    """
    if not can_share(estimator):
        return separate_answers(estimator, points, batch, X, decided)
    alphas, betas = (np.array([float({**_own(estimator), **p}[name]) for p in points]) for name in ("alpha", "beta"))
    model = _fresh(estimator, _most_demanding(alphas, betas))._new_model(X.shape[1], batch[1].shape[1])
    rules, Z = fit_statistics(model, core_batch.Batch(*batch)), model.scale(X)
    answers = np.zeros((len(points), len(X), batch[1].shape[1]))
    memberships = rules.memberships(Z)[0]
    for slot in range(1, rules.n_rules + 1):
        minima = _minima(_Descent(rules.problem(slot), np.array(rules.arrays.W[slot]), alphas, betas))
        regressors = _regressors(rules, Z, slot)
        answers += memberships[:, slot - 1, None] * (regressors @ minima.transpose(0, 2, 1))
    limits = estimator.threshold if model.counts is None else model.counts.thresholds()
    return _decisions(answers, limits) if decided else answers


def _decisions(outputs: FloatArray, limits: float | FloatArray) -> FloatArray:
    """1 where outputs reach the limits, else 0; NaN where there are none."""
    return np.where(np.isfinite(outputs), outputs >= limits, np.nan)


@dataclass(frozen=True, eq=False)
class _Descent:
    """What the minima of a rule follow from, as a key: two of them are equal if all their numbers are."""

    problem: Problem
    start: FloatArray
    alphas: FloatArray
    betas: FloatArray

    @cached_property
    def _digest(self) -> str:
        p = self.problem
        return fingerprint(p.H, p.G, p.penalty, p.anchor, p.B, self.start, self.alphas, self.betas)

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descent) and self._digest == other._digest


@lru_cache(KEPT)
def _minima(descent: _Descent) -> FloatArray:
    """Minima for all pairs. Another vigilance often leaves the same rules: with few samples, or all in one."""
    return minimise_all(descent.problem, descent.start, descent.alphas, descent.betas)


def can_share(estimator: "Tunable") -> TypeGuard["EvolvingFuzzyClassifier"]:
    """Is it one rule base, and are the minima those of a convex objective, reached by safe steps?

    Else every point goes its own way.
    """
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

    if not isinstance(estimator, EvolvingFuzzyClassifier):
        return False
    return bool(estimator.prox_steps) and estimator.coupling != "paper" and estimator.lipschitz != "paper"


def _own(estimator: "EvolvingFuzzyClassifier") -> dict[str, float]:
    return {"alpha": estimator.alpha, "beta": estimator.beta}


def _most_demanding(alphas: FloatArray, betas: FloatArray) -> dict[str, float]:
    """Parameters with which all statistics are gathered that any point needs: some L1, and coupling if any has it."""
    return {"alpha": max(float(alphas.max()), 1.0), "beta": float(betas.max())}


def _fresh(estimator: E, changes: dict[str, Any]) -> E:
    from sklearn.base import clone

    fresh: E = clone(estimator).set_params(**changes)
    return fresh


def _regressors(rules: RuleBase, Z: FloatArray, slot: int) -> FloatArray:
    """Rows (z, 1) as the rule sees them."""
    if not np.isnan(Z).any():
        return np.hstack([Z, np.ones((len(Z), 1))])
    return np.array([rules.regressor(z, slot) for z in Z])
