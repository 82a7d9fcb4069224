"""Trials of an act on a copy of the model: what it would change in the last predictions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import LOG, RESPONSE, SAMPLE, of_record
from evolabel.server.project.copies import StateCopy
from evolabel.server.project.state import Facts, ProjectState
from evolabel.typing import IntArray

COMPARED = 500
"""Samples whose predictions are compared, the last ones."""

Cells = list[float | str | None]
"""The values of a sample in the order of the features."""


class Changes(NamedTuple):
    """How many of the predictions for `of` samples `changed`, and per label how many became yes and no."""

    of: int
    changed: int
    labels: dict[str, dict[str, int]]


def compare(before: ProjectState, after: ProjectState, samples: Sequence[Cells]) -> Changes:
    """Return how the predictions for `samples` by the state `after` differ from those by the state `before`."""
    if not samples:
        return Changes(0, 0, {})
    old, new = decisions(before, after, samples)
    return Changes(len(samples), int((new != old).any(axis=1).sum()), changes_by_label(before.label_names, old, new))


def decisions(before: ProjectState, after: ProjectState, samples: Sequence[Cells]) -> tuple[IntArray, IntArray]:
    """Return what the states `before` and `after` decide for `samples`, for the labels that both have, (n, K) each."""
    old, new = before.decide(samples), after.decide(samples)
    return old, new[:, : old.shape[1]]


def changes_by_label(names: Sequence[str], old: IntArray, new: IntArray) -> dict[str, dict[str, int]]:
    """Return for each label of `names` how many decisions became yes and no, from those `old` to those `new`."""
    return {
        name: {"to_yes": int((new[:, c] > old[:, c]).sum()), "to_no": int((new[:, c] < old[:, c]).sum())}
        for c, name in enumerate(names)
    }


class RecentSample(NamedTuple):
    """A sample: its number, its values in the order of the features, and the labels that people have judged."""

    number: int
    cells: list[Any]
    judged: dict[str, int]


def recent_samples(connection: Connection, project_id: int, most: int) -> list[RecentSample]:
    """Return the last samples of project `project_id`, at most `most`, newest first, read through `connection`.

    Those whose values are missing are left out.
    """
    query = (
        select(SAMPLE.c.number, LOG.c.payload)
        .join(LOG, of_record(SAMPLE))
        .where(SAMPLE.c.project_id == project_id)
        .order_by(SAMPLE.c.number.desc())
        .limit(most)
    )
    payloads = {row.number: parsed(row.payload) for row in connection.execute(query) if row.payload is not None}
    judged: dict[int, dict[str, int]] = {number: _known(payload.get("y")) for number, payload in payloads.items()}
    numbers = list(payloads)
    answers = (
        select(RESPONSE.c.number, RESPONSE.c.answers)
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.number.in_(numbers), RESPONSE.c.status == "submitted")
        .order_by(RESPONSE.c.seq)
    )
    for row in connection.execute(answers):
        judged[row.number] |= _known(parsed(row.answers))
    late = select(LOG.c.payload).where(
        LOG.c.project_id == project_id, LOG.c.key.in_([f"late:{number}" for number in numbers])
    )
    for text in connection.scalars(late):
        if text is not None:
            payload = parsed(text)
            judged[payload["number"]] |= _known(payload["y"])
    return [RecentSample(number, payload["x"], judged[number]) for number, payload in payloads.items()]


def _known(answers: dict[str, int | None] | None) -> dict[str, int]:
    """Return `answers` without those of people who were unsure."""
    return {name: int(value) for name, value in (answers or {}).items() if value is not None}


def dry_run(copy: StateCopy, kind: str, payload: Facts, samples: Sequence[RecentSample]) -> Facts:
    """Return the rule that an act of this `kind` and `payload` would make, as read, and what it would change.

    It is tried on the `copy` of the state, over `samples`.
    """
    trial = copy.trial()
    outcome = trial.apply(kind, payload, 0)
    changes = changed_predictions(copy.state, trial, samples)
    return {"rule": outcome["rule"], "text": outcome["text"], "changes": changes}


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
            judged = {place: samples[place].judged[name] for place in changed if name in samples[place].judged}
            right = sum(y == int(new[place, column]) for place, y in judged.items())
            labels[name] = {**counts, "judged": len(judged), "right": right}
    numbers = [sample.number for sample, differs in zip(samples, (old != new).any(axis=1), strict=True) if differs]
    return {"of": len(samples), "labels": labels, "numbers": numbers}
