"""Labels that are asked for first: those that have drifted, and a few at random.

Questions about uncertain labels show little of a drift, because an output near 1/2 is wrong as often before it as after
it. So a share of the labels asked for, `PROBE_SHARE`, is drawn at random. The draw is computed from the number of the
row in the stream, so that a query gives the same bits however often it is made.
"""

import numpy as np

from evolabel.typing import AnyArray, BoolArray, FloatArray

# Share of the labels asked for, at most one per row. Nine drifting streams, two seeds, 10 % of the labels: 0: .839,
# .1: .842, .2: .843. More probes leave fewer of the questions that help most where nothing drifts.
PROBE_SHARE = 0.1

# Factor of the scores of labels that have drifted, where others have not. One label of five that flips, two seeds,
# without probes: .929 -> .930, no clear gain.
DRIFT_PRIORITY = 3.0

PROBE_SCORE = 1e300  # above every score of a criterion

_ODD, _FIRST, _SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def prioritise(values: FloatArray, first: int, budget: float, drifting: BoolArray) -> FloatArray:
    """Return the `values` of rows and labels, (n, K), with those of drifting labels and of probes raised.

    `first` is the number of the first row in the stream, `budget` the share of all labels that may be asked for, and
    `drifting`, (K,), whether a label is in a drift.
    """
    n, K = values.shape
    if drifting.any() and not drifting.all():
        values = np.where(drifting, DRIFT_PRIORITY * values, values)
    numbers = 2 * np.arange(first, first + n, dtype=np.uint64)
    chosen = np.flatnonzero(_uniform(numbers) < PROBE_SHARE * budget * K)
    if len(chosen):
        labels = (_uniform(numbers[chosen] + np.uint64(1)) * K).astype(np.int64)
        values = values.copy()
        values[chosen, labels] = PROBE_SCORE
    return values


def is_probe(value: FloatArray, labels: BoolArray) -> bool:
    """Return whether one of the `labels` asked for was drawn at random, by the `value` of its row."""
    return bool((probes(value) & labels).any())


def probes(value: FloatArray) -> BoolArray:
    """Return which labels were drawn at random, by the `value` of their row, (K,)."""
    return np.asarray(value >= PROBE_SCORE)


def _uniform(numbers: AnyArray) -> FloatArray:
    """Return a number in [0, 1) for each of these `numbers`: a bijective hash of 64 bits, uniform over a stream."""
    with np.errstate(over="ignore"):
        x = numbers * _ODD
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
    return np.asarray((x ^ (x >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53
