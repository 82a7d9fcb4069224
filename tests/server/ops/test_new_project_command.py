"""`evolabel serve new`: a project of a file, made while the service is stopped; its rows are sent when it runs."""

import time

import pytest

from evolabel.cli.app import run_command
from evolabel.server.log.writer import reading
from evolabel.server.project.file_stream import file_status
from evolabel.server.project.service import Service

CSV = "id,depth,site,frogs\n" + "".join(f"r{row},{row / 7:.3f},{'ab'[row % 2]},{row % 2}\n" for row in range(60))


@pytest.fixture
def new(sqlite, tmp_path, capsys):
    """Function that runs the command and returns its exit code, output and messages."""
    file = tmp_path / "my pond.csv"
    file.write_text(CSV)

    def new(*words, data=file):
        code = run_command(["serve", "new", str(data), "--database", sqlite.render_as_string(), *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return new


def test_the_rows_are_sent_once_the_service_runs(new, sqlite):
    code, shown, told = new(
        "--labels", "newts", "--use", "site=text", "--budget", "0.3", "--title", "Pond", "--at-once"
    )
    assert (code, "project my-pond is made" in told) == (0, True)
    assert shown.splitlines()[:2] == ["my pond.csv: 60 rows", "id     text    id      r0, r1, r2"]
    service = Service(sqlite)
    service.start()
    try:
        worker = service.workers["my-pond"]
        end = time.monotonic() + 60
        while True:
            with reading(service.reader) as connection:
                found = file_status(connection, worker.project.id)
            if found.state == "ended":
                break
            assert time.monotonic() < end, found
            time.sleep(0.02)
        assert worker.project.title == "Pond"
        assert (worker.state.seen, worker.state.settings.budget, worker.state.label_names) == (
            60,
            0.3,
            ["newts", "frogs"],
        )
    finally:
        service.stop()


def test_columns_are_shown_and_nothing_is_made(new, tmp_path):
    code, shown, _ = new("--dry-run", "--use", "site=source")
    assert (code, "site   text    source  a, b" in shown) == (0, True)
    assert not (tmp_path / "evolabel.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--use", "site"], "names no column with its use"),
        (["--use", "site=magic"], "names no column with its use"),
        (["--use", "site=number"], "line 2: 'site' is 'a'; expected a number"),
        (["--use", "frogs=number"], "0 labels were given"),
        (["--use", "lake=text"], "there is no column 'lake'"),
        (["--budget", "0"], "budget is 0"),
        (["--name", "Pond!"], "'Pond!' cannot be the name of a project"),
    ],
)
def test_what_cannot_be_used_is_refused(new, words, message):
    code, shown, told = new(*words)
    assert (code, shown) == (2, "")
    assert message in told


def test_a_running_service_is_left_alone(new, sqlite, start):
    start(sqlite)
    code, _, told = new()
    assert code != 0
    assert "stop it first" in told
