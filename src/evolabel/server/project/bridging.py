"""What another labelling tool does: its annotations are samples with labels, or answers to questions."""

import math
from typing import NamedTuple

from evolabel.errors import DataError
from evolabel.server.log.canonical import canonical, digest
from evolabel.server.project.batch import Desk, Origin
from evolabel.server.project.operations import (
    UnknownError,
    give_answer,
    question_record,
    refuse,
    send_samples,
    stored_payload,
)
from evolabel.server.project.questions import Answers
from evolabel.server.project.state import Facts, ProjectState

QUESTION_FIELD = "evolabel_number"
"""Field of a task that is a question of the project: its number."""


class Annotation(NamedTuple):
    """An annotation of another tool: its name there, the data of its task, and what the person has said.

    `answers` are None if the person could not answer, `took_ms` is the time that it took.
    """

    name: str
    data: Facts
    answers: Answers | None
    took_ms: int | None = None


def task_values(state: ProjectState, data: Facts) -> Facts:
    """Return the values of the features of `state` in the `data` of a task; DataError if there are none.

    Other fields are ignored, and numbers may be texts.
    """
    values = {}
    for feature in state.features:
        value = data.get(feature.name)
        if feature.kind == "number" and isinstance(value, str):
            value = _number(feature.name, value)
        elif feature.kind == "text" and value is not None and not isinstance(value, str):
            value = str(value)
        if feature.name in data:
            values[feature.name] = value
    if not values:
        names = [feature.name for feature in state.features]
        raise DataError(f"the data of the task has none of the features {names[:5]}; name its fields as the features")
    return values


def predict_tasks(desk: Desk, tasks: list[Facts]) -> tuple[int, list[Facts]]:
    """Return the last record on the `desk`, and the prediction for the data of each of `tasks`; nothing is counted."""
    rows = [desk.state.cells(task_values(desk.state, data)) for data in tasks]
    return desk.seq, [desk.state.predict(cells)[0] for cells in rows]


def check_annotation(desk: Desk, annotation: Annotation) -> None:
    """Raise DataError or UnknownError unless a new `annotation` can be recorded on the `desk`; nothing changes."""
    number = _question_number(annotation)
    if number is not None:
        question_record(desk, number)
    elif annotation.answers is not None:
        desk.state.cells(task_values(desk.state, annotation.data))


def add_annotation(desk: Desk, annotation: Annotation, origin: Origin) -> Facts:
    """Count and learn a new `annotation` of `origin` on the `desk`, once however often it comes.

    It answers a question if its task names one. Without answers it is a refusal, which teaches nothing.
    """
    number, extra = _question_number(annotation), {"took_ms": annotation.took_ms}
    if number is not None:
        if annotation.answers is None:
            return refuse(desk, number, None, origin)
        return give_answer(desk, number, dict(annotation.answers), origin, **extra)
    if annotation.answers is None:
        return {}
    if annotation.name in desk.by_ids([annotation.name]):
        return correct_annotation(desk, annotation, origin)
    sample = {"id": annotation.name, "x": task_values(desk.state, annotation.data), "y": dict(annotation.answers)}
    keyed = Origin(origin.actor_id, f"{annotation.name}:{origin.actor_id}", digest(canonical(sample)))
    return dict(send_samples(desk, [sample], keyed)["results"][0])


def correct_annotation(desk: Desk, annotation: Annotation, origin: Origin) -> Facts:
    """Keep what `origin` says later of an `annotation` as a correction on the `desk`, for a rebuild of the model.

    Without answers the annotation was taken back. What was said before changes nothing. An annotation that is not known
    is added; UnknownError if its task is not known either.
    """
    number = annotation.data.get(QUESTION_FIELD)
    if number is not None:
        return add_annotation(desk, annotation, origin)
    record = desk.by_ids([annotation.name]).get(annotation.name)
    if record is None:
        if annotation.data:
            return add_annotation(desk, annotation, origin)
        raise UnknownError(f"there is no annotation {annotation.name!r}; let the webhook send its task as well")
    number, person = int(record.entry.outcome["number"]), origin.actor_id or 0
    sent = stored_payload(record)["y"]
    given: Answers = dict.fromkeys(sent) if annotation.answers is None else annotation.answers
    before = desk.last_response(number, person)
    said = sent if before is None else before.entry.payload.get("answers")
    if said == given:
        return {}
    revision = 1 if before is None else before.entry.payload["revision"] + 1
    payload = {"number": number, "person": person, "revision": revision, "saw_prediction": True, "answers": given}
    return desk.record("correction", payload, origin)


def delete_annotation(desk: Desk, annotation: Annotation, origin: Origin) -> Facts:
    """Keep on the `desk` as a correction that `origin` has deleted an `annotation`; nothing if it is not known."""
    return correct_annotation(desk, annotation, origin) if desk.by_ids([annotation.name]) else {}


def _question_number(annotation: Annotation) -> int | None:
    """Return the number of the question that the task of `annotation` names, or None; DataError if it is no number."""
    number = annotation.data.get(QUESTION_FIELD)
    if number is None or (isinstance(number, int) and not isinstance(number, bool)):
        return number
    raise DataError(f"{QUESTION_FIELD} is {number!r}; it must be the number of a question")


def _number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
        return None if math.isnan(number) else number
    except ValueError:
        raise DataError(f"{name!r} is {text[:50]!r}; it must be a number") from None
