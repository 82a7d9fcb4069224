"""`evolabel replay`: a data set sent to a service."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")

from evolabel.server.log.records import find_kinds
from evolabel.server.people.accounts import create_token
from evolabel.server.project import reading
from evolabel.server.project.exports import answered_labels
from server.listening import listening
from server.pumps import call

ROWS = 40


@pytest.fixture
def served(sqlite, start):
    """The service, its address, and the token of an administrator."""
    service = start(sqlite)
    with listening(service) as url:
        yield service, url, create_token(sqlite, "root", None, None, "test")


@pytest.fixture
def station(tmp_path):
    """A file with a column of texts, a missing value, an unknown label and two labels."""
    rng = np.random.default_rng(0)
    lines = ["pressure,machine,leak,wear"]
    for i in range(ROWS):
        pressure = rng.normal()
        leak = "" if i == 1 else int(pressure < 0)
        lines.append(f"{'' if i == 2 else pressure},{'AB'[i % 2]},{leak},{int(i % 2)}")
    file = tmp_path / "station.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def replay(command, file, url, token, *words, rate=0):
    options = ("--labels", "leak,wear", "--to", url, "--project", "plant", "--rate", rate)
    return command("replay", str(file), *options, "--token", token, *words)


def test_a_file_becomes_a_project_whose_questions_are_answered(command, served, station):
    service, url, token = served
    done = replay(command, station, url, token, "--create", "--answer", "--budget", "0.5")
    assert done.code == 0, done.err
    worker = service.workers["plant"]
    shown = call(worker, reading.show_project)
    assert shown["samples"] == ROWS
    assert all(question.responses for question in worker.state.open.values())  # they are held, or need two people
    assert [(f["name"], f["kind"], f["choices"]) for f in shown["features"]] == [
        ("pressure", "number", []),
        ("machine", "text", ["A", "B"]),
    ]
    asked = shown["asked"]
    answered = len({row["number"] for row in answered_labels(service.reader, worker.project.id)})
    assert 0 < answered <= asked
    assert f"plant: {ROWS} samples sent, {asked} questions asked, {answered} questions answered\n" == done.out
    third = call(worker, reading.show_sample, 3, 1, sees_all=True)
    assert third["x"] == {"pressure": None, "machine": "A"}
    assert third["id"] == "station-3"
    head = worker.head.seq
    again = replay(command, station, url, token, "--create", "--answer")
    assert again.out == done.out
    assert worker.head.seq == head
    more = replay(command, station, url, token, "--prefix", "b-", "--samples", "5")
    assert "5 samples sent" in more.out
    assert call(worker, reading.show_project)["samples"] == ROWS + 5


def test_the_speed_is_kept(command, served, station, monkeypatch):
    _, url, token = served
    slept = []
    monkeypatch.setattr("evolabel.cli.replay.time", SimpleNamespace(sleep=slept.append, monotonic=lambda: 0.0))
    assert replay(command, station, url, token, "--create", rate=8).code == 0
    # two samples a request, four requests a second
    assert slept == [0.25 * i for i in range(ROWS // 2)]


def test_what_cannot_be_sent(command, served, station, tmp_path):
    _, url, token = served
    missing = replay(command, station, url, token)
    assert missing.code == 2
    assert "there is no such project" in missing.err
    assert replay(command, station, url, token, rate=-1).code == 2
    assert replay(command, station, "127.0.0.1", token).code == 2
    assert replay(command, station, url, token, "--create").code == 0
    other = tmp_path / "other.csv"
    other.write_text("speed,leak,wear\n1.5,0,1\n2.5,1,0\n")
    assert "has none of the features of the project (pressure, machine)" in replay(command, other, url, token).err


def rows_of(served, command, file, *words):
    service, url, token = served
    done = command("replay", str(file), "--to", url, "--project", "pumps", "--rate", 0, "--token", token, *words)
    with service.reader.connect() as connection:
        found = find_kinds(connection, service.workers["pumps"].project.id, ("sample",))
    return done, [record.entry.payload for record in found]


def test_further_rows_need_no_labels(served, command, tmp_path):
    file = tmp_path / "more.csv"
    file.write_text("when,flow,pressure,machine,nr,leak\nx,1.5,2,M-01,a7,1\ny,,3,M-02,a8,\n")
    done, found = rows_of(served, command, file, "--id", "nr")
    assert done.code == 0, done.err
    assert found == [
        {"id": "a7", "x": [2.0, 1.5, "M-01"], "y": {"leak": 1}},
        {"id": "a8", "x": [3.0, None, "M-02"]},
    ]
    assert len(rows_of(served, command, file, "--id", "nr")[1]) == 2  # again: nothing counts twice
    assert [payload["id"] for payload in rows_of(served, command, file)[1][2:]] == ["more-1", "more-2"]


def test_rows_without_a_feature_of_the_project_are_refused(served, command, tmp_path):
    file = tmp_path / "more.csv"
    file.write_text("depth,leak\n1,1\n")
    done, found = rows_of(served, command, file)
    assert (done.code, found) == (2, [])
    assert "has none of the features of the project" in done.err
    done, _ = rows_of(served, command, file, "--id", "nr", "--labels", "leak")
    assert "--id nr is for a file without --labels" in done.err
