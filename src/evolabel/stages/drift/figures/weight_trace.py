"""`WeightTrace`: the weights of the members of a classifier along the stream, recorded for `member_weights`."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evolabel._utils.text import first_names
from evolabel._utils.validation import whole_number
from evolabel.core.events import SHIFTS, Event
from evolabel.errors import DataError
from evolabel.stages.drift.label_drift import MEMBERS, LabelDrift
from evolabel.typing import FloatArray


class Followed(Protocol):
    """A classifier that learns a stream and shows its members, such as `EvolvingFuzzyClassifier`."""

    @property
    def drift_(self) -> Mapping[str, LabelDrift]: ...  # noqa: D102
    @property
    def events_(self) -> Sequence[Event]: ...  # noqa: D102
    @property
    def n_samples_seen_(self) -> int: ...  # noqa: D102
    def partial_fit(self, X: Any, y: Any) -> object: ...  # noqa: D102


class WeightTrace:
    """The weights of the members of `classifier` at the samples at which they were recorded.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        It is read by `record`, and not changed.

    Attributes
    ----------
    samples : list of int
        Samples that the classifier had seen at each record.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.explain.figures import WeightTrace
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(300)
    >>> clf = EvolvingFuzzyClassifier()
    >>> trace = WeightTrace(clf)
    >>> for start in range(0, 300, 100):
    ...     _ = clf.partial_fit(X[start : start + 100], Y[start : start + 100])
    ...     trace.record()
    >>> trace.samples, trace.weights().shape
    ([100, 200, 300], (3, 3))
    """

    def __init__(self, classifier: Followed) -> None:
        self.classifier = classifier
        self.samples: list[int] = []
        self._weights: list[dict[str, tuple[float, ...]]] = []  # by label

    def record(self) -> None:
        """Append the weights as they are now."""
        found = {
            label: tuple(drift.weights[member] for member in MEMBERS) for label, drift in self.classifier.drift_.items()
        }
        self.samples.append(self.classifier.n_samples_seen_)
        self._weights.append(found)

    @property
    def labels(self) -> list[str]:
        """Names of the labels at the last record."""
        return list(self._weights[-1]) if self._weights else []

    def weights(self, label: str | None = None) -> FloatArray:
        """Return the weights of the slow, the fast and the linear member at each record, (records, 3).

        They are those of `label`, NaN before it was known; or, for None, their mean over all labels.
        """
        if label is not None and label not in self.labels:
            raise DataError(f"there is no label {label!r} in the trace; the labels are {first_names(self.labels)}")
        unknown = (np.nan,) * len(MEMBERS)
        rows = [
            np.mean(list(found.values()), axis=0) if label is None else found.get(label, unknown)
            for found in self._weights
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(MEMBERS))

    def shifts(self, label: str | None = None) -> list[Event]:
        """Return the shifts of the stream among the events; with `label`, without those of other labels."""
        found = [event for event in self.classifier.events_ if event.kind in SHIFTS]
        return [event for event in found if label is None or event.label in (None, label)]


def follow_weights(classifier: Followed, X: Any, y: Any, *, every: int = 100) -> WeightTrace:
    """Train `classifier` on the rows `X` with labels `y`, and return the weights of its members every so many rows.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        It is trained by `partial_fit`.
    X, y
        As `partial_fit` takes them.
    every : int
        Rows between two records.

    Returns
    -------
    WeightTrace
        The weights after each piece of `every` rows.
    """
    step, trace = whole_number("every", every, 1), WeightTrace(classifier)
    for start in range(0, len(X), step):
        classifier.partial_fit(X[start : start + step], y[start : start + step])
        trace.record()
    return trace
