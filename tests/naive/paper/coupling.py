"""Twins of `paper.rules.loops.coupling` and `stages.rules.loops.label_moments`."""

from dataclasses import dataclass

import numpy as np

from evolabel.paper.rules.loops.coupling import NONE, PAPER, RIDGE, SHIFTED, SIGNED_LAPLACIAN
from evolabel.stages.rules.loops.label_moments import SHRINK
from evolabel.typing import FloatArray


@dataclass
class LabelMoments:
    """Weighted moments of a rule's labels: sums of psi and psi^2, means, co-moments."""

    mass: FloatArray
    ybar: FloatArray
    Q: FloatArray


def add_label_moments(y: FloatArray, psi: float, before: LabelMoments) -> LabelMoments:
    """The moments of two sets of samples together, the second being one sample; a label not annotated is average."""
    S = before.mass[0]
    y = np.where(np.isnan(y), before.ybar, y)
    ybar = (S * before.ybar + psi * y) / (S + psi)
    old, new = before.ybar - ybar, y - ybar
    Q = before.Q + S * np.outer(old, old) + psi * np.outer(new, new)
    return LabelMoments(before.mass + np.array([psi, psi**2]), ybar, Q)


def correlation(Q: FloatArray, mass: FloatArray, shrink: bool) -> FloatArray:
    """Eq. (9), shrunk by n / (n + 10) with n = S^2 / S2; constant labels correlate with nothing."""
    n = mass[0] ** 2 / mass[1] if mass[1] > 0.0 else 0.0
    varies = np.diag(Q) > 1e-12 * mass[0]
    spread = np.sqrt(np.where(varies, np.diag(Q), 1.0))
    C = np.clip(Q / np.outer(spread, spread), -1.0, 1.0) * (n / (n + SHRINK) if shrink else 1.0)
    C[~varies] = 0.0
    C[:, ~varies] = 0.0
    np.fill_diagonal(C, 1.0)
    return np.asarray(C)


def coupling(Q: FloatArray, mass: FloatArray, kind: int) -> FloatArray:
    """The coupling matrix of the kind asked for, divided by its largest absolute row sum (not PAPER)."""
    K, C = len(Q), correlation(Q, mass, kind != PAPER)
    apart = C - np.eye(K)
    B = {
        NONE: np.zeros((K, K)),
        RIDGE: np.eye(K),
        PAPER: 1.0 - C,
        SHIFTED: 1.0 - C + np.abs(C).sum(axis=1).max() * np.eye(K),
        SIGNED_LAPLACIAN: np.diag(np.abs(apart).sum(axis=1)) - apart,
    }[kind]
    return B if kind == PAPER else scale_to_unit(B)


def scale_to_unit(B: FloatArray) -> FloatArray:
    """B over its largest absolute row sum; 0 stays 0."""
    most = float(np.linalg.norm(B, np.inf))
    return np.asarray(B / most if most > 0.0 else B)
