"""The mixer: weights of the members per label, by their recent losses.

| symbol | array  | meaning                                                                   |
|--------|--------|---------------------------------------------------------------------------|
| L      | (3, K) | fading mean of the squared errors of each member                          |
| w      | (3, K) | exp(-KAPPA (l_m - l) / (l + LEAST_LOSS)), l = min l_m, divided by its sum |
| f      | (4, K) | outputs of the members, then of the mixture, sum of w f                   |

l is L of the slow member, and HANDICAP times L of the others: on a stationary stream the slow member answers alone.
Three or more classes have the same weights, by the mean of L over the classes. Losses fade over `LOSS_MEMORY` answers
in the time of `core.loops.pace`: where answers persist, the last run alone does not decide.
"""

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.drift.arrays import BORN, FAST, FINAL, LINEAR, LOSS_MEMORY, NEVER, SLOW, Members
from evolabel.stages.drift.loops.linear import answer_linear, fill_scores
from evolabel.typing import FloatArray

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
