"""What a record has changed in the rules and in the stream, as the log keeps it: the events that the learner gained."""

import math
from typing import Any

from evolabel.active import ActiveLearner
from evolabel.core.events import Event

_DEFAULTS: dict[str, Any] = {name: Event(0, "", None, None)._asdict()[name] for name in Event._fields}


def count_events(learner: ActiveLearner) -> int:
    """Return how many events `learner` has logged so far."""
    return learner.strategy.inner.any_model.n_events


def events_since(learner: ActiveLearner, n_events: int) -> list[dict[str, Any]]:
    """Return the events of `learner` after the first `n_events`, as JSON holds them."""
    if count_events(learner) == n_events:
        return []
    return [event_facts(event) for event in learner.strategy.inner.events_since(n_events)]


def event_facts(event: Event) -> dict[str, Any]:
    """Return `event` as JSON holds it: its kind, and what else it has a value for.

    The sample is left out, because the record of the event has its own.
    """
    facts = {name: value for name, value in event._asdict().items() if value != _DEFAULTS[name] and name != "sample"}
    return {name: value for name, value in facts.items() if not isinstance(value, float) or math.isfinite(value)}
