"""Loops of the decisions: thresholds that maximise F1, and the most likely of the label sets that occurred.

| symbol   | array  | meaning                                                                                       |
|----------|--------|-----------------------------------------------------------------------------------------------|
| f        | (K,)   | outputs of a sample, from before it was learned                                               |
| seen     | (L, B) | annotated samples by output, B bins over [0, 1]; L = K, or 1 if labels share a cut            |
| on       | (L, B) | those of them that carry the label                                                            |
| F1       |        | 2 hits / (predicted + true) if outputs from a bin upwards are predicted as 1                  |
| F, P     | (n, K) | outputs and calibrated probabilities of rows, from before they were learned                   |
| sets     | (M, K) | label sets that occurred                                                                      |
| counts   | (M,)   | rows with each set; 0 from the first free place on                                            |
| on       | (K,)   | of label sets: rows with each label                                                           |
| outcomes | (3,)   | rows in all (TOTAL); rows won less rows lost (WON), and won or lost (APART), against plain ones |
| lift     |        | log(share of a set / product of the shares of its labels and of their absences)               |
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.calibration.loops import HEAVIEST_LABEL
from evolabel.typing import BoolArray, FloatArray

PRIOR_SAMPLES = 10.0  # samples per bin by which its share is shrunk towards its middle
UNDECIDED = 0.5  # the threshold where nothing was counted


@inner
def expected_on(seen: float, on: float, b: int, bins: int) -> float:
    """Return the expected samples of bin b with the label: its share is shrunk towards the middle of the bin."""
    return seen * (on + PRIOR_SAMPLES * (b + 0.5) / bins) / (seen + PRIOR_SAMPLES)


@inner
def best_cut(seen: FloatArray, on: FloatArray) -> tuple[float, float]:
    """Return the edge from which on to predict 1 for the largest F, and that F; without counts `UNDECIDED` and 0."""
    bins = seen.shape[0]
    true = 0.0
    for b in range(bins):
        true += expected_on(seen[b], on[b], b, bins)
    edge, best, hits, predicted = UNDECIDED, 0.0, 0.0, 0.0
    for b in range(bins - 1, -1, -1):
        hits += expected_on(seen[b], on[b], b, bins)
        predicted += seen[b]
        F = 2.0 * hits / (predicted + true) if hits > 0.0 else 0.0
        if hits > 0.0 and best <= F:  # of equal F the lowest edge
            edge, best = b / bins, F
    return edge, best


@inner
def count_output(f: float, y: float, w: float, seen: FloatArray, on: FloatArray) -> None:
    """Count an output f of weight w for the label y."""
    bins = seen.shape[0]
    b = 0 if f <= 0.0 else (bins - 1 if f >= 1.0 else int(f * bins))
    seen[b] += w
    on[b] += w * y


@kernel
def count_rows(
    out: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    seen: FloatArray,
    on: FloatArray,
    limits: FloatArray,
) -> None:
    """Count the outputs `out` row by row; `limits`, if it has rows, receives the thresholds from before each row.

    A threshold is the mean of two estimates: the best cut, and half the F it reaches, which is the best cut of
    calibrated outputs. `weights` and `confidences` may be empty; a label that is NaN is not counted.
    """
    L = seen.shape[0]
    for i in range(Y.shape[0]):
        if limits.shape[0] > 0:
            for a in range(L):
                edge, best = best_cut(seen[a], on[a])
                # a::L is one label where L = K, and all labels where L = 1
                limits[i, a::L] = 0.5 * (edge + 0.5 * best) if best > 0.0 else edge
        for k in range(Y.shape[1]):
            w = weights[i] if weights.shape[0] > 0 else 1.0
            if confidences.shape[0] > 0:
                w *= confidences[i, k]
            if w > 0.0 and not np.isnan(Y[i, k]):
                count_output(out[i, k], Y[i, k], w, seen[k % L], on[k % L])


TOTAL, WON, APART = range(3)
MOST_SETS = 256  # kept; a new one takes the place of the rarest
FIRST_SHARE = 0.5  # of each label, before the first row; it counts for one row

_LIFT = 0.25  # weight of the lift; .5 gave .008 more subset accuracy on yeast and cost .007 partial accuracy
_FADING = 1.0 / 500.0  # of rows won and lost, per row


@inner
def most_likely_set(
    p: FloatArray, sets: BoolArray, counts: FloatArray, on: FloatArray, rows: float, terms: FloatArray
) -> int:
    """Return the place of the set with the largest log p(S) + .25 lift, -1 where no set was kept.

    Terms that all sets share are left out: a label adds its log odds less .25 times those of its share. `terms`, (K,),
    is filled with that.
    """
    for k in range(p.shape[0]):
        terms[k] = np.log(p[k] / (1.0 - p[k])) - _LIFT * np.log(on[k] / (rows - on[k]))
    best, chosen = -np.inf, -1
    for s in range(sets.shape[0]):
        if counts[s] == 0.0:
            break
        score = _LIFT * np.log(counts[s])
        for k in range(p.shape[0]):
            if sets[s, k]:
                score += terms[k]
        if score > best:
            best, chosen = score, s
    return chosen


@inner
def is_set(y: FloatArray, chosen: BoolArray) -> bool:
    """Whether the labels y, of 0 and 1, are the set `chosen`."""
    for k in range(y.shape[0]):  # noqa: SIM110 (a loop for numba)
        if (y[k] > 0.5) != chosen[k]:
            return False
    return True


@inner
def is_cut(y: FloatArray, f: FloatArray, threshold: float) -> bool:
    """Whether the labels y are those whose outputs f are at least the `threshold`."""
    for k in range(y.shape[0]):  # noqa: SIM110 (a loop for numba)
        if (y[k] > 0.5) != (f[k] >= threshold):
            return False
    return True


@inner
def place_of_set(y: FloatArray, sets: BoolArray, counts: FloatArray) -> int:
    """Return the place of the set y; a set that is not kept is put into a free place, or that of the rarest set."""
    rarest = 0
    for s in range(sets.shape[0]):
        if counts[s] == 0.0:
            rarest = s
            break
        if is_set(y, sets[s]):
            return s
        if counts[s] < counts[rarest]:
            rarest = s
    counts[rarest] = 0.0
    for k in range(y.shape[0]):
        sets[rarest, k] = y[k] > 0.5
    return rarest


@inner
def row_weight(y: FloatArray, weight: float, sure: FloatArray) -> float:
    """Return the weight of a row: that of its least sure label, 0 if a label y is NaN; `sure`: (1, K) or empty."""
    least = 1.0
    for k in range(y.shape[0]):
        if np.isnan(y[k]):
            return 0.0
        if sure.shape[0] > 0:
            least = min(least, sure[0, k])
    return min(weight * least, HEAVIEST_LABEL)


@inner
def fill_decision(
    f: FloatArray, chosen: int, threshold: float, sets: BoolArray, outcomes: FloatArray, d: FloatArray
) -> None:
    """Fill d with the set at `chosen` if sets have won, else with the outputs f cut at the `threshold`."""
    by_set = chosen >= 0 and outcomes[WON] > np.sqrt(outcomes[APART])
    for k in range(d.shape[0]):
        is_on = sets[chosen, k] if by_set else f[k] >= threshold
        d[k] = 1.0 if is_on else 0.0


@kernel
def learn_sets(
    F: FloatArray,
    P: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    threshold: float,
    sets: BoolArray,
    counts: FloatArray,
    on: FloatArray,
    outcomes: FloatArray,
    terms: FloatArray,
    D: FloatArray,
) -> None:
    """Learn the label sets Y of rows one after the other; D, if it has rows, receives the decisions before each row.

    A row with a label that is NaN, or of weight 0, is decided on and not learned. `weights` and `confidences` may be
    empty; `terms` is a scratch array.
    """
    for i in range(F.shape[0]):
        chosen = most_likely_set(P[i], sets, counts, on, outcomes[TOTAL], terms)
        if D.shape[0] > 0:
            fill_decision(F[i], chosen, threshold, sets, outcomes, D[i])
        w = row_weight(Y[i], weights[i] if weights.shape[0] > 0 else 1.0, confidences[i : i + 1])
        if not w > 0.0:
            continue
        once, plain = min(w, 1.0), is_cut(Y[i], F[i], threshold)
        by_set = plain if chosen < 0 else is_set(Y[i], sets[chosen])
        gain = (1.0 if by_set else 0.0) - (1.0 if plain else 0.0)
        outcomes[WON] += once * (gain - _FADING * outcomes[WON])
        outcomes[APART] += once * (abs(gain) - _FADING * outcomes[APART])
        counts[place_of_set(Y[i], sets, counts)] += w
        outcomes[TOTAL] += w
        for k in range(on.shape[0]):
            on[k] += w * Y[i, k]
