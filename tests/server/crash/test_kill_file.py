"""kill -9 while the rows of a file are sent: the next server goes on behind the last one, and no row counts twice."""

import signal

import pytest
from sqlalchemy import func, select

from evolabel.server.log.engines import reading_engine
from evolabel.server.log.projects import find_project
from evolabel.server.log.records import find_kinds
from evolabel.server.log.schema import BLOB, PROJECT
from evolabel.server.log.writer import reading
from evolabel.server.ops.new_project import FileWish, make_from_file
from evolabel.server.project import service as service_module
from evolabel.server.project.file_stream import file_status
from evolabel.server.project.own_project import Choices, judged_file, new_own_project
from evolabel.server.project.settings import ProjectSettings
from server.crash.processes import SECONDS, ServerProcess
from server.pumps import proven

pytestmark = pytest.mark.posix
ROWS = 400
POINTS = ("in_commit:4", "after_commit:9")


@pytest.fixture
def file(tmp_path):
    lines = ["id,depth,site,frogs,newts"]
    lines += [f"r{row},{row / 7:.3f},{'ab'[row % 2]},{row % 2},{'' if row % 3 else 1}" for row in range(ROWS)]
    path = tmp_path / "pond.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def wish(**changed):
    usual = {"slug": "pond", "title": "", "uses": {"newts": "label", "frogs": "label"}, "labels": (), "budget": 0.5}
    return FileWish(**{**usual, "per": "labels", "one_of": False, "waits": False, **changed})


def test_no_row_is_lost_or_doubled_by_kills(database, file):
    make_from_file(database, file, wish())
    engine = reading_engine(database)
    try:
        done = [0]
        for point in POINTS:
            server = ServerProcess(database, point)
            try:
                assert server.wait_until_dead(SECONDS)
            finally:
                server.kill()
            with reading(engine) as connection:
                project = find_project(connection, "pond")
                done.append(file_status(connection, project.id).done)
        assert done == sorted(done)
        assert 0 < done[-1] < ROWS
        server = ServerProcess(database)
        try:
            assert server.wait_until_ready()
            while True:
                with reading(engine) as connection:
                    if file_status(connection, project.id).state == "ended":
                        break
            server.send(signal.SIGKILL)
            assert server.wait_until_dead()
        finally:
            server.kill()
        with reading(engine) as connection:
            sent = [record.entry.payload["id"] for record in find_kinds(connection, project.id, ("sample",))]
            assert sent == [f"r{row}" for row in range(ROWS)]
            proven(connection, "pond")
    finally:
        engine.dispose()


def test_a_kill_while_a_project_is_made_leaves_no_half_project(sqlite, file, start, monkeypatch):
    """At the point the rows are written and nothing is committed; the exception stands for the end of the process."""
    service = start(sqlite)

    def die(name):
        raise KeyboardInterrupt(name)

    own = judged_file(file, 2**20)
    uses = {column.name: column.use for column in own.columns}
    new = new_own_project(own, Choices("pond", "Pond", uses, [], ProjectSettings()))
    monkeypatch.setattr(service_module, "crash_point", die)
    with pytest.raises(KeyboardInterrupt, match="in_creation"):
        service.create_project(new)
    monkeypatch.undo()
    with reading(service.reader) as connection:
        found = [connection.scalar(select(func.count()).select_from(table)) for table in (PROJECT, BLOB)]
    assert found == [1, 0]
    assert list(service.workers) == ["pumps"]
    service.create_project(new)  # as if nothing had been
    assert "pond" in service.workers
