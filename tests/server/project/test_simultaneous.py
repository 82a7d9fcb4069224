"""Answers of several people at the same time to a question that needs fewer: the others are corrections."""

import asyncio
import contextlib
import threading
import time

import pytest

from evolabel.server.log.engines import read_url
from evolabel.server.log.records import find_kinds
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.effects import _closing_now
from evolabel.server.project.questions import OpenQuestion, Response, closing
from evolabel.server.project.sample_rows import responses_to
from evolabel.server.project.settings import ProjectSettings
from server.conftest import on_sqlite
from server.crash.processes import ServerProcess
from server.listening import listening
from server.pumps import call, proven, run, samples
from server.signed_in import add_person, ask

NAMES = ("anna", "bob", "carol", "dora", "emil")
NOW = ProjectSettings(hold_seconds=0)


def question(answers, needed=1):
    """A question about leak that as many people as there are answers have answered, all at the same time."""
    responses = {i: Response(i, 1, "submitted", {"leak": y}, 7) for i, y in enumerate(answers)}
    return OpenQuestion(1, 1, ["leak"], [], 1, 7, needed, responses)


@pytest.mark.parametrize(
    ("answers", "needed", "taught"),
    [([1, 1, 1, 1, 1], 1, [0]), ([0, 1, 1, 1, 1], 1, [0]), ([1, 1, 0, 0, 0], 2, [0, 1]),
     ([1, 0, 0, 1, 1], 2, [0, 1, 2]), ([1, 0], 2, None), ([1, 1, 1, 1, 0], 4, [0, 1, 2, 3])],
)  # fmt: skip
def test_as_many_answers_close_a_question_as_if_they_came_one_after_the_other(answers, needed, taught):
    found = closing(question(answers, needed), 7, 1, NOW)
    assert (None if found is None else found.people) == taught
    if found is not None:
        assert [row["leak"] for row in found.rows] == answers[: len(taught)]


def test_a_changed_answer_comes_after_those_that_were_given_before():
    asked = question([1, 0])
    asked.responses[0] = Response(0, 2, "submitted", {"leak": 0}, 9)
    assert closing(asked, 10, 1, NOW).people == [1]


def at_once(worker, verb_of, people):
    """Results of one operation for each of `people`, which the worker takes in one batch."""
    go = threading.Event()
    worker.submit(lambda batch: go.wait(30))
    jobs = [worker.submit(verb_of(person)) for person in people]
    go.set()
    return [job.result(30) for job in jobs]


def give(number, labels):
    """Function that returns the operation by which a person answers question `number`: yes, from the second on no."""
    return lambda person: (
        lambda batch: operations.give_answer(batch, number, dict.fromkeys(labels, person == 1), Origin(person))
    )


def closed(worker, number):
    """Payload of the close of question `number`, as soon as there is one."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        call(worker, lambda batch: None)
        with worker.reading() as connection:
            found = [r.entry.payload for r in find_kinds(connection, worker.project.id, ("close",))]
        if wanted := [payload for payload in found if payload["number"] == number]:
            return wanted[0]
        time.sleep(0.05)
    raise AssertionError("the question stays open")


def corrections(worker):
    with worker.reading() as connection:
        return [record.entry.payload for record in find_kinds(connection, worker.project.id, ("correction",))]


def five_people(service):
    return [add_person(service, name) for name in NAMES]


@on_sqlite
@pytest.mark.parametrize("hold_seconds", [0, 0.5])
def test_one_of_five_answers_in_a_batch_is_taught(database, start, hold_seconds):
    service = start(database, hold_seconds=hold_seconds)
    worker, people = service.workers["pumps"], five_people(service)
    number, labels = ask(service)
    receipts = at_once(worker, give(number, labels), people)
    close = closed(worker, number)
    assert close["annotators"] == ["anna"]
    assert close["rows"] == [dict.fromkeys(labels, 1)]
    assert [(said["person"], said["answers"], said["saw_prediction"]) for said in corrections(worker)] == [
        (person, dict.fromkeys(labels, 0), False) for person in people[1:]
    ]
    late = [receipt["late"] for receipt in receipts]
    assert late == ([False] * 5 if hold_seconds else [False, True, True, True, True])
    again = at_once(worker, give(number, labels), people)
    assert [receipt["status"] for receipt in again] == ["submitted"] + ["correction"] * 4
    assert all(receipt["replayed"] for receipt in again)
    with service.reader.connect() as connection:
        stand = responses_to(connection, worker.project.id, number)
        checked = proven(connection)
    assert [(one.person, one.status) for one in stand] == [
        ("anna", "submitted"), *((name, "correction") for name in NAMES[1:])
    ]  # fmt: skip
    assert checked.replay.checksum == call(worker, lambda batch: batch.state.checksum())


def test_the_model_is_the_same_as_if_the_others_had_answered_later(tmp_path, start):
    checksums = []
    for place, together in (("a", True), ("b", False)):
        service = start(read_url(f"sqlite:///{tmp_path}/{place}.db"))
        worker, people = service.workers["pumps"], five_people(service)
        number, labels = ask(service, 12)
        if together:
            at_once(worker, give(number, labels), people)
        else:
            for operation in map(give(number, labels), people):
                call(worker, operation)
        run(worker, [({"x": sample["x"]}, truth) for sample, truth in samples(80, seed=5)], Origin(people[0]))
        checksums.append(call(worker, lambda batch: batch.state.learner.checksum()))
    assert checksums[0] == checksums[1]


def test_an_answer_that_can_be_taken_back_when_the_question_closes_is_a_correction(sqlite, start):
    service = start(sqlite, hold_seconds=3600)
    worker, (anna, bob, *_) = service.workers["pumps"], five_people(service)
    ask(service, 6)
    first, *others = worker.state.open
    call(worker, operations.give_answer, first, {"leak": True}, Origin(anna))
    call(worker, operations.give_answer, first, {"leak": False}, Origin(bob), note="loud")
    for number in others:  # the fifth later answer makes the first one final
        call(worker, operations.give_answer, number, {"leak": True}, Origin(anna))
    assert closed(worker, first)["annotators"] == ["anna"]
    (kept,) = corrections(worker)
    assert (kept["person"], kept["answers"], kept["note"], kept["revision"]) == (bob, {"leak": 0}, "loud", 2)
    # The service has made the correction of an answer that is counted.
    assert service.metrics.value("responses_total", project="pumps", kind="correction") == 0
    assert service.metrics.value("responses_total", project="pumps", kind="answer") > 0


def test_an_answer_that_changes_in_the_batch_that_closes_the_question_is_one_correction(sqlite, start):
    service = start(sqlite, hold_seconds=3600)
    worker, (anna, bob, *_) = service.workers["pumps"], five_people(service)
    ask(service, 6)
    first, *others = worker.state.open
    for person in (anna, bob):
        call(worker, operations.give_answer, first, {"leak": person == anna}, Origin(person))

    def one_batch(batch):
        for number in others:  # the fifth later answer makes the first one final
            operations.give_answer(batch, number, {"leak": True}, Origin(anna))
        return operations.give_answer(batch, first, {"leak": True}, Origin(bob))

    assert worker.call(one_batch)["status"] == "correction"
    assert closed(worker, first)["annotators"] == ["anna"]
    (kept,) = corrections(worker)
    assert (kept["person"], kept["answers"], kept["revision"]) == (bob, {"leak": 1}, 2)


def test_a_refusal_beside_an_answer_stays_a_refusal(sqlite, start):
    service = start(sqlite, hold_seconds=0.5)
    worker, people = service.workers["pumps"], five_people(service)
    number, labels = ask(service)
    answer, refuse = give(number, labels), lambda batch: operations.refuse(batch, number, None, Origin(people[1]))
    at_once(worker, lambda person: answer(person) if person == people[0] else refuse, people[:2])
    assert closed(worker, number)["annotators"] == ["anna"]
    assert corrections(worker) == []


def test_what_an_answer_will_change_is_that_of_the_answers_that_will_be_taught(sqlite, start):
    service = start(sqlite, hold_seconds=3600)
    worker, people = service.workers["pumps"], five_people(service)
    number, labels = ask(service)
    at_once(worker, give(number, labels), people)
    payload = call(worker, lambda batch: _closing_now(batch.state, number))
    assert payload["rows"] == [dict.fromkeys(labels, 1)]


async def answer_together(address, number, labels, tokens):
    """Receipts of all people who answer question `number` at the same time, each over a connection of its own."""
    httpx = pytest.importorskip("httpx")
    url = f"{address}/api/v1/projects/pumps/questions/{number}/answer"

    async def answer(place, token):
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
            await client.get(f"{address}/livez")  # connected, before any answers
            await ready.wait()
            body = {"answers": dict.fromkeys(labels, place % 2 == 0)}
            return (await client.put(url, json=body)).raise_for_status().json()

    ready = asyncio.Barrier(len(tokens))
    return await asyncio.gather(*(answer(place, token) for place, token in enumerate(tokens)))


@contextlib.contextmanager
def paused(worker, n):
    """The worker waits until n jobs have come, which are then one batch."""
    go = threading.Event()
    worker.submit(lambda batch: go.wait(60))

    def release():
        end = time.monotonic() + 60
        while worker.waiting < n and time.monotonic() < end:
            time.sleep(0.01)
        go.set()

    thread = threading.Thread(target=release)
    thread.start()
    yield
    thread.join()


@pytest.mark.parametrize("one_batch", [True, False])
def test_five_clients_at_the_same_time_teach_one_answer(database, start, one_batch):
    service = start(database)
    worker = service.workers["pumps"]
    tokens = [create_token(service.url, name, "pumps", "annotator", "test") for name in NAMES]
    ask(service, 4)
    asked = [(number, question.labels) for number, question in worker.state.open.items()]
    with listening(service) as address:
        for number, labels in asked:
            with paused(worker, len(NAMES)) if one_batch else contextlib.nullcontext():
                receipts = asyncio.run(answer_together(address, number, labels, tokens))
            assert sorted(receipt["late"] for receipt in receipts) == [False] + [True] * 4
            assert len(closed(worker, number)["rows"]) == 1
    assert len(corrections(worker)) == 16
    before = call(worker, lambda batch: batch.state.checksum())
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == before


@pytest.mark.posix
def test_a_killed_server_has_the_same_model_again(sqlite, start):
    service = start(sqlite)
    tokens = [create_token(service.url, name, "pumps", "annotator", "test") for name in NAMES]
    ask(service, 5)
    asked = [(number, question.labels) for number, question in service.workers["pumps"].state.open.items()]
    service.stop()
    server = ServerProcess(sqlite)
    assert server.wait_until_ready()
    try:
        for number, labels in asked:
            receipts = asyncio.run(answer_together(f"http://127.0.0.1:{server.port}", number, labels, tokens))
            assert [receipt["late"] for receipt in receipts].count(True) == 4
    finally:
        server.kill()
    again = start(sqlite)
    with again.reader.connect() as connection:
        checked = proven(connection)
        closes = [r.entry.payload for r in find_kinds(connection, 1, ("close",))]
    assert [len(payload["rows"]) for payload in closes] == [1] * 5
    assert call(again.workers["pumps"], lambda batch: batch.state.checksum()) == checked.replay.checksum
