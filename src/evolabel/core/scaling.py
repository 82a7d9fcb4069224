"""Scaling of raw features, learned from the initial batch and frozen then.

All four kinds are one monotone piecewise linear map per feature, so rules can always be read in original units.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from evolabel.kernels._compile import direct
from evolabel.kernels.scaling import scale_rows
from evolabel.kernels.state import FloatArray, IntArray

KINDS = ("quantile", "standard", "minmax", "none")

# Scores are cut here, so that a sensor gone wild stays a finite, distant sample.
LIMITS = {"quantile": (-3.0, 3.0), "standard": (-4.0, 4.0), "minmax": (-1.0, 2.0), "none": (-1e6, 1e6)}

# A feature that spreads less is constant: its square would underflow.
SMALLEST_SPREAD = 1e-150

_scale_rows = direct(scale_rows)

# Variance a feature has after scaling: what a rule without samples is as wide as.
UNIFORM_VARIANCE = 1.0 / 12.0


@dataclass(frozen=True)
class Scaler:
    """A monotone piecewise linear map per feature; the arrays are explained in `kernels.scaling`.

    `prior` is the variance expected of each scaled feature.
    """

    x: FloatArray
    z: FloatArray
    used: IntArray
    slope: FloatArray
    low: float
    high: float
    prior: FloatArray

    def transform(self, X: FloatArray) -> FloatArray:
        """Scores of raw rows; NaN stays NaN."""
        Z = np.empty(X.shape)
        _scale_rows(np.ascontiguousarray(X), *self.knots, Z)
        return Z

    @cached_property
    def knots(self) -> tuple[FloatArray, FloatArray, IntArray, IntArray, FloatArray, float, float]:
        """The map as kernels take it: equal scores once, for a row that comes alone finds them far away in memory."""
        scores, row = np.unique(self.z, axis=0, return_inverse=True)
        return self.x, scores, row.reshape(-1), self.used, self.slope, self.low, self.high

    def inverse(self, Z: FloatArray) -> FloatArray:
        """Raw values whose scores are Z (beyond the knots the map goes on with its outer slope)."""
        X = np.empty(Z.shape)
        for j in range(Z.shape[-1]):
            X[..., j] = self._inverse_feature(j, Z[..., j])
        return X

    def _inverse_feature(self, j: int, z: FloatArray) -> FloatArray:
        m = int(self.used[j])
        if m == 0:
            return np.full(z.shape, self.x[j, 0])
        knots, scores = self.x[j, :m], self.z[j, :m]
        inside = np.interp(z, scores, knots)
        beyond = np.maximum(z - scores[-1], 0.0) - np.maximum(scores[0] - z, 0.0)
        return np.asarray(inside + beyond / self.slope[j])


def fit_scaler(X: FloatArray, kind: str, knots: int) -> Scaler:
    """Learn the map from the initial batch; NaN entries are left out."""
    low, high = LIMITS[kind]
    columns = [_KNOTS[kind](column[~np.isnan(column)], knots) for column in X.T]
    p, m = X.shape[1], max(len(x) for x, _, _ in columns)
    x, z, slope = np.zeros((p, m)), np.zeros((p, m)), np.ones(p)
    used = np.zeros(p, np.int64)
    for j, (knot, score, outer) in enumerate(columns):
        x[j, : len(knot)], z[j, : len(score)], slope[j] = knot, score, outer
        used[j] = len(score)
    return Scaler(x, z, used, slope, low, high, _prior(X, kind))


Column = tuple[FloatArray, FloatArray, float]


def _constant(column: FloatArray) -> Column:
    """A feature that never varied scores 0; its value is kept for display."""
    value = column[0] if len(column) else 0.0
    return np.array([value]), np.empty(0), 1.0


def _quantile(column: FloatArray, knots: int) -> Column:
    """Quantiles to normal scores; tied knots share their mean score, tails go on at half the mean slope."""
    if not _varies(column):
        return _constant(column)
    share = (np.arange(knots) + 0.5) / knots
    x, group = np.unique(np.quantile(column, share), return_inverse=True)
    if len(x) < 2:
        return _standard(column, knots)
    z = np.bincount(group, ndtri(share)) / np.bincount(group)
    return x, z, float(0.5 * (z[-1] - z[0]) / (x[-1] - x[0]))


def _standard(column: FloatArray, knots: int) -> Column:
    """(x - mean) / standard deviation."""
    if not _varies(column):
        return _constant(column)
    mean, sd = column.mean(), column.std()
    return np.array([mean - sd, mean + sd]), np.array([-1.0, 1.0]), float(1.0 / sd)


def _minmax(column: FloatArray, knots: int) -> Column:
    """Smallest value to 0, largest to 1."""
    if not _varies(column):
        return _constant(column)
    low, high = column.min(), column.max()
    return np.array([low, high]), np.array([0.0, 1.0]), float(1.0 / (high - low))


def _none(column: FloatArray, knots: int) -> Column:
    """The value itself."""
    return np.array([0.0, 1.0]), np.array([0.0, 1.0]), 1.0


def _varies(column: FloatArray) -> bool:
    """Is the spread more than rounding? (A constant column's std need not be exactly 0.)"""
    if len(column) < 2:
        return False
    return bool(np.ptp(column) > max(1e-12 * float(np.abs(column).max()), SMALLEST_SPREAD))


_KNOTS = {"quantile": _quantile, "standard": _standard, "minmax": _minmax, "none": _none}


def _prior(X: FloatArray, kind: str) -> FloatArray:
    p = X.shape[1]
    if kind == "minmax":
        return np.full(p, UNIFORM_VARIANCE)
    if kind == "none":
        columns = (np.clip(column[~np.isnan(column)], *LIMITS[kind]) for column in X.T)
        return np.array([column.var() if _varies(column) else 1.0 for column in columns])
    return np.ones(p)
