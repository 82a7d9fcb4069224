"""What people and producers can do. Each operation checks all of its request before it records anything."""

from collections.abc import Mapping, Sequence
from typing import Any

from evolabel._utils.text import first_names
from evolabel.errors import DataError, EvolabelError
from evolabel.server.log.canonical import digest
from evolabel.server.log.records import Record
from evolabel.server.project.batch import Desk, Origin, TornError, result_of, sample_result
from evolabel.server.project.questions import Closing, OpenQuestion, closing, is_answered
from evolabel.server.project.settings import MOST_LABELS, Label, ProjectSettings
from evolabel.server.project.state import Facts, ProjectState

SERVICE = Origin()
"""Origin of what the service does by itself."""


class ConflictError(EvolabelError, ValueError):
    """The request contradicts what is in the log; `type` names the problem."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class UnknownError(EvolabelError, LookupError):
    """There is no such sample or question."""


def send_samples(desk: Desk, samples: Sequence[Facts], origin: Origin) -> Facts:
    """Count `samples` of `origin` on the `desk`; return the prediction and the question, if any, of each.

    A request with a known key, and a sample with a known id, are answered from the log.
    """
    if origin.key is not None and (known := desk.by_key(origin.key)):
        check_same_body(known, origin)
        by_id = desk.by_ids([sample["id"] for sample in samples if "id" in sample])
        with_id = {record.seq for record in by_id.values()}
        others = iter([record for record in known if record.seq not in with_id])
        found = [by_id[sample["id"]] if "id" in sample else next(others) for sample in samples]
        both = zip(samples, found, strict=True)
        results = [{**result_of(record), "id": sample.get("id")} for sample, record in both]
        return {"seq": known[-1].seq, "results": results, "replayed": True}
    payloads = [_sample_payload(desk, sample, place) for place, sample in enumerate(samples)]
    ids = [payload["id"] for payload in payloads if "id" in payload]
    if len(set(ids)) < len(ids):
        raise DataError("two samples of the request have the same id; give each its own")
    known_ids = desk.by_ids(ids)
    for payload in payloads:
        _check_same_sample(payload, known_ids.get(payload.get("id", "")))
    results, part = [], 0
    for payload in payloads:
        record = known_ids.get(payload.get("id", ""))
        if record is not None:
            results.append({**result_of(record), "id": payload["id"]})
            continue
        results.append(sample_result(payload, desk.record("sample", payload, origin, part)))
        part += 1
    return {"seq": desk.seq, "results": results, "replayed": part == 0}


def predict_samples(desk: Desk, samples: Sequence[Facts]) -> Facts:
    """Return the prediction for each of `samples` by the model on the `desk`; nothing is counted or logged."""
    return {"results": [desk.state.predict(desk.state.cells(sample["x"]))[0] for sample in samples]}


def give_answer(desk: Desk, number: int, answers: Facts, origin: Origin, **extra: Any) -> Facts:
    """Record on the `desk` the `answers` of `origin` to question `number`.

    `extra` are `took_ms` and `note`.

    The same answers again change nothing. To a question that is closed they are kept as a correction.
    """
    given = desk.state.read_labels(answers)
    if all(value is None for value in given.values()):
        return refuse(desk, number, "unsure of every label", origin)
    return _respond(desk, number, "answer", {"answers": given, **_given(extra)}, origin)


def refuse(desk: Desk, number: int, reason: str | None, origin: Origin) -> Facts:
    """Record on the `desk` that `origin` cannot answer question `number`, with an optional `reason`."""
    return _respond(desk, number, "refusal", _given({"note": reason}), origin)


def withdraw(desk: Desk, number: int, origin: Origin) -> Facts:
    """Take back the response of `origin` to question `number` on the `desk`; ConflictError once it is final."""
    question_record(desk, number)
    question = desk.state.open.get(number)
    response = None if question is None else question.responses.get(origin.actor_id or 0)
    if response is None or response.is_final(desk.now, desk.state.settings):
        raise ConflictError("already-final", f"the answer to question {number} is final; send a correction instead")
    payload = {"number": number, "person": response.person, "revision": response.revision + 1}
    desk.record("withdrawal", payload, origin)
    return {"status": "withdrawn"}


def late_labels(desk: Desk, number: int, labels: Facts, origin: Origin) -> Facts:
    """Learn on the `desk` `labels` of sample `number` that `origin` sends later; ConflictError if others came."""
    given = {name: value for name, value in desk.state.read_labels(labels).items() if value is not None}
    if not given:
        raise DataError("no label is given; send true or false for at least one")
    record = desk.sample(number)
    if record is None:
        raise UnknownError(f"there is no sample {number}; send it first")
    key = f"late:{number}"
    if known := desk.by_key(key):
        said = known[0].entry
        if said.payload["y"] != given if said.payload is not None else said.body_hash != origin.body_hash:
            raise ConflictError("labels-differ", f"sample {number} has other labels already; send a correction")
        return {**known[0].entry.outcome, "replayed": True}
    payload = {"number": number, "y": given, "x": stored_payload(record)["x"]}
    return desk.record("labels.late", payload, Origin(origin.actor_id, key, origin.body_hash))


def correct_sample(desk: Desk, number: int, answers: Facts | None, origin: Origin) -> Facts:
    """Keep `answers` that `origin` sends later to sample `number` as a correction on the `desk`, for a rebuild.

    It trains nothing; None takes back what was said. What was said before changes nothing.
    """
    record = desk.sample(number)
    if record is None:
        raise UnknownError(f"there is no sample {number}; send it first")
    person, sent = origin.actor_id or 0, stored_payload(record).get("y") or {}
    given = dict.fromkeys(sent) if answers is None else desk.state.read_labels(answers)
    before = desk.last_response(number, person)
    said = sent if before is None else before.entry.payload.get("answers")
    if said == given:
        return {"corrected": False}
    revision = 1 if before is None else before.entry.payload["revision"] + 1
    payload = {"number": number, "person": person, "revision": revision, "saw_prediction": True, "answers": given}
    desk.record("correction", payload, origin)
    return {"corrected": True}


def stored_payload(record: Record) -> Facts:
    """Return the payload of the `record` of a sample; ConflictError if it is in the archive."""
    if record.entry.payload is None:
        number = record.entry.outcome["number"]
        raise ConflictError("archived", f"the values of sample {number} are in the archive; send it as a new sample")
    return dict(record.entry.payload)


def change_settings(desk: Desk, changed: Facts, origin: Origin) -> Facts:
    """Change the settings named in `changed` on the `desk` for `origin`, and return all; some are fixed."""
    settings = ProjectSettings.read(changed, desk.state.settings)
    settings.check_source(desk.state.features)
    for name in ("per", "burst", "criteria"):
        if getattr(settings, name) != getattr(desk.state.settings, name):
            raise ConflictError("fixed-setting", f"{name} is fixed when a project is made; make a new project")
    if settings != desk.state.settings:
        desk.record("settings.changed", {"changed": changed}, origin)
    return {"settings": desk.state.settings.facts()}


def add_label(desk: Desk, label: Label, origin: Origin) -> Facts:
    """Add a `label` to the project on the `desk` for `origin`; the same one again changes nothing."""
    known = {known.name: known for known in desk.state.labels}
    if label.name in known:
        if known[label.name] != label:
            raise ConflictError("label-exists", f"there is a label {label.name!r} already; choose another name")
        return {"name": label.name, "position": desk.state.label_names.index(label.name) + 1}
    if len(known) >= MOST_LABELS:
        raise ConflictError("too-many-labels", f"a project has at most {MOST_LABELS} labels; make another project")
    outcome = desk.record("label.added", label.facts(), origin)
    return {"name": label.name, "position": outcome["position"]}


def retire_label(desk: Desk, name: str, origin: Origin) -> Facts:
    """Never ask for the label called `name` of the project on the `desk` again, by order of `origin`."""
    known = {label.name: label for label in desk.state.labels}
    if name not in known:
        raise UnknownError(f"there is no label {name!r}; the labels are {first_names(desk.state.asked_names)}")
    if sum(not label.retired for label in known.values()) == 1 and not known[name].retired:
        raise ConflictError("last-label", f"{name!r} is the last label that is asked for; pause the project instead")
    if not known[name].retired:
        desk.record("label.retired", {"name": name}, origin)
    return {"name": name, "retired": True}


def set_paused(desk: Desk, origin: Origin, *, paused: bool) -> Facts:
    """Stop asking if `paused`, or ask again, on the `desk` for `origin`; samples are still counted and predicted."""
    if desk.state.paused != paused:
        desk.record("paused" if paused else "resumed", {}, origin)
    return {"paused": paused}


class UnclosedError(TornError):
    """The learner has failed at the close of question `number`."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def close_key(number: int) -> bytes:
    """Return the key under which failures at the close of question `number` are counted."""
    return digest(f"close {number}")


def close_due(desk: Desk, names: dict[int, str], failures: Mapping[bytes, int]) -> None:
    """Close the questions on the `desk` that have their answers or have waited too long; `names` of the people.

    A question whose answers have made the learner fail before, by its `failures`, is given up: its answers stay in the
    log and train nothing. One that cannot be closed even so stays open. Answers beyond those that a question needs are
    kept as corrections.
    """
    for question in list(desk.state.open.values()):
        failed = failures.get(close_key(question.number), 0) if failures else 0
        end = closing(question, desk.now, desk.state.seen, desk.state.settings) if failed < 2 else None
        if end is None:
            continue
        if failed:
            end = Closing("given_up", [], [])
        annotators = [names.get(person, f"person {person}") for person in end.people]
        payload = {"number": question.number, "cause": end.cause, "rows": end.rows, "annotators": annotators}
        try:
            desk.record("close", payload, SERVICE)
        except TornError as error:
            raise UnclosedError(question.number, str(error)) from error
        if end.cause == "answered":
            _keep_others(desk, question, end.people)


def _keep_others(desk: Desk, question: OpenQuestion, taught: list[int]) -> None:
    """Record on the `desk` the answers to a closed `question` of people who are not among those `taught`.

    One who has answered again in the same batch, when the answers were enough, has a correction already.
    """
    for person, response in question.responses.items():
        if response.status != "submitted" or person in taught:
            continue
        given = desk.last_response(question.number, person)
        if given is not None and given.entry.kind != "correction":
            desk.record("correction", {**given.entry.payload, "revision": response.revision + 1}, SERVICE)


def _sample_payload(desk: Desk, sample: Facts, place: int) -> Facts:
    """Return the payload of one `sample`, the `place`-th of its request; DataError names the place."""
    try:
        cells = desk.state.cells(sample["x"])
        source = sample.get("source") or _source_of(desk.state, cells)
        payload = {"x": cells, **_given({"id": sample.get("id"), "at": sample.get("at"), "source": source})}
        if sample.get("y") is not None:
            payload["y"] = desk.state.read_labels(sample["y"])
    except DataError as error:
        raise PlacedError(f"/samples/{place}", str(error)) from None
    return payload


def _source_of(state: ProjectState, cells: list[Any]) -> str | None:
    """Return where a sample of these `cells` comes from: the text of the feature that the settings of `state` name."""
    if not state.settings.source:
        return None
    cell = cells[[feature.name for feature in state.features].index(state.settings.source)]
    return None if cell is None else str(cell)


class PlacedError(DataError):
    """Data that cannot be used, with the JSON pointer of its place."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer


def check_same_body(known: list[Record], origin: Origin) -> None:
    """Raise ConflictError if `origin` has another body than the `known` records of its key."""
    if known[0].entry.body_hash != origin.body_hash:
        raise ConflictError("key-reused", "the Idempotency-Key was used for another body; use a new key")


def _check_same_sample(payload: Facts, known: Record | None) -> None:
    if known is not None and known.entry.payload is not None and known.entry.payload["x"] != payload["x"]:
        raise ConflictError(
            "sample-differs", f"sample {payload['id']!r} was sent before with other values; use a new id"
        )


def _respond(desk: Desk, number: int, kind: str, facts: Facts, origin: Origin) -> Facts:
    """Record a response of this `kind` to question `number`, or a correction where the question is closed.

    `saw_prediction` is recorded with it: whether the person of `origin` could see what the model predicts.
    """
    question_record(desk, number)
    person, question = origin.actor_id or 0, desk.state.open.get(number)
    before = desk.last_response(number, person)
    if before is not None and _same_response(before, kind, facts):
        return _receipt(before.entry.kind, before.entry.outcome, replayed=True)
    settings, revision = desk.state.settings, 1 if before is None else before.entry.payload["revision"] + 1
    earlier = None if question is None else question.responses.get(person)
    is_shown = question is None or (earlier is not None and earlier.is_final(desk.now, settings))
    if question is None or is_shown or is_answered(question, desk.now, settings):
        kind = "correction"
    saw = origin.sees_all or not settings.blind or is_shown
    payload = {"number": number, "person": person, "revision": revision, "saw_prediction": saw, **facts}
    return _receipt(kind, desk.record(kind, payload, origin), replayed=False)


def _same_response(before: Record, kind: str, facts: Facts) -> bool:
    """Return whether `before` is a response of the same `kind`, or its correction, with the same answers and note."""
    said = before.entry.payload
    is_same = all(said.get(name) == facts.get(name) for name in ("answers", "note"))
    return before.entry.kind in (kind, "correction") and is_same


def _receipt(kind: str, outcome: Facts, *, replayed: bool) -> Facts:
    status = {"answer": "submitted", "refusal": "refused", "correction": "correction"}[kind]
    return {"status": status, "late": kind == "correction", "final_at": outcome.get("final_at"), "replayed": replayed}


def question_record(desk: Desk, number: int) -> Record:
    """Return the record of the sample whose question has this `number`; UnknownError if nothing was asked."""
    record = desk.sample(number)
    if record is None or record.entry.outcome["question"] is None:
        raise UnknownError(f"there is no question {number}; questions have the numbers of their samples")
    return record


def _given(facts: Facts) -> Facts:
    """Return `facts` without those that are None."""
    return {name: value for name, value in facts.items() if value is not None}


def weights_of(desk: Desk, names: list[str]) -> dict[str, Facts]:
    """Return by name the weight of each annotator in `names` on the `desk`, and whether it was set by hand."""
    pool = desk.state.learner.annotators
    return {name: {"weight": pool.weight(name), "fixed": name in pool.fixed} for name in names}


def weigh_annotator(desk: Desk, person: int, name: str, weight: float | None, origin: Origin) -> Facts:
    """Set the `weight` of a `person` called `name` on the `desk` for `origin`; None: by agreement with others again.

    The same weight again changes nothing.
    """
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise DataError(f"the weight is {weight!r}; it must be from 0 to 1, or null to take it from agreements")
    if desk.state.learner.annotators.fixed.get(name) != weight:
        desk.record("annotator.weighted", {"person": person, "annotator": name, "weight": weight}, origin)
    return weights_of(desk, [name])[name]
