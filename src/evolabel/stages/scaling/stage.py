"""Scaling of raw features, learned from the initial batch and constant afterwards.

All four kinds are one monotone piecewise linear map per feature, so rules can be printed in original units.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from scipy.special import ndtri

from evolabel.core.rows import Rows, misfit
from evolabel.core.stored_checks import check_arrays, require, size_of
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.errors import DataError
from evolabel.stages.scaling.arrays import SCALER_ARRAYS, ScalerArrays
from evolabel.stages.scaling.loops import Knots, scale_rows
from evolabel.typing import Arrays, FloatArray

# A feature that spreads less is constant: its square would underflow.
SMALLEST_SPREAD = 1e-150

# Quantiles per feature that the quantile scaling keeps. PA / AP of five data sets: 8 -.000 / -.002, 64 -.001 / -.002.
KNOTS = 16

_scale_rows = direct(scale_rows)


@dataclass(frozen=True)
class Scaler(ScalerArrays):
    """A monotone piecewise linear map per feature; scores are clipped to [`low`, `high`]."""

    low: float
    high: float

    @property
    def name(self) -> str:
        """Name of the stage."""
        return "scaling"

    def answer(self, rows: Rows) -> None:
        """Scale what was read of `rows`."""
        rows.Z = self.transform(rows.read)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the scores of the raw rows `X`; NaN stays NaN."""
        shape = X.shape
        if shape[1] != len(self.used):
            raise misfit({"X": X}, f"a scaling of {len(self.used)} features")
        Z = np.empty(shape)
        _scale_rows(self.knots, np.ascontiguousarray(X, np.float64), Z)
        return Z

    @cached_property
    def knots(self) -> Knots:
        """The map as loops take it."""
        return cast(Knots, pack(self.knot_arrays))

    @cached_property
    def knot_arrays(self) -> Knots:
        """The map as plain arrays. Equal rows of `z` are stored once, so that fewer have to be read from memory."""
        scores, row = np.unique(self.z, axis=0, return_inverse=True)
        x, slope = (np.require(part, requirements=("C", "A", "W")) for part in (self.x, self.slope))
        used = np.require(self.used, requirements=("C", "A", "W"))
        return Knots(x, scores, row.reshape(-1), used, slope, self.low, self.high)

    def __getstate__(self) -> dict[str, object]:
        derived = ("knots", "knot_arrays")  # a copy has its own
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def inverse(self, Z: FloatArray) -> FloatArray:
        """Return the raw values of the scores `Z`; beyond the knots the map has its outer slope."""
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


Column = tuple[FloatArray, FloatArray, float]
"""Knots of one feature's map, their scores, and the slope beyond them."""


class Scaling(NamedTuple):
    """One kind of scaling.

    `variance` is the variance of the scores of a feature, and the prior variance of a rule. None: values are not
    scaled, constant features included, and neither is their variance.
    """

    column: Callable[[FloatArray, int], Column]
    low: float  # scores are clipped, so that an outlier of any size is at a finite distance
    high: float
    variance: float | None


def fit_scaler(X: FloatArray, kind: str, knots: int = KNOTS) -> Scaler:
    """Return the `Scaler` of this `kind` with at most so many `knots`, learned from the rows `X`; NaN is ignored."""
    scaling, features = _SCALINGS[kind], [column[~np.isnan(column)] for column in X.T]
    columns = [_column(feature, scaling, knots) for feature in features]
    arrays = SCALER_ARRAYS.new({"feature": X.shape[1], "knot": max(len(x) for x, _, _ in columns)})
    for j, (knots_of, scores, slope) in enumerate(columns):
        arrays["x"][j, : len(knots_of)], arrays["z"][j, : len(scores)] = knots_of, scores
        arrays["used"][j], arrays["slope"][j] = len(scores), slope
        arrays["prior"][j], arrays["binary"][j] = _variance(features[j], scaling), _is_binary(features[j])
    return Scaler(**arrays, low=scaling.low, high=scaling.high)


def _column(column: FloatArray, scaling: Scaling, knots: int) -> Column:
    """Return the map of one feature. A constant feature has the score 0; its value is stored for display."""
    if scaling.variance is None or _varies(column):
        return scaling.column(column, knots)
    value = column[0] if len(column) else 0.0
    return np.array([value]), np.empty(0), 1.0


def _variance(column: FloatArray, scaling: Scaling) -> float:
    """Return the variance expected of one scaled feature."""
    if scaling.variance is not None:
        return scaling.variance
    values = np.clip(column, scaling.low, scaling.high)
    return float(values.var()) if _varies(values) else 1.0


def _varies(column: FloatArray) -> bool:
    """Return whether the values differ by more than rounding (the deviation of a constant column may be above 0)."""
    if len(column) < 2:
        return False
    return bool(np.ptp(column) > max(1e-12 * float(np.abs(column).max()), SMALLEST_SPREAD))


def _is_binary(column: FloatArray) -> bool:
    """Return whether there are values and all of them are 0 or 1."""
    return len(column) > 0 and bool(((column == 0.0) | (column == 1.0)).all())


def _quantile(column: FloatArray, knots: int) -> Column:
    """Return quantiles as knots of normal scores; tied knots share their mean score, tails have half the mean slope."""
    share = (np.arange(knots) + 0.5) / knots
    x, group = np.unique(np.quantile(column, share), return_inverse=True)
    if len(x) < 2:
        return _standard(column, knots)
    z = np.bincount(group, ndtri(share)) / np.bincount(group)
    return x, z, float(0.5 * (z[-1] - z[0]) / (x[-1] - x[0]))


def _standard(column: FloatArray, _: int) -> Column:
    """Return the knots of (x - mean) / standard deviation."""
    mean, sd = column.mean(), column.std()
    return np.array([mean - sd, mean + sd]), np.array([-1.0, 1.0]), float(1.0 / sd)


def _minmax(column: FloatArray, _: int) -> Column:
    """Return the knots that map the smallest value to 0 and the largest to 1."""
    low, high = column.min(), column.max()
    return np.array([low, high]), np.array([0.0, 1.0]), float(1.0 / (high - low))


def _none(*_: object) -> Column:
    """Return the knots of the identity."""
    return np.array([0.0, 1.0]), np.array([0.0, 1.0]), 1.0


_SCALINGS = {
    "quantile": Scaling(_quantile, low=-3.0, high=3.0, variance=1.0),
    "standard": Scaling(_standard, low=-4.0, high=4.0, variance=1.0),
    "minmax": Scaling(_minmax, low=-1.0, high=2.0, variance=1.0 / 12.0),  # as if values were uniform
    "none": Scaling(_none, low=-1e6, high=1e6, variance=None),
}


def restored_scaler(arrays: Arrays, p: int, kind: str) -> Scaler:
    """Return the scaling of `p` features of this `kind` with copies of stored `arrays`; DataError if they are none."""
    _check_stored(arrays, p, kind)
    return Scaler(**SCALER_ARRAYS.copies(arrays), low=_SCALINGS[kind].low, high=_SCALINGS[kind].high)


def _check_stored(arrays: Arrays, p: int, kind: str) -> None:
    """Check the stored `arrays` of the scaling of `p` features of this `kind`: knots and their scores rise."""
    knots, variance = size_of(arrays, "x", 1), _SCALINGS[kind].variance
    table = SCALER_ARRAYS.expected({"feature": p, "knot": knots})
    table["used"] = table["used"]._replace(high=knots)
    if variance is not None:
        table["prior"] = table["prior"]._replace(low=variance, high=variance, positive=False)
    check_arrays(arrays, table)
    x, z, used = arrays["x"], arrays["z"], arrays["used"]
    require(x.shape[1] > 0, "x", "one knot or more")
    in_use = np.arange(1, x.shape[1]) < used[:, None]
    for name, rows in (("x", x), ("z", z)):
        require((np.diff(rows, axis=1) >= 0.0) | ~in_use, name, "knots that rise")


def shares_on(scaler: Scaler, centres: FloatArray) -> FloatArray:
    """Return the share of samples with each feature on, for rules with the scaled `centres` (rows, n_features).

    A mean of scaled values lies between the scaled 0 and 1 as the share does; NaN where `scaler` has seen other values.
    """
    off, on = scaled_0_and_1(scaler)
    varied = on > off
    share = (centres - off) / np.where(varied, on - off, 1.0)
    constant = np.broadcast_to(scaler.x[:, 0], centres.shape)
    return np.where(scaler.binary, np.clip(np.where(varied, share, constant), 0.0, 1.0), np.nan)


def scaled_0_and_1(scaler: Scaler) -> FloatArray:
    """Return the values 0 and 1 of every feature in the scale of `scaler`, (2, n_features)."""
    return scaler.transform(np.repeat([[0.0], [1.0]], len(scaler.used), axis=1))


# Translation by a straight line must leave less than this share of a feature's spread unexplained.
TOLERANCE = 0.25


def straight_lines(source: Scaler, target: Scaler) -> tuple[FloatArray, FloatArray]:
    """a, b with target score = a * source score + b, fitted at the source's knots feature by feature."""
    p = len(source.used)
    a, b = np.ones(p), np.zeros(p)
    if _same(source, target):
        return a, b
    for j in range(p):
        raw = np.zeros((max(int(source.used[j]), 1), p))
        raw[:, j] = source.x[j, : len(raw)]
        u, v = source.transform(raw)[:, j], target.transform(raw)[:, j]
        if np.ptp(u) > 0.0:
            a[j], b[j] = np.polyfit(u, v, 1)
        else:
            b[j] = v[0]
        misfit = float(np.sqrt(np.mean((a[j] * u + b[j] - v) ** 2)))
        if misfit > TOLERANCE * max(float(v.std()), 1e-12) and misfit > 1e-9:
            raise DataError(
                f"feature {j} is scaled too differently in the two models (misfit {misfit:.2f}); "
                "train the parts from clf.sibling(), so that they share one scaling, and merge those"
            )
    return a, b


def _same(source: Scaler, target: Scaler) -> bool:
    return all(np.array_equal(getattr(source, name), getattr(target, name)) for name in ("x", "z", "used", "slope"))
