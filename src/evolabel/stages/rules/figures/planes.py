"""Projections of rules and samples on a plane: two features in their units, or the two best discriminants.

Rules are ellipsoids of the scaled features. Their projection on a plane has the marginal covariance V' Sigma_i V. It is
no slice: what is close in the figure may still be apart in other directions, but the whole of a rule is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from evolabel.errors import DataError
from evolabel.stages.rules.figures.figure_data import RuleFigureData
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.stream_terms import readings
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import plain, short

_N_OUTLINE = 49  # points on the outline of a rule
_N_NAMED = 3  # features that a discriminant is named after
_TIE_WEIGHT = 1e-6  # of the spread of the rules' centres, which decides where the labels leave a direction open
_MIN_VARIANCE = 1e-12


@dataclass(frozen=True)
class Plane:
    """Coordinates V' (z - origin) of scaled rows z; a plane of two `features` has the units of the features.

    `data` holds the model, `names` are the labels of the axes.
    """

    data: RuleFigureData
    V: FloatArray
    origin: FloatArray
    names: tuple[str, str]
    features: tuple[int, int] | None = None

    def project(self, Z: FloatArray) -> FloatArray:
        """Return the scaled rows `Z` on the plane, (rows, 2); missing features of discriminants are at their mean."""
        replaceable = True if self.features is None else (self.V == 0.0).all(axis=1)
        Z = np.where(np.isnan(Z) & replaceable, self.origin, Z)
        return self._in_units((Z - self.origin) @ self.V)

    def covariance(self, slot: int) -> FloatArray:
        """Return the covariance (2, 2) of the rule in `slot` on the plane, in scaled units."""
        return np.asarray(self.V.T @ self.data.rules.shape(slot).covariance @ self.V)

    def outline(self, slot: int) -> FloatArray:
        """Return the border of the rule in `slot` at one spread, as a closed line (points, 2)."""
        angle = np.linspace(0.0, 2.0 * np.pi, _N_OUTLINE)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        c = self.data.rules.arrays.c[slot, : self.data.model.n_features]
        return self._in_units((c - self.origin) @ self.V + circle @ _root(self.covariance(slot)).T)

    def _in_units(self, flat: FloatArray) -> FloatArray:
        if self.features is None:
            return flat
        Z = np.zeros((len(flat), len(self.origin)))
        Z[:, self.features] = flat
        return readings(self.data.model, Z)[:, self.features]


def plane_of(data: RuleFigureData, features: Sequence[int | str] | None) -> Plane:
    """Return the plane of two `features` of `data`, or of its two best discriminants if `features` is None."""
    if features is None:
        need_two_features(data)
        V, mean, spread = discriminants(data.rules)
        titles = [_largest_effects(data.feature_names, column * spread) for column in V.T]
        return Plane(data, V, mean, (f"discriminant 1\n({titles[0]})", f"discriminant 2\n({titles[1]})"))
    first, second = feature_pair(data, features)
    V = np.zeros((data.model.n_features, 2))
    V[first, 0] = V[second, 1] = 1.0
    names = plain(data.feature_names[first]), plain(data.feature_names[second])
    return Plane(data, V, np.zeros(len(V)), names, (first, second))


def feature_pair(data: RuleFigureData, features: Sequence[int | str]) -> tuple[int, int]:
    """Return the column numbers of two different `features` of `data`, given as names or column numbers."""
    if isinstance(features, str) or len(features) != 2 or features[0] == features[1]:
        raise DataError(f"features={features!r} is no pair; give the names or column numbers of two different features")
    first, second = (data.feature_index(feature) for feature in features)
    return first, second


def need_two_features(data: RuleFigureData) -> None:
    """Raise DataError if the model of `data` has only one feature."""
    if data.model.n_features < 2:
        raise DataError("the model has one feature only, and a map needs two; draw its membership functions instead")


def discriminants(rules: RuleBase) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return directions (p, 2) that explain most of the labels' variance, with mean and spread of the scaled features.

    The sum over labels of squared correlations with v'z is largest for the leading solutions of S_xy D^-1 S_yx v =
    l (S_xx + ridge) v, all of which the global model of `rules` keeps (H and G of slot 0). Coordinates have unit
    variance.
    """
    H, G = rules.hessian(0), rules.arrays.G[0]
    n = max(float(H[-1, -1]), 1e-300)
    mean, share = H[:-1, -1] / n, np.clip(G[:, -1] / n, 0.0, 1.0)
    inner = H[:-1, :-1] / n - np.outer(mean, mean)
    across = G[:, :-1] / n - np.outer(share, mean)
    varies = share * (1.0 - share)
    across = across[varies > _MIN_VARIANCE] / np.sqrt(varies[varies > _MIN_VARIANCE])[:, None]
    centres = rules.arrays.c[1 : rules.n_rules + 1, : len(mean)] - mean
    between = across.T @ across + _TIE_WEIGHT * (centres.T @ centres / len(centres) + np.eye(len(mean)))
    ridge = np.diag(np.maximum(rules.settings.penalty[0, :-1] / n, _MIN_VARIANCE))
    V = eigh(between, inner + ridge, subset_by_index=[len(mean) - 2, len(mean) - 1])[1][:, ::-1]
    V = V / np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", V, inner, V), _MIN_VARIANCE))
    spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
    strongest = np.abs(V * spread[:, None]).argmax(axis=0)
    return V * np.sign(V[strongest, [0, 1]]), mean, spread


def _root(covariance: FloatArray) -> FloatArray:
    """Return a root R of `covariance`, R R'; where features do not vary, some directions have no spread."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _largest_effects(names: list[str], effect: FloatArray) -> str:
    """Return the features with the largest effects, each with its sign."""
    best = np.argsort(-np.abs(effect), kind="stable")[:_N_NAMED]
    largest = " ".join(f"{'+' if effect[j] > 0.0 else '-'}{short(names[j])}" for j in best)
    return largest if len(names) <= _N_NAMED else f"{largest} ..."
