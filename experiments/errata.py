"""One small number for every place where the printed method cannot be right.

    python experiments/errata.py        # a table, experiments/results/errata.json, docs/where-we-leave-the-paper.md

The page holds the prose; this script writes what stands between `<!-- errata:name -->` and `<!-- end -->`. Equation
numbers are the paper's. Everything is seeded: two runs on one machine agree, two machines agree to the digits shown.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from scipy.linalg import null_space
from scipy.special import chdtrc, chdtri

from evolabel import EvolvingFuzzyClassifier
from evolabel.core import lifecycle, merging
from evolabel.core.options import Options
from evolabel.core.proximal import Problem, largest_eigenvalue, minimise, soft_threshold
from evolabel.core.ridge import MOST_CONDITION
from evolabel.core.rule_base import RuleBase
from evolabel.core.settings import kernel_settings
from evolabel.errors import DivergenceError
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.kernels.cholesky import substitute
from evolabel.kernels.coupling import PAPER, SHIFTED, SIGNED_LAPLACIAN, add_label_moments, coupling
from evolabel.kernels.iteration import prox_step, rls_step
from evolabel.kernels.memberships import distances, memberships
from evolabel.kernels.moments import absorb
from evolabel.kernels.state import FloatArray

HERE = Path(__file__).parent
RESULT = HERE / "results" / "errata.json"
PAGE = HERE.parent / "docs" / "where-we-leave-the-paper.md"


@dataclass(frozen=True)
class Finding:
    """What an experiment measured, and how the page says it."""

    numbers: dict[str, float]
    text: str

    def block(self) -> str:
        """The text for the page: a wrapped paragraph, or a table as it is."""
        return (
            self.text
            if "\n" in self.text
            else "\n".join(wrap(f"**Measured:** {self.text}", 120, break_long_words=False, break_on_hyphens=False))
        )


# ---------------------------------------------------------------------- data and small helpers


def linear_labels(n: int, p: int, K: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Normal features and labels that follow noisy linear functions of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ rng.normal(size=(p, K)) + rng.normal(size=(n, K)) > 0.0).astype(np.float64)


def with_ones(X: FloatArray) -> FloatArray:
    return np.column_stack([X, np.ones(len(X))])


def label_coupling(Y: FloatArray, kind: int) -> FloatArray:
    """The coupling matrix evolabel makes of these labels, sample after sample."""
    K = Y.shape[1]
    mass, ybar, Q, B = np.zeros(2), np.zeros(K), np.zeros((K, K)), np.zeros((K, K))
    for y in Y:
        add_label_moments(y, 1.0, mass, ybar, Q)
    coupling(Q, mass, kind, B)
    return B


def problem_of(X: FloatArray, Y: FloatArray, kind: int, alpha: float, beta: float) -> Problem:
    """The objective of a single rule that owns all samples, without a ridge."""
    R = with_ones(X)
    q, K = R.shape[1], Y.shape[1]
    return Problem(R.T @ R, Y.T @ R, np.zeros(q), np.zeros((K, q)), label_coupling(Y, kind), alpha, beta)


def iterate(problem: Problem, length: float, steps: int) -> list[float]:
    """Objective along eq. (16) with steps of 1 / length, from W = 0."""
    W = np.zeros_like(problem.G)
    values = [problem.value(W)]
    for _ in range(steps):
        W = soft_threshold(W - problem.gradient(W) / length, problem.alpha / length)
        values.append(problem.value(W))
    return values


def diverges_at(classifier: EvolvingFuzzyClassifier, X: FloatArray, Y: FloatArray, batch: int) -> int:
    """The sample a DivergenceError names (the last of the batch if that blew up); 0 if the stream is learned."""
    try:
        classifier.fit(X[:batch], Y[:batch]).partial_fit(X[batch:], Y[batch:])
    except DivergenceError as error:
        named = re.search(r"sample (\d+)", str(error))
        assert named is not None
        return int(named[1])
    return 0


# ---------------------------------------------------------------------- consequents: objective and iteration


def step_length() -> Finding:
    """Eq. (14) against the spectral norm of the Hessian; a batch iteration and a stream with either."""
    X, Y = linear_labels(400, 5, 6, seed=0)
    problem = problem_of(X[:200], Y[:200], SIGNED_LAPLACIAN, alpha=0.1, beta=1.0)
    H, B = problem.H, problem.B
    norm = largest_eigenvalue(np.kron(np.eye(len(B)), H) + problem.beta * np.kron(B, np.eye(len(H))))
    printed, safe = float(np.sqrt(largest_eigenvalue(H) + largest_eigenvalue(problem.beta * B))), problem.lipschitz()
    literal, sound = iterate(problem, printed, 12), iterate(problem, safe, 12)
    at = diverges_at(EvolvingFuzzyClassifier.paper(lipschitz="paper"), X, Y, 40)
    mended = diverges_at(EvolvingFuzzyClassifier.paper(), X, Y, 40)
    numbers = {
        "printed": printed, "safe": safe, "hessian": norm, "start": literal[0], "first": literal[1],
        "literal": literal[-1], "sound": sound[-1], "at": at, "mended": mended,
    }  # fmt: skip
    return Finding(
        numbers,
        f"200 samples, 5 features, 6 labels: eq. (14) gives {printed:.1f}, the Hessian's norm is {norm:.1f}, "
        f"`Problem.lipschitz()` {safe:.1f}. Objective after 0, 1 and 12 steps: {literal[0]:.1f}, {literal[1]:.1f}, "
        f"{literal[-1]:.1e} as printed; {sound[0]:.1f}, {sound[1]:.1f}, {sound[-1]:.1f} with the right step. "
        f'A stream with `lipschitz="paper"` stops at sample {at}, the batch phase; with `"safe"` it runs through.',
    )


def indefinite_coupling() -> Finding:
    """A of eq. (8): eigenvalues, the objective along a direction the data do not see, and a stream."""
    _, labels = linear_labels(200, 5, 6, seed=0)
    printed = np.linalg.eigvalsh(label_coupling(labels, PAPER))
    kept = [float(np.linalg.eigvalsh(label_coupling(labels, kind))[0]) for kind in (SHIFTED, SIGNED_LAPLACIAN)]
    X, _ = linear_labels(20, 72, 2, seed=1)
    Y = np.column_stack([np.arange(20) % 2, np.arange(20) // 2 % 2]).astype(np.float64)  # correlation 0
    v = null_space(with_ones(X))[:, 0]
    far = np.array([1e3, 1e5])[:, None, None] * np.stack([v, -v])
    fall = [problem_of(X, Y, PAPER, 0.1, 1.0).value(W) for W in far]
    rise = [problem_of(X, Y, SHIFTED, 0.1, 1.0).value(W) for W in far]
    at, mended = (diverges_at(_two_clouds_model(kind), *_two_clouds(), 400) for kind in ("paper", "shifted"))
    numbers = {
        "lowest": float(printed[0]), "highest": float(printed[-1]), "shifted": kept[0], "laplacian": kept[1],
        "fall_near": fall[0], "fall_far": fall[1], "rise_far": rise[1], "at": at, "mended": mended,
    }  # fmt: skip
    return Finding(
        numbers,
        f"Six labels: eigenvalues of A from {printed[0]:.2f} to {printed[-1]:.2f}; the smallest of `shifted` is "
        f"{kept[0]:.2f}, of `signed_laplacian` {kept[1] + 0.0:.2f}. 20 samples, 72 features, two labels, W = t (v, -v) "
        f"with R v = 0: the objective at t = 1e3 and 1e5 is {fall[0]:.1e} and {fall[1]:.1e} with A, L1 included; with "
        f'`shifted` it rises ({rise[1]:.1e}). A stream with `coupling="paper"` in which a rule is born stops at sample '
        f"{at}; with `shifted` it runs through.",
    )


def _two_clouds() -> tuple[FloatArray, FloatArray]:
    """400 samples in one place, then 60 in another."""
    X, Y = linear_labels(460, 30, 6, seed=2)
    X[:400] += 2.0
    return X, Y


def _two_clouds_model(kind: str) -> EvolvingFuzzyClassifier:
    """Beta is small enough for the old rule, whose H is large; a new one has nothing to hold it."""
    return EvolvingFuzzyClassifier.paper(
        coupling=kind, beta=100.0, prox_steps=5, space="input", novelty="chi2", novelty_tail=1e-6, scaling="none"
    )


def gradient_factor() -> Finding:
    """Eq. (12) against finite differences of eq. (10); evolabel's pair likewise."""
    X, Y = linear_labels(50, 4, 3, seed=3)
    problem = problem_of(X, Y, PAPER, alpha=0.0, beta=2.0)
    W = np.random.default_rng(4).normal(size=problem.G.shape)
    R, A = with_ones(X), problem.B

    def eq10(W: FloatArray) -> float:
        return float(0.5 * np.sum((Y - R @ W.T) ** 2) + problem.beta * np.trace(A @ W @ W.T))

    slopes = finite_differences(eq10, W)
    eq12 = W @ problem.H - problem.G + problem.beta * A @ W
    gap = float(np.abs(slopes - eq12).max())
    twice = float(np.abs(slopes - eq12 - problem.beta * A @ W).max())
    own = float(np.abs(finite_differences(problem.value, W) - problem.gradient(W)).max())
    return Finding(
        {"printed": gap, "twice": twice, "own": own},
        f"Largest gap between eq. (12) and finite differences of eq. (10): {gap:.1f}; with 2 beta W A it is below "
        f"1e-5, as it is between `Problem.gradient` and `Problem.value`. H is {len(problem.H)} x {len(problem.H)} "
        f"here and A {len(A)} x {len(A)}: their sum does not exist.",
    )


def finite_differences(f: Callable[[FloatArray], float], W: FloatArray, h: float = 1e-5) -> FloatArray:
    """Central differences of f in every entry of W."""
    slopes = np.empty_like(W)
    for place in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[place] = h
        slopes[place] = (f(W + step) - f(W - step)) / (2.0 * h)
    return slopes


def thresholded_intercept() -> Finding:
    """A label with a base rate of 3/4 and no relation to the features, under a strong L1 penalty."""
    X, _ = linear_labels(200, 5, 1, seed=5)
    X -= X.mean(axis=0)
    Y = (np.arange(200) % 4 > 0).astype(np.float64)[:, None]
    problem = problem_of(X, Y, SHIFTED, alpha=100.0, beta=0.0)
    spared = float(minimise(problem, np.zeros_like(problem.G))[0, -1])
    L, W = problem.lipschitz(), np.zeros_like(problem.G)
    for _ in range(200):
        X1 = W - problem.gradient(W) / L
        W = np.sign(X1) * np.maximum(np.abs(X1) - problem.alpha / L, 0.0)
    printed = float(W[0, -1])
    return Finding(
        {"printed": printed, "spared": spared},
        f"Base rate 0.75, features that say nothing, 200 samples, alpha = 100: every answer is {printed:.2f} if the "
        f"intercept is thresholded, {spared:.2f} if it is spared.",
    )


def constant_label() -> Finding:
    """Eq. (9) where one of three labels never occurs."""
    Y = np.column_stack([np.arange(20) % 2, np.arange(20) // 2 % 2, np.zeros(20)]).astype(np.float64)
    e = Y - Y.mean(axis=0)
    spread = np.sqrt((e**2).sum(axis=0))
    with np.errstate(invalid="ignore"):
        undefined = int(np.isnan(e.T @ e / np.outer(spread, spread)).sum())
    B = label_coupling(Y, SIGNED_LAPLACIAN)
    return Finding(
        {"undefined": undefined, "bad": int((~np.isfinite(B)).sum()), "pull": float(np.abs(B[2]).sum())},
        f"Three labels, one of them never seen: {undefined} of the 9 correlations are 0/0. In evolabel's signed "
        f"Laplacian none is, and the constant label's row sums up to {np.abs(B[2]).sum():.1f}.",
    )


def condition_against_prediction() -> Finding:
    """The ridge that mends the condition of R'R, and the one leave-one-out asks for."""
    X, Y = linear_labels(1100, 72, 4, seed=6)
    results = {}
    for kind in ("condition", "press"):
        clf = EvolvingFuzzyClassifier(scaling="standard", max_rules=1, ridge=kind, local_ridge=0.2)
        clf.fit(X[:100], Y[:100])
        results[kind] = clf.ridge_, partial_accuracy(Y[100:], clf.decision_function(X[100:]))
    (small, poor), (large, good) = results["condition"], results["press"]
    return Finding(
        {"condition": small, "press": large, "condition_pa": poor, "press_pa": good},
        f"100 samples to learn from, 72 features, 4 labels, 1,000 fresh samples: `condition` (at most "
        f"{MOST_CONDITION:.0e}) takes {small:.1e} and reaches PA {poor:.3f}; `press` takes {large:.0f} and "
        f"reaches {good:.3f}.",
    )


# ---------------------------------------------------------------------- consequents: recursions


def kept_bias() -> Finding:
    """RLS goes on from weights that were halved after 50 of 300 samples."""
    X, Y = linear_labels(300, 5, 3, seed=7)
    R = with_ones(X)
    W, H, G = np.zeros((3, 6)), np.zeros((6, 6)), np.zeros((3, 6))
    P, guided, none = np.eye(6) * 1e8, np.zeros((3, 6)), np.zeros((3, 6))
    for i in range(len(R)):
        rls_step(W, R[i], P @ R[i], Y[i], np.ones(3), 1.0, np.empty(3))
        rls_step(guided, R[i], P @ R[i], Y[i], np.ones(3), 1.0, np.empty(3))
        H, G = H + np.outer(R[i], R[i]), G + np.outer(Y[i], R[i])
        P = np.linalg.inv(H + 1e-8 * np.eye(6))
        L = largest_eigenvalue(H)
        prox_step(guided, guided @ H, none, G, none[0], none[0], none, 0.0, 0.0, L)
        if i == 49:
            W, guided = W / 2.0, guided / 2.0
            before = (W - G @ P) @ H
    exact = G @ P
    after = (W - exact) @ H
    kept = float(np.linalg.norm(after) / np.linalg.norm(before))
    left, mended = (float(np.linalg.norm(V - exact) / np.linalg.norm(exact)) for V in (W, guided))
    return Finding(
        {"kept": kept, "left": left, "mended": mended},
        f"Weights halved at sample 50 of 300: |H (W - W_ls)| at the end is {kept:.4f} times what it was, the weights "
        f"are still {100 * left:.1f} % off; with one `prox_step` on H and G per sample "
        f"{100 * mended:.1f} %.",
    )


def wide_start() -> Finding:
    """A rule that starts right, with P = omega I or with a ridge worth a few samples, and learns as many as q."""
    rng = np.random.default_rng(8)
    p, n = 20, 21
    W_parent = rng.normal(size=(1, p + 1)) / np.sqrt(p)
    fresh = with_ones(rng.normal(size=(2000, p)))
    errors = {}
    for name, omega in (("wide", 1e5), ("anchored", 0.2)):
        squared = []
        for _ in range(20):
            R = with_ones(rng.normal(size=(n, p)))
            W, P = W_parent.copy(), omega * np.eye(p + 1)
            for r in R:
                u = P @ r
                rls_step(W, r, u, W_parent @ r + 0.3 * rng.normal(size=1), np.ones(1), 1.0, np.empty(1))
                P -= np.outer(u, u) / (1.0 + r @ u)
            squared.append(np.mean((fresh @ (W - W_parent).T) ** 2))
        errors[name] = float(np.sqrt(np.median(squared)))
    return Finding(
        {**errors, "noise": 0.3},
        f"20 features, a parent that is exactly right, noise of 0.30 in the targets: after 21 samples, as many as "
        f"weights, the error on fresh samples is {errors['wide']:.2f} with omega = 1e5 and {errors['anchored']:.2f} "
        f"with a ridge of 5 towards the parent.",
    )


def creating_sample() -> Finding:
    """The answer at the sample that started a rule, right after it was learned; its labels are 1, all others 0."""
    rng = np.random.default_rng(9)
    X, Y = rng.normal(size=(60, 4)), np.zeros((60, 2))
    Y[::10] = 1.0
    clf = EvolvingFuzzyClassifier.paper(scaling="none", space="input", novelty="chi2", alpha=0.0, beta=0.0).fit(X, Y)
    x, before = np.full((1, 4), 8.0), clf.n_rules_
    base = clf._model.trained()
    parent = lifecycle.nearest_rule(x[0], base.arrays, base.settings)
    printed = float((base.weights(parent).T @ np.append(x[0], 1.0))[0])
    clf.partial_fit(x, np.ones((1, 2)))
    own = float(clf.decision_function(x)[0, 0])
    return Finding(
        {"printed": printed, "own": own, "born": clf.n_rules_ - before},
        f"A sample with label 1 starts a rule among samples that mostly have label 0: right afterwards the answer at "
        f"this very sample is {printed:.2f} if it is not learned and {own:.2f} if it is.",
    )


# ---------------------------------------------------------------------- antecedents


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
            scaling="none", covariance="full", novelty="chi2", novelty_tail=0.01, max_rules=500, **start
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
    """Share of a rule's own samples that fall outside eq. (5) with fac = 0.4 (a mature rule), and outside chi2."""
    rows: list[str] = []
    numbers: dict[str, float] = {}
    for p in (16, 72, 120, 260):
        printed, tail = (_squared_radius(novelty, p) for novelty in ("paper", "chi2"))
        outside, steady = float(chdtrc(p, printed)), float(chdtrc(p, tail))
        fac = float(np.sqrt(chdtri(p, 0.01)) / p ** (1.0 / np.sqrt(2.0)))
        numbers |= {f"paper_{p}": outside, f"chi2_{p}": steady, f"fac_{p}": fac}
        rows.append(f"| {p} | {outside:.3f} | {steady:.3f} | {fac:.2f} |")
    head = "| p | outside, fac = 0.4 | outside, `chi2` | fac that leaves 1 % outside |\n|---|---|---|---|"
    return Finding(numbers, "\n".join([head, *rows]))


def _squared_radius(novelty: str, p: int) -> float:
    options = Options(novelty=novelty, vigilance=0.4, novelty_tail=1e-3)
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
    """Underflow of eq. (3) in plain arithmetic, and how many rules have a say, by temperature."""
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
        say = [_effective_rules(D, T / p) for T in (1.0, np.sqrt(p), 0.1 * p)]
        numbers |= {f"vanished_{p}": vanished, f"one_{p}": say[0], f"sqrt_{p}": say[1], f"tenth_{p}": say[2]}
        numbers[f"sum_{p}"] = _membership_sum(far, 1.0 / p)
        rows.append(f"| {p} | {100 * vanished:.0f} % | " + " | ".join(f"{n:.1f}" for n in say) + " |")
    head = '| p | all memberships 0 | rules with a say, T = 1 | `"sqrt"` | `"0.1p"` |\n|---|---|---|---|---|'
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


# ---------------------------------------------------------------------- merging


def _pair(consistency: str = "output") -> RuleBase:
    """Two rules of 100 samples each, around -1 and 1, with variance 1 and outputs 0 and 1 everywhere."""
    options = Options(alpha=0.1, parent="nearest", consistency=consistency, prior_count=1e-9, covariance="full")
    base = RuleBase(1, 1, kernel_settings(options, 1, 1, np.ones(1), 1.0))
    spread = np.repeat([-1.0, 1.0], 50)
    for centre in (-1.0, 1.0):
        slot = lifecycle.give_birth(spread[:1] + centre, 0, 1.0, base.arrays, base.settings)
        for value in spread[1:]:
            absorb(slot, np.array([value + centre]), 1.0, base.arrays, base.settings)
    base.arrays.W[2, 0, -1] = 1.0
    return base


def merged_spread() -> Finding:
    """Variance of the union: pooled moments against the mean of precisions."""
    base = _pair()
    first, second = (base.arrays.M[slot, 0] / base.arrays.n[slot, 0] for slot in (1, 2))
    printed = float(1.0 / (0.5 / first + 0.5 / second))
    lifecycle.merge_pair(1, 2, base.arrays, base.settings)
    pooled = float(base.arrays.M[1, 0] / base.arrays.n[1, 0])
    return Finding(
        {"precisions": printed, "pooled": pooled},
        f"100 samples around -1 and 100 around 1, variance 1 each: the union has variance {pooled:.2f}; the mean of "
        f"the precisions says {printed:.2f}.",
    )


def blind_angle() -> Finding:
    """Two rules whose outputs are 0 and 1 everywhere: likeness by angle and by output, and the merged output."""
    results = {}
    for kind in ("angle", "output"):
        base = _pair(kind)
        results[kind] = float(merging.consistency(1, 2, base)[0]), float(merging.merged_weights(1, 2, base)[0, -1])
    allowed = merging.agrees(1, 2, _pair("angle"))
    likeness = float(merging.angle_similarity(1, 2, _pair("angle"))[0])
    return Finding(
        {
            "likeness": likeness, "angle_rho": results["angle"][0], "angle_merged": results["angle"][1],
            "output_rho": results["output"][0], "output_merged": results["output"][1], "allowed": float(allowed),
        },
        f"One rule always answers 0, the other always 1: their likeness by angle is {likeness:.2f}, rho = "
        f"{results['angle'][0]:.2f}, and the merged rule answers {results['angle'][1]:.2f} everywhere. By output rho = "
        f"{results['output'][0]:.2f}, and the veto forbids the merge.",
    )  # fmt: skip


# ---------------------------------------------------------------------- label moments, scores, active learning


def variance_derivation() -> Finding:
    """Second line of eq. (21), second line of eq. (22), and the recursion they lead to, on random weights."""
    rng = np.random.default_rng(14)
    y, psi = rng.normal(size=50), rng.random(50)

    def variance(n: int) -> float:
        mean = np.average(y[:n], weights=psi[:n])
        return float(np.sum(psi[:n] * (y[:n] - mean) ** 2))

    S, T = psi.sum(), psi[:-1].sum()
    new, old = np.average(y, weights=psi), np.average(y[:-1], weights=psi[:-1])
    line = float(S * y[-1] ** 2 - S * new**2 + T * old**2)
    past = np.sum(psi[:-1] * y[:-1])
    addon = float((S * past - (T * past - T * psi[-1] * y[-1])) / T)
    mass, ybar, Q = np.zeros(2), np.zeros(1), np.zeros((1, 1))
    for value, weight in zip(y, psi, strict=True):
        add_label_moments(np.array([value]), float(weight), mass, ybar, Q)
    growth, shift, error = variance(50) - variance(49), float(S * (old - new)), abs(float(Q[0, 0]) / variance(50) - 1.0)
    return Finding(
        {"line": line, "growth": growth, "addon": addon, "shift": shift, "error": error},
        f"50 random weights: the variance grows by {growth:.3f}, line 2 of eq. (21) says {line:.3f}; the left side of "
        f"eq. (22) is {shift:.3f}, its second line {addon:.3f}. The final recursion agrees with the batch formula to "
        f"better than 1e-12.",
    )


def tied_scores() -> Finding:
    """Eq. (33) with positions as ranks, where all scores tie."""
    Y, scores = np.array([[1.0, 1.0, 0.0]]), np.full((1, 3), 0.5)
    on = np.flatnonzero(Y[0])
    printed = float(np.mean([np.sum(scores[0, on] >= scores[0, label]) / (label + 1) for label in on]))
    own = average_precision(Y, scores)
    return Finding(
        {"printed": printed, "own": own},
        f"Three equal scores, labels 1, 1, 0: {printed:.2f} by position, {own:.2f} by the largest rank of the tie.",
    )


def moving_thresholds() -> Finding:
    """Share of evenly spread outputs in the band (1 - t, t) of eq. (30)."""
    outputs = (np.arange(1000) + 0.5) / 1000.0
    low, high = (float(np.mean((outputs < t) & (outputs > 1.0 - t))) for t in (0.6, 0.7))
    return Finding(
        {"low": low, "high": high},
        f"Outputs spread evenly over [0, 1]: the band selects {100 * low:.0f} % at thresh2 = 0.6 and "
        f"{100 * high:.0f} % at 0.7.",
    )


EXPERIMENTS: dict[str, Callable[[], Finding]] = {
    "step-length": step_length,
    "indefinite-coupling": indefinite_coupling,
    "gradient-factor": gradient_factor,
    "intercept": thresholded_intercept,
    "constant-label": constant_label,
    "starting-ridge": condition_against_prediction,
    "kept-bias": kept_bias,
    "creating-sample": creating_sample,
    "wide-start": wide_start,
    "prior-fading": prior_fading,
    "radius": radius,
    "product-space": product_space,
    "memberships": crowded_memberships,
    "merged-spread": merged_spread,
    "blind-angle": blind_angle,
    "variance-derivation": variance_derivation,
    "tied-scores": tied_scores,
    "thresholds": moving_thresholds,
}


def filled(page: str, findings: dict[str, Finding]) -> str:
    """The page with every finding between its markers."""
    for name, finding in findings.items():
        start, end = f"<!-- errata:{name} -->", "<!-- end -->"
        assert page.count(start) == 1, f"the page needs exactly one {start}"
        head, rest = page.split(start)
        page = f"{head}{start}\n\n{finding.block()}\n\n{end}{rest[rest.index(end) + len(end) :]}"
    return page


def main() -> None:
    """Run everything, print a table, write the numbers and the page."""
    findings = {name: experiment() for name, experiment in EXPERIMENTS.items()}
    for name, finding in findings.items():
        for key, value in finding.numbers.items():
            print(f"{name:22}{key:20}{value:>14.6g}")
    RESULT.parent.mkdir(exist_ok=True)
    rounded = {name: {k: float(f"{v:.6g}") for k, v in found.numbers.items()} for name, found in findings.items()}
    RESULT.write_text(json.dumps(rounded, indent=2) + "\n")
    PAGE.write_text(filled(PAGE.read_text(), findings))


if __name__ == "__main__":
    main()
