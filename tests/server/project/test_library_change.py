"""Another version of the program goes on with a log."""

import copy
import threading
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from evolabel.cli.app import run_command
from evolabel.errors import StateError
from evolabel.server.log.engines import read_url
from evolabel.server.log.records import NewRecord, Record, find_kinds
from evolabel.server.log.snapshots import snapshot_checksums
from evolabel.server.ops.maintenance import back_up
from evolabel.server.ops.verify import verify_database
from evolabel.server.project import reading
from evolabel.server.project.learner_changes import change_rules
from evolabel.server.project.replay import ReplayError, apply_record, restore, versions
from evolabel.server.project.rule_edits import undo_act
from evolabel.server.project.service import Service
from evolabel.server.project.state import ProjectState
from server.project.test_acts import EVA, LOW, act, numbers, shown, train
from server.project.test_start import forget_snapshots
from server.pumps import call, checksum, run, samples, send


def kinds(service):
    """Kinds of the last two records."""
    with service.reader.connect() as connection:
        found = find_kinds(connection, 1, ("library.changed", "epoch.started"))
    return [record.entry.kind for record in found][-2:]


def test_a_new_version_is_written_down_with_a_snapshot(sqlite, start, monkeypatch):
    service = start(sqlite)
    run(service.workers["pumps"], samples(30))
    before = checksum(service.workers["pumps"])
    service.stop()
    for place in ("worker", "replay"):
        monkeypatch.setattr(f"evolabel.server.project.{place}.versions", lambda: {"evolabel": "99"})
    again = start(sqlite)
    worker = again.workers["pumps"]
    assert kinds(again) == ["library.changed", "epoch.started"]
    assert checksum(worker) == before
    head = worker.head.seq
    again.stop()
    third = start(sqlite)
    assert kinds(third) == ["epoch.started", "epoch.started"]
    with third.reader.connect() as connection:
        assert head in snapshot_checksums(connection, 1)


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

    monkeypatch.setattr("evolabel.server.project.state.change_rules", refuse)
    url = read_url(f"sqlite:///{tmp_path}/crashed.db")
    assert start(url).workers["pumps"].state.seen == 90
    found = verify_database(url, from_start=True)["pumps"].replay
    assert "left_out" in found.first


def without(kind, form=None):
    """A change of rules that refuses acts of this kind, with this form."""

    def change(learner, asked, payload):
        if asked == kind and payload.get("form") == form:
            raise StateError("there is no such rule")
        return change_rules(learner, asked, payload)

    return change


def test_an_act_on_a_number_that_is_of_another_rule_here_is_left_out(sqlite, start, tmp_path, monkeypatch):
    worker = start(sqlite).workers["pumps"]
    train(worker)
    forms = [f"IF pressure BELOW -{limit} THEN leak LIKELY" for limit in (400, 500, 600)]
    first, second, _ = [act(worker, "rule.added", {"form": form})["rule"] for form in forms]
    edited = act(worker, "rule.edited", {"rule": second, "form": "IF flow BELOW -500 THEN leak LIKELY"})
    undo_act(worker, edited["seq"], EVA)
    deleted = act(worker, "rule.deleted", {"rule": first})
    back_up(sqlite, tmp_path / "crashed.db")
    url = read_url(f"sqlite:///{tmp_path}/crashed.db")
    forget_snapshots(url)
    monkeypatch.setattr("evolabel.server.project.state.change_rules", without("rule.added", forms[0]))
    service = start(url)
    again = service.workers["pumps"]
    rules = [shown(again, number)["form"] for number in numbers(again)]
    assert [sum(rule.startswith(form.split(" THEN")[0]) for rule in rules) for form in forms] == [0, 1, 1]
    with service.reader.connect() as connection:
        left_out = find_kinds(connection, 1, ("epoch.started",))[-1].entry.payload["left_out"]
    assert left_out[-3:] == [edited["seq"], edited["seq"] + 1, deleted["seq"]]


def test_an_act_that_a_start_left_out_does_not_stop_an_undo(sqlite, start, tmp_path, monkeypatch):
    worker = start(sqlite).workers["pumps"]
    train(worker)
    one, other = sorted(numbers(worker))[:2]
    deleted = act(worker, "rule.deleted", {"rule": one})
    act(worker, "rule.locked", {"rule": other})
    back_up(sqlite, tmp_path / "crashed.db")
    monkeypatch.setattr("evolabel.server.project.state.change_rules", without("rule.locked"))
    again = start(read_url(f"sqlite:///{tmp_path}/crashed.db")).workers["pumps"]
    undo_act(again, deleted["seq"], EVA)
    assert one in numbers(again)


def test_an_unexpected_error_does_not_end_the_watch_over_the_database(sqlite, monkeypatch):
    monkeypatch.setattr("evolabel.server.project.service._PING_SECONDS", 0.01)
    service, pings, again = Service(sqlite), [], threading.Event()

    def ping():
        pings.append(1)
        if len(pings) > 1:
            again.set()
        raise KeyError("ping")

    monkeypatch.setattr(service.writer, "ping", ping)
    service.start()
    try:
        assert again.wait(10)
    finally:
        service.stop()


def test_a_record_without_its_payload_is_named():
    with pytest.raises(ReplayError, match="the payload of record 7 is in the archive; put it back by"):
        apply_record(None, Record(7, NewRecord("sample", None, {}, 0), b""))
