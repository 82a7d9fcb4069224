"""Labels as they come in real life: late, out of order, and not all of them."""

import numpy as np

from evolabel.evaluate.learner import Lesson
from evolabel.typing import FloatArray, IntArray


class PartialAnnotation:
    """Shows each label with the same chance and hides the others as NaN.

    Parameters
    ----------
    share : float
        Chance of a label to be shown: label j of row n is where `default_rng((seed, 0)).random((rows, K))[n, j]` is
        less than that.
    seed : int

    Examples
    --------
    >>> PartialAnnotation(share=0.5, seed=0).hide(np.ones((2, 3)))
    array([[nan,  1.,  1.],
           [ 1., nan, nan]])
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share = share
        self._chance = np.random.default_rng((seed, 0))

    def hide(self, Y: FloatArray) -> FloatArray:
        """The labels of the next rows, as an annotator gives them."""
        return np.where(self._chance.random(Y.shape) < self.share, Y, np.nan)


class LabelDelay:
    """Keeps rows until their labels arrive.

    The labels of a row arrive once `delay` further rows have been answered: at 0, right after the row itself. With a
    random delay they overtake each other; what arrives at the same moment is kept in the order of the rows.

    Parameters
    ----------
    shortest, longest : int
        Delays are drawn evenly from these and all numbers between, by `default_rng((seed, 1)).integers`.
    seed : int

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> [rows.ravel().tolist() for rows, labels in LabelDelay(2, 2, seed=0).deliver(X, X)]
    [[], [], [0.0], [1.0]]
    """

    def __init__(self, shortest: int, longest: int, seed: int) -> None:
        self.shortest = shortest
        self.longest = longest
        self._chance = np.random.default_rng((seed, 1))
        self._answered = 0
        self._due: dict[int, list[tuple[FloatArray, FloatArray]]] = {}

    def deliver(self, X: FloatArray, Y: FloatArray) -> list[Lesson]:
        """Send the next rows on their way; for each of them, what arrives when it has been answered."""
        nothing = X[:0], Y[:0]
        lessons = []
        for x, y, delay in zip(X, Y, self._draw(len(X)), strict=True):
            self._due.setdefault(self._answered + int(delay), []).append((x, y))
            arrived = self._due.pop(self._answered, None)
            lessons.append(nothing if arrived is None else _stacked(arrived))
            self._answered += 1
        return lessons

    def _draw(self, rows: int) -> IntArray:
        return self._chance.integers(self.shortest, self.longest, rows, endpoint=True)


def _stacked(pairs: list[tuple[FloatArray, FloatArray]]) -> Lesson:
    return np.stack([x for x, _ in pairs]), np.stack([y for _, y in pairs])
