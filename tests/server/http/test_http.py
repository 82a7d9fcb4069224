"""The routes of the API, over HTTP: who may do what, what is refused, and what a refusal leaves as it was."""

import sqlite3
import time

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from evolabel.errors import EvolabelError
from evolabel.server.app import create_app
from evolabel.server.http.guard import MOST_BODY
from evolabel.server.log.engines import read_url
from evolabel.server.log.schema import MEMBER, PERSON
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.service import Service
from evolabel.server.project.state import ProjectState
from server.pumps import call, checksum, new_project, samples

P = "/api/v1/projects/pumps"


class Sender:
    """A client with the token of a role."""

    def __init__(self, client, token):
        self._client = client
        self.headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method, path, json=None, **headers):
        return self._client.request(method, path, json=json, headers={**self.headers, **headers})


@pytest.fixture
def served(sqlite, start):
    """The service behind an application, and a sender for each role."""
    yield from serving(start(sqlite), sqlite)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The same, for tests that leave the project as it was."""
    url = read_url(f"sqlite:///{tmp_path_factory.mktemp('shared')}/evolabel.db")
    service = Service(url)
    service.start()
    service.create_project(new_project())
    yield from serving(service, url)
    service.stop()


def serving(service, url):
    client = TestClient(create_app(service, token_per_minute=10_000), raise_server_exceptions=False)
    roles = ("producer", "annotator", "expert", "operator", "bridge")
    senders = {role: Sender(client, create_token(url, f"{role}-1", "pumps", role, "test")) for role in roles}
    senders["admin"] = Sender(client, create_token(url, "root", None, None, "test"))
    senders["stranger"] = Sender(client, "ev_nothing")
    yield service, senders
    client.close()


def ask(senders, n=9):
    """Send samples until one is asked about; its result."""
    for sample, _ in samples(n):
        result = senders["producer"]("POST", f"{P}/samples", {"samples": [sample]}).json()["results"][0]
        if result["question"]:
            return result
    raise AssertionError("no question")


def test_a_sample_a_question_an_answer(served):
    service, senders = served
    result = ask(senders)
    question = senders["annotator"]("POST", f"{P}/questions/next", {}).json()
    assert question["number"] == result["number"]
    assert question["question"]["labels"] == result["question"]["labels"]
    assert question["lease_until"].endswith("Z")
    assert "prediction" not in question
    before = checksum(service.workers["pumps"])
    body = {"answers": {"leak": True, "wear": None}, "took_ms": 3120}
    answered = senders["annotator"]("PUT", f"{P}/questions/{result['number']}/answer", body)
    assert answered.status_code == 200
    assert answered.json()["status"] == "submitted"
    again = senders["annotator"]("PUT", f"{P}/questions/{result['number']}/answer", body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == answered.json()
    assert checksum(service.workers["pumps"]) != before
    assert senders["annotator"]("POST", f"{P}/questions/next", {}).status_code == 204


MAY = {  # route: roles that may use it
    ("POST", f"{P}/samples"): {"producer", "bridge", "operator", "admin"},
    ("POST", f"{P}/predictions"): {"producer", "bridge", "operator", "admin"},
    ("PUT", f"{P}/samples/1/labels"): {"producer", "bridge", "operator", "admin"},
    ("GET", f"{P}/samples/1"): {"producer", "bridge", "annotator", "expert", "operator", "admin"},
    ("GET", f"{P}/questions"): {"annotator", "expert", "operator", "admin"},
    ("POST", f"{P}/questions/next"): {"annotator", "expert", "operator", "admin"},
    ("PUT", f"{P}/questions/1/lease"): {"annotator", "expert", "operator", "admin"},
    ("DELETE", f"{P}/questions/1/lease"): {"annotator", "expert", "operator", "admin"},
    ("PUT", f"{P}/questions/1/answer"): {"bridge", "annotator", "expert", "operator", "admin"},
    ("PUT", f"{P}/questions/1/refusal"): {"bridge", "annotator", "expert", "operator", "admin"},
    ("DELETE", f"{P}/questions/1/answer"): {"bridge", "annotator", "expert", "operator", "admin"},
    ("GET", P): {"producer", "bridge", "annotator", "expert", "operator", "admin"},
    ("PATCH", P): {"operator", "admin"},
    ("POST", f"{P}/labels"): {"operator", "admin"},
    ("DELETE", f"{P}/labels/none"): {"operator", "admin"},
    ("POST", f"{P}/pause"): {"operator", "admin"},
    ("POST", f"{P}/resume"): {"operator", "admin"},
    ("GET", f"{P}/members"): {"operator", "admin"},
    ("POST", f"{P}/members"): {"operator", "admin"},
    ("PATCH", f"{P}/members/nobody"): {"operator", "admin"},
    ("DELETE", f"{P}/members/nobody"): {"operator", "admin"},
    ("GET", f"{P}/tokens"): {"operator", "admin"},
    ("POST", f"{P}/tokens"): {"operator", "admin"},
    ("DELETE", f"{P}/tokens/999"): {"operator", "admin"},
    ("GET", f"{P}/invites"): {"operator", "admin"},
    ("POST", f"{P}/invites"): {"operator", "admin"},
    ("DELETE", f"{P}/invites/none"): {"operator", "admin"},
    ("GET", "/api/v1/users"): {"admin"},
    ("POST", "/api/v1/users"): {"admin"},
    ("DELETE", "/api/v1/users/nobody"): {"admin"},
    ("GET", "/api/v1/audit"): {"admin"},
    ("GET", "/api/v1/me/preferences"): {"producer", "bridge", "annotator", "expert", "operator", "admin"},
    ("PUT", "/api/v1/me/preferences"): {"producer", "bridge", "annotator", "expert", "operator", "admin"},
    ("POST", "/api/v1/projects"): {"admin"},
    ("GET", "/api/v1/projects"): {"producer", "bridge", "annotator", "expert", "operator", "admin"},
}
BODIES = {
    f"{P}/samples": {"samples": [{"id": "one", "x": {"pressure": 1.0}}]},
    f"{P}/predictions": {"samples": [{"x": {"pressure": 1.0}}]},
    f"{P}/samples/1/labels": {"y": {"leak": True}},
    f"{P}/questions/1/answer": {"answers": {"leak": True}},
    f"{P}/labels": {"name": "leak"},
    f"{P}/members": {"person": "nobody", "role": "annotator"},
    f"{P}/members/nobody": {"weight": 0.5},
    f"{P}/tokens": {"person": "eve", "role": "annotator"},
    f"{P}/invites": {"person": "mira", "role": "annotator"},
    "/api/v1/users": {"name": "mira"},
    P: {"settings": {"max_open": 9}},
    "/api/v1/projects": {"slug": "x", "features": [{"name": "a"}], "labels": [{"name": "b"}]},
}


@pytest.mark.parametrize(("method", "path"), MAY, ids=[f"{m} {p}" for m, p in MAY])
def test_only_the_named_roles_may_use_a_route(shared, method, path):
    _, senders = shared
    allowed = set()
    for role, send in senders.items():
        status = send(method, path, None if method in ("GET", "DELETE") else BODIES.get(path, {})).status_code
        assert status < 500
        if status not in (401, 403):
            allowed.add(role)
    assert allowed == MAY[method, path]


def test_a_token_of_one_project_sees_no_other(served):
    _, senders = served
    body = {"slug": "other", "features": [{"name": "a"}], "labels": [{"name": "b"}]}
    assert senders["admin"]("POST", "/api/v1/projects", body).status_code == 201
    for path in ("/api/v1/projects/other", "/api/v1/projects/absent"):
        refused = senders["operator"]("GET", path)
        assert refused.status_code == 404
        assert refused.json()["detail"] == "there is no such project; check its name and your token"
    assert [p["slug"] for p in senders["operator"]("GET", "/api/v1/projects").json()["projects"]] == ["pumps"]


REFUSED = {
    "no JSON": (b"{", 400, "bad-json"),
    "no object": (b"[]", 422, "invalid"),
    "unknown field": (b'{"samples": [{"x": {}, "z": 1}]}', 422, "invalid"),
    "no sample": (b'{"samples": []}', 422, "invalid"),
    "not a number": (b'{"samples": [{"x": {"pressure": NaN}}]}', 422, "invalid"),
    "infinite": (b'{"samples": [{"x": {"pressure": 1e999}}]}', 422, "invalid"),
    "beyond every sensor": (b'{"samples": [{"x": {"pressure": 1e308}}]}', 422, "invalid"),
    "huge whole number": (b'{"samples": [{"x": {"pressure": 1' + b"0" * 400 + b"}}]}", 422, "invalid"),
    "true": (b'{"samples": [{"x": {"pressure": true}}]}', 422, "invalid"),
    "text": (b'{"samples": [{"x": {"pressure": "4.9"}}]}', 422, "invalid"),
    "unknown feature": (b'{"samples": [{"x": {"presure": 4.9}}]}', 422, "invalid"),
    "nested": (b'{"samples": [{"x": {"pressure": [1]}}]}', 422, "invalid"),
    "deep": (b'{"samples": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "bad-json"),
    "unknown label": (b'{"samples": [{"x": {}, "y": {"leek": true}}]}', 422, "invalid"),
    "label of a text": (b'{"samples": [{"x": {}, "y": {"leak": "yes"}}]}', 422, "invalid"),
    "zero in an id": (b'{"samples": [{"id": "a\\u0000", "x": {}}]}', 422, "invalid"),
    "half a character in a value": (b'{"samples": [{"x": {"machine": "\\ud800"}}]}', 422, "invalid"),
    "same id twice": (b'{"samples": [{"id": "a", "x": {}}, {"id": "a", "x": {}}]}', 422, "invalid"),
    "broken text": (b'{"samples": [{"id": "\\ud800", "x": {"pressure": 1}}]}', 422, "invalid"),
    "not UTF-8": (b'{"samples": "\xff"}', 400, "bad-json"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_bodies_are_refused_and_change_nothing(shared, case):
    service, senders = shared
    worker = service.workers["pumps"]
    content, status, kind = REFUSED[case]
    before = checksum(worker), worker.head
    producer = senders["producer"]
    headers = {**producer.headers, "Content-Type": "application/json"}
    refused = producer._client.post(f"{P}/samples", content=content, headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (status, f"/problems/{kind}")
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["detail"]
    assert (checksum(worker), worker.head) == before


def test_bodies_that_are_too_large_or_no_json_are_refused(served):
    _, senders = served
    producer = senders["producer"]
    json = {**producer.headers, "Content-Type": "application/json"}
    large = producer._client.post(f"{P}/samples", content=b" " * (MOST_BODY + 1), headers=json)
    assert large.status_code == 413
    streamed = producer._client.post(f"{P}/samples", content=iter([b" " * MOST_BODY, b"  "]), headers=json)
    assert streamed.status_code == 413
    form = producer._client.post(f"{P}/samples", data={"a": "b"}, headers=producer.headers)
    assert form.status_code == 415


def test_json_may_begin_with_a_blank_and_hold_what_a_form_may_not(shared):
    _, senders = shared
    producer = senders["producer"]
    headers = {**producer.headers, "Content-Type": "application/json"}
    body = b' {"samples": [{"x": {"machine": "100%00"}}]}'
    done = producer._client.post(f"{P}/predictions", content=body, headers=headers)
    assert done.status_code == 200, done.text
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert producer._client.post("/sign-in", content=b"name=a%00", headers=form).status_code == 422


def test_a_token_has_a_limit_of_requests(served, sqlite, start):
    service, _ = served
    client = TestClient(create_app(service, token_per_minute=3))
    send = Sender(client, create_token(sqlite, "fast", "pumps", "producer", "test"))
    statuses = [send("GET", P).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert int(send("GET", P).headers["Retry-After"]) >= 1


def test_a_body_that_breaks_the_learner_costs_two_rebuilds(served, monkeypatch):
    service, senders = served
    worker = service.workers["pumps"]
    before, head, calls = checksum(worker), worker.head.seq, []
    genuine = ProjectState.predict

    def breaking(self, cells):
        if cells[0] == 666.0:
            calls.append(1)
            raise ArithmeticError("broken")
        return genuine(self, cells)

    monkeypatch.setattr(ProjectState, "predict", breaking)
    body = {"samples": [{"id": "bad", "x": {"pressure": 666.0}}]}
    statuses = [senders["producer"]("POST", f"{P}/samples", body).status_code for _ in range(4)]
    assert statuses == [503, 500, 500, 500]
    assert len(calls) == 2
    assert checksum(worker) == before
    assert worker.head.seq == head + 2  # two epochs began
    assert senders["producer"]("POST", f"{P}/samples", {"samples": [{"x": {"pressure": 1.0}}]}).status_code == 200


def test_a_key_of_one_sender_is_no_key_of_another_and_only_samples_have_keys(served):
    _, senders = served
    body = {"samples": [{"x": {"pressure": 1.0}}]}
    keyed = {"Idempotency-Key": "1"}
    first = senders["producer"]("POST", f"{P}/samples", body, **keyed).json()
    assert senders["producer"]("POST", f"{P}/samples", body, **keyed).json() == first
    assert senders["bridge"]("POST", f"{P}/samples", {"samples": [{"x": {}}]}, **keyed).status_code == 200
    number = ask(senders)["number"]
    for role in ("annotator", "expert"):
        sent = senders[role]("PUT", f"{P}/questions/{number}/answer", {"answers": {"leak": True}}, **keyed)
        assert sent.status_code == 200
    reused = senders["producer"]("POST", f"{P}/samples", {"samples": [{"x": {"flow": 1.0}}]}, **keyed)
    assert (reused.status_code, reused.json()["type"]) == (422, "/problems/key-reused")


def test_a_request_sent_again_with_its_key_has_the_same_results_in_the_same_order(served):
    _, senders = served
    a, b, c = {"id": "a", "x": {"flow": 1.0}}, {"id": "b", "x": {"flow": 2.0}}, {"x": {"flow": 3.0}}
    senders["producer"]("POST", f"{P}/samples", {"samples": [a]})
    keyed = {"Idempotency-Key": "k"}
    first = senders["producer"]("POST", f"{P}/samples", {"samples": [c, a, b]}, **keyed).json()
    again = senders["producer"]("POST", f"{P}/samples", {"samples": [c, a, b]}, **keyed).json()
    assert [r["id"] for r in first["results"]] == [None, "a", "b"]
    assert again == first


def test_what_a_database_cannot_store_fails_for_its_sender_alone(database, start, monkeypatch):
    worker = start(database).workers["pumps"]
    held = worker.submit(lambda batch: time.sleep(0.5))  # the others gather meanwhile
    same = Origin(1, "key:1:same", b"1" * 32)
    good = [
        worker.submit(lambda batch, i=i: operations.send_samples(batch, [{"x": {"flow": float(i)}}], Origin(1)))
        for i in range(5)
    ]
    bad = worker.submit(lambda batch: batch.record("paused", {}, same) or batch.record("resumed", {}, same))
    good += [
        worker.submit(lambda batch, i=i: operations.send_samples(batch, [{"x": {"flow": float(i)}}], Origin(1)))
        for i in range(5)
    ]
    held.result(30)
    assert [len(each.result(30)["results"]) for each in good] == [1] * 10
    with pytest.raises(EvolabelError):
        bad.result(30)
    assert call(worker, operations.predict_samples, [{"x": {}}])


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": "0.1"},
        {"budget": None},
        {"blind": "no"},
        {"lease_seconds": 1.5},
        {"min_answers": True},
        {"max_open": 0},
    ],
)
def test_settings_of_another_kind_are_refused(shared, settings):
    _, senders = shared
    refused = senders["operator"]("PATCH", P, {"settings": settings})
    assert refused.status_code == 422
    assert next(iter(settings)) in refused.json()["detail"]


def test_a_token_changes_no_role_and_is_not_made_for_an_administrator(served, sqlite):
    service, senders = served
    senders["operator"]("POST", f"{P}/tokens", {"person": "annotator-1", "role": "producer"})
    with service.reader.connect() as connection:
        roles = dict(
            connection.execute(
                select(PERSON.c.name, MEMBER.c.role).join(MEMBER, MEMBER.c.person_id == PERSON.c.id)
            ).all()
        )
    assert roles["annotator-1"] == "annotator"
    refused = senders["operator"]("POST", f"{P}/tokens", {"person": "root", "role": "annotator"})
    assert refused.status_code == 403
    assert senders["operator"]("POST", f"{P}/tokens", {"person": "  ", "role": "annotator"}).status_code == 422


def test_strange_numbers_and_addresses_are_not_found(shared):
    _, senders = shared
    for path in (f"{P}/samples/id:a%00", f"{P}/samples/{'9' * 30}", f"{P}/samples/x"):
        assert senders["annotator"]("GET", path).status_code == 404
    assert (
        senders["annotator"]("PUT", f"{P}/questions/{'9' * 30}/answer", {"answers": {"leak": True}}).status_code == 422
    )


def test_late_labels_that_give_nothing_are_refused(served):
    _, senders = served
    number = ask(senders)["number"]
    assert senders["producer"]("PUT", f"{P}/samples/{number}/labels", {"y": {"leak": None}}).status_code == 422
    assert senders["producer"]("PUT", f"{P}/samples/{number}/labels", {"y": {"leak": True}}).status_code == 200


def test_a_damaged_project_does_not_stop_the_others(served, sqlite):
    service, senders = served
    body = {"slug": "other", "features": [{"name": "a"}], "labels": [{"name": "b"}]}
    assert senders["admin"]("POST", "/api/v1/projects", body).status_code == 201
    service.stop()
    with sqlite3.connect(sqlite.database) as connection:
        connection.execute("DROP TRIGGER log_no_update")
        connection.execute("UPDATE log SET outcome = '{}' WHERE seq = 1 AND project_id = 1")
        connection.execute("DELETE FROM snapshot")
    again = Service(sqlite)
    again.start()
    assert [slug for slug, worker in again.workers.items() if worker.is_ready] == ["other"]
    assert "record 1" in again.workers["pumps"].refusal
    again.stop()


def test_a_pause_needs_no_body(served):
    _, senders = served
    assert senders["operator"]("POST", f"{P}/pause").json() == {"paused": True}
    assert senders["operator"]("POST", f"{P}/resume", {}).json() == {"paused": False}


def test_the_standby_has_no_empty_list_of_projects(served, monkeypatch):
    service, senders = served
    monkeypatch.setattr(Service, "is_writer", False)
    monkeypatch.setattr(service, "workers", {})
    refused = senders["admin"]("GET", "/api/v1/projects")
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/standby")
    assert senders["admin"]("GET", P).status_code == 503


def test_all_workers_begin_to_stop_before_one_is_waited_for(sqlite, start, monkeypatch):
    service = start(sqlite)
    service.create_project(new_project()._replace(slug="other"))
    workers, ready = list(service.workers.values()), []
    genuine = type(workers[0]).stop

    def stop(worker, timeout):
        ready.append([other.is_ready for other in workers])
        genuine(worker, timeout)

    monkeypatch.setattr(type(workers[0]), "stop", stop)
    service.stop()
    assert ready == [[False, False]] * 2


def test_messages_have_the_words_of_the_sender(served):
    _, senders = served
    anna = senders["annotator"]
    long = anna("GET", f"{P}/stats?from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&step=1").json()["detail"]
    assert "2192.0 days are more than 11000 steps of 1 minutes" in long
    assert anna("GET", f"{P}/rules").json()["detail"].endswith("needs the role expert")
    basic = anna._client.post("/ls/pumps/predict", json={}, headers={"authorization": "Basic eDp4"}).json()["detail"]
    assert "Bearer" not in basic


def test_rows_of_a_request_are_limited_by_the_configuration(served):
    service, senders = served
    service.limits = service.limits._replace(rows=2)
    rows = [{"x": [0.1, 0.2, "M-01"]}] * 3
    for path in ("samples", "predictions"):
        refused = senders["producer"]("POST", f"{P}/{path}", {"samples": rows})
        assert (refused.status_code, refused.json()["type"]) == (413, "/problems/too-large")


def test_snapshots_are_listed_and_taken(served):
    _, senders = served
    operator = senders["operator"]
    taken = operator("POST", f"{P}/snapshots", {})
    assert taken.status_code == 202
    listed = []
    while not listed:
        listed = operator("GET", f"{P}/snapshots").json()["snapshots"]
    assert listed[0]["seq"] == taken.json()["seq"]
    assert listed[0]["bytes"] > 0
