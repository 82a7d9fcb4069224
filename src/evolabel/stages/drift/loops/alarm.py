"""Drift alarms of one output: by the losses of all rows, and of those that count for a rare label; how they fall back.

The first compares the mean recent loss with the mean and variance of the losses in calm times. It is a vector `a` of
`N_ALARM` numbers, all 0 before the first loss:

| index         | meaning                                                                                |
|---------------|----------------------------------------------------------------------------------------|
| SHORT_MEAN    | S, fading mean of the loss over `window_of(spread)` answers                            |
| LONG_MEAN     | L, fading mean of the loss over `LONG_WINDOW` answers                                  |
| CALM_MEAN     | mu, mean loss in calm times                                                            |
| CALM_VARIANCE | v, variance of the loss in calm times                                                  |
| CALM_COUNT    | n, answers in calm times, each counted by its weight; in formulas at most `CALM_MEMORY`|
| IS_RAISED     | 1 while the alarm is raised, else 0                                                    |
| RAISED_AT     | row at which it was raised last                                                        |
| ODDS          | O, odds that the label is the opposite of what it was, by the recent answers; while    |
|               | the alarm is raised, mean odds of one answer                                           |
| CALM_ODDS     | mean odds of one answer in calm times                                                  |
| COUNTED_AT    | row whose answer was the last to count for O                                           |

| argument | meaning                                                                                               |
|----------|-------------------------------------------------------------------------------------------------------|
| loss     | of one answer, in [0, 1]                                                                              |
| spread   | pi (1 - pi), pi: share of the rows with the label; losses of a rare label are small: a longer window  |
| row      | clock of the stream                                                                                   |
| weight   | of the answer, in (0, 1]; it multiplies every step of a mean, and the answer counts by it             |
| margin   | added to both thresholds where several alarms are watched: sqrt(2 log(K + 1)) for K labels            |

*Raised*: S > mu + max((RAISE_DEVIATIONS + margin) se, floor), se = sqrt(v (1 / (2 window) + 1 / n)); or O is above
ODDS_LIMIT (K + 1). *Rise*: L is above mu by the same rule, with RISE_DEVIATIONS and the variance of L. The calm mean
is not learned while L is above mu by one standard error: the reference does not follow a rise. The alarm falls back
when S is near mu, or after `SETTLE_ROWS` rows, when S becomes the calm mean.

O is needed where few labels are asked for, most of them near an output of 1/2: such an answer is wrong as often after a
drift as before, and S hardly moves. With e = sqrt(loss), the distance of output and answer, the odds of one answer are
e / (1 - e): near 1 for an output near 1/2, and 9 for a sure one that is wrong. O is their product over the last
answers, O <- max(O, 1) e / (1 - e), each divided by the mean odds of calm times where those exceed 1: such outputs are
too sure. A model that was fitted to an initial batch has a `prior`: so many answers of odds 1 count as calm ones, and O
counts from the first answer on. Of answers less than `ODDS_GAP` rows apart one counts: labels often come in runs.

A rare label can lose most of its positives while its error over all rows hardly rises. So it is also judged by the rows
that have it, or were predicted to have it: a limit that falls makes the model miss positives, one that rises makes it
report rows that are none. Their alarm is a vector `a` of `N_POSITIVES` numbers, all 0 before the first of these rows:

| index       | meaning                                                                              |
|-------------|--------------------------------------------------------------------------------------|
| RECENT_LOSS | fading mean of the squared error over the last `RECENT_POSITIVES` rows               |
| USUAL_LOSS  | its mean in calm times, over `USUAL_MEMORY` rows                                     |
| USUAL_ODDS  | mean odds of a row in calm times                                                     |
| N_USUAL     | rows in both, at most `USUAL_MEMORY`                                                 |
| LOST_ODDS   | O, odds that the label is predicted worse than usual, by the recent rows             |
| SINCE_ROW   | answers since the last such row, whether it counted or not                           |
| RUN_PART    | independent answers since the last row that counted                                  |
| IS_LOST     | 1 while the alarm is raised, else 0                                                  |
| LOST_AT     | row at which it was raised last                                                      |

With o the odds of a row, e / (1 - e) for an output that is e from its answer, and w its weight,
O <- max(O, 1) (o / max(1, USUAL_ODDS))^w, at most `MOST_LOST_ODDS`. The alarm is raised when O is above ODDS_LIMIT
(K + 1) times the share of the label, because only that share of the rows are positives. A label whose share is
not below `MOST_WATCHED` beyond doubt raises none. Where answers persist (`core.pace`), rows that are `EPISODE_GAP`
answers apart or less are one episode. Its first row counts: it shows what was known before, while the others were
learned from it. Of the next ones one counts for every independent answer.
"""

import numpy as np

from evolabel.core.pace import EPISODE_GAP, EPISODES_BELOW, is_rare
from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.typing import FloatArray, IntArray

SHORT_MEAN, LONG_MEAN, CALM_MEAN, CALM_VARIANCE, CALM_COUNT, IS_RAISED, RAISED_AT = 0, 1, 2, 3, 4, 5, 6
ODDS, CALM_ODDS, COUNTED_AT = 7, 8, 9

QUIET, RISE, RAISED = 0, 1, 2  # what a loss has caused

# Set on nine drifting streams, their stationary twins and five real sets: no false alarm in 27 runs of 10,000 rows.
# A window of 50 answers for every label gave 60 false alarms on mediamill, whose labels are mostly rare.
SHORTEST_WINDOW = 50.0  # answers
LONGEST_WINDOW = 500.0  # answers
SPREAD_IN_WINDOW = 5.0  # sum of pi (1 - pi) over the answers of a window in between
NO_SPREAD = 1e-9  # added to the spread, so that the window of an unseen label is the longest
LONG_WINDOW = 400.0  # answers
CALM_MEMORY = 1000.0  # answers over which mean and variance of calm times fade

MIN_CALM_WINDOWS = 2.0  # windows of answers in calm times after which the mean can raise the alarm
AFTER_BATCH = 50.0  # `prior` of a model: its initial batch counts as so many answers of odds 1
AFTER_WINDOWS = 0.0  # `prior` of a learner of which nothing is known: odds count as the mean does, after two windows
BY_MEAN = -1.0  # `prior` of an alarm that the mean alone can raise
MIN_CALM_FOR_RISE = 400.0  # answers in calm times after which a rise is looked for
SETTLE_ROWS = 2000  # rows of the stream after which the loss of a raised alarm is the new calm level
SETTLED_COUNT = 50.0  # answers that count for the calm mean then

RAISE_DEVIATIONS = 5.0  # standard errors
RAISE_FLOOR = 0.08  # loss; the floor of the difference is the spread, but not more than this
POSITIVES_IN_WINDOW = 4.0  # answers of loss 1; so many of an unseen label in one window are no drift

LEAST_ERROR = 0.1  # of an output, in the odds of an answer
MOST_ODDS = 9.0  # of an answer, by `LEAST_ERROR`
ODDS_LIMIT = 50000.0  # odds at which an alarm is raised, per watched alarm
DOUBT_ODDS = 1000.0  # odds from which on an answer of a model with a `prior` is not one of calm times
ODDS_GAP = 3  # rows between two answers that count for the odds: neighbours are often alike

RISE_DEVIATIONS = 2.0  # standard errors
RISE_FLOOR = 0.01  # loss
RISE_SHARE = 0.1  # of the spread: the floor where that is smaller

BACK_FLOOR = 0.02  # loss
BACK_SHARE = 0.25  # of the spread: the floor where that is smaller
NOTHING_SHARE = 0.05  # of the spread: errors up to which none is a multiple of another
NOTHING_OF_RARE, RARE_SPREAD = 0.001, 0.1875  # the same of labels of a smaller spread, as at a share of a quarter


@inner
def window_of(spread: float) -> float:
    """Return the answers over which the loss of a label of this `spread` is averaged."""
    return min(max(SPREAD_IN_WINDOW / (spread + NO_SPREAD), SHORTEST_WINDOW), LONGEST_WINDOW)


@inner
def error_above_calm(a: FloatArray, share: float) -> float:
    """Return the standard error of a mean minus the calm mean; the mean has this `share` of the variance of a loss."""
    n = min(max(a[CALM_COUNT], 1.0), CALM_MEMORY)
    return float(np.sqrt(a[CALM_VARIANCE] * (share + 1.0 / n)))


@inner
def error_of_short(a: FloatArray, spread: float) -> float:
    """Return the standard error of the short mean of `a` minus its calm mean, for a label of this `spread`."""
    return error_above_calm(a, 1.0 / (2.0 * window_of(spread)))


@inner
def error_of_long(a: FloatArray) -> float:
    """Return the standard error of the long mean of `a` minus its calm mean."""
    return error_above_calm(a, 1.0 / (2.0 * LONG_WINDOW - 1.0))


@inner
def nothing_of(spread: float) -> float:
    """Return the error that is next to nothing for a label of this `spread`."""
    return float(NOTHING_SHARE * spread if spread >= RARE_SPREAD else NOTHING_OF_RARE)


@inner
def is_back(a: FloatArray, spread: float) -> bool:
    """Return whether the short mean of `a`, whose label has this `spread`, is back at the calm level.

    It is not a multiple of that level then, unless both are next to nothing.
    """
    near = max(error_of_short(a, spread), min(BACK_FLOOR, BACK_SHARE * spread))
    return bool(a[SHORT_MEAN] < a[CALM_MEAN] + min(near, max(a[CALM_MEAN], nothing_of(spread))))


@inner
def raised_level(a: FloatArray, spread: float, margin: float) -> float:
    """Return the short mean above which the alarm `a` is raised."""
    floor = min(RAISE_FLOOR, max(spread, POSITIVES_IN_WINDOW / window_of(spread)))
    return float(a[CALM_MEAN] + max((RAISE_DEVIATIONS + margin) * error_of_short(a, spread), floor))


@inner
def has_jumped(a: FloatArray, spread: float, margin: float) -> bool:
    """Return whether the short mean of `a` is so far above the calm level that the alarm is to be raised."""
    return bool(a[SHORT_MEAN] > raised_level(a, spread, margin))


@inner
def odds_of(loss: float) -> float:
    """Return the odds of one answer whose squared error is `loss`."""
    e = min(max(np.sqrt(loss), LEAST_ERROR), 1.0 - LEAST_ERROR)
    return float(min(e / (1.0 - e), MOST_ODDS))


@inner
def next_odds(odds: float, loss: float, a: FloatArray, weight: float, prior: float) -> float:
    """Return `odds` after an answer of this `loss` and `weight`, divided by the mean odds of the calm times of `a`.

    `prior` answers of odds 1 are added to those of calm times.
    """
    n = min(a[CALM_COUNT], CALM_MEMORY)
    usual = max((n * a[CALM_ODDS] + prior) / max(n + prior, 1.0), 1.0)
    return float(max(odds, 1.0) * (1.0 + weight * (odds_of(loss) / usual - 1.0)))


@inner
def learn_odds(a: FloatArray, loss: float, row: int, weight: float, prior: float) -> None:
    """Update the odds of `a` by a `loss` of this `weight` at `row`, unless an answer shortly before has counted.

    `prior` as for `next_odds`.
    """
    if row - a[COUNTED_AT] >= ODDS_GAP:
        a[ODDS] = next_odds(a[ODDS], loss, a, weight, prior)
        a[COUNTED_AT] = row


@inner
def is_contradicted(a: FloatArray, margin: float) -> bool:
    """Return whether the odds of `a` are so large that the alarm is to be raised."""
    return bool(a[ODDS] * exp_of_negative(-0.5 * margin * margin) > ODDS_LIMIT)


@inner
def raise_alarm(a: FloatArray, spread: float, row: int, margin: float) -> None:
    """Raise the alarm `a` at `row`; its short mean is then at least the level that raises it."""
    a[IS_RAISED] = 1.0
    a[RAISED_AT] = row
    a[SHORT_MEAN] = max(a[SHORT_MEAN], min(raised_level(a, spread, margin), 1.0))
    a[ODDS] = MOST_ODDS


@inner
def has_risen(a: FloatArray, spread: float, margin: float) -> bool:
    """Return whether the long mean of `a` is above the calm level by more than chance."""
    least = max((RISE_DEVIATIONS + margin) * error_of_long(a), min(RISE_FLOOR, RISE_SHARE * spread))
    return bool(a[CALM_COUNT] > MIN_CALM_FOR_RISE and a[LONG_MEAN] > a[CALM_MEAN] + least)


@inner
def is_calm(a: FloatArray) -> bool:
    """Return whether the next loss of `a` is one of calm times."""
    return bool(a[CALM_COUNT] <= MIN_CALM_FOR_RISE or a[LONG_MEAN] <= a[CALM_MEAN] + error_of_long(a))


@inner
def learn_calm(a: FloatArray, loss: float, weight: float) -> None:
    """Update calm mean, variance and count of `a` by a `loss` of this `weight`."""
    a[CALM_COUNT] += weight
    step = max(weight / a[CALM_COUNT], weight / CALM_MEMORY)
    e = loss - a[CALM_MEAN]
    a[CALM_MEAN] += step * e
    a[CALM_VARIANCE] = (1.0 - step) * (a[CALM_VARIANCE] + step * e * e)
    a[CALM_ODDS] += step * (odds_of(loss) - a[CALM_ODDS])


@inner
def recount(a: FloatArray, n_before: float, n_eff: float, n_answers: float) -> None:
    """Lower what the answers so far count for in the alarm `a`, where the next one counts for `n_eff` independent ones.

    The one before counted for `n_before`. It takes a long state to show that answers persist. When they begin to, calm
    answers count for at most `n_eff` times the `n_answers` so far, and odds are lowered whenever `n_eff` is.
    """
    if n_before == 1.0 and n_eff < 1.0:
        a[CALM_COUNT] = min(a[CALM_COUNT], n_eff * n_answers)
    if n_eff < n_before and a[ODDS] > 1.0 and a[IS_RAISED] == 0.0:
        a[ODDS] **= n_eff / n_before


@inner
def lower_alarm(a: FloatArray, spread: float, row: int, are_found: bool) -> None:
    """Let the raised alarm `a` fall back if its loss is back at the calm level, or has stayed above it until `row`.

    It is back only if positives `are_found` as well as usual.
    """
    back = is_back(a, spread) and are_found
    if back or row - a[RAISED_AT] > SETTLE_ROWS:
        a[IS_RAISED] = 0.0
        a[LONG_MEAN] = a[SHORT_MEAN]
        if not back:
            a[CALM_MEAN] = a[SHORT_MEAN]
            a[CALM_COUNT] = SETTLED_COUNT
            a[CALM_ODDS] = a[ODDS]
        a[ODDS] = 0.0


@inner
def watch(
    a: FloatArray,
    loss: float,
    spread: float,
    row: int,
    weight: float,
    margin: float,
    prior: float,
    are_found: bool,
) -> int:
    """Learn the `loss` of an answer by the alarm `a`; return `RAISED`, `RISE` or `QUIET`.

    `RAISED` is returned once, when the alarm is raised; after a rise the long mean starts again at the calm mean. An
    answer of `weight` 0 changes nothing. `prior` is `AFTER_BATCH`, `AFTER_WINDOWS` or `BY_MEAN`.
    A raised alarm does not fall back to the calm level unless positives `are_found` (`stages.drift.loops.alarm`).
    """
    if not weight > 0.0:
        return QUIET
    first = weight / (a[CALM_COUNT] + weight)  # plain means of the first answers: no single one sets the level
    a[SHORT_MEAN] += max(first, weight / window_of(spread)) * (loss - a[SHORT_MEAN])
    a[LONG_MEAN] += max(first, weight / LONG_WINDOW) * (loss - a[LONG_MEAN])
    if a[IS_RAISED] > 0.0:
        a[ODDS] += weight / window_of(spread) * (odds_of(loss) - a[ODDS])
        lower_alarm(a, spread, row, are_found)
        return QUIET
    known = a[CALM_COUNT] > MIN_CALM_WINDOWS * window_of(spread)
    if prior > 0.0 or (known and prior == AFTER_WINDOWS):
        learn_odds(a, loss, row, weight, prior)
    if (known and has_jumped(a, spread, margin)) or is_contradicted(a, margin):
        raise_alarm(a, spread, row, margin)
        return RAISED
    risen = has_risen(a, spread, margin)
    if risen:
        a[LONG_MEAN] = a[CALM_MEAN]
    if is_calm(a) and not (prior > 0.0 and a[ODDS] > DOUBT_ODDS):
        learn_calm(a, loss, weight)
    return RISE if risen else QUIET


@kernel
def watch_labels(
    A: FloatArray, losses: FloatArray, spreads: FloatArray, row: int, weight: float, margin: float, found: IntArray
) -> None:
    """Fill `found` with what `watch` returns for the alarms A, (K, N_ALARM), one per label; a loss of NaN is skipped.

    `losses` and `spreads` are those of the labels, (K,).
    """
    for j in range(A.shape[0]):
        found[j] = QUIET
        if not np.isnan(losses[j]):
            found[j] = watch(A[j], losses[j], spreads[j], row, weight, margin, AFTER_WINDOWS, True)


RECENT_LOSS, USUAL_LOSS, USUAL_ODDS, N_USUAL, LOST_ODDS, SINCE_ROW, RUN_PART, IS_LOST, LOST_AT = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
)

RECENT_POSITIVES = 20.0  # positives
USUAL_MEMORY = 200.0  # positives
MOST_WATCHED = EPISODES_BELOW  # share of a label: of others, the error over all rows shows enough
PREDICTED = 0.25  # squared error from which on a negative was predicted to be positive
KNOWN_POSITIVES = 20.0  # positives in calm times from which on the alarm can be raised
MOST_LOST_ODDS = 1e12  # so that those of a label that is not rare stay finite
DOUBTED_ODDS = 30.0  # from which on a positive is not one of calm times
LONGEST_WITHOUT = 500.0  # answers: a label that neither came nor was predicted for so long is not predicted wrongly
LOST_DEVIATIONS = 3.0  # standard errors of the recent error above the usual one, if a row were right or wrong
LOSS_NEAR, LOSS_NEAREST = 0.1, 0.05  # error above the usual one up to which positives are found as before


@inner
def are_found(a: FloatArray) -> bool:
    """Return whether recent rows of `a` are predicted as well as usual, or are too few or too long ago to show it."""
    near = min(LOSS_NEAR, max(a[USUAL_LOSS], LOSS_NEAREST))
    unknown = a[N_USUAL] < KNOWN_POSITIVES or a[SINCE_ROW] > LONGEST_WITHOUT
    return bool(unknown or a[RECENT_LOSS] < a[USUAL_LOSS] + near)


@inner
def are_worse(a: FloatArray) -> bool:
    """Return whether the recent error of `a` is above the usual one by more than chance."""
    spread = a[USUAL_LOSS] * (1.0 - a[USUAL_LOSS])
    return bool(a[RECENT_LOSS] > a[USUAL_LOSS] + LOST_DEVIATIONS * np.sqrt(spread / (2.0 * RECENT_POSITIVES - 1.0)))


@inner
def is_counted(a: FloatArray, loss: float, y: float, n_eff: float) -> bool:
    """Return whether a row of this `loss` and answer y, which is worth `n_eff` independent ones, counts for `a`."""
    if y < 0.5 and loss < PREDICTED:
        a[SINCE_ROW] += 1.0
        return False
    a[RUN_PART] = 1.0 if a[SINCE_ROW] > EPISODE_GAP else min(a[RUN_PART] + n_eff, 1.0)
    a[SINCE_ROW] = 0.0
    if a[RUN_PART] < 1.0:
        return False
    a[RUN_PART] = 0.0
    return True


@inner
def learn_usual(a: FloatArray, loss: float, weight: float) -> None:
    """Update the errors and odds of calm times of `a` by the `loss` of a positive of this `weight`."""
    a[N_USUAL] = min(a[N_USUAL] + weight, USUAL_MEMORY)
    step = weight / a[N_USUAL]
    a[USUAL_LOSS] += step * (loss - a[USUAL_LOSS])
    a[USUAL_ODDS] += step * (odds_of(loss) - a[USUAL_ODDS])


@inner
def forget_usual(a: FloatArray) -> None:
    """Let the alarm `a` learn anew what is usual; it is not raised then."""
    a[N_USUAL], a[LOST_ODDS], a[IS_LOST] = 0.0, 0.0, 0.0


@inner
def watch_positives(
    a: FloatArray,
    loss: float,
    y: float,
    weight: float,
    n_eff: float,
    share: float,
    row: int,
    margin: float,
    is_calm: bool,
) -> bool:
    """Learn the `loss` of an answer y of this `weight` by the alarm `a` at the `row`; return whether it is raised now.

    The answer counts for `n_eff` independent ones, `share` is that of the label, `margin` as for
    `watch`. Where the label is in a drift, not `is_calm`, nothing is usual.
    """
    if not (weight > 0.0 and is_counted(a, loss, y, n_eff)):
        return False
    a[RECENT_LOSS] += max(weight / (a[N_USUAL] + weight), weight / RECENT_POSITIVES) * (loss - a[RECENT_LOSS])
    if a[IS_LOST] > 0.0:
        if are_found(a):
            a[IS_LOST] = 0.0
        elif row - a[LOST_AT] > SETTLE_ROWS:
            forget_usual(a)
        return False
    if a[N_USUAL] >= KNOWN_POSITIVES:
        odds = max(a[LOST_ODDS], 1.0) * (odds_of(loss) / max(a[USUAL_ODDS], 1.0)) ** weight
        a[LOST_ODDS] = min(odds, MOST_LOST_ODDS)
    sure = a[LOST_ODDS] * exp_of_negative(-0.5 * margin * margin) > ODDS_LIMIT * share
    if is_rare(share, n_eff) and sure and are_worse(a):
        a[IS_LOST], a[LOST_AT], a[LOST_ODDS] = 1.0, row, 0.0
        return True
    if is_calm and a[LOST_ODDS] <= DOUBTED_ODDS:
        learn_usual(a, loss, weight)
    return False


def excuse(alarm: FloatArray, of_positives: FloatArray) -> None:
    """Lower the `alarm` of a label and the one `of_positives`: the correction of a moved sensor mends its errors.

    Recent losses count as those of calm times.
    """
    alarm[[SHORT_MEAN, LONG_MEAN]] = alarm[CALM_MEAN]
    alarm[[IS_RAISED, ODDS]] = 0.0
    of_positives[RECENT_LOSS] = of_positives[USUAL_LOSS]
    of_positives[[LOST_ODDS, IS_LOST]] = 0.0
