"""Exports: routes and the command, from a database and from a server."""

import csv
import io
import json

import numpy as np
import pytest
from sqlalchemy import Engine, select

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.table_lines import csv_line, csv_lines
from evolabel.active import ActiveLearner
from evolabel.server.log.schema import AUDIT
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations
from server.http.test_http import P, serving
from server.listening import listening
from server.pumps import ANNA, call, run, samples, send
from server.signed_in import add_person


@pytest.fixture
def service(sqlite, start):
    """A project with samples, answers, a refusal and a note that a spreadsheet would compute."""
    service = start(sqlite)
    add_person(service, "anna")
    worker = service.workers["pumps"]
    run(worker, samples(40))
    number = next(r["number"] for s, _ in samples(60, seed=1) if (r := send(worker, {"x": s["x"]}))["question"])
    call(worker, operations.refuse, number, "=1+1", ANNA)
    return service


def test_routes_stream_files_for_operators(service, sqlite):
    service, senders = next(serving(service, sqlite))
    operator = senders["operator"]
    found = operator("GET", f"{P}/export/answers.csv")
    assert found.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(found.text)))
    assert {row["person"] for row in rows} == {"anna"}
    assert {row["label"] for row in rows} == {"leak", "wear", ""}
    assert rows[-1]["status"] == "refused"
    assert rows[-1]["note"] == "'=1+1"
    lines = [json.loads(line) for line in operator("GET", f"{P}/export/samples.ndjson").text.splitlines()]
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0]["x"].keys() == {"pressure", "flow", "machine"}
    assert lines[0]["prediction"].keys() == {"leak", "wear"}
    log = operator("GET", f"{P}/export/log.ndjson").text.splitlines()
    assert json.loads(log[0])["kind"] == "project.created"
    assert len(log) == service.workers["pumps"].head.seq
    assert operator("GET", f"{P}/export/secrets.csv").status_code == 404
    for role in ("producer", "bridge", "annotator", "expert"):
        assert senders[role]("GET", f"{P}/export/answers.csv").status_code == 403
    with service.reader.connect() as connection:
        audited = [row.detail for row in connection.execute(select(AUDIT).where(AUDIT.c.action == "export"))]
    assert audited == ['{"file":"answers.csv"}', '{"file":"samples.ndjson"}', '{"file":"log.ndjson"}']


@pytest.mark.parametrize("blind", [True, False])
def test_an_answer_keeps_whether_the_prediction_could_be_seen(sqlite, start, blind):
    _, senders = next(serving(start(sqlite, blind=blind), sqlite))
    for role in ("annotator", "expert", "admin"):
        number = ask(senders, role)["number"]
        assert senders[role]("PUT", f"{P}/questions/{number}/answer", {"answers": {"leak": True}}).status_code == 200
    refused = ask(senders, "annotator again")["number"]
    assert senders["annotator"]("PUT", f"{P}/questions/{refused}/refusal", {}).status_code == 200
    rows = senders["operator"]("GET", f"{P}/export/answers.ndjson").text.splitlines()
    saw = [(row["person"], row["saw_prediction"]) for row in map(json.loads, rows)]
    by = not blind
    assert saw == [("annotator-1", by), ("expert-1", True), ("root", True), ("annotator-1", by)]


def ask(senders, name):
    """Send samples until one is asked about; its result."""
    for i, (sample, _) in enumerate(samples(30)):
        one = {**sample, "id": f"{name} {i}"}
        result = senders["producer"]("POST", f"{P}/samples", {"samples": [one]}).json()["results"][0]
        if result["question"]:
            return result
    raise AssertionError("no question")


def download(sender, name, path):
    """Path of the file `name` of an operator."""
    response = sender("GET", f"{P}/export/{name}")
    assert response.status_code == 200
    path.write_bytes(response.content)
    return path


@pytest.mark.filterwarnings("ignore:.* no feature")
@pytest.mark.parametrize("rows", [40, 400], ids=["while samples are collected", "with rules and error feedback"])
def test_the_downloaded_model_gives_the_served_probabilities_bit_for_bit(sqlite, start, tmp_path, rows):
    service, senders = next(serving(start(sqlite), sqlite))
    worker = service.workers["pumps"]
    run(worker, rising(rows))
    asked = [sample["x"] for sample, _ in samples(50, seed=3)] + [{"machine": "M-02"}, {"pressure": 1e30}, {}]
    served = senders["producer"]("POST", f"{P}/predictions", {"samples": [{"x": x} for x in asked]}).json()["results"]
    learner = ActiveLearner.load(download(senders["operator"], "model.safetensors", tmp_path / "model"))
    names = list(learner.classifier.label_names_)
    assert learner.bucket.seen == worker.state.seen
    loaded = [dict(zip(names, learner.predict_proba([x])[0].tolist(), strict=True)) for x in asked]
    assert loaded == [result["prediction"] for result in served]
    alone = EvolvingFuzzyClassifier.load(
        download(senders["operator"], "classifier.safetensors", tmp_path / "classifier")
    )
    one = samples(1, seed=4)[0][0]["x"]
    assert list(send(worker, {"x": one})["prediction"].values()) == learner.predict_proba([one])[0].tolist()
    frame = pytest.importorskip("pandas").DataFrame(asked)
    live = worker.state.learner.classifier.predict_proba(frame)
    np.testing.assert_array_equal(alone.predict_proba(frame), live)
    corrected = [list(result["prediction"].values()) for result in served]
    assert (np.abs(corrected - live).max() > 0.001) == (rows == 400)


def rising(n):
    """n samples whose labels turn round every 40 rows, so that errors of neighbours repeat."""
    for i, (sample, truth) in enumerate(samples(n)):
        yield sample, {**truth, "leak": truth["leak"] != (i // 40 % 2 == 1)}


@pytest.mark.parametrize("what", ["answers", "predictions", "log"])
def test_the_command_writes_the_same_from_database_and_server(command, service, sqlite, tmp_path, what):
    pytest.importorskip("httpx")
    token = create_token(sqlite, "omar", "pumps", "operator", "test")
    place = ("--project", "pumps", "--database", sqlite.render_as_string())
    with listening(service) as url:
        for ending in ("csv", "jsonl", "parquet"):
            here, there = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
            done = command("export", what, *place, "--out", here)
            assert done.code == 0, done.err
            assert (
                command("export", what, "--project", "pumps", "--from", url, "--token", token, "--out", there).code == 0
            )
            assert here.read_bytes() == there.read_bytes()
        refused = command("export", what, "--project", "no", "--from", url, "--token", token)
        assert refused.code == 2
    printed = command("export", what, *place)
    assert printed.out == (tmp_path / "a.csv").read_text()
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "a.parquet")
    assert table.num_rows == len((tmp_path / "a.jsonl").read_text().splitlines())
    assert command("export", what, *place, "--out", here).code == 2  # it exists
    assert command("export", what, *place, "--out", tmp_path / "a.txt").code == 2


def test_notes_that_a_spreadsheet_would_compute_are_marked_unless_asked_otherwise(command, service, sqlite):
    words = ("export", "answers", "--project", "pumps", "--database", sqlite.render_as_string())
    for more, note in (((), "'=1+1"), (("--unmarked",), "=1+1")):
        rows = list(csv.DictReader(io.StringIO(command(*words, *more).out)))
        assert rows[-1]["note"] == note


def test_numbers_stored_as_texts_are_not_marked():
    cells = ["-1.5", "+2", "-1,5", "1e-3", "-1e5", "=1", "-x", "- 1", "\t1", "\r1", "@a", "+49 30 123"]
    (line,) = list(csv_lines(["a"] * len(cells), []))
    assert line == ",".join(["a"] * len(cells)) + "\n"
    written = next(csv.reader(io.StringIO(csv_line(cells), newline="")))
    assert written == cells[:5] + [f"'{cell}" for cell in cells[5:]]


def test_an_answer_of_another_service_ends_in_one_line(command, monkeypatch):
    httpx = pytest.importorskip("httpx")
    real = httpx.Client

    def answering(body):
        transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body))
        monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": transport}))

    words = ("export", "answers", "--project", "p", "--from", "http://127.0.0.1:1", "--token", "ev_x")
    for body in (b"hello\n", b"[" * 100_000 + b"\n", b"[1, 2]\n"):
        answering(body)
        told = command(*words)
        assert told.code == 2
        assert "came from the service and is no row of a table; check --from" in told.err
    for body in (b"{}", b"[" * 100_000, b"1"):
        answering(body)
        told = command("export", "predictions", *words[2:])
        assert told.code == 2
        assert "check the address" in told.err


def test_the_command_closes_what_it_has_opened(command, service, sqlite, monkeypatch):
    closed = []
    for kind, method in ((pytest.importorskip("httpx").Client, "close"), (Engine, "dispose")):
        real = getattr(kind, method)
        monkeypatch.setattr(kind, method, lambda self, real=real, **more: (closed.append(self), real(self, **more)))
    token = create_token(sqlite, "omar", "pumps", "operator", "test")
    with listening(service) as url:
        for name, code in (("pumps", 0), ("no", 2)):
            for place in (("--database", sqlite.render_as_string()), ("--from", url, "--token", token)):
                closed.clear()
                assert command("export", "answers", "--project", name, *place).code == code
                assert len(closed) == 1
