"""Label Studio's requests, in the shapes that it sends them, to the bridge in front of a service."""

import base64
import json
import logging
from pathlib import Path

import httpx
import pytest
from choices import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from evolabel.label_studio import make_bridge
from evolabel.server.project import reading
from server.http.test_http import serving
from server.pumps import call, checksum, proven, run, samples, send

LS = "/pumps"
CONFIG = (
    '<View><Text name="text" value="$pressure"/><Choices name="faults" toName="text" choice="multiple">'
    '<Choice value="leak"/><Choice value="Wear of the bearing" alias="wear"/></Choices></View>'
)
SECRET = "label-studio-secret-4711"
DATA = {"pressure": -1.5, "flow": "0.25", "machine": "M-01", "image": "s3://pumps/1.png"}


class Bridge:
    """Label Studio with Basic authentication; `senders` are those of the service."""

    def __init__(self, client, senders, role="bridge"):
        token = senders[role].headers["Authorization"].removeprefix("Bearer ")
        basic = base64.b64encode(f"label-studio:{token}".encode()).decode()
        self.headers = {"Authorization": f"Basic {basic}", "User-Agent": "heartex/1.13.1"}
        self.client = client

    def __call__(self, route, body=None):
        method = "GET" if body is None else "POST"
        return self.client.request(method, f"{LS}{route}", json=body, headers=self.headers)


def bridge_to(app):
    """A client of the bridge in front of the application of a service."""
    return TestClient(make_bridge("http://service", transport=httpx.ASGITransport(app)), raise_server_exceptions=False)


def predict_body(*tasks):
    return {
        "tasks": [{"id": 7 + i, "data": data, "annotations": [], "project": 12} for i, data in enumerate(tasks)],
        "project": "12.1700000000",
        "label_config": CONFIG,
        "params": {"login": SECRET, "password": SECRET, "context": None},
        "model_version": "evolabel-1",
    }


def event(action, number=31, choices=("leak",), **changes):
    """A webhook of Label Studio about an annotation."""
    part = {
        "id": "Zt1",
        "type": "choices",
        "value": {"choices": list(choices)},
        "from_name": "faults",
        "to_name": "text",
    }
    annotation = {
        "id": number, "result": [part], "was_cancelled": False, "completed_by": 1, "lead_time": 12.5,
        "created_at": "2026-11-16T14:02:59.120000Z", **changes,
    }  # fmt: skip
    return {
        "action": action,
        "annotation": annotation,
        "task": {"id": 7, "data": DATA, "meta": {}, "is_labeled": True, "project": 12},
        "project": {"id": 12, "title": "Pumps", "label_config": CONFIG},
    }


def events(*single):
    """A webhook of Label Studio about annotations that were made together."""
    both = {key: [one[key] for one in single] for key in ("annotation", "task")}
    return {**single[0], "action": "ANNOTATIONS_CREATED", **both}


def deleted(*numbers):
    """A webhook of Label Studio about annotations that were deleted."""
    project = {"id": 12, "title": "Pumps", "label_config": CONFIG}
    return {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": n} for n in numbers], "project": project}


@pytest.fixture
def served(sqlite, start):
    """The service, Label Studio, and a sender for each role of the service."""
    service = start(sqlite)
    _, senders = next(serving(service, sqlite))
    with bridge_to(senders["bridge"]._client.app) as client:
        yield service, Bridge(client, senders), senders


def counted(service):
    return call(service.workers["pumps"], reading.show_project)["samples"]


def test_health_and_set_up(served):
    service, bridge, senders = served
    assert bridge("/health").json() == {"status": "UP", "model_class": "evolabel"} == bridge("/").json()
    body = {
        "project": "12.1700000000",
        "schema": CONFIG,
        "hostname": "http://ls",
        "access_token": SECRET,
        "extra_params": None,
    }
    assert bridge("/setup", body).json() == {"model_version": f"evolabel-{service.workers['pumps'].head.seq}"}
    assert "is no label of the project" in bridge("/setup", {**body, "schema": CONFIG.replace("leak", "rust")}).text
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]>' + CONFIG
    for schema in (bomb, "<View/>", "no xml", ""):
        assert bridge("/setup", {**body, "schema": schema}).status_code == 422
    assert Bridge(bridge.client, senders, "annotator")("/predict", predict_body(DATA)).status_code == 403
    bridge.headers["Authorization"] = "Basic " + base64.b64encode(b"a:ev_nothing").decode()
    refused = bridge("/setup", body)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Basic"
    assert senders["bridge"]._client.get("/api/v1/projects", headers=bridge.headers).status_code == 401
    assert bridge.client.post(f"{LS}/setup", json=body).status_code == 401
    assert (
        bridge.client.post("/mills/setup", json=body, headers=Bridge(bridge.client, senders).headers).status_code == 404
    )


def test_predictions_count_nothing(served):
    service, bridge, _ = served
    run(service.workers["pumps"], samples(60))
    head = service.workers["pumps"].head
    found = bridge("/predict", predict_body(DATA, {"pressure": 2.0, "flow": 0.0}))
    assert found.status_code == 200, found.text
    first, second = found.json()["results"]
    (part,) = first["result"]
    assert part == {"from_name": "faults", "to_name": "text", "type": "choices", "value": {"choices": ["leak"]}}
    assert 0.0 <= first["score"] <= 1.0
    assert first["model_version"] == f"evolabel-{head.seq}"
    assert second["result"] == []
    assert service.workers["pumps"].head == head
    for body in ({"tasks": []}, predict_body({"image": "x"}), predict_body({"pressure": "high"}), []):
        assert bridge("/predict", body).status_code == 422


def test_an_annotation_trains_once_and_later_changes_are_corrections(served):
    service, bridge, _ = served
    worker = service.workers["pumps"]
    done = bridge("/webhook", event("ANNOTATION_CREATED"))
    assert (done.status_code, done.json()) == (201, {"result": {}, "status": "ok"})
    assert bridge("/webhook", event("ANNOTATION_CREATED", created_at="later")).status_code == 201
    assert counted(service) == 1
    sample = call(worker, reading.show_sample, 1, 1, sees_all=True)
    assert sample["id"] == "ls-31"
    assert sample["x"] == {"pressure": -1.5, "flow": 0.25, "machine": "M-01"}
    head = worker.head.seq
    for choices, records in ((("leak",), 0), (("wear",), 1), (("wear",), 1), (("leak",), 2)):
        assert bridge("/webhook", event("ANNOTATION_UPDATED", choices=choices)).status_code == 201
        assert worker.head.seq == head + records
    for _ in range(2):
        assert bridge("/webhook", deleted(31, 99)).status_code == 201  # 99 was never sent
        assert worker.head.seq == head + 3
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == checksum(worker)


def test_a_change_of_an_annotation_that_is_not_known_makes_it_or_is_refused(served):
    service, bridge, _ = served
    head = service.workers["pumps"].head
    lacking = event("ANNOTATION_UPDATED", 61)
    del lacking["task"]
    refused = bridge("/webhook", lacking)
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
    assert service.workers["pumps"].head == head
    for _ in range(2):
        assert bridge("/webhook", event("ANNOTATION_UPDATED", 61)).status_code == 201
        assert counted(service) == 1
    sample = call(service.workers["pumps"], reading.show_sample, 1, 1, sees_all=True)
    assert sample["id"] == "ls-61"


def test_annotations_that_come_together_are_all_taken_or_none(served):
    service, bridge, _ = served
    head = service.workers["pumps"].head
    one, two = event("ANNOTATION_CREATED", 41), event("ANNOTATION_CREATED", 42, choices=("rust",))
    refused = bridge("/webhook", events(one, two))
    assert refused.json()["errors"][0]["pointer"] == "/annotations/1/result/0/value/choices"
    for data in ({"image": "x"}, {"pressure": "high"}, {"evolabel_number": 7}, {"evolabel_number": "7"}):
        two = event("ANNOTATION_CREATED", 42)
        two["task"]["data"] = data
        assert bridge("/webhook", events(one, two)).status_code in (404, 422)
    lacking = {**events(one, one), "task": [one["task"]]}
    assert bridge("/webhook", lacking).json()["errors"][0]["pointer"] == "/task"
    assert service.workers["pumps"].head == head
    for _ in range(2):
        both = events(one, event("ANNOTATION_CREATED", 42, choices=("wear",)))
        assert bridge("/webhook", both).status_code == 201
        assert counted(service) == 2
    named = {**both, "annotations": both.pop("annotation")}
    assert bridge("/webhook", named).status_code == 201
    assert counted(service) == 2


def test_a_task_that_is_a_question_is_answered(served):
    service, bridge, _ = served
    worker = service.workers["pumps"]
    asked = [r["number"] for s, _ in samples(30) if (r := send(worker, s))["question"]]
    body = event("ANNOTATION_CREATED")
    body["task"]["data"] = {"evolabel_number": asked[0]}
    assert bridge("/webhook", body).status_code == 201
    assert asked[0] not in worker.state.open
    body = event("ANNOTATION_CREATED", 32, was_cancelled=True)
    body["task"]["data"] = {"evolabel_number": asked[1]}
    assert bridge("/webhook", body).status_code == 201
    assert asked[1] not in worker.state.open
    assert counted(service) == 30
    assert bridge("/webhook", event("ANNOTATION_CREATED", 33, was_cancelled=True)).status_code == 201
    assert counted(service) == 30


def test_other_events_and_payloads_without_what_is_needed(served):
    service, bridge, _ = served
    head = service.workers["pumps"].head
    assert bridge("/webhook", {"action": "PROJECT_UPDATED"}).json() == {"status": "Unknown event"}
    assert bridge("/webhook", {"action": "START_TRAINING", "project": {"id": 12}}).status_code == 201
    lacking = event("ANNOTATION_CREATED")
    del lacking["task"]
    refused = bridge("/webhook", lacking)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/task")
    del lacking["annotation"]
    assert bridge("/webhook", lacking).json()["errors"][0]["pointer"] == "/annotation"
    wrong = bridge("/webhook", {**event("ANNOTATION_CREATED", choices=("rust",))})
    assert wrong.json()["errors"][0]["pointer"] == "/annotation/result/0/value/choices"
    assert service.workers["pumps"].head == head


def test_secrets_of_label_studio_are_nowhere(served, caplog, sqlite):
    service, bridge, _ = served
    caplog.set_level(logging.DEBUG)
    bridge("/predict", predict_body(DATA))
    bridge("/predict", {**predict_body(DATA), "label_config": 5, "access_token": SECRET})
    bridge("/setup", {"schema": CONFIG, "access_token": SECRET})
    answers = bridge("/webhook", {**event("ANNOTATION_CREATED"), "access_token": SECRET, "annotation": SECRET}).text
    service.stop()
    assert SECRET not in caplog.text + answers
    assert all(SECRET.encode() not in file.read_bytes() for file in Path(sqlite.database).parent.iterdir())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def changed(document, path, value):
    """A copy of a document with another value at a path."""
    if not path:
        return value
    key, *rest = path
    copy = list(document) if isinstance(document, list) else dict(document)
    copy[key] = changed(copy[key], rest, value)
    return copy


def paths(document, path=()):
    yield path
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from paths(value, (*path, key))


BODIES = [
    ("/predict", predict_body(DATA)),
    ("/webhook", event("ANNOTATION_CREATED")),
    ("/webhook", events(event("ANNOTATION_CREATED", 51), event("ANNOTATION_CREATED", 52))),
    ("/webhook", deleted(31, 51)),
    ("/setup", {"schema": CONFIG}),
]
PLACES = [(route, body, path) for route, body in BODIES for path in paths(body)]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.sampled_from(PLACES), value=JSON)
def test_any_payload_is_taken_or_refused(shared_bridge, place, value):
    route, body, path = place
    content = json.dumps(changed(body, path, value), ensure_ascii=True).encode()
    headers = {**shared_bridge.headers, "content-type": "application/json"}
    response = shared_bridge.client.post(f"{LS}{route}", content=content, headers=headers)
    assert response.status_code in (200, 201, 400, 404, 409, 422), response.text


@pytest.fixture(scope="module")
def shared_bridge(tmp_path_factory):
    """Label Studio at a service that several examples share."""
    from evolabel.server.log.engines import read_url
    from evolabel.server.project.service import Service
    from server.pumps import new_project

    url = read_url(f"sqlite:///{tmp_path_factory.mktemp('bridge')}/evolabel.db")
    service = Service(url)
    service.start()
    service.create_project(new_project())
    _, senders = next(serving(service, url))
    with bridge_to(senders["bridge"]._client.app) as client:
        yield Bridge(client, senders)
    service.stop()


def test_a_service_that_cannot_be_reached_is_named():
    client = TestClient(make_bridge("http://127.0.0.1:9"))
    client.headers["Authorization"] = "Basic " + base64.b64encode(b"a:ev_x").decode()
    found = client.post(f"{LS}/setup", json={"schema": CONFIG})
    assert (found.status_code, found.json()["type"]) == (503, "/problems/busy")
    assert "address of the service" in found.json()["detail"]
