"""Which row of an unlabelled stream is asked about: the loops of the selectors of `evolabel.active`.

Each loop walks over rows until one is to be asked about and returns its number, or the number of rows if there is
none. With `commit` the rows passed are stored in the ring; without it only `mask` and scratch arrays are written.

| symbol    | array     | meaning                                                                                |
|-----------|-----------|----------------------------------------------------------------------------------------|
| S         | (n, K)    | score of every (row, label)                                                            |
| R         | (n, C)    | score of every row by each of C criteria                                               |
| T         | (n, C, K) | strength of a label by a criterion; above 1 it exceeds the criterion's threshold       |
| s, r      | (K,), (C,)| one row of S, one of R                                                                 |
| tok       | (n,)      | budget * seen - asked at each row, if none before it is asked about, times the urgency |
| free      | (n,)      | whole units that may be spent at each row: the hard limit                              |
| least     |           | labels asked for at a time, at least                                                   |
| tau       |           | samples over which tok is to be spent                                                  |
| ring      | (w, K)    | scores of the last w rows; by each criterion (w, C)                                    |
| sums      | (w,)      | rank sums of the same rows                                                             |
| counters  | (2,)      | rows in the ring, place of the next one                                                |
| ease      | (1,)      | factor on the strengths, which lowers thresholds where few rows exceed them            |
| mask      | (K,)      | labels asked for                                                                       |
| strongest | (K,)      | scratch: the greatest strength of each label by criteria of single labels              |
"""

from evolabel.engine.compile import inner, kernel
from evolabel.typing import BoolArray, FloatArray, IntArray

FILLED, NEXT = 0, 1


@inner
def move_on(counters: IntArray, size: int) -> None:
    """Count one more row in a ring of this `size`."""
    counters[NEXT] = (counters[NEXT] + 1) % size
    counters[FILLED] = min(counters[FILLED] + 1, size)


@kernel
def store_row(row: FloatArray, ring: FloatArray, counters: IntArray) -> None:
    """Store `row` in the place of the oldest row of `ring`."""
    for j in range(row.shape[0]):
        ring[counters[NEXT], j] = row[j]
    move_on(counters, ring.shape[0])


@kernel
def best_scores(S: FloatArray, best: FloatArray) -> None:
    """Fill `best` with the highest score of every row of S."""
    for i in range(S.shape[0]):
        top = S[i, 0]
        for j in range(1, S.shape[1]):
            top = max(top, S[i, j])
        best[i] = top


@inner
def count_above(s: float, values: FloatArray) -> int:
    """Return how many of the `values` are larger than s."""
    count = 0
    for j in range(values.shape[0]):
        count += values[j] > s
    return count


@inner
def best_left(s: FloatArray, mask: BoolArray) -> int:
    """Return the label of the highest score that is not in `mask` (the first of equals), -1 if all are."""
    best = -1
    for j in range(s.shape[0]):
        if not mask[j] and (best < 0 or s[j] > s[best]):
            best = j
    return best


@inner
def add_best(s: FloatArray, needed: int, chosen: int, mask: BoolArray) -> int:
    """Add the labels of the best scores to `mask`, of which `chosen` are there, up to `needed`; return their number."""
    while chosen < needed:
        mask[best_left(s, mask)] = True
        chosen += 1
    return chosen


@inner
def choose_labels(s: FloatArray, ring: FloatArray, filled: int, room: float, most: int, mask: BoolArray) -> int:
    """Set `mask` to at most `most` labels of s, best first; return their number.

    A label is chosen if fewer than `room` scores of the first `filled` rows of the ring and of s are above its own.
    """
    mask[:] = False
    chosen = 0
    while chosen < most:
        j = best_left(s, mask)
        above, i = chosen, 0  # labels are taken best first: those chosen before are the scores of s above
        while i < filled and above < room:
            above += count_above(s[j], ring[i])
            i += 1
        if above >= room:
            break
        mask[j] = True
        chosen += 1
    return chosen


@inner
def choose_from_row(
    s: FloatArray,
    tok: float,
    free: int,
    tau: float,
    least: int,
    ring: FloatArray,
    counters: IntArray,
    mask: BoolArray,
) -> int:
    """Return how many labels of a row are asked for, and set `mask` to them.

    They are among the best scores of the ring and the row: the share tok / (K tau) of them. If there is one, the best
    are added until there are `least`.
    """
    if free < least:
        return 0
    room = tok * (counters[FILLED] + 1) / tau  # that share of K (filled + 1) scores
    chosen = choose_labels(s, ring, counters[FILLED], room, min(free, s.shape[0]), mask)
    return add_best(s, least, chosen, mask) if chosen > 0 else 0


@kernel
def walk_quantile(
    S: FloatArray,
    tok: FloatArray,
    free: IntArray,
    tau: float,
    least: int,
    ring: FloatArray,
    counters: IntArray,
    mask: BoolArray,
    commit: bool,
) -> int:
    """Return the first row of which labels are asked for; `mask` receives them, at least `least`."""
    for i in range(S.shape[0]):
        if choose_from_row(S[i], tok[i], free[i], tau, least, ring, counters, mask) > 0:
            return i
        if commit:
            store_row(S[i], ring, counters)
    return int(S.shape[0])


@kernel
def rank_sum(r: FloatArray, weights: FloatArray, ring: FloatArray, filled: int) -> float:
    """Return the weighted sum over criteria of the share of the ring below r; equal values count one half."""
    total = 0.0
    for c in range(r.shape[0]):
        halves = 0
        for i in range(filled):
            halves += int(r[c] > ring[i, c]) + int(r[c] >= ring[i, c])
        total += weights[c] * (0.5 * halves) / max(filled, 1)
    return total


@kernel
def walk_tokens(
    R: FloatArray,
    weights: FloatArray,
    tok: FloatArray,
    free: IntArray,
    unit: int,
    generosity: float,
    ring: FloatArray,
    sums: FloatArray,
    counters: IntArray,
    commit: bool,
) -> int:
    """Return the first affordable row whose rank sum is among the best share `generosity` * tok / `unit` of the ring.

    `unit` is the price of a row: 1, or its number of labels.
    """
    for i in range(R.shape[0]):
        filled = counters[FILLED]
        score = rank_sum(R[i], weights, ring, filled)
        if free[i] >= unit and count_above(score, sums[:filled]) < generosity * tok[i] / unit * (filled + 1):
            return i
        if commit:
            place = counters[NEXT]
            sums[place] = score
            for c in range(R.shape[1]):
                ring[place, c] = R[i, c]
            move_on(counters, sums.shape[0])
    return int(R.shape[0])


@inner
def fired_labels(
    T: FloatArray, whole: BoolArray, ease: float, most: int, least: int, strongest: FloatArray, mask: BoolArray
) -> int:
    """Set `mask` to the labels to ask for, at most `most` and at least `least`, or none; return their number.

    A strength in T, times `ease`, is reason to ask if it is above 1. If it is that of a criterion of `whole` samples,
    and `most` allows it, all labels are asked for; else the strongest labels of the other criteria.
    """
    K = int(T.shape[1])
    strongest[:] = 0.0
    for c in range(T.shape[0]):
        if whole[c] and T[c, 0] * ease > 1.0 and most >= K:
            mask[:] = True
            return K
        for j in range(K):
            if not whole[c]:
                strongest[j] = max(strongest[j], T[c, j])
    mask[:] = False
    chosen = 0
    while chosen < most:
        j = best_left(strongest, mask)
        if not strongest[j] * ease > 1.0:
            break
        mask[j] = True
        chosen += 1
    return add_best(strongest, least, chosen, mask) if chosen > 0 else 0


@kernel
def walk_thresholds(
    T: FloatArray,
    whole: BoolArray,
    free: IntArray,
    least: int,
    step: float,
    ease: FloatArray,
    lowest: float,
    highest: float,
    strongest: FloatArray,
    mask: BoolArray,
    commit: bool,
) -> int:
    """Return the first row with a label to ask for; `mask` receives its labels, at least `least`.

    With `commit`, every affordable row before it multiplies `ease` by 1 + `step`, within `lowest` and `highest`.
    """
    for i in range(T.shape[0]):
        if free[i] >= least:
            if fired_labels(T[i], whole, ease[0], min(free[i], T.shape[2]), least, strongest, mask) > 0:
                return i
            if commit:
                ease[0] = min(max(ease[0] * (1.0 + step), lowest), highest)
    return int(T.shape[0])
