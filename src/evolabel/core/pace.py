"""How many independent answers one answer of a label counts for, and how much time passes with it.

A label that stays the same for 600 rows is not 600 proofs of anything. Per label the changes between neighbouring
answers are counted beside those to be expected if the answers came at random. One label is a vector `a` of
`N_PERSISTENCE` numbers, all 0 before the first answer:

| index       | symbol | meaning                                                                                    |
|-------------|--------|--------------------------------------------------------------------------------------------|
| LAST_ANSWER | v      | the last answer, 0 or 1                                                                    |
| SHARE       | p      | share of positives over the last `SHARE_ANSWERS` answers; at first their sum / (n + 1)     |
| CHANGES     | c      | answers that differed from the one before; fading with e                                   |
| EXPECTED    | e      | sum of 1 - p after a positive, of p after a negative; beyond `MOST_EXPECTED` c and e fade  |
| N_ANSWERS   | n      | answers so far, at most `SHARE_ANSWERS`                                                    |
| SINCE       |        | answers since the last positive                                                            |
| EPISODES    | k      | positives that came more than `EPISODE_GAP` answers after the one before; fading with q    |
| BY_CHANCE   | q      | sum of (1 - p)^`EPISODE_GAP` over positives; beyond `MOST_EXPECTED` k and q fade           |

    rate          r = min(1, (c + 2 sqrt(c) + 1) / e)     1 while e < `LEAST_EXPECTED`, or where r > `RANDOM_RATE`
    of episodes   r = min(r, (k + 2 sqrt(k) + 1) / q)     of a rare label, where this is at most `EPISODE_RATE`
    independent   n_eff = r / (2 - r)
    pace          min(1, 7 n_eff^1.3)

For answers that come in runs of mean length L, n_eff is near 1 / (L - 1): the runs of a Markov chain whose neighbouring
answers are correlated by 1 - r have (1 - (1 - r)) / (1 + (1 - r)) = r / (2 - r) independent answers per answer. e sums
the probability of each change as it was before the answer, by p and by the last answer. So e grows with the first run
of a rare answer, and c varies less around it than around sums of 2 p (1 - p). Two standard errors of c are added, so
that answers count less only where they persist beyond doubt: where they come as if at random, n_eff and pace are
exactly 1. p is a share of late, so that a share that drifts is not taken for persistence.
Answers of a rare label often flicker where they persist, as a fault does while a sensor is near its limit: c is large
then, although a few episodes are all that was seen. Positives that are `EPISODE_GAP` answers apart or less are one
episode, and q is the number of episodes to be expected at random. A share that jumps up looks like an episode for a
while, which is why only a rate that is much smaller than at random counts.
Tests weigh an answer by n_eff, because they need independent answers. Memories and steps take the pace, which is
larger: rows inside a run still show how features vary.
"""

import numpy as np

from evolabel.core.schema import array
from evolabel.core.stored_checks import MOST, require
from evolabel.engine.compile import inner, interpreted
from evolabel.typing import FloatArray

LAST_ANSWER, SHARE, CHANGES, EXPECTED, N_ANSWERS, SINCE, EPISODES, BY_CHANCE = 0, 1, 2, 3, 4, 5, 6, 7
N_PERSISTENCE = 8  # numbers of one label

SHARE_ANSWERS = 1000.0
MOST_EXPECTED = 1000.0
LEAST_EXPECTED = 10.0
CHANGE_DOUBT = 2.0  # standard errors of the changes
RANDOM_RATE = 0.75  # of 2,000 streams of 10,000 answers at random 0 or 1 have a row below it, at shares of .5 to .005
EPISODES_BELOW = 0.15  # share of a label below which its positives are counted in episodes
RARE_DOUBT = 2.0  # standard errors of the share
EPISODE_GAP = 10.0  # answers; plants of seeds 36, 38, 40, 41, whose faults last 15 rows: 5 to 15 are equally good
EPISODE_RATE = 0.5  # of 300 streams of 10,000 answers at random, none has a row below it, at shares of .15 to .005
PACE, PACE_POWER = 7.0, 1.3
TINY_SPREAD = 1e-9  # added to p (1 - p), so that a label that never changed has some weight in a row


@inner
def count_positive(a: FloatArray) -> None:
    """Update the episodes in the counts `a` of a label by a positive, if the label is rare."""
    if 0.0 < a[SHARE] < EPISODES_BELOW:
        if a[SINCE] > EPISODE_GAP:
            a[EPISODES] += 1.0
        a[BY_CHANCE] += (1.0 - a[SHARE]) ** EPISODE_GAP
        if a[BY_CHANCE] > MOST_EXPECTED:
            a[EPISODES] *= MOST_EXPECTED / a[BY_CHANCE]
            a[BY_CHANCE] = MOST_EXPECTED
    a[SINCE] = 0.0


@inner
def count_answer(a: FloatArray, y: float) -> None:
    """Update the counts `a` of a label by its answer y."""
    a[SINCE] += 1.0
    if y > 0.5:
        count_positive(a)
    if a[N_ANSWERS] > 0.0:
        if a[LAST_ANSWER] != y:
            a[CHANGES] += 1.0
        a[EXPECTED] += 1.0 - a[SHARE] if a[LAST_ANSWER] > 0.5 else a[SHARE]
    a[LAST_ANSWER] = y
    a[N_ANSWERS] = min(a[N_ANSWERS] + 1.0, SHARE_ANSWERS)
    a[SHARE] += (y - a[SHARE]) / (a[N_ANSWERS] + 1.0 if a[N_ANSWERS] < SHARE_ANSWERS else SHARE_ANSWERS)
    if a[EXPECTED] > MOST_EXPECTED:
        a[CHANGES] *= MOST_EXPECTED / a[EXPECTED]
        a[EXPECTED] = MOST_EXPECTED


@inner
def is_rare(share: float, n_eff: float) -> bool:
    """Return whether a label of this `share` of late is rare beyond doubt.

    An answer counts for `n_eff` independent ones: after a run of 1,000 rows a class is not rare.
    """
    n = SHARE_ANSWERS * n_eff
    doubt = RARE_DOUBT * ((share * (1.0 - share) + 0.25 / n) / n) ** 0.5 if n_eff < 1.0 else 0.0
    return bool(share + doubt < EPISODES_BELOW)


@inner
def independent(a: FloatArray) -> float:
    """Return n_eff, how many independent answers one answer counts for, by the counts `a` of its label."""
    rate = 1.0
    if a[EXPECTED] >= LEAST_EXPECTED:
        rate = (a[CHANGES] + CHANGE_DOUBT * a[CHANGES] ** 0.5 + 1.0) / a[EXPECTED]
        rate = rate if rate <= RANDOM_RATE else 1.0
    if a[BY_CHANCE] >= LEAST_EXPECTED and a[SHARE] < EPISODES_BELOW:
        of_episodes = (a[EPISODES] + CHANGE_DOUBT * a[EPISODES] ** 0.5 + 1.0) / a[BY_CHANCE]
        rate = min(rate, of_episodes) if of_episodes <= EPISODE_RATE else rate
    return float(rate / (2.0 - rate)) if rate < 1.0 else 1.0


@inner
def pace_of(n_eff: float) -> float:
    """Return the time that passes with an answer that counts for `n_eff` independent ones."""
    return float(min(1.0, PACE * n_eff**PACE_POWER)) if n_eff < 1.0 else 1.0


@inner
def spread_of(a: FloatArray) -> float:
    """Return the weight of a label of these counts `a` in the mean n_eff and pace of a row."""
    return float(a[SHARE] * (1.0 - a[SHARE]) + TINY_SPREAD)


PERSISTENCE = array("label", N_PERSISTENCE, low=0.0, high=float(MOST))
"""The counts of every label, (K, `N_PERSISTENCE`)."""

_independent, _spread_of = interpreted(independent), interpreted(spread_of)


def independent_answers(persistence: FloatArray) -> FloatArray:
    """Return how many independent answers one answer of each label counts for, by its counts `persistence`, (K,)."""
    return np.array([_independent(counts) for counts in persistence])


def mean_independent(persistence: FloatArray) -> float:
    """Return the mean of `independent_answers` over classes; each weighs as much as its answers vary."""
    spreads = np.array([_spread_of(counts) for counts in persistence])
    return float(spreads @ independent_answers(persistence) / spreads.sum())


def merged_persistence(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the counts of two models that were trained apart; the last answers are those of the first, if it has any.

    Changes add up, seen and expected ones; shares are averaged by answers.
    """
    merged, n = a + b, a[:, N_ANSWERS] + b[:, N_ANSWERS]
    for last in (LAST_ANSWER, SINCE):
        merged[:, last] = np.where(a[:, N_ANSWERS] > 0.0, a[:, last], b[:, last])
    part = np.divide(b[:, N_ANSWERS], n, out=np.zeros(len(n)), where=n > 0.0)
    merged[:, SHARE] = (1.0 - part) * a[:, SHARE] + part * b[:, SHARE]
    merged[:, N_ANSWERS] = np.minimum(n, SHARE_ANSWERS)
    for seen, expected in ((CHANGES, EXPECTED), (EPISODES, BY_CHANCE)):
        merged[:, [seen, expected]] /= np.maximum(merged[:, expected] / MOST_EXPECTED, 1.0)[:, None]
    return merged


def check_persistence(persistence: FloatArray) -> None:
    """Raise DataError unless `persistence`, whose values are in range, has answers and shares of labels."""
    require(np.isin(persistence[:, LAST_ANSWER], (0.0, 1.0)), "persistence", "0 or 1, the last answers")
    require(persistence[:, SHARE] <= 1.0, "persistence", "shares in [0, 1]")
    require(persistence[:, N_ANSWERS] <= SHARE_ANSWERS, "persistence", f"at most {SHARE_ANSWERS:g} answers")
