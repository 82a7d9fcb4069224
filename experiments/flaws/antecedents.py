"""Flaws in spreads, distances and memberships of the rules, eqs. (3) and (5)."""

from typing import Any

import numpy as np
from callable_kernels import callable_kernel
from scipy.special import chdtrc

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.stages.rules.loops import memberships as membership_kernels
from evolabel.stages.rules.loops.paper import rotated
from evolabel.stages.rules.settings import kernel_settings
from evolabel.typing import FloatArray
from flaws.finding import Finding
from flaws.single_rule import fac_of_tail, linear_labels

distances, memberships = map(callable_kernel, (membership_kernels.distances, membership_kernels.memberships))
substitute = callable_kernel(rotated.substitute)


def prior_fading() -> Finding:
    """Rules made of one Gaussian cloud in 16 dimensions, and distances inside a cloud of 72."""
    X = np.random.default_rng(10).normal(size=(500, 16))
    Y = (np.arange(500) % 2).astype(np.float64)[:, None]
    starts: dict[str, dict[str, Any]] = {
        "literal": {"prior_count": 1, "prior_variance": 0.01},
        "wide": {"prior_count": 1, "prior_variance": 1.0},
        "counted": {"prior_count": "2p", "prior_variance": 1.0},
    }
    rules = {}
    for name, start in starts.items():
        clf = EvolvingFuzzyClassifier(
            scaling="none",
            covariance="full",
            novelty="paper",
            vigilance=fac_of_tail(16, 0.01),
            max_rules=500,
            follow_drift=False,
            **start,
        )
        rules[name] = clf.fit(X, Y).n_rules_
    literal, counted = (_distance_inside(*start) for start in ((1.0, 0.01), (144.0, 1.0)))
    return Finding(
        {**rules, "literal_distance": literal, "counted_distance": counted},
        f"500 samples of one cloud in 16 dimensions, radius at the 99 % quantile: {rules['literal']} rules with "
        f"`prior_count=1, prior_variance=0.01`, {rules['wide']} with `prior_count=1, prior_variance=1`, "
        f'{rules["counted"]} with `prior_count="2p"`. 72 dimensions, 30 samples in the rule: a fresh sample of the '
        f"same cloud lies {literal:.0f} standard deviations away with the first and {counted:.1f} with the last; "
        f"sqrt(72) = {72**0.5:.1f} would be right.",
    )


def _distance_inside(count: float, variance: float, p: int = 72, k: int = 30) -> float:
    """Median distance of fresh samples to a rule of k samples of the same cloud."""
    rng = np.random.default_rng(11)
    X, fresh = rng.normal(size=(k, p)), rng.normal(size=(200, p))
    e = X - X.mean(axis=0)
    S = (count * variance * np.eye(p) + e.T @ e) / (count + k - 1.0)
    gaps = fresh - X.mean(axis=0)
    return float(np.median(np.sqrt(np.sum(gaps * np.linalg.solve(S, gaps.T).T, axis=1))))


def radius() -> Finding:
    """Share of a mature rule's own samples outside eq. (5) with fac = 0.4, and outside a quantile of chi²."""
    rows: list[str] = []
    numbers: dict[str, float] = {}
    for p in (16, 72, 120, 260):
        printed, tail = (_squared_radius(fac, p) for fac in (0.4, fac_of_tail(p, 1e-3)))
        outside, steady = float(chdtrc(p, printed)), float(chdtrc(p, tail))
        fac = fac_of_tail(p, 0.01)
        numbers |= {f"paper_{p}": outside, f"chi2_{p}": steady, f"fac_{p}": fac}
        rows.append(f"| {p} | {outside:.3f} | {steady:.3f} | {fac:.2f} |")
    head = "| p | outside, fac = 0.4 | outside, chi² quantile | fac that leaves 1 % outside |\n|---|---|---|---|"
    return Finding(numbers, "\n".join([head, *rows]))


def _squared_radius(fac: float, p: int) -> float:
    options = Options(novelty="paper", vigilance=fac, follow_drift=False)
    return kernel_settings(options, p, 1, np.ones(p), 1.0).radius * p


def product_space() -> Finding:
    """Precision of the features: the block of the joint inverse against the inverse of the block."""
    S = np.array([[1.0, 0.9], [0.9, 1.0]])
    block, marginal = float(np.linalg.inv(S)[0, 0]), float(1.0 / S[0, 0])
    X, Y = linear_labels(2000, 10, 6, seed=12)
    joint = np.column_stack([X, Y])
    e = joint - joint.mean(axis=0)
    C = e.T @ e / len(e)
    F, v = np.linalg.cholesky(C), np.empty(16)
    own = float(np.mean([substitute(F, row, 0, 10, 0.0, np.inf, v) for row in e[:200]]))
    wrong = float(np.mean(np.einsum("ij,jk,ik->i", e[:200, :10], np.linalg.inv(C)[:10, :10], e[:200, :10])))
    return Finding(
        {"block": block, "marginal": marginal, "wrong": wrong, "own": own},
        f"One feature and one label with correlation 0.9: the feature's precision is {marginal:.2f}, the block says "
        f"{block:.2f}. 10 features, 6 labels: the mean squared distance of a rule's own samples is {own:.1f} by the "
        f"factor's leading block (10 would be perfect) and {wrong:.1f} by the block of the inverse.",
    )


def crowded_memberships() -> Finding:
    """Underflow of eq. (3) in plain arithmetic, and the effective number of rules, by temperature."""
    rows: list[str] = []
    numbers: dict[str, float] = {}
    for p in (16, 72, 260):
        rng = np.random.default_rng(13)
        centres, Z = 0.3 * rng.normal(size=(11, p)), rng.normal(size=(200, p))
        D, far = np.empty((200, 11)), np.empty((200, 11))
        for i, z in enumerate(Z):
            distances(z, 10, centres, np.ones((11, p)), np.ones(p), D[i])
            distances(z, 10, centres, np.full((11, p), 100.0), np.ones(p), far[i])
        vanished = float((np.exp(-0.5 * p * far[:, 1:]).sum(axis=1) == 0.0).mean())
        counts = [_effective_rules(D, T / p) for T in (1.0, np.sqrt(p), 0.1 * p)]
        numbers |= {f"vanished_{p}": vanished, f"one_{p}": counts[0], f"sqrt_{p}": counts[1], f"tenth_{p}": counts[2]}
        numbers[f"sum_{p}"] = _membership_sum(far, 1.0 / p)
        rows.append(f"| {p} | {100 * vanished:.0f} % | " + " | ".join(f"{n:.1f}" for n in counts) + " |")
    head = '| p | all memberships 0 | effective rules, T = 1 | `"sqrt"` | `"0.1p"` |\n|---|---|---|---|---|'
    return Finding(numbers, "\n".join([head, *rows]))


def _shares(D: FloatArray, tau: float) -> FloatArray:
    psi, active = np.empty(11), np.empty(11, np.int64)
    return psi[: memberships(D, 10, tau, 0.0, psi, active)]


def _effective_rules(D: FloatArray, tau: float) -> float:
    """Mean over samples of 1 / sum psi^2."""
    return float(np.mean([1.0 / np.sum(_shares(row, tau) ** 2) for row in D]))


def _membership_sum(D: FloatArray, tau: float) -> float:
    """The least sum of memberships over all samples."""
    return float(min(_shares(row, tau).sum() for row in D))
