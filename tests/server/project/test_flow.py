"""Samples, questions and answers, without HTTP, on both databases."""

import sqlite3

import numpy as np
import pytest

from evolabel.errors import DataError, ParameterError
from evolabel.server.log.activity import read_activity
from evolabel.server.log.engines import reading_engine
from evolabel.server.log.projects import find_project
from evolabel.server.log.records import LogError, find_kinds
from evolabel.server.ops.maintenance import rebuild_project
from evolabel.server.ops.verify import verify_project
from evolabel.server.project import operations, reading
from evolabel.server.project.batch import Origin
from evolabel.server.project.operations import ConflictError, UnknownError
from evolabel.server.project.rebuild import RebuildPlan
from evolabel.server.project.replay import restore
from evolabel.server.project.sample_rows import responses_to
from evolabel.server.project.settings import Label
from server.conftest import on_sqlite
from server.pumps import ANNA, BOB, call, checksum, new_project, proven, run, samples, send


def test_the_log_gives_the_same_state_again(database, start):
    service = start(database, snapshot_every=40)
    worker = service.workers["pumps"]
    run(worker, samples(120))
    before = checksum(worker)
    with service.reader.connect() as connection:
        whole, tail = proven(connection), restore(connection, worker.project.id, 9)
    assert whole.replay.checksum == tail.state.checksum() == before
    assert tail.replayed < whole.replay.records
    service.stop()
    again = start(database).workers["pumps"]
    assert checksum(again) == before


@on_sqlite
def test_the_check_counts_the_budget_from_the_log_alone(database, start):
    service = start(database)
    worker = service.workers["pumps"]
    run(worker, samples(60))
    call(worker, operations.change_settings, {"budget": 0.1}, ANNA)
    run(worker, [({**sample, "id": f"t{sample['id']}"}, y) for sample, y in samples(60, seed=1)])
    with service.reader.connect() as connection:
        found = proven(connection)
    assert found.samples == 120
    assert 0 < found.asked < found.cost <= found.allowed == pytest.approx(60 * 2 * 0.5 + 60 * 2 * 0.1)
    assert found.replay.checksum == checksum(worker)


def test_the_last_answers_count_where_labels_come_with_the_samples(sqlite, start):
    """The features do not show the labels, which change after every 15 samples."""
    worker, right = start(sqlite).workers["pumps"], []
    for i, (sample, _) in enumerate(samples(300)):
        on = i // 15 % 2 == 1
        result = send(worker, {**sample, "y": {"leak": on, "wear": not on}})
        right.append(result["labels"] == ["leak" if on else "wear"])
    assert np.mean(right[200:]) > 0.85


def test_a_sample_is_counted_once(database, start):
    worker = start(database).workers["pumps"]
    sample, _ = samples(1)[0]
    first, again = send(worker, sample), send(worker, sample)
    assert first == again
    assert call(worker, reading.show_project)["samples"] == 1
    with pytest.raises(ConflictError, match="sent before with other values"):
        send(worker, {"id": sample["id"], "x": {"pressure": 1.0}})


def test_a_key_stands_for_one_body(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    batch = [{"x": s["x"]} for s, _ in samples(3)]
    origin = Origin(1, "key:a", b"1" * 32)
    first = call(worker, operations.send_samples, batch, origin)
    again = call(worker, operations.send_samples, batch, origin)
    assert again["replayed"]
    assert not first["replayed"]
    assert again["results"] == first["results"]
    with pytest.raises(ConflictError, match="used for another body"):
        call(worker, operations.send_samples, batch, Origin(1, "key:a", b"2" * 32))
    assert call(worker, reading.show_project)["samples"] == 3


def test_a_refused_request_changes_nothing(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(30))
    before = checksum(worker), worker.head
    good = {"x": {"pressure": 1.0}}
    for bad in ({"x": {"presure": 1.0}}, {"x": [1.0]}, {"x": {"pressure": "high"}}, {"x": {"flow": True}}):
        with pytest.raises(DataError):
            call(worker, operations.send_samples, [good, bad], ANNA)
    with pytest.raises(DataError, match="there is no label 'leek'"):
        call(worker, operations.give_answer, 2, {"leek": True}, ANNA)
    with pytest.raises(UnknownError):
        call(worker, operations.give_answer, 999, {"leak": True}, ANNA)
    assert (checksum(worker), worker.head) == before


def test_answers_of_two_people_who_differ_wait_for_a_third(sqlite, start):
    worker = start(sqlite, min_answers=2).workers["pumps"]
    number = next(r["number"] for s, _ in samples(9) if (r := send(worker, s))["question"])
    call(worker, operations.give_answer, number, {"leak": True, "wear": False}, ANNA)
    call(worker, operations.give_answer, number, {"leak": False, "wear": False}, BOB)
    assert number in worker.state.open
    call(worker, operations.give_answer, number, {"leak": True, "wear": False}, Origin(3))
    call(worker, reading.show_project)
    assert number not in worker.state.open


def test_an_answer_can_be_taken_back_until_it_is_final(sqlite, start):
    worker = start(sqlite, hold_seconds=3600).workers["pumps"]
    results = [send(worker, s) for s, _ in samples(40)]
    numbers = [r["number"] for r in results if r["question"]]
    first = numbers[0]
    call(worker, operations.give_answer, first, {"leak": True}, ANNA)
    call(worker, operations.withdraw, first, ANNA)
    call(worker, operations.give_answer, first, {"leak": False}, ANNA)
    for number in numbers[1:6]:
        call(worker, operations.give_answer, number, {"leak": False}, ANNA)
    with pytest.raises(ConflictError, match="final"):
        call(worker, operations.withdraw, first, ANNA)
    late = call(worker, operations.give_answer, first, {"leak": True}, ANNA)
    assert late["late"]
    assert late["status"] == "correction"


def test_limits_hold_questions_back_and_nothing_is_paid(sqlite, start):
    service = start(sqlite, max_open=2)
    worker = service.workers["pumps"]
    results = [send(worker, s) for s, _ in samples(40)]
    assert sum(r["question"] is not None for r in results) == 2
    assert {r.get("held") for r in results} == {None, "max_open"}
    shown = call(worker, reading.show_project)
    assert (shown["asked"], shown["cost"], shown["open"]) == (2, 4, 2)
    assert worker.state.learner.ledger.questions_held > 0
    call(worker, operations.set_paused, ANNA, paused=True)
    call(worker, operations.give_answer, next(iter(worker.state.open)), {"leak": True, "wear": True}, ANNA)
    assert send(worker, {"x": {"pressure": 3.0}}).get("held") in (None, "paused")


def test_late_labels_train_the_model_once(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(60))
    sample = {"id": "late", "x": {"pressure": -1.0, "flow": 0.0}}
    call(worker, operations.set_paused, ANNA, paused=True)
    number = send(worker, sample)["number"]
    before = checksum(worker)
    first = call(worker, operations.late_labels, number, {"leak": True}, ANNA)
    after = checksum(worker)
    again = call(worker, operations.late_labels, number, {"leak": True}, ANNA)
    assert (first["learned"], again["learned"]) == (1, 1)
    assert before != after == checksum(worker)
    with pytest.raises(ConflictError, match="other labels"):
        call(worker, operations.late_labels, number, {"leak": False}, ANNA)


def test_blind_people_see_a_prediction_after_their_answer(sqlite, start):
    worker = start(sqlite, min_answers=2).workers["pumps"]
    number = next(r["number"] for s, _ in samples(9) if (r := send(worker, s))["question"])
    hidden = call(worker, reading.show_sample, number, 1, sees_all=False)
    assert hidden["hidden"]
    assert "prediction" not in hidden
    call(worker, operations.give_answer, number, {"leak": True}, ANNA)
    assert "prediction" in call(worker, reading.show_sample, number, 1, sees_all=False)
    assert "prediction" not in call(worker, reading.show_sample, number, 2, sees_all=False)
    assert "prediction" in call(worker, reading.show_sample, number, 2, sees_all=True)


def test_two_people_do_not_get_the_same_question(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    for sample, _ in samples(20):
        send(worker, sample)
    first = call(worker, reading.next_question, worker.leases, 1, ())
    second = call(worker, reading.next_question, worker.leases, 2, ())
    again = call(worker, reading.next_question, worker.leases, 1, ())
    assert first["number"] == again["number"] != second["number"]
    assert first["number"] == max(worker.state.open)
    skipped = call(worker, reading.next_question, worker.leases, 1, {first["number"]})
    assert skipped["number"] not in (first["number"], second["number"])


def test_an_altered_record_is_found(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(20))
    service.stop()
    with sqlite3.connect(sqlite.database) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            connection.execute("UPDATE log SET outcome = '{}' WHERE seq = 3")
        connection.execute("DROP TRIGGER log_no_update")
        connection.execute("UPDATE log SET outcome = replace(outcome, '\"number\":', '\"number\":1') WHERE seq = 3")
    with reading_engine(sqlite).connect() as connection, pytest.raises(LogError, match="record 3"):
        verify_project(connection, find_project(connection, "pumps"), replay=False)


def test_a_sample_without_any_value_is_counted_and_never_asked_about(sqlite, start):
    service = start(sqlite, budget=1.0)
    worker = service.workers["pumps"]
    run(worker, samples(30))
    empty = send(worker, {"id": "empty", "x": {}})
    assert (empty["number"], empty["question"]) == (31, None)
    following = send(worker, {"id": "next", "x": {"pressure": 1.0}})
    assert following["number"] == 32
    call(worker, operations.give_answer, 32, {"leak": True, "wear": True}, ANNA)
    with service.reader.connect() as connection:
        assert proven(connection).samples == 32


@on_sqlite
def test_labels_are_added_and_retired_mid_stream(database, start):
    service = start(database)
    worker = service.workers["pumps"]
    run(worker, samples(60))
    added = call(worker, operations.add_label, Label("noise", "Noise"), ANNA)
    assert (
        added == call(worker, operations.add_label, Label("noise", "Noise"), ANNA) == {"name": "noise", "position": 3}
    )
    with pytest.raises(ConflictError, match="already"):
        call(worker, operations.add_label, Label("noise", "Another"), ANNA)
    results = [send(worker, {"id": f"n{i}", "x": s["x"]}) for i, (s, _) in enumerate(samples(40, seed=2))]
    assert set(results[0]["prediction"]) == {"leak", "wear", "noise"}
    asked = {label for r in results if r["question"] for label in r["question"]["labels"]}
    assert "noise" in asked
    number = next(r["number"] for r in results if r["question"])
    call(worker, operations.give_answer, number, {"noise": True, "leak": False}, ANNA)
    call(worker, operations.retire_label, "wear", ANNA)
    call(worker, operations.retire_label, "wear", ANNA)
    later = [send(worker, {"id": f"m{i}", "x": s["x"]}) for i, (s, _) in enumerate(samples(60, seed=3))]
    assert any(r["question"] for r in later)
    assert all("wear" not in r["question"]["labels"] for r in later if r["question"])
    with pytest.raises(UnknownError, match="there is no label 'weer'"):
        call(worker, operations.retire_label, "weer", ANNA)
    call(worker, operations.retire_label, "leak", ANNA)
    with pytest.raises(ConflictError, match="last label"):
        call(worker, operations.retire_label, "noise", ANNA)
    with service.reader.connect() as connection:
        found = proven(connection)
    assert found.replay.checksum == call(worker, lambda batch: batch.state.checksum())
    service.stop()
    again = start(database).workers["pumps"]
    assert [label.retired for label in again.state.labels] == [True, True, False]


def test_the_same_answer_with_another_note_is_the_next_revision(sqlite, start):
    service = start(sqlite, hold_seconds=60)
    worker = service.workers["pumps"]
    number, answers = next(
        (result["number"], dict.fromkeys(result["question"]["labels"], True))
        for sample, _ in samples(50)
        if (result := send(worker, sample))["question"]
    )
    for note, replayed in (("loud", False), ("loud", True), ("loud at night", False), (None, False)):
        assert call(worker, operations.give_answer, number, answers, ANNA, note=note)["replayed"] == replayed
    with service.reader.connect() as connection:
        (last,) = responses_to(connection, worker.project.id, number)
    assert (last.revision, last.note) == (3, None)


def test_a_text_that_is_no_choice_is_said_once(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(120))
    result = send(worker, {"x": [0.1, 0.2, "M-09"]})
    assert result["warnings"] == ["machine = M-09 is none of its choices"]


def test_a_correction_and_an_answer_of_another_tool_could_see_the_prediction(sqlite, start):
    worker = start(sqlite, min_answers=1).workers["pumps"]
    (number,) = [r["number"] for r in (send(worker, s) for s, _ in samples(4)) if r["question"]][:1]
    call(worker, operations.give_answer, number, {"leak": True, "wear": True}, ANNA)
    call(worker, operations.give_answer, number, {"leak": False, "wear": True}, ANNA)
    with worker.reading() as connection:
        found = find_kinds(connection, worker.project.id, ("answer", "correction"))
    said = {record.entry.kind: record.entry.payload["saw_prediction"] for record in found}
    assert said == {"answer": False, "correction": True}


def test_retired_labels_are_not_offered_in_messages(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    call(worker, operations.retire_label, "leak", ANNA)
    with pytest.raises(DataError, match="the labels are wear"):
        call(worker, operations.late_labels, 1, {"rust": True}, ANNA)


def test_a_command_is_no_stop_of_the_service(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(30))
    service.stop()
    for _ in range(2):
        rebuild_project(sqlite, "pumps", RebuildPlan("test"))
    again = start(sqlite)
    with again.reader.connect() as connection:
        found = read_activity(connection, 1, 100)
        started = find_kinds(connection, 1, ("epoch.started",))
    assert [h.kind for h in found if h.kind in ("epoch.started", "model.rebuilt")] == [
        "epoch.started", "model.rebuilt", "model.rebuilt"
    ]  # fmt: skip
    assert len({record.entry.payload["stopped"] for record in started[1:]}) == 1


def test_the_criteria_of_a_project_are_those_it_names(sqlite, start):
    service = start(sqlite, criteria="novelty, ambiguity")
    worker = service.workers["pumps"]
    names = call(worker, lambda batch: [criterion.name for criterion in batch.state.learner.strategy.criteria])
    assert names == ["novelty", "ambiguity"]
    with pytest.raises(ConflictError, match="criteria is fixed"):
        call(worker, operations.change_settings, {"criteria": ""}, ANNA)
    with pytest.raises(ParameterError, match="charm"):
        service.create_project(new_project(criteria="charm")._replace(slug="others"))
