"""`Version` and `StandingModel`: is a model still as it was? What was made of samples is valid as long as it is."""

from typing import NamedTuple

from evolabel.core.model import StreamModel
from evolabel.core.rules.weights import MANY_ROWS, formed_weights
from evolabel.core.second_moments import SecondMoments
from evolabel.typing import FloatArray


class Version(NamedTuple):
    """All that judgements depend on, held by reference: as long as it is the same, so are they."""

    model: StreamModel
    arrays: object
    settings: object
    event: object
    """The last thing that happened to a rule."""
    scaler: object
    n_seen: int
    n_labels: int
    n_in_moments: int

    @classmethod
    def of(cls, model: StreamModel, moments: SecondMoments | None) -> "Version":
        """The version of today."""
        n_in_moments = 0 if moments is None else moments.n_seen
        rules = model.rules
        if rules is None:
            return cls(model, None, None, None, None, model.n_seen, model.n_labels, n_in_moments)
        event = rules.events[-1] if rules.events else None
        return cls(model, rules.arrays, rules.settings, event, model.scaler, rules.n_seen, model.n_labels, n_in_moments)

    def is_still(self, model: StreamModel, moments: SecondMoments | None) -> bool:
        """Would `of` find the same? Cheaper than to ask it, and asked for every sample."""
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

    def same(self, other: "Version") -> bool:
        """Are samples judged as they were?"""
        if self is other:
            return True
        return self.same_rules(other) and self.scaler is other.scaler and self.n_in_moments == other.n_in_moments

    def same_rules(self, other: "Version") -> bool:
        """Has nothing been learned or edited between the two?"""
        return self is other or (
            self.n_seen == other.n_seen
            and self.model is other.model
            and self.arrays is other.arrays
            and self.settings is other.settings
            and self.event is other.event
            and self.n_labels == other.n_labels
        )


class StandingModel:
    """Weights of a model that many rows have passed by, formed once and never stale.

    Only rows that were counted tell whether a model stands, so that a query is the same however often it is made.

    Parameters
    ----------
    rows : int
        Rows that have passed the model of this `version` already.
    version : Version, optional
        Not needed where no row has passed.
    """

    def __init__(self, rows: int = 0, version: Version | None = None) -> None:
        self._rows = rows
        self._version = version
        self._weights: FloatArray | None = None

    def rows(self, version: Version) -> int:
        """How many rows have passed since the model last changed."""
        return self._rows if self._version is not None and self._version.same_rules(version) else 0

    def pass_by(self, version: Version, rows: int) -> None:
        """Further rows have passed."""
        self._meet(version)
        self._rows += rows

    def weights(self, version: Version, ahead: int = 0) -> FloatArray | None:
        """Formed weights to judge rows by; None as long as those that passed and those ahead are too few."""
        if self.rows(version) + ahead < MANY_ROWS:
            return None
        self._meet(version)
        if self._weights is None:
            self._weights = formed_weights(version.model.trained())
        return self._weights

    def _meet(self, version: Version) -> None:
        """Forget what was known of the model before it changed."""
        if self._version is None or not self._version.same_rules(version):
            self._rows, self._weights = 0, None
        self._version = version
