"""Two dimensions to look at rules in: two features in their units, or the two that tell the labels apart best.

Rules live in scores. Their shadow on a plane is the marginal covariance V' Sigma_i V: no slice, so what is close in the
picture may still be apart in other directions, but nothing of a rule is hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from evolabel.core.rules.rule_base import RuleBase
from evolabel.errors import DataError
from evolabel.explain.figures.canvas import plain, short
from evolabel.explain.figures.figure_data import Anatomy
from evolabel.typing import FloatArray

POINTS = 49  # on the outline of a rule
NAMED = 3  # features that a discriminant is named after
TIE = 1e-6  # where labels say no more, the directions in which the rules' centres spread decide
EVER = 1e-12  # variance of a label that is sometimes on and sometimes off


@dataclass(frozen=True)
class Plane:
    """Coordinates V' (z - origin); for a plane of two `features` they are mapped back to the features' units."""

    anatomy: Anatomy
    V: FloatArray
    origin: FloatArray
    names: tuple[str, str]
    features: tuple[int, int] | None = None

    def place(self, Z: FloatArray) -> FloatArray:
        """Where scores lie on the plane, (rows, 2); a missing feature counts as average where features are mixed."""
        if self.features is None:
            Z = np.where(np.isnan(Z), self.origin, Z)
        else:
            Z = np.where(np.isnan(Z) & (self.V == 0.0).all(axis=1), self.origin, Z)
        return self._in_units((Z - self.origin) @ self.V)

    def shadow(self, slot: int) -> FloatArray:
        """Covariance of a rule on the plane, in scores, 2 x 2."""
        return np.asarray(self.V.T @ self.anatomy.rules.covariance(slot) @ self.V)

    def outline(self, slot: int) -> FloatArray:
        """The border of a rule at one spread, as a closed line."""
        turn = np.linspace(0.0, 2.0 * np.pi, POINTS)
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        c = self.anatomy.rules.arrays.c[slot, : self.anatomy.model.n_features]
        return self._in_units((c - self.origin) @ self.V + circle @ np.linalg.cholesky(self.shadow(slot)).T)

    def _in_units(self, flat: FloatArray) -> FloatArray:
        if self.features is None:
            return flat
        Z = np.zeros((len(flat), len(self.origin)))
        Z[:, self.features] = flat
        return self.anatomy.scaler.inverse(Z)[:, self.features]


def plane_of(anatomy: Anatomy, features: Sequence[int | str] | None) -> Plane:
    """The plane of two features, or of the two best discriminants."""
    if features is None:
        return _discriminant_plane(anatomy)
    first, second = feature_pair(anatomy, features)
    V = np.zeros((anatomy.model.n_features, 2))
    V[first, 0] = V[second, 1] = 1.0
    names = plain(anatomy.feature_names[first]), plain(anatomy.feature_names[second])
    return Plane(anatomy, V, np.zeros(len(V)), names, (first, second))


def feature_pair(anatomy: Anatomy, features: Sequence[int | str]) -> tuple[int, int]:
    """Places of two different features."""
    if isinstance(features, str) or len(features) != 2 or features[0] == features[1]:
        raise DataError(f"features={features!r} is no pair; give the names or places of two different features")
    first, second = (anatomy.feature(wanted) for wanted in features)
    return first, second


def need_two_features(anatomy: Anatomy) -> None:
    """Raise DataError for a model that has no plane."""
    if anatomy.model.n_features < 2:
        raise DataError("the model knows one feature only, and a map needs two; draw its membership functions instead")


def _discriminant_plane(anatomy: Anatomy) -> Plane:
    need_two_features(anatomy)
    V, mean, spread = discriminants(anatomy.rules)
    told = [_told(anatomy.feature_names, column * spread) for column in V.T]
    return Plane(anatomy, V, mean, (f"discriminant 1\n({told[0]})", f"discriminant 2\n({told[1]})"))


def discriminants(rules: RuleBase) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Directions (p, 2) that explain most of the labels' variance, with mean and spread of the scores.

    The sum over labels of squared correlations with v'z is largest for the leading solutions of S_xy D^-1 S_yx v =
    l (S_xx + ridge) v, all of which the global model keeps (H and G of slot 0). Coordinates have unit variance.
    """
    H, G = rules.hessian(0), rules.arrays.G[0]
    n = max(float(H[-1, -1]), 1e-300)
    mean, share = H[:-1, -1] / n, np.clip(G[:, -1] / n, 0.0, 1.0)
    inner = H[:-1, :-1] / n - np.outer(mean, mean)
    across = G[:, :-1] / n - np.outer(share, mean)
    varies = share * (1.0 - share)
    across = across[varies > EVER] / np.sqrt(varies[varies > EVER])[:, None]
    centres = rules.arrays.c[1 : rules.n_rules + 1, : len(mean)] - mean
    between = across.T @ across + TIE * (centres.T @ centres / len(centres) + np.eye(len(mean)))
    ridge = np.diag(np.maximum(rules.settings.penalty[0, :-1] / n, EVER))
    V = eigh(between, inner + ridge, subset_by_index=[len(mean) - 2, len(mean) - 1])[1][:, ::-1]
    V = V / np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", V, inner, V), EVER))
    spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
    strongest = np.abs(V * spread[:, None]).argmax(axis=0)
    return V * np.sign(V[strongest, [0, 1]]), mean, spread


def _told(names: list[str], effect: FloatArray) -> str:
    best = np.argsort(-np.abs(effect), kind="stable")[:NAMED]
    told = " ".join(f"{'+' if effect[j] > 0.0 else '-'}{short(names[j])}" for j in best)
    return told if len(names) <= NAMED else f"{told} ..."
