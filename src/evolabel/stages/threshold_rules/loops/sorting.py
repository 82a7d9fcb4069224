"""Sorting values whose bins are known: the result depends on the values alone, not on the way."""

from evolabel.engine.compile import inner
from evolabel.engine.sorting import sort_values
from evolabel.typing import FloatArray, IntArray

MOST_IN_BIN = 150  # values of one bin that are sorted by insertion


@inner
def sort_by_bins(n: int, values: FloatArray, order: IntArray, counts: IntArray) -> None:
    """Do as `sort_values` with the first n `values`, whose bins are in order[1]: these first, then within bins.

    `counts` is scratch, of the number of codes. If a bin holds many values, merging is faster.
    """
    counts[:] = 0
    largest = 0
    for i in range(n):
        counts[order[1, i]] += 1
    before = 0
    for code in range(counts.shape[0]):
        largest = max(largest, counts[code])
        counts[code], before = before, before + counts[code]
    if largest > MOST_IN_BIN:
        sort_values(n, values, order)
        return
    for i in range(n):
        code = order[1, i]
        order[0, counts[code]] = i
        counts[code] += 1
    for i in range(1, n):
        index = order[0, i]
        value, place = values[index], i
        while place > 0 and values[order[0, place - 1]] > value:
            order[0, place] = order[0, place - 1]
            place -= 1
        order[0, place] = index
