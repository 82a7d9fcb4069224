"""Alarm on the positives of a label: a rare label can lose most of them while its error over all rows hardly rises.

One alarm is a vector `a` of `N_POSITIVES` numbers, all 0 before the first positive:

| index       | meaning                                                                     |
|-------------|-----------------------------------------------------------------------------|
| RECENT_LOSS | fading mean of the squared error over the last `RECENT_POSITIVES` positives |
| USUAL_LOSS  | its mean in calm times, over `USUAL_MEMORY` positives                       |
| USUAL_ODDS  | mean odds of a positive in calm times (`stages.drift.loops.alarm`)          |
| N_USUAL     | positives in both, at most `USUAL_MEMORY`                                   |
| LOST_ODDS   | O, odds that positives are missed, by the recent ones                       |
| RUN_PART    | independent answers that the present run of positives has counted for       |
| IS_LOST     | 1 while the alarm is raised, else 0                                         |
| LOST_AT     | row at which it was raised last                                             |

With o the odds of a positive, e / (1 - e) for an output 1 - e, and w what it counts for,
O <- max(O, 1) (o / max(1, USUAL_ODDS))^w, at most `MOST_LOST_ODDS`. The alarm is raised when O is above ODDS_LIMIT
(K + 1) times the share of the label, because only that share of the rows are positives. A label with a share of
`MOST_WATCHED` or more raises none. Where answers persist (`core.loops.pace`), a run of positives counts for one
independent answer at most, however long it is.
"""

from evolabel.engine.compile import inner
from evolabel.engine.lanes import exp_of_negative
from evolabel.stages.drift.loops.alarm import ODDS_LIMIT, SETTLE_ROWS, odds_of
from evolabel.typing import FloatArray

RECENT_LOSS, USUAL_LOSS, USUAL_ODDS, N_USUAL, LOST_ODDS, RUN_PART, IS_LOST, LOST_AT = 0, 1, 2, 3, 4, 5, 6, 7

RECENT_POSITIVES = 20.0  # positives
USUAL_MEMORY = 200.0  # positives
MOST_WATCHED = 0.15  # share of a label that is rare: of others, the error over all rows shows enough
KNOWN_POSITIVES = 20.0  # positives in calm times from which on the alarm can be raised
MOST_LOST_ODDS = 1e12  # so that those of a label that is not rare stay finite
DOUBTED_ODDS = 30.0  # from which on a positive is not one of calm times
LOSS_NEAR, LOSS_NEAREST = 0.1, 0.05  # error above the usual one up to which positives are found as before


@inner
def are_found(a: FloatArray) -> bool:
    """Return whether recent positives of `a` are found as well as usual, or are too few to say so."""
    near = min(LOSS_NEAR, max(a[USUAL_LOSS], LOSS_NEAREST))
    return bool(a[N_USUAL] < KNOWN_POSITIVES or a[RECENT_LOSS] < a[USUAL_LOSS] + near)


@inner
def independent_part(a: FloatArray, n_eff: float) -> float:
    """Return for how many independent answers the next positive of `a` counts, at most `n_eff`, and count it."""
    if n_eff >= 1.0:
        return 1.0
    part = min(n_eff, 1.0 - a[RUN_PART])
    a[RUN_PART] += part
    return float(part)


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
    `stages.drift.loops.alarm`. Where the label is in a drift, not `is_calm`, nothing is usual.
    """
    if y < 0.5:
        a[RUN_PART] = 0.0
        return False
    weight *= independent_part(a, n_eff)
    if not weight > 0.0:
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
    if share < MOST_WATCHED and a[LOST_ODDS] * exp_of_negative(-0.5 * margin * margin) > ODDS_LIMIT * share:
        a[IS_LOST], a[LOST_AT], a[LOST_ODDS] = 1.0, row, 0.0
        return True
    if is_calm and a[LOST_ODDS] <= DOUBTED_ODDS:
        learn_usual(a, loss, weight)
    return False
