"""What is asked for first: labels that have drifted or may have, and a few labels or samples at random.

Questions about uncertain labels show little of a drift, because an output near 1/2 is wrong as often before it as after
it. So a share of the questions, up to `PROBE_SHARE`, is drawn at random. The draw is computed from the number of the
row in the stream, so that a query gives the same bits however often it is made. It falls away if the budget does not
pay for it at that row: at 10 % of the samples, three quarters of the draws are asked.

An answer that contradicts a sure output may be the first of a drift, or chance. Further answers about sure outputs of
the same label show which it is, so they are asked for next. While answers are pending, at most as many such questions
wait for each label as answers have contradicted it. Whole samples are not chosen so: of many labels one is nearly
always in doubt. On five shuffled sets at 10 % the share of the gap that is closed fell from .35 to .26 (PA).
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np

from evolabel.active.loops.scores import uniform_of
from evolabel.active.query import Query
from evolabel.engine.compile import direct
from evolabel.typing import BoolArray, FloatArray, IntArray

# Share of the labels or samples asked for; of labels at most one per row. Nine drifting streams, 10 % of the labels,
# two seeds: 0: .839, .1: .842, .2: .843; 10 % of the samples, three seeds: 0: .847, .1: .851, .3: .849, and .907, .909,
# .911 on five streams without drift, where one of them, led-plain, gains: .712, .724, .733, and the others do not.
PROBE_SHARE = 0.1

# The same while a label is in a drift, of samples: outputs that are wrong choose badly. Four streams with abrupt
# drifts, three seeds: .1: .915, .5: .920, 1: .919.
PROBE_SHARE_IN_DRIFT = 0.5

# Factor of the scores of labels that have drifted, where others have not. One label of five that flips, six seeds:
# 1: .922 (recovered after some 1,100 rows), 3: .935 (200 rows), 10 and a million: .936; but on two streams whose labels
# drift together, 3: .920, 10: .918, a million: .916, because the label that is noticed second has to wait.
DRIFT_PRIORITY = 3.0

PROBE_SCORE = 1e300  # above every score of a criterion
CONFIRM_SCORE = 1e299  # below that of a probe, above all others

LAST_PENDING = 100  # pending questions that are looked at

# Distance of an output from 1/2 from which on an answer shows whether its label has drifted.
SURE_FROM = 0.3

_uniform = direct(uniform_of)


def prioritise_labels(values: FloatArray, first: int, budget: float, drifting: BoolArray) -> FloatArray:
    """Return the `values` of rows and labels, (n, K), with those of drifting labels and of probes raised.

    `first` is the number of the first row in the stream, `budget` the share of all labels that may be asked for, and
    `drifting`, (K,), whether a label is in a drift.
    """
    n, K = values.shape
    if 0 < np.count_nonzero(drifting) < K:
        values = np.where(drifting, DRIFT_PRIORITY * values, values)
    numbers = np.arange(2 * first, 2 * (first + n), 2, dtype=np.uint64)
    is_chosen = _uniform(numbers) < PROBE_SHARE * budget * K
    if np.count_nonzero(is_chosen):
        chosen = np.flatnonzero(is_chosen)
        labels = (_uniform(numbers[chosen] + np.uint64(1)) * K).astype(np.int64)
        values = values.copy()
        values[chosen, labels] = PROBE_SCORE
    return values


def prioritise_samples(values: FloatArray, first: int, budget: float, *, in_drift: bool) -> FloatArray:
    """Return the `values` of rows, (n, 1), with those of probes raised; more of them while a label is `in_drift`.

    `first` is the number of the first row in the stream, `budget` the share of all samples that may be asked about.
    """
    numbers = np.arange(2 * first, 2 * (first + len(values)), 2, dtype=np.uint64)
    chosen = _uniform(numbers) < (PROBE_SHARE_IN_DRIFT if in_drift else PROBE_SHARE) * budget
    return np.where(chosen[:, None], PROBE_SCORE, values) if np.count_nonzero(chosen) else values


def prioritise_doubts(values: FloatArray, outputs: FloatArray, doubted: BoolArray) -> FloatArray:
    """Return the `values` of rows and labels, (n, K), with those raised that can confirm a drift.

    These are sure `outputs`, (n, K), of labels that are `doubted`, (K,): their last answers contradict sure outputs.
    """
    if not np.count_nonzero(doubted):
        return values
    return np.where(doubted & _is_sure(outputs), np.maximum(values, CONFIRM_SCORE), values)


def labels_to_confirm(doubts: IntArray, pending: Iterable[Query]) -> BoolArray:
    """Return which labels have more `doubts`, (K,), than `pending` questions about sure outputs of them.

    So few questions are asked while answers are late; every answer that contradicts allows one more. `pending` has the
    latest question first. The first `LAST_PENDING` of them count: older ones may never be answered.
    """
    waiting = np.zeros(len(doubts), np.int64)
    for query in islice(pending, LAST_PENDING) if np.count_nonzero(doubts) else ():
        waiting[: len(query.labels)] += query.labels & _is_sure(query.prediction)
    return np.asarray(doubts > waiting)


def _is_sure(outputs: FloatArray) -> BoolArray:
    """Return for which of the `outputs` an answer shows whether its label has drifted."""
    return np.asarray(np.abs(outputs - 0.5) > SURE_FROM)
