"""Sorting without allocation: the result depends on the values alone, not on the way."""

from evolabel.engine.compile import inner
from evolabel.typing import FloatArray, IntArray


@inner
def merge_runs(start: int, middle: int, end: int, values: FloatArray, source: IntArray, target: IntArray) -> None:
    """Merge the sorted runs source[start:middle] and source[middle:end] of indices into `values` to `target`."""
    i, j = start, middle
    for place in range(start, end):
        if j >= end or (i < middle and values[source[i]] <= values[source[j]]):
            target[place] = source[i]
            i += 1
        else:
            target[place] = source[j]
            j += 1


@inner
def sort_values(n: int, values: FloatArray, order: IntArray) -> None:
    """Fill order[0] with the indices that sort the first n `values`; equal ones keep their order.

    order[1] is scratch.
    """
    for i in range(n):
        order[0, i] = i
    run, source = 1, 0
    while run < n:
        for start in range(0, n, 2 * run):
            merge_runs(start, min(start + run, n), min(start + 2 * run, n), values, order[source], order[1 - source])
        source = 1 - source
        run *= 2
    if source == 1:
        for i in range(n):
            order[0, i] = order[1, i]
