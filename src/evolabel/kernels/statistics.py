"""The sufficient statistics of the consequents: H = sum psi r r', G = sum psi y r', P = (H + penalty)^-1.

G follows every sample. H and P change by one outer product per sample; these wait in blocks (`late_H`, `late_P`) and
are applied together, while every product with P takes the waiting rows into account: exact at every moment.
"""

import numpy as np

from evolabel.kernels.compile import inner
from evolabel.kernels.symmetric import add_outer_products, add_scaled, dot
from evolabel.typing import FloatArray


@inner
def late_rows(r: FloatArray, u: FloatArray, w: float, row_H: FloatArray, row_P: FloatArray) -> None:
    """Eqs. (26), (27) without the division by psi: H grows by w r r', P shrinks by w u u' / (1 + w r'u), u = P r."""
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
    late_H: FloatArray,
    late_P: FloatArray,
    late: int,
) -> int:
    """H and P of a slot take in a sample of weight w; a full block is applied. Returns how many rows then wait."""
    late_rows(r, u, w, late_H[late], late_P[late])
    if late + 1 < late_H.shape[0]:
        return late + 1
    add_outer_products(H, late_H, late + 1, 1.0)
    add_outer_products(P, late_P, late + 1, -1.0)
    return 0


@inner
def add_labels(G: FloatArray, r: FloatArray, y: FloatArray, w: float) -> None:
    """Eq. (24): G += w y r'. Only the labels that are on cost anything."""
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
    """The same when labels are missing or unsure (docs/decisions/005-partial-annotation.md).

    f is the slot's own prediction, q = r'P r before the update, w the weight by which H grows. A label with
    confidence 0 keeps its weights: G moves by w f r, exactly what the growth of H asks for. A label with
    confidence g moves its weights as a full sample of weight psi g would.
    """
    for b in range(f.shape[0]):
        v = w * f[b]
        if confidence[b] > 0.0:
            own = psi * confidence[b]
            v += own * (1.0 + w * q) / (1.0 + own * q) * (y[b] - f[b])
        add_scaled(v, r, G[b])
