"""A history and a fit, a model from a file, and the replay of both."""

import time
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.storage import classifier_bytes
from evolabel.server.log.records import LogError, find_kinds
from evolabel.server.log.schema import BLOB
from evolabel.server.project import operations, reading
from evolabel.server.project.operations import ConflictError
from evolabel.stages import OwnStage, Schema, array
from evolabel.typing import FloatArray
from server.conftest import on_sqlite
from server.http.test_http import P, serving
from server.pumps import ANNA, call, checksum, proven, run, samples, send

FEATURES = ["pressure", "flow", "machine=M-01", "machine=M-02"]


@pytest.fixture
def served(database, start):
    """The service, and a sender for each role."""
    yield from serving(start(database, snapshot_every=40), database)


def rows(n, seed=5):
    """Rows of a history; one without a value, one without an answer."""
    found = [{"x": sample["x"], "y": truth} for sample, truth in samples(n, seed)]
    found[3]["x"] = {"pressure": 1.0}
    found[4]["y"] = {"leak": None, "wear": True}
    return found


def replayed(service):
    """Seal after a replay of the whole log, which is whole."""
    with service.reader.connect() as connection:
        return proven(connection).replay.checksum


class Mean(NamedTuple):
    mean: Annotated[FloatArray, array("label")]


class Shift(OwnStage):
    """Changes nothing."""

    name, schema = "shift", Schema(Mean)

    def answer(self, rows):
        rows.outputs += self.arrays.mean

    def learn_row(self, row, log):
        pass


def trained_file(labels=("leak", "wear"), features=FEATURES, **parameters):
    """Contents of the file of a classifier."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, len(features)))
    Y = np.stack([X[:, 0] < 0.0, X[:, 1] > 0.5], axis=1).astype(float)
    return classifier_bytes(EvolvingFuzzyClassifier(**parameters).fit(X, Y).name_columns(features, labels))


def put(sender, data):
    """Response to a file sent as the model."""
    headers = {**sender.headers, "content-type": "application/octet-stream"}
    return sender._client.put(f"{P}/model", content=data, headers=headers)


def fit(service, operator):
    """Response to the request for a fit, after the fit has ended."""
    begun = operator("POST", f"{P}/fit", {})
    assert begun.status_code == 202, begun.text
    while service.changing:
        time.sleep(0.01)
    return begun


@on_sqlite
def test_a_project_starts_trained_by_its_history(served):
    service, senders = served
    operator, worker = senders["operator"], service.workers["pumps"]
    asked = [r for s, _ in samples(8) if (r := send(worker, s))["question"]]  # before the fit
    assert operator("POST", f"{P}/fit", {}).json()["type"] == "/problems/no-history"
    body = {"rows": rows(60)}
    first = operator("POST", f"{P}/history", body, **{"Idempotency-Key": "a"})
    assert first.json() == {"rows": 60}
    assert operator("POST", f"{P}/history", body, **{"Idempotency-Key": "a"}).json() == {"rows": 60}
    assert operator("POST", f"{P}/history", {"rows": rows(60, seed=6)}).json() == {"rows": 120}
    bad = operator("POST", f"{P}/history", {"rows": [{"x": {"pressure": 1.0}, "y": {"leek": True}}]})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (422, "/rows/0")
    shown = call(worker, reading.show_project)
    assert fit(service, operator).json() == {"rows": 120}
    with service.reader.connect() as connection:
        (fitted,) = find_kinds(connection, worker.project.id, ("fitted",))
    assert fitted.entry.outcome["rules"] >= 1
    assert fitted.entry.outcome["seal"] == checksum(worker)
    after = call(worker, reading.show_project)
    assert (after["samples"], after["asked"], after["open"]) == (shown["samples"], shown["asked"], len(asked))
    low = operator("POST", f"{P}/predictions", {"samples": [{"x": {"pressure": -2.0, "flow": 0.0}}]}).json()
    assert low["results"][0]["labels"] == ["leak"]
    assert operator("POST", f"{P}/fit", {}).json()["type"] == "/problems/already-trained"
    assert operator("POST", f"{P}/history", body).status_code == 409
    call(worker, operations.give_answer, asked[0]["number"], {"leak": True}, ANNA)  # a question from before the fit
    run(worker, [({"x": s["x"]}, y) for s, y in samples(40, seed=9)])
    assert replayed(service) == checksum(worker)


def test_a_history_outlives_a_restart(sqlite, start):
    service = start(sqlite)
    _, senders = next(serving(service, sqlite))
    senders["operator"]("POST", f"{P}/history", {"rows": rows(40)})
    service.stop()
    again = start(sqlite)
    _, senders = next(serving(again, sqlite))
    fit(again, senders["operator"])
    assert replayed(again) == checksum(again.workers["pumps"])


def test_a_history_that_cannot_be_fitted_any_more_is_not_kept_in_memory(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    _, senders = next(serving(service, sqlite))
    senders["operator"]("POST", f"{P}/history", {"rows": rows(40)})
    assert len(worker.state.history) == 40
    sample, truth = samples(1)[0]
    send(worker, {**sample, "y": truth})
    assert worker.state.history == []
    assert replayed(service) == checksum(worker)


@on_sqlite
def test_a_model_is_replaced_by_a_file(served):
    service, senders = served
    worker, data = service.workers["pumps"], trained_file()
    run(worker, samples(40))
    number = next(r["number"] for s, _ in samples(60, seed=2) if (r := send(worker, {"x": s["x"]}))["question"])
    shown = call(worker, reading.show_project)
    assert put(senders["operator"], data).status_code == 403
    head = worker.head
    for bad in (b"nothing", b"", trained_file(("leak", "rust"))):
        refused = put(senders["admin"], bad)
        assert refused.status_code == 422, refused.text
    assert put(senders["admin"], trained_file(features=["a", "b", "c", "d"])).status_code == 422
    assert worker.head == head
    done = put(senders["admin"], data)
    assert done.status_code == 200, done.text
    assert done.json()["seal"] == checksum(worker) != done.json()["seal_before"]
    after = call(worker, reading.show_project)
    assert {**after, "seq": 0} == {**shown, "seq": 0}
    call(worker, operations.give_answer, number, {"leak": True}, ANNA)
    run(worker, [({"x": s["x"]}, y) for s, y in samples(40, seed=9)])
    assert replayed(service) == checksum(worker)


@on_sqlite
def test_a_model_with_a_stage_of_a_user_is_refused(served):
    service, senders = served
    worker = service.workers["pumps"]
    head = worker.head
    refused = put(senders["admin"], trained_file(stages=[Shift()]))
    assert refused.status_code == 422
    detail = refused.json()["detail"]
    assert "it has the stages 'shift'" in detail
    assert "the service has no models with stages of users" in detail
    assert worker.head == head


@on_sqlite
def test_an_exported_model_is_taken_back(served):
    service, senders = served
    worker = service.workers["pumps"]
    run(worker, samples(220))
    rows = np.array([[0.1, 0.2, 1.0, 0.0], [-1.0, 0.7, 0.0, 1.0]])
    before = worker.state.learner.classifier.inner.model.outputs(rows)
    exported = senders["operator"]("GET", f"{P}/export/model.safetensors").content
    run(worker, [({"x": s["x"]}, y) for s, y in samples(40, seed=9)])
    assert (worker.state.learner.classifier.inner.model.outputs(rows) != before).any()
    assert put(senders["admin"], exported).status_code == 200
    assert worker.state.learner.classifier.n_rules_ > 0
    np.testing.assert_array_equal(worker.state.learner.classifier.inner.model.outputs(rows), before)
    assert replayed(service) == checksum(worker)


@on_sqlite
def test_a_file_that_is_not_taken_is_not_kept(served, monkeypatch):
    service, senders = served
    run(service.workers["pumps"], samples(12))

    def add_label(batch, data, origin):
        raise ConflictError("model-moved", "a label was added in between")

    monkeypatch.setattr("evolabel.server.project.training.replace_model", add_label)
    assert put(senders["admin"], trained_file()).status_code == 409
    with service.reader.connect() as connection:
        assert connection.execute(BLOB.select()).all() == []
    entries = senders["admin"]("GET", "/api/v1/audit").json()["entries"]
    assert "model-replaced" not in [entry["action"] for entry in entries]


def test_rules_of_another_model_have_another_etag(served):
    service, senders = served
    call(service.workers["pumps"], operations.send_samples, [{**s, "y": y} for s, y in samples(90)], ANNA)
    read = senders["expert"]("GET", f"{P}/rules")
    rule = read.json()["rules"][0]["rule"]
    assert put(senders["admin"], trained_file()).status_code == 200
    form = {"form": "IF pressure BELOW -1 THEN leak LIKELY"}
    stale = senders["expert"]("PUT", f"{P}/rules/{rule}", form, **{"If-Match": read.headers["etag"]})
    assert (stale.status_code, stale.json()["type"]) == (412, "/problems/model-moved")


@on_sqlite
def test_a_file_that_is_gone_is_found_by_the_check(served):
    service, senders = served
    put(senders["admin"], trained_file())
    with service.writer.transaction() as connection:
        connection.execute(BLOB.delete())
    with pytest.raises(LogError, match="model file of record"):
        replayed(service)


@on_sqlite
def test_a_file_that_is_too_large_is_refused(served, monkeypatch):
    service, senders = served
    service.limits = service.limits._replace(model=1000)
    head = service.workers["pumps"].head
    assert put(senders["admin"], b"x" * 2000).status_code == 413
    assert service.workers["pumps"].head == head
    refused = put(senders["stranger"], b"x")
    assert refused.status_code == 401
    assert refused.headers["x-content-type-options"] == "nosniff"
