"""Flaws in label moments, scores and the questions of active learning, eqs. (21), (22), (30) and (33)."""

import numpy as np

from evolabel.evaluate import average_precision
from flaws.finding import Finding
from flaws.single_rule import add_label_moments


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
