"""`Judged`: what a model makes of some rows. What lies behind a question stays valid until something is learned."""

from typing import NamedTuple

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.second_moments import SecondMoments
from evolabel.kernels.state import FloatArray


class Version(NamedTuple):
    """All that judgements depend on, held by reference: as long as it is the same, so are they."""

    model: StreamModel
    scaler: object
    n_seen: int
    n_labels: int
    n_in_moments: int

    @classmethod
    def of(cls, model: StreamModel, moments: SecondMoments | None) -> "Version":
        """The version of today."""
        return cls(model, model.scaler, model.n_seen, model.n_labels, 0 if moments is None else moments.n_seen)

    def same(self, other: "Version") -> bool:
        """Has nothing been learned between the two?"""
        return self.model is other.model and self.scaler is other.scaler and self[2:] == other[2:]


class Judged(NamedTuple):
    """Rows, their outputs, and their scores by each criterion."""

    version: Version
    rows: FloatArray
    outputs: FloatArray
    scores: list[FloatArray]

    def behind(self, row: int) -> "Judged":
        """What comes after a row, on its own: whoever passed the rows may write into them."""
        rest = self.part(slice(row + 1, None))
        return rest._replace(rows=rest.rows.copy())

    def part(self, rows: slice) -> "Judged":
        """Some of the rows."""
        return Judged(self.version, self.rows[rows], self.outputs[rows], [column[rows] for column in self.scores])

    def holds_for(self, rows: FloatArray, version: Version) -> bool:
        """Are these the first of the rows, and nothing has been learned since?"""
        first = self.rows[: len(rows)]
        return self.version.same(version) and np.array_equal(first, rows, equal_nan=True)
