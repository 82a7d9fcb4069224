"""Labels as they arrive in practice: late, out of order, and only some of them."""

import numpy as np

from evolabel.evaluate.learner import LabelledRows
from evolabel.typing import FloatArray, IntArray


class PartialAnnotation:
    """Hides labels at random: every label is kept with the same probability, the others become NaN.

    Parameters
    ----------
    share : float
        Probability that a label is kept: label j of row n is kept where
        `default_rng((seed, 0)).random((rows, K))[n, j] < share`.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> PartialAnnotation(share=0.5, seed=0).hide(np.ones((2, 3)))
    array([[nan,  1.,  1.],
           [ 1., nan, nan]])
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share = share
        self._random = np.random.default_rng((seed, 0))

    def hide(self, Y: FloatArray) -> FloatArray:
        """Return the labels `Y` of the next rows with the hidden ones set to NaN."""
        return np.where(self._random.random(Y.shape) < self.share, Y, np.nan)


class LabelDelay:
    """Stores rows until their labels arrive.

    The labels of a row arrive once `delay` further rows have been predicted; with a delay of 0, right after the row
    itself. With random delays, labels of later rows can arrive first. Labels that arrive at the same time are returned
    in the order of their rows.

    Parameters
    ----------
    shortest, longest : int
        Delays are drawn uniformly from the integers between these two, both included, by
        `default_rng((seed, 1)).integers`.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> [rows.ravel().tolist() for rows, labels in LabelDelay(2, 2, seed=0).deliver(X, X)]
    [[], [], [0.0], [1.0]]
    """

    def __init__(self, shortest: int, longest: int, seed: int) -> None:
        self.shortest = shortest
        self.longest = longest
        self._random = np.random.default_rng((seed, 1))
        self._n_rows = 0
        self._due: dict[int, list[tuple[FloatArray, FloatArray]]] = {}

    def deliver(self, X: FloatArray, Y: FloatArray) -> list[LabelledRows]:
        """Store the next rows `X` with labels `Y`; return, for each of them, the rows whose labels arrive after it."""
        nothing = X[:0], Y[:0]
        deliveries = []
        for x, y, delay in zip(X, Y, self._draw(len(X)), strict=True):
            self._due.setdefault(self._n_rows + int(delay), []).append((x, y))
            arrived = self._due.pop(self._n_rows, None)
            deliveries.append(nothing if arrived is None else _stacked(arrived))
            self._n_rows += 1
        return deliveries

    def _draw(self, n_rows: int) -> IntArray:
        return self._random.integers(self.shortest, self.longest, n_rows, endpoint=True)


def _stacked(pairs: list[tuple[FloatArray, FloatArray]]) -> LabelledRows:
    return np.stack([x for x, _ in pairs]), np.stack([y for _, y in pairs])
