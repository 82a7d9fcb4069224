"""How the statistics of samples add up: all of them, the older the less, or the last few only.

One row of statistics is what one sample contributes. Its first entry is 1 if the sample was judged and 0 if it was
skipped; skipped samples are all zeros, but age the others as any sample does. Rows may grow wider (labels appear): what
came before counts as 0 there. Rows are added one after the other, so that a batch gives the same bits as its rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np

from evolabel.typing import AnyArray, FloatArray


class Memory(ABC):
    """What is kept of the rows so far: one array (`kept`, its last axis as wide as a row) and two counts."""

    kept: FloatArray

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_judged = 0

    def add(self, rows: FloatArray) -> None:
        """Add rows of statistics, first come, first added."""
        self._widen(rows.shape[1])
        for row in _padded(rows, self.kept.shape[-1]):
            self._take(row)
        self.n_judged += int(rows[:, 0].sum())

    def append(self, later: Self) -> None:
        """Add what another memory of the same kind has kept, as if its rows had come after these."""
        self._widen(later.kept.shape[-1])
        self._append(_padded(later.kept, self.kept.shape[-1]), later.n_rows)
        self.n_judged += later.n_judged

    @abstractmethod
    def sums(self) -> FloatArray:
        """The statistics added up."""

    def state(self) -> dict[str, AnyArray]:
        """Everything there is to know, as copies of plain arrays."""
        return {"kept": self.kept.copy(), "counts": np.array([self.n_rows, self.n_judged], np.int64)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Take over a `state`."""
        self.n_rows, self.n_judged = state["counts"].tolist()
        self._keep(state["kept"].copy())

    def _widen(self, width: int) -> None:
        if width > self.kept.shape[-1]:
            self._keep(_padded(self.kept, width))

    def _keep(self, kept: FloatArray) -> None:
        self.kept = kept

    @abstractmethod
    def _take(self, row: FloatArray) -> None:
        """Add one row and count it."""

    @abstractmethod
    def _append(self, kept: FloatArray, n_rows: int) -> None:
        """Add what another memory has kept of its n_rows, and count them."""


class Fade(Memory):
    """The sum of all rows; every new row lets the older ones fade by a factor. Factor 1 keeps all alike."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.kept = np.zeros(0)

    def sums(self) -> FloatArray:
        """The faded sum."""
        return self.kept

    def _take(self, row: FloatArray) -> None:
        self.kept *= self.factor
        self.kept += row
        self.n_rows += 1

    def _append(self, kept: FloatArray, n_rows: int) -> None:
        self.kept = self.kept * self.factor**n_rows + kept
        self.n_rows += n_rows


class Window(Memory):
    """The sum of the last rows, kept in a ring: the row with number i lies at i modulo the length of the window.

    Nothing is ever subtracted, so no error piles up however long the stream is. Each time the ring is full, the sums of
    its rows from every place to the end are laid down (`_older`). The sum over the window is then what came since plus
    one of these: a constant price per row, on average.
    """

    _older: FloatArray
    _newer: FloatArray

    def __init__(self, window: int) -> None:
        super().__init__()
        self._keep(np.zeros((window, 0)))

    def sums(self) -> FloatArray:
        """The sum over the window."""
        return np.asarray(self._newer + self._older[self._place])

    @property
    def _place(self) -> int:
        return self.n_rows % len(self.kept)

    def _take(self, row: FloatArray) -> None:
        self.kept[self._place] = row
        self._newer += row
        self.n_rows += 1
        if self._place == 0:
            self._derive()

    def _append(self, kept: FloatArray, n_rows: int) -> None:
        window = len(self.kept)
        recent = np.concatenate([_in_order(self.kept, self.n_rows), _in_order(kept, n_rows)])[-window:]
        self.n_rows += n_rows
        ring = np.zeros_like(self.kept)
        ring[np.arange(self.n_rows - len(recent), self.n_rows) % window] = recent
        self._keep(ring)

    def _keep(self, kept: FloatArray) -> None:
        super()._keep(kept)
        self._derive()

    def _derive(self) -> None:
        """Both partial sums follow from the ring; the places of `_older` that newer rows have taken are not used."""
        self._older = self.kept[::-1].cumsum(axis=0)[::-1]
        self._newer = np.zeros(self.kept.shape[1])
        for row in self.kept[: self._place]:
            self._newer += row


def _padded(rows: FloatArray, width: int) -> FloatArray:
    missing = width - rows.shape[-1]
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)]) if missing else rows


def _in_order(ring: FloatArray, n_rows: int) -> FloatArray:
    """The rows of a ring, oldest first."""
    window = len(ring)
    return np.roll(ring, -(n_rows % window), axis=0)[max(0, window - n_rows) :]
