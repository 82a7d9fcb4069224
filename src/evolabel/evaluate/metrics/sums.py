"""Sums of the statistics of samples: of all samples, with fading weights, or of the last samples only.

One row of statistics is the contribution of one sample. Its first entry is 1 if the sample counts and 0 if it is
skipped; the row of a skipped sample is zero, but the sample takes a place in a window and fades the others like any
sample. Rows may become wider (new labels): earlier rows count as 0 there. Rows are added one after the other, so that a
batch gives the same bits as its rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from evolabel.typing import AnyArray, FloatArray


class RunningSum(ABC):
    """Base class: one array (`kept`, its last axis as wide as a row of statistics) and two counts."""

    kept: FloatArray

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_counted = 0

    def add(self, rows: FloatArray) -> None:
        """Add `rows` of statistics in their order."""
        self._widen(rows.shape[1])
        for row in _padded(rows, self.kept.shape[-1]):
            self._add_row(row)
        self.n_counted += int(rows[:, 0].sum())

    def append(self, state: Mapping[str, AnyArray]) -> None:
        """Add the `state()` of another sum of the same kind, as if its rows had come after these."""
        kept, (n_rows, n_counted) = state["kept"], state["counts"].tolist()
        self._widen(kept.shape[-1])
        self._append(_padded(kept, self.kept.shape[-1]), n_rows)
        self.n_counted += n_counted

    @abstractmethod
    def sums(self) -> FloatArray:
        """Return the sums over all rows so far, one entry per statistic."""

    def state(self) -> dict[str, AnyArray]:
        """Return the complete state as copies of plain arrays."""
        return {"kept": self.kept.copy(), "counts": np.array([self.n_rows, self.n_counted], np.int64)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Replace the own state by a copy of `state`."""
        self.n_rows, self.n_counted = state["counts"].tolist()
        self._set_kept(state["kept"].copy())

    def _widen(self, width: int) -> None:
        if width > self.kept.shape[-1]:
            self._set_kept(_padded(self.kept, width))

    def _set_kept(self, kept: FloatArray) -> None:
        self.kept = kept

    @abstractmethod
    def _add_row(self, row: FloatArray) -> None:
        """Add one row and count it."""

    @abstractmethod
    def _append(self, kept: FloatArray, n_rows: int) -> None:
        """Add the array `kept` of another sum over `n_rows` rows, and count them."""


class FadingSum(RunningSum):
    """Sum of all rows; each new row multiplies the sum of the older ones by `factor`, 1 for equal weights."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.kept = np.zeros(0)

    def sums(self) -> FloatArray:
        """Return the weighted sum."""
        return self.kept

    def _add_row(self, row: FloatArray) -> None:
        self.kept *= self.factor
        self.kept += row
        self.n_rows += 1

    def _append(self, kept: FloatArray, n_rows: int) -> None:
        self.kept = self.kept * self.factor**n_rows + kept
        self.n_rows += n_rows


class WindowSum(RunningSum):
    """Sum of the last `window` rows, kept in a ring buffer: row number i is at position i modulo `window`.

    Nothing is ever subtracted, so rounding errors do not accumulate. Each time the ring is full, the sums of its rows
    from every position to the end are computed (`_older`). The sum over the window is then one of these plus the sum of
    the rows added since (`_newer`): constant cost per row on average.
    """

    _older: FloatArray
    _newer: FloatArray

    def __init__(self, window: int) -> None:
        super().__init__()
        self._set_kept(np.zeros((window, 0)))

    def sums(self) -> FloatArray:
        """Return the sum over the window."""
        return np.asarray(self._newer + self._older[self._position])

    @property
    def _position(self) -> int:
        return self.n_rows % len(self.kept)

    def _add_row(self, row: FloatArray) -> None:
        self.kept[self._position] = row
        self._newer += row
        self.n_rows += 1
        if self._position == 0:
            self._derive()

    def _append(self, kept: FloatArray, n_rows: int) -> None:
        window = len(self.kept)
        recent = np.concatenate([_in_order(self.kept, self.n_rows), _in_order(kept, n_rows)])[-window:]
        self.n_rows += n_rows
        ring = np.zeros_like(self.kept)
        ring[np.arange(self.n_rows - len(recent), self.n_rows) % window] = recent
        self._set_kept(ring)

    def _set_kept(self, kept: FloatArray) -> None:
        super()._set_kept(kept)
        self._derive()

    def _derive(self) -> None:
        """Compute both partial sums from the ring; positions of `_older` that newer rows have taken are not used."""
        self._older = self.kept[::-1].cumsum(axis=0)[::-1]
        self._newer = np.zeros(self.kept.shape[1])
        for row in self.kept[: self._position]:
            self._newer += row


def _padded(rows: FloatArray, width: int) -> FloatArray:
    missing = width - rows.shape[-1]
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)]) if missing else rows


def _in_order(ring: FloatArray, n_rows: int) -> FloatArray:
    """The rows of a ring buffer, oldest first."""
    window = len(ring)
    return np.roll(ring, -(n_rows % window), axis=0)[max(0, window - n_rows) :]
