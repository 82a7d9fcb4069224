"""`ScoreTable`: scores of rows by all criteria; `RowsAhead`: rows with them, which hold for one `ModelVersion`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.model.protocols import Model
from evolabel.stages.rules.weights import MANY_ROWS, weights_of_all
from evolabel.typing import FloatArray, IntArray


class ModelVersion(NamedTuple):
    """References to all that scores depend on: equal versions give equal scores."""

    model: Model
    arrays: object
    settings: object
    event: object
    """The last event of a rule."""
    scaler: object
    n_seen: int
    n_labels: int
    n_in_moments: int

    @classmethod
    def of(cls, model: Model, moments: SecondMoments | None) -> "ModelVersion":
        """The present version of `model` and of the second `moments` of its rows."""
        n_in_moments = 0 if moments is None else moments.n_seen
        rules = model.rules
        if rules is None:
            return cls(model, None, None, None, None, model.n_seen, model.n_labels, n_in_moments)
        event = rules.events[-1] if rules.events else None
        return cls(model, rules.arrays, rules.settings, event, model.scaler, rules.n_seen, model.n_labels, n_in_moments)

    def is_still(self, model: Model, moments: SecondMoments | None) -> bool:
        """Whether `of(model, moments)` would be the same; cheaper, because every query needs it."""
        rules = model.rules
        return (
            rules is not None
            and self.n_seen == rules.n_seen
            and self.arrays is rules.arrays
            and self.settings is rules.settings
            and self.event is (rules.events[-1] if rules.events else None)
            and self.model is model
            and self.scaler is model.scaler
            and self.n_labels == model.n_labels
            and self.n_in_moments == (0 if moments is None else moments.n_seen)
        )

    def same(self, other: "ModelVersion") -> bool:
        """Whether rows have the same scores by this version and `other`."""
        if self is other:
            return True
        return self.same_rules(other) and self.scaler is other.scaler and self.n_in_moments == other.n_in_moments

    def same_rules(self, other: "ModelVersion") -> bool:
        """Whether no rule has learned or was edited between this version and `other`."""
        return self is other or (
            self.n_seen == other.n_seen
            and self.model is other.model
            and self.arrays is other.arrays
            and self.settings is other.settings
            and self.event is other.event
            and self.n_labels == other.n_labels
        )


class WeightCache:
    """Weights W of all rules, computed once the model has not changed for many rows.

    Only counted rows decide whether W is used, so a query gives the same bits however often it is made.

    Parameters
    ----------
    rows : int
        Rows counted since the model last changed.
    version : ModelVersion, optional
        The version that has not changed for these rows; not needed where `rows` is 0.
    """

    def __init__(self, rows: int = 0, version: ModelVersion | None = None) -> None:
        self._rows = rows
        self._version = version
        self._weights: FloatArray | None = None

    def rows_unchanged(self, version: ModelVersion) -> int:
        """Rows counted since the model of this `version` last changed."""
        return self._rows if self._version is not None and self._version.same_rules(version) else 0

    def count(self, version: ModelVersion, rows: int) -> None:
        """Count further `rows` of the stream, seen by the model of this `version`."""
        self._restart_if_changed(version)
        self._rows += rows

    def weights(self, version: ModelVersion, ahead: int = 0) -> FloatArray | None:
        """Weights of the rules of `version`; None where the rows counted and the rows `ahead` are too few."""
        if self.rows_unchanged(version) + ahead < MANY_ROWS:
            return None
        self._restart_if_changed(version)
        if self._weights is None:
            self._weights = version.model.drift.mixed(weights_of_all)
        return self._weights

    def _restart_if_changed(self, version: ModelVersion) -> None:
        if self._version is None or not self._version.same_rules(version):
            self._rows, self._weights = 0, None
        self._version = version


class ScoreTable:
    """Scores of n rows by all criteria: one (n,) or (n, K) array per criterion, side by side in one table.

    Parameters
    ----------
    table : array (n, S)
        Scores of all criteria side by side, C-contiguous float64.
    sizes : int array
        Number of columns of each criterion.
    columns : sequence of int or slice
        The column of each criterion, or its columns if it scores label by label.
    """

    def __init__(self, table: FloatArray, sizes: IntArray, columns: Sequence[int | slice]) -> None:
        self.table = table
        self.sizes = sizes
        self.columns = columns

    @classmethod
    def of(cls, scores: Sequence[FloatArray]) -> "ScoreTable":
        """The table of `scores`, one (n,) or (n, K) array per criterion."""
        tables = [np.asarray(score, np.float64).reshape(len(score), -1) for score in scores]
        sizes = np.array([table.shape[1] for table in tables], np.int64)
        return cls(np.hstack(tables), sizes, columns_of(sizes, [score.ndim == 2 for score in scores]))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.table)

    def __iter__(self) -> Iterator[FloatArray]:
        """Scores by each criterion, (n,) or (n, K)."""
        return (self.table[:, column] for column in self.columns)

    def of_row(self, row: int) -> list[FloatArray]:
        """Scores of one `row` by each criterion: a number, or (K,)."""
        scores = self.table[row].copy()
        return [scores[column] for column in self.columns]


def columns_of(sizes: IntArray, by_label: Sequence[bool]) -> list[int | slice]:
    """The column or columns of each criterion, from the `sizes` and from whether it scores `by_label`."""
    ends = np.cumsum(sizes).tolist()
    starts = [end - size for end, size in zip(ends, sizes.tolist(), strict=True)]
    bounds = zip(starts, ends, by_label, strict=True)
    return [slice(start, end) if labels else start for start, end, labels in bounds]


class ScoredRows(NamedTuple):
    """Consecutive rows of the stream, scored by one version of the model."""

    rows: FloatArray
    outputs: FloatArray
    scores: ScoreTable
    values: FloatArray
    """What the selector compares the rows by, see `Selector.values`."""


class ScoringContext(NamedTuple):
    """What scores depend on beside the model: priorities on `budget`, `retired` labels and those `to_confirm`."""

    changes: int
    """`QueryContext.changes`."""
    budget: float
    retired: frozenset[str]
    to_confirm: bytes
    """`labels_to_confirm`, which pending questions change."""


class RowsAhead(NamedTuple):
    """Rows that were scored together; those from index `first` on have not been counted yet."""

    version: ModelVersion
    number: int
    """Number of the first scored row in the stream."""
    context: ScoringContext
    """What the scores depend on beside the model."""
    scored: ScoredRows
    first: int = 0

    def holds_for(self, rows: FloatArray, version: ModelVersion, number: int, context: ScoringContext) -> bool:
        """Whether the scores are those of `rows`, the next of the stream.

        They are if the rows are the same bits, the first of them has the `number` given, and neither the `version` of
        the model nor the `context` differ.
        """
        known = self.scored.rows[self.first : self.first + len(rows)]
        moved = self.number + self.first != number or self.context != context
        if len(known) < len(rows) or moved or not self.version.same(version):
            return False
        return np.array_equal(known.view(np.int64), rows.view(np.int64))  # as bits: NaN equals NaN
