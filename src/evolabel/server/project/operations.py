"""What people and producers can do. Each operation checks all of its request before it records anything."""

from collections.abc import Mapping, Sequence
from typing import Any

from evolabel._utils.text import first_names
from evolabel.errors import DataError, EvolabelError
from evolabel.server.log.canonical import digest
from evolabel.server.log.records import Record
from evolabel.server.project.batch import Origin, RecordBatch, TornError, result_of, sample_result
from evolabel.server.project.questions import Answers, Closing, OpenQuestion, agreed_answers, closing, is_answered
from evolabel.server.project.settings import MOST_LABELS, Label, ProjectSettings
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.values import exclusive_answers, read_answers, read_cells

SERVICE = Origin()
"""Origin of what the service does by itself."""


class ConflictError(EvolabelError, ValueError):
    """The request contradicts what is in the log; `type` names the problem."""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


class UnknownError(EvolabelError, LookupError):
    """There is no such sample or question."""


def send_samples(batch: RecordBatch, samples: Sequence[Facts], origin: Origin) -> Facts:
    """Count `samples` of `origin` in the `batch`; return the prediction and the question, if any, of each.

    A request with a known key, and a sample with a known id, are answered from the log.
    """
    if origin.key is not None and (known := batch.by_key(origin.key)):
        check_same_body(known, origin)
        by_id = batch.by_ids([sample["id"] for sample in samples if "id" in sample])
        with_id = {record.seq for record in by_id.values()}
        others = iter([record for record in known if record.seq not in with_id])
        found = [by_id[sample["id"]] if "id" in sample else next(others) for sample in samples]
        both = zip(samples, found, strict=True)
        results = [{**result_of(record), "id": sample.get("id")} for sample, record in both]
        return {"seq": known[-1].seq, "results": results, "replayed": True}
    payloads = [_sample_payload(batch, sample, place) for place, sample in enumerate(samples)]
    ids = [payload["id"] for payload in payloads if "id" in payload]
    if len(set(ids)) < len(ids):
        raise DataError("two samples of the request have the same id; give each its own")
    known_ids = batch.by_ids(ids)
    for payload in payloads:
        _check_same_sample(payload, known_ids.get(payload.get("id", "")))
    results, part = [], 0
    for payload in payloads:
        record = known_ids.get(payload.get("id", ""))
        if record is not None:
            results.append({**result_of(record), "id": payload["id"]})
            continue
        results.append(sample_result(payload, batch.record("sample", payload, origin, part)))
        part += 1
    return {"seq": batch.seq, "results": results, "replayed": part == 0}


def predict_samples(batch: RecordBatch, samples: Sequence[Facts]) -> Facts:
    """Return the prediction for each of `samples` by the model in the `batch`; nothing is counted or logged."""
    return {"results": [batch.state.predict(read_cells(batch.state.features, sample["x"]))[0] for sample in samples]}


def give_answer(batch: RecordBatch, number: int, answers: Facts, origin: Origin, **extra: Any) -> Facts:
    """Record in the `batch` the `answers` of `origin` to question `number`.

    `extra` are `took_ms` and `note`.

    The same answers again change nothing. To a question that is closed they are kept as a correction, from which the
    model learns if `origin` had answered before.
    """
    given = _answers(batch.state, answers)
    if all(value is None for value in given.values()):
        return refuse(batch, number, "unsure of every label", origin)
    return _respond(batch, number, "answer", {"answers": given, **_given(extra)}, origin)


def refuse(batch: RecordBatch, number: int, reason: str | None, origin: Origin) -> Facts:
    """Record in the `batch` that `origin` cannot answer question `number`, with an optional `reason`."""
    return _respond(batch, number, "refusal", _given({"note": reason}), origin)


def withdraw(batch: RecordBatch, number: int, origin: Origin) -> Facts:
    """Take back the response of `origin` to question `number` in the `batch`; ConflictError once it is final."""
    question_record(batch, number)
    question = batch.state.open.get(number)
    response = None if question is None else question.responses.get(origin.actor_id or 0)
    if response is None or response.is_final(batch.now, batch.state.settings):
        raise ConflictError("already-final", f"the answer to question {number} is final; send a correction instead")
    payload = {"number": number, "person": response.person, "revision": response.revision + 1}
    batch.record("withdrawal", payload, origin)
    return {"status": "withdrawn"}


def late_labels(batch: RecordBatch, number: int, labels: Facts, origin: Origin) -> Facts:
    """Learn in the `batch` `labels` of sample `number` that `origin` sends later; ConflictError if others came."""
    given = {name: value for name, value in _answers(batch.state, labels).items() if value is not None}
    if not given:
        raise DataError("no label is given; send true or false for at least one")
    record = sample_record(batch, number)
    key = f"late:{number}"
    if known := batch.by_key(key):
        entry = known[0].entry
        if entry.payload["y"] != given if entry.payload is not None else entry.body_hash != origin.body_hash:
            raise ConflictError("labels-differ", f"sample {number} has other labels already; send a correction")
        return {**entry.outcome, "replayed": True}
    payload = {"number": number, "y": given, "x": stored_payload(record)["x"]}
    return batch.record("labels.late", payload, Origin(origin.actor_id, key, origin.body_hash))


def correct_sample(batch: RecordBatch, number: int, answers: Facts | None, origin: Origin) -> Facts:
    """Keep `answers` that `origin` sends later to sample `number` as a correction in the `batch`, for a rebuild.

    It trains nothing; None takes back the labels sent before. The same labels again change nothing.
    """
    person, sent = origin.actor_id or 0, stored_payload(sample_record(batch, number)).get("y") or {}
    given = dict.fromkeys(sent) if answers is None else _answers(batch.state, answers)
    before = batch.last_response(number, person)
    former = sent if before is None else before.entry.payload.get("answers")
    if former == given:
        return {"corrected": False}
    revision = 1 if before is None else before.entry.payload["revision"] + 1
    payload = {"number": number, "person": person, "revision": revision, "saw_prediction": True, "answers": given}
    batch.record("correction", payload, origin)
    return {"corrected": True}


def decide(batch: RecordBatch, number: int, answers: Facts, origin: Origin, note: str | None = None) -> Facts:
    """Record in the `batch` what an expert, `origin`, decides on question `number` that people have answered.

    The model learns the labels on which an answer differs, once; an open question is closed, and the labels on
    which its final answers are the same are learned, too. The same decision again changes nothing.
    """
    question_record(batch, number)
    given = {name: y for name, y in _answers(batch.state, answers).items() if y is not None}
    if not given:
        raise DataError("no label is decided; send true or false for at least one")
    before, question, latest = batch.decided(number), batch.state.open.get(number), batch.last_answers(number)
    if question is not None:
        final = [r for r in question.responses.values() if r.is_final(batch.now, batch.state.settings)]
        latest = {response.person: response.answers for response in final}
    if not any(latest.values()):
        raise ConflictError("not-answered", f"question {number} has no final answer yet; answer it, or wait for one")
    new = {name: y for name, y in given.items() if before.get(name) != y}
    if not new:
        return {"learned": 0, "replayed": True}
    taught = {name: y for name, y in new.items() if name in before or agreed_answers(latest.values()).get(name) != y}
    if question is not None:
        taught = {**agreed_answers(latest.values()), **new}
    _teach(batch, number, taught, "decision", origin)
    payload = {"number": number, "person": origin.actor_id or 0, "answers": given, "taught": sorted(taught)}
    batch.record("decision", payload | _given({"note": note}), origin)
    return {"learned": len(taught), "replayed": False}


def _teach(batch: RecordBatch, number: int, y: Mapping[str, int | None], why: str, origin: Origin) -> None:
    """Let the model in the `batch` learn labels `y` of sample `number` from `origin` because of a record of kind `why`.

    It is a record of its own, with the values of the sample, which can go to the archive.
    """
    if y:
        x, person = stored_payload(sample_record(batch, number))["x"], batch.name_of(origin.actor_id or 0)
        payload = {"number": number, "y": y, "x": x, "of": why, "annotator": person}
        batch.record("labels.late", payload, Origin(origin.actor_id, f"late:{number}:{batch.seq + 1}"))


def sample_record(batch: RecordBatch, number: int) -> Record:
    """Return the record of sample `number` in the `batch`; UnknownError if there is none."""
    if (record := batch.sample(number)) is None:
        raise UnknownError(f"there is no sample {number}; numbers begin at 1, send it first")
    return record


def stored_payload(record: Record) -> Facts:
    """Return the payload of the `record` of a sample; ConflictError if it is in the archive."""
    if record.entry.payload is None:
        number = record.entry.outcome["number"]
        raise ConflictError("archived", f"the values of sample {number} are in the archive; send it as a new sample")
    return dict(record.entry.payload)


def change_settings(batch: RecordBatch, changed: Facts, origin: Origin) -> Facts:
    """Change the settings named in `changed` in the `batch` for `origin`, and return all; some are fixed."""
    settings = ProjectSettings.read(changed, batch.state.settings)
    settings.check_source(batch.state.features)
    for name in ("per", "burst", "criteria", "one_of"):
        if getattr(settings, name) != getattr(batch.state.settings, name):
            raise ConflictError("fixed-setting", f"{name} is fixed when a project is made; make a new project")
    if settings != batch.state.settings:
        batch.record("settings.changed", {"changed": changed}, origin)
    return {"settings": batch.state.settings.facts()}


def add_label(batch: RecordBatch, label: Label, origin: Origin) -> Facts:
    """Add a `label` to the project in the `batch` for `origin`; the same one again changes nothing."""
    known = {known.name: known for known in batch.state.labels}
    if label.name in known:
        if known[label.name] != label:
            raise ConflictError("label-exists", f"there is a label {label.name!r} already; choose another name")
        return {"name": label.name, "position": batch.state.label_names.index(label.name) + 1}
    if len(known) >= MOST_LABELS:
        raise ConflictError("too-many-labels", f"a project has at most {MOST_LABELS} labels; make another project")
    outcome = batch.record("label.added", label.facts(), origin)
    return {"name": label.name, "position": outcome["position"]}


def retire_label(batch: RecordBatch, name: str, origin: Origin) -> Facts:
    """Never ask for the label called `name` of the project in the `batch` again, by order of `origin`."""
    known = {label.name: label for label in batch.state.labels}
    if name not in known:
        raise UnknownError(f"there is no label {name!r}; the labels are {first_names(batch.state.asked_names)}")
    if sum(not label.retired for label in known.values()) == 1 and not known[name].retired:
        raise ConflictError("last-label", f"{name!r} is the last label that is asked for; pause the project instead")
    if not known[name].retired:
        batch.record("label.retired", {"name": name}, origin)
    return {"name": name, "retired": True}


def set_paused(batch: RecordBatch, origin: Origin, *, paused: bool) -> Facts:
    """Stop asking if `paused`, or ask again, in the `batch` for `origin`; samples are still counted and predicted."""
    if batch.state.paused != paused:
        batch.record("paused" if paused else "resumed", {}, origin)
    return {"paused": paused}


class UnclosedError(TornError):
    """The learner has failed at the close of question `number`."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def close_key(number: int) -> bytes:
    """Return the key under which failures at the close of question `number` are counted."""
    return digest(f"close {number}")


def close_due(batch: RecordBatch, names: dict[int, str], failures: Mapping[bytes, int]) -> None:
    """Close the questions in the `batch` that have their answers or have waited too long; `names` of the people.

    A question whose answers have made the learner fail before, by its `failures`, is given up: its answers stay in the
    log and train nothing. One that cannot be closed even so stays open. Answers beyond those that a question needs are
    kept as corrections.
    """
    for question in list(batch.state.open.values()):
        failed = failures.get(close_key(question.number), 0) if failures else 0
        end = closing(question, batch.now, batch.state.seen, batch.state.settings) if failed < 2 else None
        if end is None:
            continue
        if failed:
            end = Closing("given_up", [], [])
        annotators = [names.get(person, f"person {person}") for person in end.people]
        payload = {"number": question.number, "cause": end.cause, "rows": end.rows, "annotators": annotators}
        try:
            batch.record("close", payload, SERVICE)
        except TornError as error:
            raise UnclosedError(question.number, str(error)) from error
        if end.cause == "answered":
            _keep_others(batch, question, end.people)


def _keep_others(batch: RecordBatch, question: OpenQuestion, learned: list[int]) -> None:
    """Record in the `batch` the answers to a closed `question` of people who are not among those `learned`.

    One who has answered again in the same batch, when the answers were enough, has a correction already.
    """
    for person, response in question.responses.items():
        if response.status != "submitted" or person in learned:
            continue
        given = batch.last_response(question.number, person)
        if given is not None and given.entry.kind != "correction":
            batch.record("correction", {**given.entry.payload, "revision": response.revision + 1}, SERVICE)


def _sample_payload(batch: RecordBatch, sample: Facts, place: int) -> Facts:
    """Return the payload of one `sample`, the `place`-th of its request; DataError names the place."""
    try:
        cells = read_cells(batch.state.features, sample["x"])
        source = sample.get("source") or _source_of(batch.state, cells)
        payload = {"x": cells, **_given({"id": sample.get("id"), "at": sample.get("at"), "source": source})}
        if sample.get("y") is not None:
            payload["y"] = _answers(batch.state, sample["y"])
    except DataError as error:
        raise PlacedError(f"/samples/{place}", str(error)) from None
    return payload


def _answers(state: ProjectState, answers: object) -> Answers:
    """Return `answers` by the name of the label, checked; where a sample has one label, also those that follow."""
    given = read_answers(state.labels, answers)
    return exclusive_answers(state.labels, given) if state.settings.one_of else given


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


def _respond(batch: RecordBatch, number: int, kind: str, facts: Facts, origin: Origin) -> Facts:
    """Record a response of this `kind` to question `number`, or a correction where the question is closed.

    `saw_prediction` is recorded with it: whether the person of `origin` could see what the model predicts.
    """
    question_record(batch, number)
    person, question = origin.actor_id or 0, batch.state.open.get(number)
    before = batch.last_response(number, person)
    if before is not None and _same_response(before, kind, facts):
        return _receipt(before.entry.kind, before.entry.outcome, replayed=True)
    settings, revision = batch.state.settings, 1 if before is None else before.entry.payload["revision"] + 1
    earlier = None if question is None else question.responses.get(person)
    is_shown = question is None or (earlier is not None and earlier.is_final(batch.now, settings))
    if question is None or is_shown or is_answered(question, batch.now, settings):
        kind = "correction"
    saw = origin.sees_all or not settings.blind or is_shown
    payload = {"number": number, "person": person, "revision": revision, "saw_prediction": saw, **facts}
    if kind == "correction" and before is not None and before.entry.kind != "withdrawal" and "answers" in facts:
        if question is None:
            payload["taught"] = sorted(taught := _corrected(batch, number, before, facts["answers"]))
            _teach(batch, number, taught, kind, origin)
        elif is_shown and not is_answered(question, batch.now, settings):
            payload["replaces"] = True
    return _receipt(kind, batch.record(kind, payload, origin), replayed=False)


def _corrected(batch: RecordBatch, number: int, before: Record, answers: Answers) -> dict[str, int]:
    """Return what the model in the `batch` learns if a person gives `answers` to question `number` after `before`.

    These are the labels that change, unless another person has answered otherwise or an expert has decided. They wait
    for a rebuild where the values of the sample are in the archive.
    """
    if sample_record(batch, number).entry.payload is None:
        return {}
    former, decided = before.entry.payload.get("answers", {}), batch.decided(number)
    latest = {**batch.last_answers(number), before.entry.payload["person"]: answers}
    agreed = agreed_answers(latest.values())
    return {name: y for name, y in agreed.items() if name not in decided and former.get(name) != answers.get(name) == y}


def _same_response(before: Record, kind: str, facts: Facts) -> bool:
    """Return whether `before` is a response of the same `kind`, or its correction, with the same answers and note."""
    payload = before.entry.payload
    is_same = all(payload.get(name) == facts.get(name) for name in ("answers", "note"))
    return before.entry.kind in (kind, "correction") and is_same


def _receipt(kind: str, outcome: Facts, *, replayed: bool) -> Facts:
    status = {"answer": "submitted", "refusal": "refused", "correction": "correction"}[kind]
    learned = {"learned": outcome["learned"]} if "learned" in outcome else {}
    facts = {"status": status, "late": kind == "correction", "final_at": outcome.get("final_at")}
    return {**facts, **learned, "replayed": replayed}


def question_record(batch: RecordBatch, number: int) -> Record:
    """Return the record of the sample whose question has this `number`; UnknownError if nothing was asked."""
    record = batch.sample(number)
    if record is None or record.entry.outcome["question"] is None:
        raise UnknownError(f"there is no question {number}; questions have the numbers of their samples")
    return record


def _given(facts: Facts) -> Facts:
    """Return `facts` without those that are None."""
    return {name: value for name, value in facts.items() if value is not None}


def weights_of(batch: RecordBatch, names: list[str]) -> dict[str, Facts]:
    """Return by name the weight of each annotator in `names` in the `batch`, and whether it was set by hand."""
    pool = batch.state.learner.annotators
    return {name: {"weight": pool.weight(name), "fixed": name in pool.fixed} for name in names}


def weigh_annotator(batch: RecordBatch, person: int, name: str, weight: float | None, origin: Origin) -> Facts:
    """Set the `weight` of a `person` called `name` in the `batch` for `origin`; None: by agreement with others again.

    The same weight again changes nothing.
    """
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise DataError(f"the weight is {weight!r}; it must be from 0 to 1, or null to take it from agreements")
    if batch.state.learner.annotators.fixed.get(name) != weight:
        batch.record("annotator.weighted", {"person": person, "annotator": name, "weight": weight}, origin)
    return weights_of(batch, [name])[name]
