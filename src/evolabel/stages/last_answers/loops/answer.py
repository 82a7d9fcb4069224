"""What the last answers add to the outputs of a row.

A row has the outputs f, from the stages in front. For each label b:

    f'    = a mixture of f, cut to [0, 1], and of the quick member, by their recent losses
    v, k  = the last answer that is known, at most `OLDEST` rows old, and the group of its age
    R     = (d, E5, E20) after that answer: d = answer - f', and fading means of d
    g1    = sigma(logit(f' cut to [.01, .99]) + e[b,k,v] + e0[k,v] + r[b,k] R)
    g2    = (positives[b,k,v] + 5 m) / (count[b,k,v] + 5),  m: the same share of all labels together
    out   = a mixture of f', g1 and g2, by their recent losses at this age

`evidence` is e, `shared_evidence` e0, `slopes` r. Weights are those of `stages.drift.loops.mixer`: the first candidate
has no handicap, and three or more classes have the same weights. An output stays f where there is no such answer, and
until the label has had `ENOUGH` answers. So does that of a rare label whose positives follow each other no more often
than by chance (`are_in_runs`): the losses of a few positives say too little.

The quick member is the linear member of `stages.drift.loops.linear`, with steps of twice the length that no persistence
shortens: it says what holds at present, and not what rows mean.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.drift.loops.linear import answer_linear, fill_scores, logistic
from evolabel.stages.drift.loops.mixer import HANDICAP, KAPPA, LEAST_LOSS, clipped, mean_loss
from evolabel.stages.drift.loops.positives import MOST_WATCHED
from evolabel.stages.last_answers.arrays import (
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
