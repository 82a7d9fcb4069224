"""`Judged`: what a model makes of some rows. What lies behind a question stays valid until something is learned."""

from typing import NamedTuple

import numpy as np

from evolabel.core.formed_weights import MANY_ROWS, formed_weights
from evolabel.core.model import StreamModel
from evolabel.core.rule_base import RuleBase
from evolabel.core.second_moments import SecondMoments
from evolabel.kernels.state import FloatArray


class Version(NamedTuple):
    """All that judgements depend on, held by reference: as long as it is the same, so are they."""

    model: StreamModel
    rules: tuple[object, ...]
    """The arrays of the rules, their settings and the last thing that happened to one of them."""
    n_seen: int
    n_labels: int
    scaler: object
    n_in_moments: int

    @classmethod
    def of(cls, model: StreamModel, moments: SecondMoments | None) -> "Version":
        """The version of today."""
        n_in_moments = 0 if moments is None else moments.n_seen
        return cls(model, _stand(model.rules), model.n_seen, model.n_labels, model.scaler, n_in_moments)

    def same(self, other: "Version") -> bool:
        """Are samples judged as they were?"""
        return self.same_rules(other) and self.scaler is other.scaler and self.n_in_moments == other.n_in_moments

    def same_rules(self, other: "Version") -> bool:
        """Has nothing been learned or edited between the two?"""
        return (
            self.model is other.model
            and all(one is two for one, two in zip(self.rules, other.rules, strict=True))
            and self.n_seen == other.n_seen
            and self.n_labels == other.n_labels
        )


def _stand(rules: RuleBase | None) -> tuple[object, ...]:
    if rules is None:
        return (None, None, None)
    return rules.arrays, rules.settings, rules.events[-1] if rules.events else None


class StandingModel:
    """Weights of a model that is looked at again and again, formed as soon as that pays off; never stale."""

    def __init__(self) -> None:
        self._version: Version | None = None
        self._weights: FloatArray | None = None
        self._rows = 0

    def weights(self, version: Version, rows: int) -> FloatArray | None:
        """Formed weights to judge further rows by; None as long as the model has been asked about a few rows only."""
        if self._version is None or not self._version.same_rules(version):
            self._version, self._weights, self._rows = version, None, 0
        self._rows += rows
        if self._weights is None and self._rows >= MANY_ROWS:
            self._weights = formed_weights(version.model.trained())
        return self._weights


class Judged(NamedTuple):
    """Rows, their outputs, their scores by each criterion, and what the filter needs to know of these."""

    version: Version
    rows: FloatArray
    outputs: FloatArray
    scores: list[FloatArray]
    parts: FloatArray

    def behind(self, row: int) -> "Judged":
        """What comes after a row."""
        return self.part(slice(row + 1, None))

    def part(self, rows: slice) -> "Judged":
        """Some of the rows."""
        scores = [column[rows] for column in self.scores]
        return Judged(self.version, self.rows[rows], self.outputs[rows], scores, self.parts[rows])

    def holds_for(self, rows: FloatArray, version: Version) -> bool:
        """Are these the first of the rows, and nothing has been learned since?"""
        first = self.rows[: len(rows)]
        same_bits = len(first) == len(rows) and np.array_equal(first.view(np.int64), rows.view(np.int64))  # NaN as well
        return same_bits and self.version.same(version)
