"""Learning by the last answers: every answer of the last `OLDEST` rows is tried as if it were the last one known.

So ages of 2 to `OLDEST` rows are learned where all rows are answered, too. With u = y - g1, by steps in proportion to
the weight of the answer y:

    e[b,k,v] += OWN_STEP u,   r[b,k] += SLOPE_STEP u R,   e0[k,v] += SHARED_STEP / (1 + SHARED_STEP (K - 1) / 4) sum_b u

The step of e0 is shorter where it is that of many labels, so that no row overshoots.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.drift.arrays import LOSS_MEMORY
from evolabel.stages.drift.loops.linear import CURVATURE, learn_linear, learn_scores
from evolabel.stages.drift.loops.mixer import clipped
from evolabel.stages.last_answers.arrays import (
    ANSWERS_KEPT,
    BY_COUNTS,
    BY_EVIDENCE,
    COUNT,
    OLDEST,
    PLAIN,
    POSITIVES,
    LastAnswerArrays,
    LastAnswerState,
)
from evolabel.stages.last_answers.loops.answer import (
    answer_labels,
    by_counts,
    by_evidence,
    group_of,
    log_odds,
    mix_quick,
)
from evolabel.typing import FloatArray

OWN_STEP, SHARED_STEP, SLOPE_STEP = 0.133, 0.057, 0.19
QUICK_STEPS = 2.0  # times the step of the linear member
E5, E20 = 0.2, 0.05  # steps of the fading means


@inner
def add_loss(L: FloatArray, b: int, error: float, step: float) -> None:
    """Move the mean loss of label b in L by this `step` towards the square of an `error`."""
    L[b] += step * (error * error - L[b])


@inner
def count_after(counts: FloatArray, y: float, g: float, kept: float) -> None:
    """Add the answer y of weight g to fading `counts`, of which `kept` is left."""
    counts[COUNT] = kept * counts[COUNT] + g
    counts[POSITIVES] = kept * counts[POSITIVES] + g * y


@inner
def learn_after(b: int, k: int, place: int, odds: float, y: float, g: float, m: LastAnswerState) -> None:
    """Learn the answer y of weight g to label b after the one in `place`, of the age k; `odds` is the logit of f."""
    a = m.arrays
    v = int(a.answers[b, place])
    g1, g2 = by_evidence(b, k, place, odds, a), by_counts(b, k, v, a)
    a.n_evidence[k, b] = min(a.n_evidence[k, b] + g, LOSS_MEMORY)
    step = g / a.n_evidence[k, b]
    add_loss(a.losses[k, PLAIN], b, y - m.f[b], step)
    add_loss(a.losses[k, BY_EVIDENCE], b, y - g1, step)
    add_loss(a.losses[k, BY_COUNTS], b, y - g2, step)
    u = g * (y - g1)
    a.evidence[b, k, v] += OWN_STEP * u
    m.steps[k, v] += u
    for i in range(a.slopes.shape[2]):
        a.slopes[b, k, i] += SLOPE_STEP * u * a.residuals[b, place, i]
    count_after(a.counts[b, k, v], y, g, 1.0 - g / ANSWERS_KEPT)
    count_after(a.shared_counts[k, v], y, g, 1.0 - g / (ANSWERS_KEPT * a.n_losses.shape[0]))


@inner
def keep_answer(b: int, now: int, y: float, g: float, m: LastAnswerState) -> None:
    """Keep the answer y of weight g to label b in the row `now`, with the residuals after it, unless it is too late."""
    a, d = m.arrays, y - m.f[b]
    place, last = now % OLDEST, 0
    if a.at[b, place] > now:
        return
    for i in range(1, OLDEST):
        if a.at[b, i] > a.at[b, last]:
            last = i
    for i, step in ((1, E5), (2, E20)):
        a.residuals[b, place, i] = a.residuals[b, last, i] + g * step * (d - a.residuals[b, last, i])
    a.residuals[b, place, 0] = d
    a.at[b, place], a.answers[b, place] = now, y


@inner
def learn_answer(b: int, now: int, f: float, y: float, g: float, m: LastAnswerState) -> None:
    """Learn the answer y of weight g to label b in the row `now`, whose output in front of this stage was f."""
    a, odds = m.arrays, log_odds(m.f[b])
    for age in range(1, OLDEST + 1):
        place = (now - age) % OLDEST
        if a.at[b, place] == now - age:
            learn_after(b, group_of(age), place, odds, y, g, m)
    a.n_losses[b] = min(a.n_losses[b] + g, LOSS_MEMORY)
    add_loss(a.quick_losses[0], b, y - clipped(f), g / a.n_losses[b])
    add_loss(a.quick_losses[1], b, y - m.quick[b], g / a.n_losses[b])
    keep_answer(b, now, y, g, m)


@inner
def learn_shared(a: LastAnswerArrays, steps: FloatArray) -> None:
    """Change the shared evidence by the sums of errors `steps` of a row."""
    step = SHARED_STEP / (1.0 + CURVATURE * SHARED_STEP * (a.n_losses.shape[0] - 1))
    for k in range(steps.shape[0]):
        for v in range(steps.shape[1]):
            a.shared_evidence[k, v] += step * steps[k, v]


@inner
def fill_answer_weights(weight: float, sure: FloatArray, y: FloatArray, g: FloatArray) -> bool:
    """Fill g with the weights in [0, 1] of the labels y, 0 where one is NaN; return whether one is above 0.

    `sure` has the confidences, (1, K), or is empty; `weight` is that of the row.
    """
    known = False
    for b in range(y.shape[0]):
        g[b] = min(weight, 1.0) * (sure[0, b] if sure.shape[0] > 0 else 1.0)
        if np.isnan(y[b]):
            g[b] = 0.0
        known = known or g[b] > 0.0
    return known


@kernel
def learn_last_answers(
    m: LastAnswerState,
    X: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    F: FloatArray,
    followed: FloatArray,
    g: FloatArray,
) -> None:
    """Learn the rows X, whose outputs in front of this stage are F, with the labels Y, one after the other.

    `followed`, if it has rows, receives the outputs that follow the last answers, each from before its row is learned.
    `weights` and `confidences` may be empty. g is scratch, (K,). A row without an answer is counted, and teaches
    nothing.
    """
    a = m.arrays
    for i in range(X.shape[0]):
        now = a.row[0] + 1
        mix_quick(X[i], F[i], m)
        if followed.shape[0] > 0:
            for b in range(g.shape[0]):
                followed[i, b] = F[i, b]
            answer_labels(now, m, followed[i])
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if fill_answer_weights(weight, confidences[i : i + 1], Y[i], g):
            m.steps[:] = 0.0
            for b in range(g.shape[0]):
                if g[b] > 0.0:
                    learn_answer(b, now, F[i, b], Y[i, b], g[b], m)
            learn_shared(a, m.steps)
            learn_linear(Y[i], QUICK_STEPS, g, m.s, m.quick, a.W)
            learn_scores(X[i], min(weight, 1.0), a.mean, a.variance, a.n_read)
        a.row[0] = now
