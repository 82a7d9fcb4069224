"""Flaws in the objective of the consequents and in its iteration, eqs. (8)-(18)."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import null_space

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import partial_accuracy
from evolabel.model.start.ridge import MOST_CONDITION
from evolabel.stages.rules.loops.paper.coupling import PAPER, SHIFTED, SIGNED_LAPLACIAN
from evolabel.stages.rules.proximal import largest_eigenvalue, minimise
from evolabel.typing import FloatArray
from flaws.finding import Finding
from flaws.single_rule import diverges_at, fac_of_tail, iterate, label_coupling, linear_labels, problem_of, with_ones


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
    """A of eq. (8): eigenvalues, the objective along a direction without data, and a stream."""
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
        coupling=kind, beta=100.0, prox_steps=5, space="input", vigilance=fac_of_tail(30, 1e-6), scaling="none"
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
    """The ridge by the condition of R'R, and the one by leave-one-out."""
    X, Y = linear_labels(1100, 72, 4, seed=6)
    results = {}
    for kind in ("condition", "press"):
        clf = EvolvingFuzzyClassifier(scaling="standard", max_rules=1, ridge=kind, local_ridge=0.2, follow_drift=False)
        clf.fit(X[:100], Y[:100])
        results[kind] = clf.ridge_, partial_accuracy(Y[100:], clf.decision_function(X[100:]))
    (small, poor), (large, good) = results["condition"], results["press"]
    return Finding(
        {"condition": small, "press": large, "condition_pa": poor, "press_pa": good},
        f"100 samples to learn from, 72 features, 4 labels, 1,000 fresh samples: `condition` (at most "
        f"{MOST_CONDITION:.0e}) takes {small:.1e} and reaches PA {poor:.3f}; `press` takes {large:.0f} and "
        f"reaches {good:.3f}.",
    )
