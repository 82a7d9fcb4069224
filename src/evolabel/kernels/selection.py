"""Which of the rows of an unlabelled stream is worth a question: the loops behind the filters of `evolabel.active`.

Each kernel walks over rows until one is to be asked and returns its number, or the number of rows if there is none.
With `commit` the rows passed enter the filter's memory; without it nothing is written but `mask` and scratch.

| symbol  | array     | meaning                                                                            |
|---------|-----------|------------------------------------------------------------------------------------|
| S       | (n, K)    | score of every (row, label)                                                        |
| R       | (n, C)    | score of every row by each of C criteria                                           |
| T       | (n, C, K) | how strongly a criterion speaks for a label; above 1 it fires by its own threshold |
| s, r    | (K,), (C,)| one row of S, one of R                                                             |
| tok     | (n,)      | budget * seen - asked at each row, if none before it is asked; more in haste       |
| free    | (n,)      | the same as the whole units that may be spent: the hard limit                      |
| least   |           | labels asked for at a time, at least                                               |
| tau     |           | samples over which tok is meant to be spent                                        |
| ring    | (w, K)    | scores of the last w rows passed or asked; with criteria (C, w)                    |
| sums    | (w,)      | rank sums of the same rows                                                         |
| tally   | (2,)      | rows in the ring, place of the next one                                            |
| ease    | (1,)      | how much easier than written thresholds are at the moment                          |
| mask    | (K,)      | labels asked for                                                                   |
| loudest | (K,)      | scratch: the strongest of the criteria that speak for single labels                |
"""

from evolabel.kernels.compile import inner, kernel
from evolabel.typing import BoolArray, FloatArray, IntArray

FILLED, NEXT = 0, 1


@inner
def move_on(tally: IntArray, size: int) -> None:
    """One more row is in a ring of this size."""
    tally[NEXT] = (tally[NEXT] + 1) % size
    tally[FILLED] = min(tally[FILLED] + 1, size)


@kernel
def remember(row: FloatArray, ring: FloatArray, tally: IntArray) -> None:
    """The row takes the place of the oldest one."""
    for j in range(row.shape[0]):
        ring[tally[NEXT], j] = row[j]
    move_on(tally, ring.shape[0])


@kernel
def best_scores(S: FloatArray, best: FloatArray) -> None:
    """The highest score of every row."""
    for i in range(S.shape[0]):
        top = S[i, 0]
        for j in range(1, S.shape[1]):
            top = max(top, S[i, j])
        best[i] = top


@inner
def count_above(s: float, values: FloatArray) -> int:
    """How many of the values are larger than s."""
    count = 0
    for j in range(values.shape[0]):
        count += values[j] > s
    return count


@inner
def best_left(s: FloatArray, mask: BoolArray) -> int:
    """The label of the highest score that is not chosen yet (the first of equals), -1 if all are."""
    best = -1
    for j in range(s.shape[0]):
        if not mask[j] and (best < 0 or s[j] > s[best]):
            best = j
    return best


@inner
def add_best(s: FloatArray, wanted: int, chosen: int, mask: BoolArray) -> int:
    """Choose further labels, best first, until there are `wanted`; returns how many there are."""
    while chosen < wanted:
        mask[best_left(s, mask)] = True
        chosen += 1
    return chosen


@inner
def choose_labels(s: FloatArray, ring: FloatArray, filled: int, room: float, most: int, mask: BoolArray) -> int:
    """Choose at most `most` labels, best first, with fewer than `room` scores above them in the ring and in s."""
    mask[:] = False
    chosen = 0
    while chosen < most:
        j = best_left(s, mask)
        above, i = chosen, 0
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
    tally: IntArray,
    mask: BoolArray,
) -> int:
    """How many labels of a row are asked for: those among the best tok / (K tau) of the ring's and its own scores."""
    if free < least:
        return 0
    room = tok * (tally[FILLED] + 1) / tau
    chosen = choose_labels(s, ring, tally[FILLED], room, min(free, s.shape[0]), mask)
    return add_best(s, least, chosen, mask) if chosen > 0 else 0


@kernel
def walk_quantile(
    S: FloatArray,
    tok: FloatArray,
    free: IntArray,
    tau: float,
    least: int,
    ring: FloatArray,
    tally: IntArray,
    mask: BoolArray,
    commit: bool,
) -> int:
    """Ask for the labels of the first row of which any are asked for, `least` at a time or more."""
    for i in range(S.shape[0]):
        if choose_from_row(S[i], tok[i], free[i], tau, least, ring, tally, mask) > 0:
            return i
        if commit:
            remember(S[i], ring, tally)
    return int(S.shape[0])


@kernel
def rank_sum(r: FloatArray, weights: FloatArray, ring: FloatArray, filled: int) -> float:
    """Weighted sum of the shares of the ring that r beats, criterion by criterion; a draw is half a win.

    The ring has one row per criterion here.
    """
    total = 0.0
    for c in range(r.shape[0]):
        last, halves = ring[c], 0
        for i in range(filled):
            halves += int(r[c] > last[i]) + int(r[c] >= last[i])
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
    tally: IntArray,
    commit: bool,
) -> int:
    """Ask with a token in hand if the row's rank sum is among the best generosity * tok / unit of the last ones.

    `unit` is the price of a row: 1, or its number of labels.
    """
    for i in range(R.shape[0]):
        filled = tally[FILLED]
        score = rank_sum(R[i], weights, ring, filled)
        if free[i] >= unit and count_above(score, sums[:filled]) < generosity * tok[i] / unit * (filled + 1):
            return i
        if commit:
            place = tally[NEXT]
            sums[place] = score
            for c in range(R.shape[1]):
                ring[c, place] = R[i, c]
            move_on(tally, sums.shape[0])
    return int(R.shape[0])


@inner
def fired_labels(
    T: FloatArray, whole: BoolArray, ease: float, most: int, least: int, loudest: FloatArray, mask: BoolArray
) -> int:
    """All labels if a criterion of whole samples fires and they can be paid; else those that fire, strongest first."""
    K = int(T.shape[1])
    loudest[:] = 0.0
    for c in range(T.shape[0]):
        if whole[c] and T[c, 0] * ease > 1.0 and most >= K:
            mask[:] = True
            return K
        for j in range(K):
            if not whole[c]:
                loudest[j] = max(loudest[j], T[c, j])
    mask[:] = False
    chosen = 0
    while chosen < most:
        j = best_left(loudest, mask)
        if not loudest[j] * ease > 1.0:
            break
        mask[j] = True
        chosen += 1
    return add_best(loudest, least, chosen, mask) if chosen > 0 else 0


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
    loudest: FloatArray,
    mask: BoolArray,
    commit: bool,
) -> int:
    """Ask as soon as a criterion fires. A row that could be paid and is not asked makes the thresholds easier."""
    for i in range(T.shape[0]):
        if free[i] >= least:
            if fired_labels(T[i], whole, ease[0], min(free[i], T.shape[2]), least, loudest, mask) > 0:
                return i
            if commit:
                ease[0] = min(max(ease[0] * (1.0 + step), lowest), highest)
    return int(T.shape[0])
