"""Shifts of the stream that a learner has reported (`core.events`): collected, in pairs, and as plain values."""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any, NamedTuple

from evolabel._utils.text import change_text
from evolabel.core.events import OF_POSITIVES, SHIFTS, Event

EventCallback = Callable[[str, Event], object]
"""Function of the name of a learner and one of its events."""

_IN_FILES = ("sample", "kind", "label", "feature", "before", "after", "deviations", "rows")
_OF_FEATURES = {
    "sensor moved": "readings corrected",
    "inputs moved": "the inputs, not corrected",
    "correction dropped": "corrected no more",
}


class Episode(NamedTuple):
    """One change of the stream: `about` what, at which `sample`, its `size`, and its `outcome`, in words."""

    about: str
    sample: int
    size: str
    outcome: str


class ShiftLog:
    """The `shifts` of the stream among the events of one `learner`; calling it adds an event.

    Names of the columns, `features` and `labels`, replace those that a learner trained on arrays generates. `on_event`,
    if given, is called with the name of the learner and each event.
    """

    def __init__(
        self,
        learner: str,
        features: Sequence[str] = (),
        labels: Sequence[str] = (),
        on_event: EventCallback | None = None,
    ) -> None:
        self.learner = learner
        self.shifts: list[Event] = []
        self._features = {f"x{j}": name for j, name in enumerate(features)}
        self._labels = {f"label{j}": name for j, name in enumerate(labels)}
        self._on_event = on_event

    def __call__(self, event: Event) -> None:
        """Add `event` with the names of the columns."""
        label = self._labels.get(str(event.label), event.label)
        named = event._replace(label=label, feature=self._features.get(str(event.feature), event.feature))
        if named.kind in SHIFTS:
            self.shifts.append(named)
        if self._on_event is not None:
            self._on_event(self.learner, named)


def reports_events(learner: object) -> bool:
    """Return whether the methods of `learner` that train take a function `on_event`, as `EvolvingFuzzyClassifier`'s."""
    try:
        return "on_event" in signature(getattr(learner, "test_then_train", None)).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # there is no such method, or no signature of it
        return False


def episodes(events: Iterable[Event]) -> list[Episode]:
    """Return the changes of labels, features and rules in `events`, each drift with its recovery."""
    found: list[Episode] = []
    open_drifts: dict[object, int] = {}  # places in `found` by label
    for event in events:
        if event.kind == "drift":
            open_drifts[event.label] = len(found)
            which = " where it is or is predicted" if event.note == OF_POSITIVES else ""
            size = f"error{which} {event.before:.3f} -> {event.after:.3f}"
            found.append(Episode(f"label {event.label}", event.sample, size, "not recovered yet"))
        elif event.label in open_drifts and event.kind in ("recovered", "settled"):
            place = open_drifts.pop(event.label)
            found[place] = found[place]._replace(outcome=f"{event.kind} after {event.rows:,} rows")
        elif event.kind in _OF_FEATURES:
            size = f"{event.deviations:+.1f} deviations ({change_text(event.before, event.after)})"
            found.append(Episode(f"feature {event.feature}", event.sample, size, _OF_FEATURES[event.kind]))
        elif event.kind == "renewed":
            found.append(Episode("the rules", event.sample, "renewed", f"from the last {event.rows:,} rows"))
    return found


def event_values(event: Event) -> dict[str, Any]:
    """Return the shift `event` as values for a file, with its text."""
    values = {name: getattr(event, name) for name in _IN_FILES}
    return {**values, "note": event.note, "text": str(event)}


def event_from_values(values: dict[str, Any]) -> Event:
    """Return the shift that `event_values` has written as `values`."""
    return Event(rule=None, other=None, note=values.get("note", ""), **{name: values[name] for name in _IN_FILES})
