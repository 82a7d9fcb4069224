"""What answers change: on trial while they are held, and when their question was closed."""

import copy
import time

import numpy as np
import pytest
from fastapi.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.log.records import NewRecord, Record
from evolabel.server.people.accounts import create_token
from evolabel.server.project import effects, operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.effects import Effects, effects_of, store_effect
from evolabel.server.project.sample_rows import cells_before
from evolabel.server.project.trials import compare
from server.conftest import on_sqlite
from server.pumps import ANNA, BOB, call, checksum, run, samples, send
from server.signed_in import add_person


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(effects, "_PAUSE_SECONDS", 0.01)


def known(worker, number, final):
    """The effect of a question, once it is known."""
    for _ in range(2000):
        found = worker.effects.find([number]).get(number)
        if found is not None and found["final"] == final:
            return found
        time.sleep(0.01)
    raise AssertionError("no effect")


def drain(worker):
    """Wait until no effect of earlier answers is left to compute."""
    while not worker.effects._tasks.empty():
        time.sleep(0.01)


def asked(worker, stream):
    """Send samples until one is asked about; its number and its labels, turned round."""
    for sample, truth in stream:
        result = send(worker, sample)
        if result["question"]:
            return result["number"], {label: not truth[label] for label in result["question"]["labels"]}
    raise AssertionError("nothing was asked")


@on_sqlite
def test_an_answer_on_trial_and_when_it_was_taught(database, start):
    service = start(database)
    worker, person = service.workers["pumps"], add_person(service)
    stream = iter(samples(400))
    run(worker, [next(stream) for _ in range(60)], BOB)
    drain(worker)
    call(worker, operations.change_settings, {"hold_seconds": 60}, ANNA)
    number, answers = asked(worker, stream)
    before = call(worker, lambda batch: copy.deepcopy(batch.state))
    sealed = checksum(worker)
    call(worker, operations.give_answer, number, answers, Origin(person))
    will = known(worker, number, final=False)
    assert checksum(worker) != sealed  # the answer is in the state, but
    assert (
        call(worker, lambda batch: batch.state.learner.checksum()) == before.learner.checksum()
    )  # nothing was taught by it
    assert will["labels"] == {}
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    did = known(worker, number, final=True)
    after = call(worker, lambda batch: copy.deepcopy(batch.state))
    with service.reader.connect() as connection:
        cells = cells_before(connection, worker.project.id, after.seen, 500)
    assert did == {**compare(before, after, cells)._asdict(), "final": True}
    assert (will["of"], will["changed"]) == (did["of"], did["changed"]) == (after.seen, did["changed"])
    assert did["changed"] <= sum(n for label in did["labels"].values() for n in label.values())


def test_the_numbers_are_those_of_predictions_one_by_one(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(40))
    before = call(worker, lambda batch: copy.deepcopy(batch.state))
    run(worker, samples(120)[40:])
    after = call(worker, lambda batch: copy.deepcopy(batch.state))
    cells = [list(sample["x"].values()) for sample, _ in samples(50, seed=9)] + [[None, 0.5, None]]
    found = compare(before, after, cells)
    said = [[set(state.predict(row)[0]["labels"]) for row in cells] for state in (before, after)]
    assert found.changed == sum(old != new for old, new in zip(*said, strict=True)) > 0
    to_yes = sum("wear" in new and "wear" not in old for old, new in zip(*said, strict=True))
    assert found.labels["wear"]["to_yes"] == to_yes
    assert compare(before, after, []).of == 0
    assert np.all(before.decide(cells) == before.decide(cells))


def test_without_a_hold_the_copy_of_before_is_used(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    stream = iter(samples(400))
    run(worker, [next(stream) for _ in range(60)])
    drain(worker)
    number, answers = asked(worker, stream)
    call(worker, operations.give_answer, number, answers, ANNA)
    assert known(worker, number, final=True)["of"] >= 50  # the samples that the copy from before has seen


def test_the_route_shows_it_to_those_who_have_answered(sqlite, start):
    service = start(sqlite, hold_seconds=60)
    worker, person = service.workers["pumps"], add_person(service)
    token = create_token(sqlite, "anna", "pumps", "annotator", "test")
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {token}"})
    number, answers = asked(worker, samples(200))
    path = f"/api/v1/projects/pumps/questions/{number}/effect"
    assert client.get(path).status_code == 204
    call(worker, operations.give_answer, number, answers, BOB)
    assert known(worker, number, final=False)
    assert client.get(path).status_code == 204  # of another person
    call(worker, operations.give_answer, number, answers, Origin(person))
    assert known(worker, number, final=False)
    assert client.get(path).json()["final"] is False
    assert client.get(path.replace(f"/{number}/", "/999/")).status_code == 404


def test_effects_are_kept_for_30_days(sqlite, start):
    service = start(sqlite)
    project, day = service.workers["pumps"].project.id, 24 * 3600 * 1_000_000
    facts = {"of": 500, "changed": 4, "labels": {"leak": {"to_yes": 4, "to_no": 0}}}
    with service.writer.transaction() as connection:
        for number, at in ((1, 0), (2, 10 * day), (2, 11 * day), (3, 40 * day)):
            store_effect(connection, project, number, facts, at)
    with service.reader.connect() as connection:
        assert effects_of(connection, project, [1, 2, 3]) == {n: {**facts, "final": True} for n in (2, 3)}


def test_effects_are_left_out_while_the_worker_is_busy(sqlite, start):
    service = start(sqlite, hold_seconds=60)
    worker = service.workers["pumps"]
    worker.effects._is_busy = lambda: True
    number, answers = asked(worker, samples(200))
    call(worker, operations.give_answer, number, answers, ANNA)
    assert worker.effects._tasks.empty()
    assert worker.effects.find([number]) == {}


def test_a_trial_ends_with_its_question_also_while_others_wait():
    found = Effects(1, None, None, None, lambda: False)
    found._expected = {number: {"final": False} for number in (21, 22, 23, 24, 25)}
    answers = [("answer", {"number": number}, {"final_at": 9}) for number in range(10)]
    ends = [
        ("withdrawal", {"number": 21}, {}),
        ("refusal", {"number": 24}, {}),
        ("labels.late", {"number": 25}, {}),
        *(("close", {"number": n, "rows": rows}, {}) for n, rows in ((22, []), (23, [{}]))),
    ]
    found.after_commit([Record(i, NewRecord(*facts, 1), b"") for i, facts in enumerate(answers + ends)])
    assert found._tasks.full()
    assert found._expected == {}
