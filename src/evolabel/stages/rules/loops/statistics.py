"""The sufficient statistics of the consequents: H = sum psi r r', G = sum psi y r', P = (H + penalty)^-1.

G changes at every sample. H and P change by one outer product per sample. These outer products are kept in blocks
(`pending_H`, `pending_P`) and applied together; every product with P includes the pending rows, so it is exact.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.engine.symmetric import add_outer_products, add_scaled, dot
from evolabel.typing import FloatArray


@inner
def pending_rows(r: FloatArray, u: FloatArray, w: float, row_H: FloatArray, row_P: FloatArray) -> None:
    """Fill the rows of H += w r r' and P -= w u u' / (1 + w r'u), eqs. (26), (27) without their division by psi."""
    for_H, for_P = np.sqrt(w), np.sqrt(w / (1.0 + w * dot(r, u)))
    for j in range(r.shape[0]):
        row_H[j] = for_H * r[j]
        row_P[j] = for_P * u[j]


@inner
def learn_regressor(
    r: FloatArray,
    u: FloatArray,
    w: float,
    H: FloatArray,
    P: FloatArray,
    pending_H: FloatArray,
    pending_P: FloatArray,
    n_pending: int,
) -> int:
    """Add a regressor r of weight w to the blocks of H and P, and apply full blocks; return the pending rows."""
    pending_rows(r, u, w, pending_H[n_pending], pending_P[n_pending])
    if n_pending + 1 < pending_H.shape[0]:
        return n_pending + 1
    add_outer_products(H, pending_H, n_pending + 1, 1.0)
    add_outer_products(P, pending_P, n_pending + 1, -1.0)
    return 0


@inner
def add_labels(G: FloatArray, r: FloatArray, y: FloatArray, w: float) -> None:
    """Add w y r' to G, eq. (24); labels of 0 are skipped."""
    for b in range(y.shape[0]):
        if y[b] != 0.0:
            add_scaled(w * y[b], r, G[b])


@inner
def add_partial_labels(
    G: FloatArray,
    r: FloatArray,
    f: FloatArray,
    y: FloatArray,
    confidence: FloatArray,
    q: float,
    psi: float,
    w: float,
) -> None:
    """Update G where labels are missing or uncertain (docs/decisions/005-partial-annotation.md).

    f is the slot's own prediction, q = r'P r before the update, psi the weight of the sample in the slot, w the weight
    by which H grows: psi times the mean confidence. A label of confidence 0
    keeps its weights: G changes by w f r, as H changes by w r r'. A label of confidence g changes its weights as a
    sample of weight psi g with all labels would.
    """
    for b in range(f.shape[0]):
        v = w * f[b]
        if confidence[b] > 0.0:
            own = psi * confidence[b]
            v += own * (1.0 + w * q) / (1.0 + own * q) * (y[b] - f[b])
        add_scaled(v, r, G[b])
