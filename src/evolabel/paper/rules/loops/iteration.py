"""Algorithm 2: consequents that are iterated, one sample at a time (eqs. 16, 17, 24-27).

W has one row per label. A recursive fuzzily weighted least squares step comes first, then proximal gradient steps on
the rule's own H and G, towards the minimum of the objective that `paper.rules.proximal` solves in the batch.
"""

import numpy as np

from evolabel.engine.compile import allocating_kernel, inner
from evolabel.engine.symmetric import add_product, add_rows, add_scaled, dot, row_products
from evolabel.paper.rules.arrays import PaperState
from evolabel.paper.rules.loops.coupling import NONE, PAPER, coupling
from evolabel.stages.rules.arrays import RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.label_moments import add_label_moments
from evolabel.typing import FloatArray

DIVERGED_ABOVE = 1e8  # weights beyond this have diverged, because labels are 0 and 1
POWER_STEPS = 50  # of power iteration


@inner
def rls_step(
    W: FloatArray, r: FloatArray, u: FloatArray, y: FloatArray, confidence: FloatArray, w: float, f: FloatArray
) -> None:
    """Update W by eqs. (25), (26), gain without the division by psi; f receives the prediction from before."""
    q = dot(r, u)
    for b in range(f.shape[0]):
        f[b] = dot(W[b], r)
        if confidence[b] > 0.0:
            own = w * confidence[b]
            step = own / (1.0 + own * q) * (y[b] - f[b])
            add_scaled(step, u, W[b])


@inner
def soft(x: float, width: float) -> float:
    """Return the soft threshold of x, eq. (17). NaN stays NaN, so that a divergence is not hidden."""
    if x > width:
        return x - width
    if x < -width:
        return x + width
    return 0.0 if x == x else x


@inner
def prox_step(
    W: FloatArray,
    WH: FloatArray,
    BW: FloatArray,
    G: FloatArray,
    penalty: FloatArray,
    anchor: FloatArray,
    W0: FloatArray,
    alpha: float,
    beta: float,
    L: float,
) -> None:
    """Update W by a step of length 1 / L, eq. (16); WH = W H, BW = B W. The intercept has no alpha and beta."""
    last, step, width = W.shape[1] - 1, 1.0 / L, alpha / L
    for b in range(W.shape[0]):
        for j in range(last):
            slope = WH[b, j] - G[b, j] + penalty[j] * W[b, j] - anchor[j] * W0[b, j] + beta * BW[b, j]
            W[b, j] = soft(W[b, j] - slope * step, width)
        slope = WH[b, last] - G[b, last] + penalty[last] * W[b, last] - anchor[last] * W0[b, last]
        W[b, last] -= slope * step


@allocating_kernel
def power_iteration(A: FloatArray, steps: int) -> float:
    """Return the largest absolute eigenvalue of A by `steps` of power iteration, for the printed step and coupling."""
    v, image = np.ones(A.shape[0]), np.empty(A.shape[0])
    size = 0.0
    for _ in range(steps):
        image[:] = 0.0
        add_product(A, v, 1.0, image)
        size = np.sqrt(dot(image, image))
        if size == 0.0:
            return 0.0
        v[:] = image / size
    return float(size)


@inner
def has_diverged(W: FloatArray) -> bool:
    """Return whether a weight is NaN, infinite or beyond `DIVERGED_ABOVE`."""
    bad = False
    for b in range(W.shape[0]):
        for j in range(W.shape[1]):
            bad = bad or not abs(W[b, j]) < DIVERGED_ABOVE
    return bad


@allocating_kernel
def iterate(
    slot: int,
    b: int,
    y: FloatArray,
    w: float,
    rules: RuleArrays,
    shared: Settings,
    work: Workspace,
    paper: PaperState,
) -> bool:
    """Update label moments and step bound of `slot` and run its proximal steps; return False if weights diverge.

    y are the labels of the sample, w its weight in the slot, b the place of its regressor in `work`.
    """
    arrays, settings, B, WH, BW = paper.arrays, paper.settings, paper.work.B, paper.work.WH, paper.work.BW
    top = arrays.top[slot]
    if settings.coupling > NONE:
        add_label_moments(y, w, arrays.mass[slot], arrays.ybar[slot], arrays.Q[slot])
    r = work.r[b]
    top[0] += w * dot(r, r)  # Weyl: lmax(H + w r r') <= lmax(H) + w |r|^2
    if settings.prox_steps == 0:
        return not has_diverged(rules.W[slot])
    coupling(arrays.Q[slot], arrays.mass[slot], settings.coupling, B)
    L = top[0] + settings.beta  # lmax(B) <= 1, except for the printed coupling
    if settings.coupling == PAPER:
        L = top[0] + settings.beta * power_iteration(B, POWER_STEPS)
    if settings.literal_step:  # eq. (14) as printed
        L = np.sqrt(power_iteration(rules.H[slot], POWER_STEPS) + settings.beta * power_iteration(B, POWER_STEPS))
    for _ in range(settings.prox_steps):
        row_products(rules.W[slot], rules.H[slot], WH)  # H is symmetric, and kept whole
        BW[:] = 0.0
        add_rows(B, rules.W[slot], BW)
        prox_step(
            rules.W[slot],
            WH,
            BW,
            rules.G[slot],
            shared.penalty[1],
            paper.anchor,
            rules.W[0],
            settings.alpha,
            settings.beta,
            L,
        )
    return not has_diverged(rules.W[slot])
