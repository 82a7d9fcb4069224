"""Twins of `engine.symmetric`."""

import numpy as np

from evolabel.typing import FloatArray


def mirror(A: FloatArray) -> FloatArray:
    """The symmetric matrix whose lower triangle is given."""
    return np.asarray(np.where(np.tri(len(A), dtype=bool), A, A.T))


def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product."""
    return float(np.sum(a * b))


def add_product(A: FloatArray, u: FloatArray, scale: float, f: FloatArray) -> FloatArray:
    """Add scale * A u to f."""
    return np.asarray(f + scale * A @ u)


def symmetric_product(P: FloatArray, r: FloatArray) -> FloatArray:
    """Compute P r; the lower triangle of P is given."""
    return np.asarray(mirror(P) @ r)


def pending_product(P: FloatArray, waiting: FloatArray, b: int, r: FloatArray) -> FloatArray:
    """(P - sum of w w') r over the first b waiting rows."""
    return np.asarray((mirror(P) - waiting[:b].T @ waiting[:b]) @ r)


def add_outer_products(A: FloatArray, w: FloatArray, b: int, sign: float) -> FloatArray:
    """A + sign * sum of w w' over the first b rows on the lower triangle; the upper one stays as it is."""
    return np.asarray(np.tril(A + sign * w[:b].T @ w[:b]) + np.triu(A, 1))
