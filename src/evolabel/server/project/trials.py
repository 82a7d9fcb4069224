"""Trials of an act on a copy of the model: what it would change in the last predictions."""

from collections.abc import Sequence

from evolabel.server.project.comparing import changes_by_label, decisions
from evolabel.server.project.recent import RecentSample
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.view import StateCopy


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
    if not samples:
        return {"of": 0, "labels": {}, "numbers": []}
    old, new = decisions(before, after, [sample.cells for sample in samples])
    labels = {}
    for column, (name, counts) in enumerate(changes_by_label(before.label_names, old, new).items()):
        changed = (old[:, column] != new[:, column]).nonzero()[0].tolist()
        if changed:
            said = {place: samples[place].judged[name] for place in changed if name in samples[place].judged}
            right = sum(y == int(new[place, column]) for place, y in said.items())
            labels[name] = {**counts, "judged": len(said), "right": right}
    numbers = [sample.number for sample, differs in zip(samples, (old != new).any(axis=1), strict=True) if differs]
    return {"of": len(samples), "labels": labels, "numbers": numbers}
