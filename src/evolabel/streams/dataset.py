"""`Dataset`: features, labels and their names, in the order of the stream."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from evolabel._utils.text import counted
from evolabel._utils.validation import float_table
from evolabel.errors import DataError
from evolabel.streams.columns import ONLY_NUMBERS, ColumnKinds, FeatureNames
from evolabel.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples and their labels; iterating yields the pairs (x, y), row by row.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN is a missing value.
    Y : ndarray of shape (n_samples, n_labels)
        0, 1, or NaN for a label without annotation.
    feature_names, label_names : tuple of str
        If empty: x0, x1 ... and y0, y1 ...
    name : str
        Name for tables and messages.
    split : int or None
        Number of first rows that are the official training part; None if there is no official split.
    starts_at : int
        Row with which the published file begins, if its test part comes first (yeast). `shuffled` follows the order of
        the published file, so that a seed gives the same stream for both orders.
    lines : ndarray of shape (n_samples,) or None
        Line numbers of the rows in their file, for messages; None if there are no lines.
    one_per_row : bool
        Whether the labels are classes, of which each row has one.
    kinds : ColumnKinds
        Which features were made of texts, of true and false, and of timestamps.

    Examples
    --------
    >>> pond = Dataset([[0.5], [0.25]], [[1.0, 0.0], [0.0, 1.0]], ("depth",), ("frogs", "newts"), "pond")
    >>> pond
    Dataset('pond', 2 x 1, 2 labels)
    >>> pond.take(1).Y
    array([[1., 0.]])
    """

    X: FloatArray
    Y: FloatArray
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    name: str = "stream"
    split: int | None = field(default=None, kw_only=True)
    starts_at: int = field(default=0, kw_only=True)
    lines: IntArray | None = field(default=None, kw_only=True)
    one_per_row: bool = field(default=False, kw_only=True)
    kinds: ColumnKinds = field(default=ONLY_NUMBERS, kw_only=True)

    def __post_init__(self) -> None:
        for table in ("X", "Y"):
            object.__setattr__(self, table, float_table(table, getattr(self, table)))
        if self.X.ndim != 2 or self.Y.ndim != 2 or len(self.X) != len(self.Y):
            raise DataError(
                f"X has shape {self.X.shape} and Y {self.Y.shape}; expected two tables with the same number of rows"
            )
        for attribute, letter, width in (
            ("feature_names", "x", self.X.shape[1]),
            ("label_names", "y", self.Y.shape[1]),
        ):
            names = tuple(getattr(self, attribute)) or tuple(f"{letter}{i}" for i in range(width))
            if len(names) != width:
                raise DataError(f"{len(names)} {attribute} were given for {width} columns; give one name per column")
            object.__setattr__(self, attribute, names)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self)} x {self.n_features}, {counted(self.n_labels, 'label')})"

    def __len__(self) -> int:
        return len(self.X)

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Iterate over the pairs (x, y), row by row."""
        return zip(self.X, self.Y, strict=True)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.Y.shape[1])

    @property
    def names_with_kinds(self) -> FeatureNames:
        """Names of the features, with those made of texts, and of true and false."""
        return FeatureNames(self.feature_names, self.kinds.texts, self.kinds.flags)

    def take(self, rows: int) -> Self:
        """Return a data set of the first `rows` rows."""
        kept = None if self.split is None else min(self.split, rows)
        start = self.starts_at if rows >= len(self) else 0
        return replace(self._picked(slice(rows)), split=kept, starts_at=start)

    def without(self, features: Iterable[str]) -> Self:
        """Return a data set without the `features` of these names."""
        dropped = {features} if isinstance(features, str) else set(features)
        if unknown := dropped.difference(self.feature_names):
            raise DataError(f"{self.name} has no feature {min(unknown)!r} to leave out; check the name")
        left = [column for column, name in enumerate(self.feature_names) if name not in dropped]
        if not left:
            raise DataError(f"nothing is left of {self.name} without these features; keep at least one")
        return replace(self, X=self.X[:, left], feature_names=tuple(self.feature_names[column] for column in left))

    def with_features(self) -> Self:
        """Return a data set of the rows that have at least one feature."""
        kept = np.flatnonzero(~np.isnan(self.X).all(axis=1))
        split = None if self.split is None else int(np.searchsorted(kept, self.split))
        return replace(self._picked(kept), split=split, starts_at=int(np.searchsorted(kept, self.starts_at)))

    def shuffled(self, seed: int) -> Self:
        """Return a data set with the rows in random order, by `default_rng(seed).permutation`, without the split."""
        order = (np.random.default_rng(seed).permutation(len(self)) + self.starts_at) % len(self)
        return replace(self._picked(order), split=None, starts_at=0)

    def describe_row(self, row: int) -> str:
        """Return the number of `row` and, if known, its line in the file, for messages."""
        return f"row {row}" + ("" if self.lines is None else f" (line {self.lines[row]} of the file)")

    def _picked(self, rows: slice | IntArray) -> Self:
        lines = None if self.lines is None else self.lines[rows]
        return replace(self, X=self.X[rows], Y=self.Y[rows], lines=lines)
