"""A person's own file over the API: judged, made a project of, sent to its end; what is wrong leaves nothing behind."""

import socket
import time
import zipfile

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.http import files
from evolabel.server.log.schema import BLOB, PROJECT, UPLOAD, UPLOAD_PART
from evolabel.server.log.times import DAY
from evolabel.server.people.accounts import create_token
from server.listening import listening

CSV = "id,depth,site,frogs\n" + "".join(f"r{row},{row / 7:.3f},{'ab'[row % 2]},{row % 2}\n" for row in range(60))
USES = {"id": "id", "depth": "number", "site": "source", "frogs": "label"}


@pytest.fixture
def admin(sqlite, start):
    service = start(sqlite)
    token = create_token(sqlite, "root", None, None, "test")
    client = TestClient(create_app(service), headers={"authorization": f"Bearer {token}"})
    client.service, client.token = service, token
    return client


def send(client, text, name="pond.csv"):
    data = text.encode() if isinstance(text, str) else text
    return client.post("/api/v1/files", params={"name": name}, content=data)


def stored(service):
    """Numbers of projects, files that are kept, their parts, and parts of projects."""
    with service.reader.connect() as connection:
        tables = (PROJECT, UPLOAD, UPLOAD_PART, BLOB)
        return tuple(connection.scalar(select(func.count()).select_from(table)) for table in tables)


def until_ended(client, slug):
    end = time.monotonic() + 60
    while (found := client.get(f"/api/v1/projects/{slug}/file").json())["state"] == "running":
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def test_a_file_becomes_a_project_whose_rows_are_sent(admin):
    sent = send(admin, CSV)
    assert sent.status_code == 201
    found = sent.json()
    assert (found["name"], found["rows"]) == ("pond.csv", 60)
    assert {column["name"]: column["use"] for column in found["columns"]} == USES
    assert found["columns"][1] == {
        "name": "depth", "kind": "number", "use": "number", "missing": 0, "distinct": 60,
        "examples": ["0.000", "0.143", "0.286"], "problem": "",
    }  # fmt: skip
    body = {
        "slug": "pond", "title": "Pond", "columns": USES, "waits": False,
        "labels": [{"name": "frogs", "help": "A frog was heard."}, {"name": "newts"}], "settings": {"budget": 0.2},
    }  # fmt: skip
    made = admin.post(f"/api/v1/files/{found['file']}/project", json=body)
    assert made.json() == {"slug": "pond", "title": "Pond"}
    assert until_ended(admin, "pond") == {
        "name": "pond.csv", "rows": 60, "done": 60, "state": "ended", "error": "", "waits": False,
        "id_column": "id",
    }  # fmt: skip
    project = admin.get("/api/v1/projects/pond").json()
    assert project["samples"] == 60
    assert [label["name"] for label in project["labels"]] == ["frogs", "newts"]
    assert project["settings"]["budget"] == 0.2
    assert admin.get("/api/v1/projects/pond/samples/id:r7").json()["x"] == {"depth": 1.0, "site": "b"}
    assert stored(admin.service) == (2, 0, 0, 1)
    again = admin.post(f"/api/v1/files/{found['file']}/project", json=body)
    assert again.status_code == 404  # the file is used up


def test_a_file_is_stopped_and_continued(admin):
    body = {"slug": "pond", "columns": {"depth": "number"}, "labels": [{"name": "frogs"}], "settings": {"max_open": 1}}
    admin.post(f"/api/v1/files/{send(admin, CSV).json()['file']}/project", json=body)
    stopped = admin.post("/api/v1/projects/pond/file/stop", json={}).json()
    assert stopped["state"] == "stopped"
    assert admin.post("/api/v1/projects/pond/file/continue", json={}).json()["state"] == "running"
    assert admin.post("/api/v1/projects/pumps/file/stop", json={}).status_code == 409
    assert admin.get("/api/v1/projects/pumps/file").json()["type"] == "/problems/no-file"


WRONG = {
    "empty": ("", "pond.csv", 422, "pond.csv is empty"),
    "two columns of one name": ("a,a\n1,2\n", "pond.csv", 422, "pond.csv, line 1: several columns are named 'a'"),
    "a row too short": ("a,b\n1,2\n3\n", "pond.csv", 422, "pond.csv, line 3: 1 values, expected 2"),
    "another kind": (CSV, "pond.pdf", 422, "'pond.pdf' has no ending of a table"),
    "no sheet": (CSV, "pond.xlsx", 422, "pond.xlsx is no Excel file"),
    "a path": (CSV, "../../etc/passwd", 422, "'passwd' has no ending of a table"),
    "above the limit": ("a\n" + "1\n" * 600_000, "pond.csv", 413, "a file may have 1 MiB"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_file_is_refused_and_nothing_is_kept(admin, wrong):
    text, name, status, message = WRONG[wrong]
    admin.service.limits = admin.service.limits._replace(file=2**20)
    answer = send(admin, text, name)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(message)
    assert "/tmp" not in answer.text
    assert stored(admin.service) == (1, 0, 0, 0)


def test_a_sheet_that_unpacks_beyond_the_limit_is_refused(admin, tmp_path):
    admin.service.limits = admin.service.limits._replace(file=2**20)
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 3 * 2**20)
    answer = send(admin, (tmp_path / "bomb.xlsx").read_bytes(), "bomb.xlsx")
    assert (answer.status_code, answer.json()["detail"][:40]) == (422, "bomb.xlsx unpacks to 3 MiB, at most 1 ar")
    assert stored(admin.service) == (1, 0, 0, 0)


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
@pytest.mark.parametrize(
    ("columns", "slug", "message"),
    [
        ({"depth": "number", "tag": "class"}, "pond", "column 'tag' has 500 different labels"),
        ({"depth": "number"}, "pond", "0 labels were given"),
        ({"depth": "number", "tag": "label"}, "pond", "pond.csv, line 2: label 'tag' is 't0'"),
        ({"tag": "id"}, "pond", "no column is a feature"),
        ({"depth": "number", "tag": "id"}, "Pond!", "'Pond!' cannot be the name of a project"),
    ],
)
def test_wrong_choices_are_refused_and_there_is_no_half_project(admin, columns, slug, message):
    key = send(admin, "depth,tag\n" + "".join(f"{row},t{row}\n" for row in range(500))).json()["file"]
    labels = [{"name": "frogs"}] if slug != "pond" else []
    answer = admin.post(f"/api/v1/files/{key}/project", json={"slug": slug, "columns": columns, "labels": labels})
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert stored(admin.service) == (1, 1, 1, 0)  # the file is kept for another try


def test_a_file_is_kept_for_a_day(admin, monkeypatch):
    key = send(admin, CSV).json()["file"]
    now = files.now_us()
    body = {"slug": "pond", "title": "Pond", "columns": USES, "labels": [{"name": "frogs"}]}
    monkeypatch.setattr(files, "now_us", lambda: now + DAY + 1)
    refused = admin.post(f"/api/v1/files/{key}/project", json=body)
    assert (refused.status_code, refused.json()["detail"]) == (404, "the file is not kept any more; send it again")


def test_an_upload_that_is_cut_off_leaves_nothing(admin):
    with listening(admin.service) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as line:
            head = (
                f"POST /api/v1/files?name=pond.csv HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {admin.token}\r\n"
            )
            line.sendall(f"{head}Content-Length: {len(CSV)}\r\n\r\n{CSV[:200]}".encode())
        time.sleep(0.3)
    assert stored(admin.service) == (1, 0, 0, 0)


def test_files_belong_to_their_person_and_to_administrators(admin, sqlite):
    key = send(admin, CSV).json()["file"]
    other = create_token(sqlite, "eva", None, None, "test")
    body = {"slug": "pond", "columns": USES}
    strange = admin.post(f"/api/v1/files/{key}/project", json=body, headers={"authorization": f"Bearer {other}"})
    assert strange.status_code == 404
    operator = create_token(sqlite, "omar", "pumps", "operator", "test")
    refused = admin.post("/api/v1/files?name=a.csv", content=b"a", headers={"authorization": f"Bearer {operator}"})
    assert refused.status_code == 403
