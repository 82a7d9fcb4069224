"""Trials of an act on a copy of the model: what it would change in the last predictions."""

from collections.abc import Sequence

from evolabel.server.contexts.state import Facts, ProjectState
from evolabel.server.contexts.view import StateCopy
from evolabel.server.store.recent import RecentSample

COMPARED = 500
"""Samples whose predictions are compared."""


def dry_run(copy: StateCopy, kind: str, payload: Facts, samples: Sequence[RecentSample]) -> Facts:
    """Return the rule that an act of this `kind` and `payload` would make, as read, and what it would change.

    It is tried on the `copy` of the state, over `samples`.
    """
    trial = copy.trial()
    outcome = trial.apply(kind, payload, 0)
    changes = changed_predictions(copy.state, trial, samples)
    return {"rule": outcome["rule"], "read_as": outcome["text"], "changes": changes}


def changed_predictions(before: ProjectState, after: ProjectState, samples: Sequence[RecentSample]) -> Facts:
    """Return which of the `samples` the states `before` and `after` predict in different ways, by label.

    Of the changed ones `judged` were judged by people, and of these `right` agree with them after the change.
    """
    labels: dict[str, dict[str, int]] = {}
    numbers = []
    for sample in samples:
        old, new = (set(state.predict(sample.cells)[0]["labels"]) for state in (before, after))
        if changed := old ^ new:
            numbers.append(sample.number)
        for name in changed:
            counts = labels.setdefault(name, {"to_yes": 0, "to_no": 0, "judged": 0, "right": 0})
            counts["to_yes" if name in new else "to_no"] += 1
            if name in sample.judged:
                counts["judged"] += 1
                counts["right"] += bool(sample.judged[name]) == (name in new)
    in_order = {name: labels[name] for name in before.label_names if name in labels}
    return {"of": len(samples), "labels": in_order, "numbers": numbers}
