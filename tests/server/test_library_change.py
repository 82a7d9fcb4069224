"""Another version of the program goes on with a log."""

import copy
import threading
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from evolabel.cli.app import run_command
from evolabel.errors import StateError
from evolabel.server.contexts import reading
from evolabel.server.contexts.replay import ReplayError, apply_record, restore, versions
from evolabel.server.contexts.state import ProjectState
from evolabel.server.ops.backup import back_up
from evolabel.server.ops.verify import verify_database
from evolabel.server.service import Service
from evolabel.server.store.engines import read_url
from evolabel.server.store.log import NewRecord, Record, find_kinds
from evolabel.server.store.snapshots import snapshot_seals
from server.pumps import call, run, samples, seal, send
from server.test_acts import LOW, act, train


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


def test_the_command_replays_with_one_thread_as_the_service_does(sqlite, start, monkeypatch):
    run(start(sqlite).workers["pumps"], samples(12))
    threads = []

    def counting(state, record):
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return apply_record(state, record)

    monkeypatch.setattr("evolabel.server.ops.verify.apply_record", counting)
    with threadpool_limits(2):
        verify_database(sqlite, from_start=True)
    assert set(threads) == {1}


@pytest.fixture
def crashed(sqlite, start, tmp_path):
    """A database whose service was never stopped, what it shows of the project, and its open questions."""
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(40))
    for sample, _ in samples(20, seed=1):
        send(worker, {"x": sample["x"]})
    shown, waiting = call(worker, reading.show_project), list(worker.state.open)
    back_up(sqlite, tmp_path / "crashed.db")
    return read_url(f"sqlite:///{tmp_path}/crashed.db"), shown, waiting


def change_predictions(monkeypatch, *, asks=None):
    """Let this version of the program predict otherwise in the last bits, and ask about other labels."""
    predict = ProjectState.predict

    def otherwise(state, cells):
        answer, query = predict(state, cells)
        answer, query = copy.deepcopy(answer), copy.copy(query)
        answer["prediction"]["leak"] += 1e-9
        if asks is not None and not query.asked and state.seen % 3 == 0:
            why = {"reasons": ("random",), "label_reasons": (("random",),), "probabilities": np.full(2, 0.5)}
            query = replace(query, labels=np.array([True, False]), cost=1, **why)
        return answer, query

    monkeypatch.setattr(ProjectState, "predict", otherwise)


@pytest.mark.parametrize("asks", [None, "other labels"])
def test_another_outcome_after_a_crash_is_no_reason_to_stop(crashed, start, monkeypatch, asks):
    url, shown, waiting = crashed
    change_predictions(monkeypatch, asks=asks)
    service = start(url)
    worker = service.workers["pumps"]
    after = call(worker, reading.show_project)
    names = ("samples", "asked", "open")
    assert [after[name] for name in names] == [shown[name] for name in names]
    assert list(worker.state.open) == waiting
    assert not service.workers["pumps"].refusal
    send(worker, {"x": samples(1)[0][0]["x"]})
    service.stop()
    with worker.reading() as connection:
        assert restore(connection, 1, 9).replayed == 0


def test_verify_reports_other_outcomes_and_goes_on(crashed, monkeypatch, capsys):
    url, _, _ = crashed
    assert run_command(["serve", "verify", "--database", str(url)]) == 0
    assert "differences" in capsys.readouterr().out
    change_predictions(monkeypatch, asks="other labels")
    found = verify_database(url)["pumps"].replay
    assert found.different == 60  # every sample
    assert found.furthest == pytest.approx(1e-9, rel=1e-3)
    assert found.first.startswith("record 3 (sample): ")
    assert run_command(["serve", "verify", "--database", str(url)]) == 2
    printed = capsys.readouterr()
    assert "60 differences" in printed.out
    assert "nothing has to be done" in printed.err


def test_a_record_that_cannot_be_applied_is_named(crashed, monkeypatch):
    def fail(state, payload, at, decided):
        raise KeyError("gone")

    monkeypatch.setattr(ProjectState, "_sample", fail)
    refused = Service(crashed[0])
    try:
        refused.start()
        assert "(sample) cannot be applied (KeyError: 'gone'); start the version" in refused.workers["pumps"].refusal
    finally:
        refused.stop()


def test_an_act_on_a_rule_that_is_another_one_here_is_left_out(sqlite, start, tmp_path, monkeypatch):
    worker = start(sqlite).workers["pumps"]
    train(worker)
    act(worker, "rule.added", LOW)
    back_up(sqlite, tmp_path / "crashed.db")

    def refuse(*arguments):
        raise StateError("there is no such rule")

    monkeypatch.setattr("evolabel.server.contexts.state.change_rules", refuse)
    url = read_url(f"sqlite:///{tmp_path}/crashed.db")
    assert start(url).workers["pumps"].state.seen == 90
    found = verify_database(url, from_start=True)["pumps"].replay
    assert "left_out" in found.first


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
        apply_record(None, Record(7, NewRecord("sample", None, {}, 0), b""))
