"""Another version of the program goes on with a log."""

import copy
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from evolabel.server.contexts import reading
from evolabel.server.contexts.replay import ReplayError, applied, restore, versions
from evolabel.server.contexts.state import ProjectState
from evolabel.server.ops.backup import back_up
from evolabel.server.ops.check import check_database
from evolabel.server.ops.verify import verify_database
from evolabel.server.service import Service
from evolabel.server.store.engines import read_url
from evolabel.server.store.log import NewRecord, Record, find_kinds
from evolabel.server.store.snapshots import snapshot_seals
from server.pumps import call, run, samples, seal, send


def kinds(service):
    """Kinds of the last two records."""
    with service.reader.connect() as connection:
        found = find_kinds(connection, 1, ("library.changed", "epoch.started"))
    return [record.entry.kind for record in found][-2:]


def test_a_new_version_is_written_down_with_a_snapshot(sqlite, start, monkeypatch):
    service = start(sqlite)
    run(service.workers["pumps"], samples(30))
    before = seal(service.workers["pumps"])
    service.stop()
    for place in ("worker", "replay"):
        monkeypatch.setattr(f"evolabel.server.contexts.{place}.versions", lambda: {"evolabel": "99"})
    again = start(sqlite)
    worker = again.workers["pumps"]
    assert kinds(again) == ["library.changed", "epoch.started"]
    assert seal(worker) == before
    head = worker.head.seq
    again.stop()
    third = start(sqlite)
    assert kinds(third) == ["epoch.started", "epoch.started"]
    with third.reader.connect() as connection:
        assert head in snapshot_seals(connection, 1)


def test_the_processor_and_its_library_of_linear_algebra_are_part_of_the_version():
    assert {"processor", "machine", "blas", "numba"} <= versions().keys()
    assert versions()["blas"]
    assert versions()["processor"] not in ("", "None")


def test_commands_replay_with_one_thread_as_the_service_does(sqlite, start, monkeypatch):
    run(start(sqlite).workers["pumps"], samples(12))
    threads = []

    def counting(state, record, **named):
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return applied(state, record, **named)

    monkeypatch.setattr("evolabel.server.contexts.replay.applied", counting)
    monkeypatch.setattr("evolabel.server.ops.verify.applied", counting)
    with threadpool_limits(2):
        check_database(sqlite, replay=True)
        verify_database(sqlite, from_start=True)
    assert set(threads) == {1}


def test_after_a_crash_what_was_asked_can_be_kept(sqlite, start, tmp_path, monkeypatch):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(40))
    for sample, _ in samples(20, seed=1):
        send(worker, {"x": sample["x"]})
    shown, waiting = call(worker, reading.show_project), list(worker.state.open)
    crashed = read_url(f"sqlite:///{tmp_path}/crashed.db")
    back_up(sqlite, tmp_path / "crashed.db")
    predict = ProjectState.predict

    def otherwise(state, cells):
        answer, query = predict(state, cells)
        answer, query = copy.deepcopy(answer), copy.copy(query)
        answer["prediction"]["leak"] += 1e-9
        return answer, query

    monkeypatch.setattr(ProjectState, "predict", otherwise)
    refused = Service(crashed)
    refused.start()
    assert "--keep-decisions" in refused.broken["pumps"]
    refused.stop()
    kept = Service(crashed, keep_decisions=True)
    kept.start()
    try:
        worker = kept.workers["pumps"]
        after = call(worker, reading.show_project)
        assert [after[name] for name in ("samples", "asked", "open")] == [
            shown[n] for n in ("samples", "asked", "open")
        ]
        assert list(worker.state.open) == waiting
    finally:
        kept.stop()
    with worker.reading() as connection:
        assert restore(connection, 1, 9).replayed == 0  # a snapshot was stored at the stop


def test_a_record_that_cannot_be_applied_is_named_and_decisions_can_be_kept(sqlite, start, tmp_path, monkeypatch):
    run(start(sqlite).workers["pumps"], samples(5))
    crashed = read_url(f"sqlite:///{tmp_path}/crashed.db")
    back_up(sqlite, tmp_path / "crashed.db")

    def fail(state, payload, at):
        raise KeyError("gone")

    monkeypatch.setitem(ProjectState._verbs, "sample", fail)
    refused = Service(crashed)
    try:
        refused.start()
        assert "(sample) cannot be applied (KeyError: 'gone')" in refused.broken["pumps"]
    finally:
        refused.stop()
    kept = Service(crashed, keep_decisions=True)
    try:
        kept.start()
        assert kept.workers["pumps"].state.seen == 5
    finally:
        kept.stop()


def test_an_unexpected_error_does_not_end_the_watch_over_the_database(sqlite, monkeypatch):
    monkeypatch.setattr("evolabel.server.service._PING_SECONDS", 0.01)
    service, pings, again = Service(sqlite), [], threading.Event()

    def ping():
        pings.append(1)
        if len(pings) > 1:
            again.set()
        raise KeyError("ping")

    monkeypatch.setattr(service.pen, "ping", ping)
    service.start()
    try:
        assert again.wait(10)
    finally:
        service.stop()


def test_a_record_without_its_payload_is_named():
    with pytest.raises(ReplayError, match="the payload of record 7 is in the archive; put it back by"):
        applied(None, Record(7, NewRecord("sample", None, {}, 0), b""))
