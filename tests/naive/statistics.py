"""Twins of `stages.rules.loops.consequents`."""

import numpy as np

from evolabel.typing import FloatArray
from naive.slots import Slot


def pending_rows(r: FloatArray, u: FloatArray, w: float) -> tuple[FloatArray, FloatArray]:
    """Rows whose outer products H grows by and P shrinks by (Sherman and Morrison), u = P r."""
    return np.sqrt(w) * r, np.sqrt(w / (1.0 + w * r @ u)) * u


def learn_regressor(slot: Slot, r: FloatArray, w: float) -> None:
    """H += w r r'."""
    slot.H = slot.H + w * np.outer(r, r)
    slot.age += 1


def add_labels(G: FloatArray, r: FloatArray, y: FloatArray, w: float) -> FloatArray:
    """Eq. (24): G + w r y'."""
    return np.asarray(G + w * np.outer(r, y))


def partial_step(
    A: FloatArray, W: FloatArray, r: FloatArray, y: FloatArray, confidence: FloatArray, psi: float, expected: FloatArray
) -> FloatArray:
    """W after a sample: a label of confidence g takes the full step of weight psi g, others learn their `expected`."""
    P_r = np.linalg.solve(A, r)
    own = psi * np.where(confidence > 0.0, confidence, 1.0)
    error = np.where(confidence > 0.0, np.nan_to_num(y) - W.T @ r, expected)
    return np.asarray(W + np.outer(P_r, own / (1.0 + own * (r @ P_r)) * error))


def add_partial_labels(
    G: FloatArray,
    A: FloatArray,
    W: FloatArray,
    r: FloatArray,
    y: FloatArray,
    confidence: FloatArray,
    psi: float,
    w: float,
    expected: FloatArray,
) -> FloatArray:
    """The G for which A + w r r', A being H + penalty, gives just the weights of `partial_step`."""
    after = (A + w * np.outer(r, r)) @ partial_step(A, W, r, y, confidence, psi, expected)
    return np.asarray(G + after - A @ W)
