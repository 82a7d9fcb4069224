"""The members beside the rules: the fast one, the linear one, and the mixer that weighs all by their recent losses.

The fast member has the sums of the rules with a memory of N rows of the stream, `Settings.memory`. Sums fade in blocks
of N / 2 rows: a slot that learns first applies the blocks that it has missed, H and G times exp(-1/2) each, and derives
P = (H + penalty)^-1 anew. Within a block P follows by rank-one steps. So P is exact for its H, the ridge never fades,
rounding does not add up, and a rule that does not fire costs nothing.

The linear member is online logistic regression on standard scores of the raw features. The scores follow the running
mean and variance of each feature, so that this member sees the inputs otherwise than the rules do, whose scaling is
that of the initial batch.

| symbol | array  | meaning                                                                     |
|--------|--------|-----------------------------------------------------------------------------|
| x      | (p,)   | raw features, NaN where missing                                             |
| s      | (q,)   | standard scores of x, cut at `FURTHEST_SCORE`, then 1; 0 where x is missing |
| W      | (K, q) | weights of the linear member, whose outputs are 1 / (1 + exp(-W s))         |
| L      | (3, K) | fading mean of the squared errors of each member                            |
| w      | (3, K) | exp(-KAPPA (l_m - l) / (l + LEAST_LOSS)), l = min l_m, divided by its sum   |
| F      | (4, K) | outputs of the members, then of the mixture, sum of w f                     |

l is L of the slow member, and HANDICAP times L of the others: on a stationary stream the slow member answers alone.
Three or more classes have the same weights, by the mean of L over the classes. Losses fade over `LOSS_MEMORY` answers
in the time of `core.pace`: where answers persist, the last run alone does not decide.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.engine.symmetric import add_outer_products, add_product, add_scaled, dot, positive_inverse
from evolabel.engine.values import MAX_VALUE
from evolabel.stages.drift.arrays import BORN, FAST, FINAL, LINEAR, LOSS_MEMORY, NEVER, SCORE_MEMORY, SLOW, Members
from evolabel.stages.rules.arrays import BLOCKS, RuleArrays, Settings
from evolabel.typing import FloatArray

FADE = -0.5  # logarithm of the factor per block: 1 / BLOCKS


@inner
def block_of(row: int, memory: int) -> int:
    """Return the block of the `row` of a stream, counted from 1, for a `memory` of so many rows."""
    return (row - 1) // (memory // BLOCKS)


@inner
def multiply_sums(slot: int, factor: float, fast: RuleArrays) -> None:
    """Multiply H and G of `slot` by `factor`, pending rows included; P is not changed."""
    H, G = fast.H[slot], fast.G[slot]
    add_outer_products(H, fast.pending_H[slot], fast.n_pending[slot], 1.0)
    fast.n_pending[slot] = 0
    for i in range(H.shape[0]):
        for j in range(i + 1):
            H[i, j] *= factor
    for b in range(G.shape[0]):
        for j in range(G.shape[1]):
            G[b, j] *= factor


@inner
def derive_fast_inverse(
    slot: int, fast: RuleArrays, settings: Settings, A: FloatArray, L: FloatArray, V: FloatArray, column: FloatArray
) -> None:
    """Derive P of `slot` from its H; A, L, V and `column` are scratch."""
    H, penalty = fast.H[slot], settings.penalty[min(slot, 1)]
    for i in range(H.shape[0]):
        for j in range(i + 1):
            A[i, j] = H[i, j]
        A[i, i] += penalty[i]
    positive_inverse(A, L, V, column, fast.P[slot])


@inner
def fade_active(m: int, now: int, members: Members) -> bool:
    """Apply the blocks that the m active rules and the global model have missed before the block `now`.

    Return whether there were any: P of some rule has then changed.
    """
    faded = False
    fast, settings, active = members.fast.rules, members.fast.settings, members.fast.work.active
    for b in range(m + 1):
        slot = active[b]
        missed = now - members.fast_block[slot]
        if missed > 0:
            members.fast_block[slot] = now
        if missed > 0 and fast.locked[slot] == 0:
            multiply_sums(slot, exp_of_negative(FADE * missed), fast)
            derive_fast_inverse(slot, fast, settings, members.A, members.L, members.V, members.column)
            faded = True
    return faded


FURTHEST_SCORE = 4.0  # standard deviations
STEP = 0.05  # eta, the length of a step
CURVATURE = 0.25  # largest second derivative of the logistic loss: bounds the step
CONSTANT_UP_TO = 1e-16  # variance, in units of the squared mean, up to which a feature counts as constant
_TINY = 1e-300
FURTHEST_LEARNED = 20.0  # standard deviations; values further away count as there: one wild reading spoils nothing
LEARNED_FROM = 30.0  # summed weight of rows below which nothing is cut: the deviation is not known yet


@inner
def varies(mean: float, variance: float) -> bool:
    """Return whether a feature of this `mean` and `variance` is not constant."""
    return bool(variance > CONSTANT_UP_TO * mean * mean + _TINY)


@inner
def fill_scores(x: FloatArray, mean: FloatArray, variance: FloatArray, s: FloatArray) -> None:
    """Fill s with the standard scores of x, cut at `FURTHEST_SCORE`, and 1; a constant or missing feature scores 0."""
    p = x.shape[0]
    for j in range(p):
        s[j] = 0.0
        if x[j] == x[j] and varies(mean[j], variance[j]):
            s[j] = min(max((x[j] - mean[j]) / np.sqrt(variance[j]), -FURTHEST_SCORE), FURTHEST_SCORE)
    s[p] = 1.0


@inner
def logistic(o: float) -> float:
    """Return 1 / (1 + exp(-o)), by an exponential of a number that is not positive."""
    e = exp_of_negative(-abs(o))
    return 1.0 / (1.0 + e) if o >= 0.0 else e / (1.0 + e)


@inner
def answer_linear(W: FloatArray, s: FloatArray, f: FloatArray) -> None:
    """Fill f with the outputs for the scores s."""
    f[:] = 0.0
    add_product(W, s, 1.0, f)
    for b in range(f.shape[0]):
        f[b] = logistic(f[b])


@inner
def learn_linear(
    y: FloatArray, weight: float, confidence: FloatArray, s: FloatArray, f: FloatArray, W: FloatArray
) -> None:
    """Add to W one step towards the labels y of scores s, whose outputs were f; labels of confidence 0 are skipped.

    The step STEP g / (1 + STEP g |s|^2 / 4) of a label of weight g is shorter where the scores are long, so that no row
    overshoots.
    """
    length = dot(s, s)
    for b in range(y.shape[0]):
        g = STEP * weight * confidence[b]
        if g > 0.0:
            add_scaled(g / (1.0 + CURVATURE * g * length) * (y[b] - f[b]), s, W[b])


@inner
def learn_scores(x: FloatArray, weight: float, mean: FloatArray, variance: FloatArray, n_read: FloatArray) -> None:
    """Update mean, variance and n_read by the row x of this `weight`; missing features change nothing."""
    for j in range(x.shape[0]):
        if x[j] == x[j]:
            n_read[j] = min(n_read[j] + weight, max(SCORE_MEMORY, weight))
            step = weight / n_read[j]
            e = min(max(x[j], -MAX_VALUE), MAX_VALUE) - mean[j]
            if n_read[j] >= LEARNED_FROM and varies(mean[j], variance[j]):
                furthest = FURTHEST_LEARNED * np.sqrt(variance[j])
                e = min(max(e, -furthest), furthest)
            mean[j] += step * e
            variance[j] = (1.0 - step) * (variance[j] + step * e * e)


KAPPA = 40.0  # how sharply weights follow relative differences of the losses
HANDICAP = 1.1  # by which the losses of the fast and of the linear member are multiplied
LEAST_LOSS = 0.001  # added to the least loss, so that tiny losses do not decide


@inner
def mean_loss(L: FloatArray, m: int) -> float:
    """Return the mean of the losses L of member m over all labels."""
    total = 0.0
    for b in range(L.shape[1]):
        total += L[m, b]
    return float(total / L.shape[1])


@inner
def mixer_weights(L: FloatArray, has_fast: bool, one_weight: bool, w: FloatArray) -> None:
    """Fill w with the weights of the members by their losses L; without a fast member its weight is 0.

    `one_weight`: all labels have the same weights, by the mean losses.
    """
    for b in range(L.shape[1]):
        if one_weight and b > 0:
            for m in range(w.shape[0]):
                w[m, b] = w[m, 0]
            continue
        slow, fast, linear = L[SLOW, b], L[FAST, b], L[LINEAR, b]
        if one_weight:
            slow, fast, linear = mean_loss(L, SLOW), mean_loss(L, FAST), mean_loss(L, LINEAR)
        fast, linear = HANDICAP * fast, HANDICAP * linear
        least = min(slow, linear)
        if has_fast:
            least = min(least, fast)
        sharp = -KAPPA / (least + LEAST_LOSS)
        w[SLOW, b] = exp_of_negative(sharp * (slow - least))
        w[FAST, b] = exp_of_negative(sharp * (fast - least)) if has_fast else 0.0
        w[LINEAR, b] = exp_of_negative(sharp * (linear - least))
        total = w[SLOW, b] + w[FAST, b] + w[LINEAR, b]
        for m in range(w.shape[0]):
            w[m, b] /= total


@inner
def mix(w: FloatArray, F: FloatArray) -> None:
    """Fill the last row of F with the mixture of the others by w."""
    for b in range(F.shape[1]):
        F[FINAL, b] = w[SLOW, b] * F[SLOW, b] + w[FAST, b] * F[FAST, b] + w[LINEAR, b] * F[LINEAR, b]


@inner
def clipped(f: float) -> float:
    """Return f cut to [0, 1]."""
    return min(max(f, 0.0), 1.0)


@inner
def learn_losses(b: int, y: float, g: float, members: Members) -> None:
    """Update the losses of label b by its answer y of weight g, times its pace, from the outputs of the present row."""
    members.arrays.n_losses[b] = min(members.arrays.n_losses[b] + g, max(LOSS_MEMORY, g))
    step = g / members.arrays.n_losses[b]
    for m in range(members.arrays.losses.shape[0]):
        e = clipped(members.F[m, b]) - y
        members.arrays.losses[m, b] += step * (e * e - members.arrays.losses[m, b])


@kernel
def current_weights(members: Members) -> None:
    """Fill w of `members` with the weights of now."""
    mixer_weights(members.arrays.losses, members.arrays.clock[BORN] != NEVER, members.one_weight, members.w)


@kernel
def standard_rows(members: Members, X: FloatArray, S: FloatArray) -> None:
    """Fill S, (n, q), with the scores of the raw rows X, as the linear member takes them."""
    for i in range(X.shape[0]):
        fill_scores(X[i], members.arrays.mean, members.arrays.variance, S[i])


@kernel
def mix_rows(members: Members, X: FloatArray, fast: FloatArray, formed: bool, out: FloatArray) -> None:
    """Change `out`, outputs of the slow member for the raw rows X, to those of the mixture; `fast` has the fast ones.

    `formed`: `out` has the outputs by mixed weights of slow and fast member, and `fast` is empty.
    """
    w, F = members.w, members.F
    has_fast = members.arrays.clock[BORN] != NEVER
    mixer_weights(members.arrays.losses, has_fast, members.one_weight, w)
    for i in range(X.shape[0]):
        fill_scores(X[i], members.arrays.mean, members.arrays.variance, members.s)
        answer_linear(members.arrays.W, members.s, F[LINEAR])
        for b in range(F.shape[1]):
            if formed:
                out[i, b] = (w[SLOW, b] + w[FAST, b]) * out[i, b] + w[LINEAR, b] * F[LINEAR, b]
            else:
                other = fast[i, b] if has_fast else 0.0
                out[i, b] = w[SLOW, b] * out[i, b] + w[FAST, b] * other + w[LINEAR, b] * F[LINEAR, b]
