"""Requests that the learner cannot learn from, and large requests beside small ones."""

import pytest

from evolabel.server.project import jobs, operations, replay, state
from evolabel.server.project import worker as worker_module
from server.conftest import on_sqlite
from server.faults.requesting import assert_memory_is_the_log, client_of, count, post, problem
from server.pumps import ANNA, run, samples

POISON = 666.0


@pytest.fixture
def poisoned(monkeypatch):
    """The learner fails on one value, in the midst of a change."""
    sample = state.ProjectState._sample

    def failing(self, payload, at, decided):
        outcome = sample(self, payload, at, decided)
        if POISON in payload["x"]:
            raise RuntimeError("no convergence")
        return outcome

    monkeypatch.setattr(state.ProjectState, "_sample", failing)


def epochs(service):
    return count(service, "SELECT count(*) FROM log WHERE kind = 'epoch.started'")


@on_sqlite
def test_a_poisoned_request_costs_two_rebuilds_and_is_refused_for_good(database, start, poisoned, monkeypatch):
    service = start(database)
    run(service.workers["pumps"], samples(12))
    client, bad = client_of(service), {"id": "bad", "x": {"pressure": POISON, "flow": 0.0}}
    before = epochs(service)
    assert problem(post(client, bad)) == (503, "rebuilding")
    assert problem(post(client, bad)) == (500, "cannot-apply")
    assert problem(post(client, bad)) == (500, "cannot-apply")
    assert epochs(service) == before + 2
    assert post(client, {"id": "good", "x": {"pressure": 1.0}}).status_code == 200
    assert count(service, "SELECT count(*) FROM sample") == 13
    assert_memory_is_the_log(service)
    service.stop()

    again = start(database)
    started = epochs(again)
    assert problem(post(client_of(again), bad)) == (500, "cannot-apply")
    assert epochs(again) == started
    again.stop()

    monkeypatch.setattr(worker_module, "versions", lambda: {**replay.versions(), "evolabel": "next"})
    newer = start(database)
    assert problem(post(client_of(newer), bad)) == (503, "rebuilding")


def test_requests_beside_a_poisoned_one_are_carried_out(sqlite, start, poisoned):
    service = start(sqlite)
    worker = service.workers["pumps"]
    batch = [samples(3)[0][0], {"id": "bad", "x": {"pressure": POISON}}, samples(3)[1][0]]
    with worker._queue._wake:  # nothing is taken until all three wait
        results = [
            worker.submit(
                lambda batch, sample=sample: operations.send_samples(batch, [sample], ANNA), 1, bytes([i]) * 32
            )
            for i, sample in enumerate(batch)
        ]
    assert [r["id"] for f in (results[0], results[2]) for r in f.result(30)["results"]] == ["s0", "s1"]
    assert isinstance(results[1].exception(30), jobs.BusyError)
    assert_memory_is_the_log(service)


def test_an_answer_that_cannot_be_learned_is_given_up_and_kept(sqlite, start, monkeypatch):
    service = start(sqlite)
    client = client_of(service)
    close = state.ProjectState._close

    def failing(self, payload, at):
        outcome = close(self, payload, at)
        if payload["rows"] and payload["number"] == number:
            raise RuntimeError("no convergence")
        return outcome

    monkeypatch.setitem(state.ProjectState._by_kind, "close", failing)
    results = [post(client, s).json()["results"][0] for s, _ in samples(12)]
    number = next(r["number"] for r in results if r["question"])
    response = client.put(f"/api/v1/projects/pumps/questions/{number}/answer", json={"answers": {"leak": True}})
    assert response.status_code == 200
    cause = f"SELECT cause FROM question WHERE number = {number}"
    assert count(service, cause) == "given_up"
    assert count(service, f"SELECT count(*) FROM response WHERE number = {number}") == 1
    assert_memory_is_the_log(service)


def test_a_sender_who_has_gone_stops_nothing(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    with worker._queue._wake:
        assert worker.submit(lambda batch: batch.seq).cancel()
    assert worker.submit(lambda batch: batch.seq).result(30) > 0


def test_an_error_of_the_thread_itself_refuses_its_batch_alone(sqlite, start, monkeypatch):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(12))
    apply = worker._apply
    monkeypatch.setattr(worker, "_apply", lambda batch, waiting: 1 / 0)
    assert isinstance(worker.submit(lambda batch: 1).exception(30), jobs.BusyError)
    monkeypatch.setattr(worker, "_apply", apply)
    assert_memory_is_the_log(service)


def test_a_single_sample_waits_for_the_large_requests_before_it_only():
    queue, taken = jobs.JobQueue(), []
    for rows in (1000, 1000, 1, 400, 400, 400, 1):
        queue.put(jobs.Job(lambda batch: None, rows, None, jobs.Future()))
    while len(queue):
        taken.append([job.rows for job in queue.take(0.0)])
    assert taken == [[1000], [1000], [1, 400, 400], [400, 1]]
