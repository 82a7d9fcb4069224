"""The rows of a file become samples: in order, each once, also after a stop and after a new start of the service."""

import time

import pytest

from evolabel.server.log.records import find_kinds
from evolabel.server.log.writer import reading
from evolabel.server.project import operations
from evolabel.server.project.file_rows import features_of, file_rows, labels_of
from evolabel.server.project.file_stream import file_status
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.service import NewProject, Service
from evolabel.server.project.settings import Label, ProjectSettings
from evolabel.streams.files.own_file import read_own_file, use_columns
from server.pumps import ANNA, call, proven

ROWS = 130


def pond(tmp_path, rows=ROWS, labels=lambda row: ("1" if row % 3 else "0", "")):
    lines = ["id,site,depth,frogs,newts"]
    lines += [f"r{row},{'north' if row % 2 else 'south'},{row / 7:.3f},{','.join(labels(row))}" for row in range(rows)]
    path = tmp_path / "pond.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def make(service, path, *, waits=False, described=(), **settings):
    """A project of the file whose service has begun to send it."""
    own = read_own_file(path)
    rows = use_columns(own.table, {**{c.name: c.use for c in own.columns}, "frogs": "label", "newts": "label"})
    chosen = ProjectSettings(**{"budget": 0.5, "hold_seconds": 0, "overlap": 0.0, "source": rows.source, **settings})
    labels = labels_of(rows, described)
    new = NewProject("pond", "Pond", features_of(rows), labels, chosen, file_rows(path.name, rows, waits=waits))
    service.create_project(new)
    return service.workers["pond"]


def status(service, worker):
    with reading(service.reader) as connection:
        return file_status(connection, worker.project.id)


def until(service, worker, reached):
    end = time.monotonic() + 60
    while not reached(found := status(service, worker)):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def ids(service, worker):
    with reading(service.reader) as connection:
        return [record.entry.payload["id"] for record in find_kinds(connection, worker.project.id, ("sample",))]


def test_all_rows_of_a_file_become_samples(sqlite, start, tmp_path):
    service = start(sqlite)
    worker = make(service, pond(tmp_path))
    found = until(service, worker, lambda f: f.state == "ended")
    assert (found.name, found.rows, found.done, found.error) == ("pond.csv", ROWS, ROWS, "")
    assert ids(service, worker) == [f"r{row}" for row in range(ROWS)]
    with pytest.raises(ConflictError, match="all rows of the file were sent"):
        service.files.pause(worker, ANNA)
    with reading(service.reader) as connection:
        proven(connection, "pond")


def test_known_labels_are_learned_and_the_others_can_be_asked(sqlite, start, tmp_path):
    """Where both labels are known nothing is asked; where one is, the other can be, and the known one is learned."""
    service = start(sqlite)
    worker = make(service, pond(tmp_path), max_open=1000)
    until(service, worker, lambda f: f.state == "ended")
    with reading(service.reader) as connection:
        learned = find_kinds(connection, worker.project.id, ("labels.late",))
        samples = find_kinds(connection, worker.project.id, ("sample",))
    asked = [s.entry.outcome["question"]["labels"] for s in samples if s.entry.outcome["question"]]
    assert any("newts" in labels for labels in asked)
    assert all(record.entry.payload["y"].keys() == {"frogs"} for record in learned)
    assert len(learned) > ROWS / 4


def test_rows_wait_while_as_many_questions_are_open_as_allowed(sqlite, start, tmp_path):
    service = start(sqlite)
    worker = make(service, pond(tmp_path, labels=lambda row: ("", "")), waits=True, max_open=5)
    until(service, worker, lambda f: f.done > 0)
    for _ in range(60):
        numbers = call(worker, lambda batch: list(batch.state.open))
        for number in numbers:
            call(worker, operations.give_answer, number, {"frogs": True, "newts": False}, ANNA)
        if status(service, worker).state == "ended":
            break
        assert len(numbers) <= 5
        time.sleep(0.3)
    assert status(service, worker).state == "ended"
    assert ids(service, worker) == [f"r{row}" for row in range(ROWS)]


def test_a_file_is_stopped_and_goes_on_behind_its_last_row(sqlite, start, tmp_path):
    service = start(sqlite)
    worker = make(service, pond(tmp_path, rows=600))
    until(service, worker, lambda f: f.done >= 40)
    service.files.pause(worker, ANNA)
    stopped = until(service, worker, lambda f: f.state == "stopped").done
    time.sleep(0.3)
    assert status(service, worker).done == stopped < 600
    service.files.pause(worker, ANNA)  # again: changes nothing
    service.stop()
    again = Service(sqlite)
    again.start()
    try:
        worker = again.workers["pond"]
        assert status(again, worker).state == "stopped"  # also by a new service
        again.files.go_on(worker, ANNA)
        assert until(again, worker, lambda f: f.done > stopped).state == "running"
    finally:
        again.stop()
    again = Service(sqlite)
    again.start()
    try:
        worker = again.workers["pond"]
        until(again, worker, lambda f: f.state == "ended")
        assert ids(again, worker) == [f"r{row}" for row in range(600)]
    finally:
        again.stop()


def test_a_row_that_contradicts_a_sample_stops_the_file(sqlite, start, tmp_path):
    service = start(sqlite)
    worker = make(service, pond(tmp_path, labels=lambda row: ("", "")), waits=True, max_open=1)
    until(service, worker, lambda f: f.done > 0)
    call(worker, operations.send_samples, [{"id": "r129", "x": ["north", 99.0]}], ANNA)
    call(worker, operations.change_settings, {"max_open": 1000}, ANNA)
    found = until(service, worker, lambda f: f.state == "stopped")
    assert "r129" in found.error
    assert found.done == 120


def test_labels_of_a_person_come_before_those_of_the_file(tmp_path):
    own = read_own_file(pond(tmp_path))
    rows = use_columns(own.table, {"depth": "number", "frogs": "label"})
    labels = labels_of(rows, [Label("toads", help="Large ones."), Label("frogs", "Frogs")])
    assert [label.name for label in labels] == ["toads", "frogs"]
    assert [label.name for label in labels_of(rows, [])] == ["frogs"]


def test_a_project_without_a_file_has_no_status(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    assert status(service, worker) is None
    with pytest.raises(ConflictError, match="not made of a file"):
        service.files.go_on(worker, ANNA)
