"""What the last answers add to the outputs of a row, and what each answer changes.

A row has the outputs f, from the stages in front. For each label b:

    f'    = a mixture of f, cut to [0, 1], and of the quick member, by their recent losses
    v, k  = the last answer that is known, at most `OLDEST` rows old, and the group of its age
    R     = (d, E5, E20) after that answer: d = answer - f', and fading means of d
    g1    = sigma(logit(f' cut to [.01, .99]) + e[b,k,v] + e0[k,v] + r[b,k] R)
    g2    = (positives[b,k,v] + 5 m) / (count[b,k,v] + 5),  m: the same share of all labels together
    out   = a mixture of f', g1 and g2, by their recent losses at this age

`evidence` is e, `shared_evidence` e0, `slopes` r. Weights are those of the mixer in `stages.drift.loops.members`: the
first candidate has no handicap, and three or more classes have the same weights. An output stays f where there is no
such answer, and until the label has had `ENOUGH` answers. So does that of a rare label whose positives follow each
other no more often than by chance (`are_in_runs`): the losses of a few positives show too little.

The quick member is the linear member of `stages.drift.loops.members`, with steps of twice the length that no
persistence shortens: it follows what holds at present, and not what rows mean.

To learn, every answer of the last `OLDEST` rows is tried as if it were the last one known. So ages of 2 to `OLDEST`
rows are learned where all rows are answered, too. With u = y - g1, by steps in proportion to the weight of
the answer y:

    e[b,k,v] += OWN_STEP u,   r[b,k] += SLOPE_STEP u R,   e0[k,v] += SHARED_STEP / (1 + SHARED_STEP (K - 1) / 4) sum_b u

The step of e0 is shorter where it is that of many labels, so that no row overshoots.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.drift.arrays import LOSS_MEMORY
from evolabel.stages.drift.loops.alarm import MOST_WATCHED
from evolabel.stages.drift.loops.members import (
    CURVATURE,
    HANDICAP,
    KAPPA,
    LEAST_LOSS,
    answer_linear,
    clipped,
    fill_scores,
    learn_linear,
    learn_scores,
    logistic,
    mean_loss,
)
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
from evolabel.typing import FloatArray, IntArray

ENOUGH = 100.0  # answers of a label before they are used
CHANCE = 2.0  # standard errors up to which positives of a rare label that follow each other do so by chance
LEAST_ODDS = 0.01  # outputs are cut to [LEAST_ODDS, 1 - LEAST_ODDS] before the logit
PRIOR_ANSWERS = 5.0  # that the share of all labels counts for


@inner
def group_of(age: int) -> int:
    """Return the group of an `age` from 1 to `OLDEST`."""
    return min(age, 3) - 1


@inner
def age_of_answer(b: int, now: int, a: LastAnswerArrays) -> int:
    """Return the age, in the row `now`, of the last answer to label b; 0 if it is older than `OLDEST` rows."""
    for age in range(1, OLDEST + 1):
        if a.at[b, (now - age) % OLDEST] == now - age:
            return age
    return 0


@inner
def most_answers(a: LastAnswerArrays) -> float:
    """Return the weight of the answers, up to that of the mixer, of the label that has had most."""
    most = 0.0
    for b in range(a.n_losses.shape[0]):
        most = max(most, a.n_losses[b])
    return most


@inner
def loss_weights(L: FloatArray, one_weight: bool, w: FloatArray) -> None:
    """Fill w with the weights of candidates by their losses L, both (n, K); `one_weight`: the same for all labels."""
    for b in range(L.shape[1]):
        least, total = np.inf, 0.0
        for c in range(L.shape[0]):
            w[c, b] = (mean_loss(L, c) if one_weight else L[c, b]) * (HANDICAP if c > 0 else 1.0)
            least = min(least, w[c, b])
        for c in range(L.shape[0]):
            w[c, b] = exp_of_negative(-KAPPA / (least + LEAST_LOSS) * (w[c, b] - least))
            total += w[c, b]
        for c in range(L.shape[0]):
            w[c, b] /= total
        if one_weight:
            for c in range(L.shape[0]):
                for other in range(1, L.shape[1]):
                    w[c, other] = w[c, 0]
            return


@inner
def mix_quick(x: FloatArray, f: FloatArray, m: LastAnswerState) -> None:
    """Fill f of `m` with the outputs f of the row x mixed with those of the quick member."""
    a = m.arrays
    fill_scores(x, a.mean, a.variance, m.s)
    answer_linear(a.W, m.s, m.quick)
    loss_weights(a.quick_losses, m.one_weight, m.w)
    for b in range(f.shape[0]):
        m.f[b] = m.w[0, b] * clipped(f[b]) + m.w[1, b] * m.quick[b]


@inner
def log_odds(f: float) -> float:
    """Return the logit of f, cut to [`LEAST_ODDS`, 1 - `LEAST_ODDS`]."""
    cut = min(max(f, LEAST_ODDS), 1.0 - LEAST_ODDS)
    return float(np.log(cut / (1.0 - cut)))


@inner
def by_evidence(b: int, k: int, place: int, odds: float, a: LastAnswerArrays) -> float:
    """Return g1 of label b, whose answer in `place` is of the age k; `odds` is the logit of its output."""
    v = int(a.answers[b, place])
    for i in range(a.slopes.shape[2]):
        odds += a.slopes[b, k, i] * a.residuals[b, place, i]
    return float(logistic(odds + a.evidence[b, k, v] + a.shared_evidence[k, v]))


@inner
def by_counts(b: int, k: int, v: int, a: LastAnswerArrays) -> float:
    """Return g2 of label b after the answer v of the age k."""
    n, shared = a.shared_counts[k, v, COUNT], 0.5
    if n > 0.0:
        shared = a.shared_counts[k, v, POSITIVES] / n
    return float((a.counts[b, k, v, POSITIVES] + PRIOR_ANSWERS * shared) / (a.counts[b, k, v, COUNT] + PRIOR_ANSWERS))


@inner
def are_in_runs(b: int, a: LastAnswerArrays) -> bool:
    """Return whether positives of label b follow each other more often than by chance; true if it is not rare."""
    off, on = a.counts[b, 0, 0], a.counts[b, 0, 1]
    share = (off[POSITIVES] + on[POSITIVES]) / max(1.0, off[COUNT] + on[COUNT])
    by_chance = on[COUNT] * share
    return bool(share >= MOST_WATCHED or on[POSITIVES] > by_chance + CHANCE * by_chance**0.5 + 1.0)


@inner
def answer_labels(now: int, m: LastAnswerState, out: FloatArray) -> None:
    """Change the outputs `out` of the row `now` where the last answers are used; f of `m` is filled."""
    a, weighed = m.arrays, -1
    most = most_answers(a) if m.is_exclusive else 0.0  # classes are answered together
    for b in range(out.shape[0]):
        age = age_of_answer(b, now, a)
        if age == 0 or max(a.n_losses[b], most) < ENOUGH or not (m.is_exclusive or are_in_runs(b, a)):
            continue
        k, place = group_of(age), (now - age) % OLDEST
        if weighed != k:  # nearly always the same for all labels
            loss_weights(a.losses[k], m.one_weight, m.of_age[k])
            weighed = k
        w = m.of_age[k]
        g1 = by_evidence(b, k, place, log_odds(m.f[b]), a)
        g2 = by_counts(b, k, int(a.answers[b, place]), a)
        out[b] = w[PLAIN, b] * m.f[b] + w[BY_EVIDENCE, b] * g1 + w[BY_COUNTS, b] * g2


@kernel
def answer_after(m: LastAnswerState, X: FloatArray, follows: IntArray, out: FloatArray) -> None:
    """Change the outputs `out` of the rows X, each of which comes as many rows after the last one as in `follows`."""
    for i in range(X.shape[0]):
        mix_quick(X[i], out[i], m)
        answer_labels(m.arrays.row[0] + follows[i], m, out[i])


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
    `weights` and `confidences` may be empty. g is scratch, (K,). A row without an answer is only
    counted.
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
