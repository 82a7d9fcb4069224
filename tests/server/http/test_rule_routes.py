"""Routes of experts over HTTP: rules, trials, acts, undo; who may use them, and what is refused."""

import time

import pytest

from evolabel.server.project import operations
from server.http.test_http import P, serving
from server.pumps import ANNA, call, checksum, samples

LOW = 'IF pressure BELOW -0.2 THEN leak 2%, wear LIKELY CALLED "low"'


@pytest.fixture
def served(sqlite, start):
    service = start(sqlite)
    known = [{**sample, "y": y} for sample, y in samples(90)]
    call(service.workers["pumps"], operations.send_samples, known, ANNA)
    yield from serving(service, sqlite)


def test_an_expert_tries_adds_edits_locks_and_undoes(served):
    service, senders = served
    worker, eva = service.workers["pumps"], senders["expert"]
    before = checksum(worker), worker.head.seq
    trial = eva("POST", f"{P}/rules?dry_run=1", {"form": LOW})
    assert trial.status_code == 200
    found = trial.json()
    assert found["text"] == 'IF pressure BELOW -0.2 THEN leak 2%, wear LIKELY WITH CONFIDENCE 1 WEIGHT 20 CALLED "low"'
    changes = found["changes"]
    assert changes["of"] == 90
    assert changes["labels"]["leak"]["to_no"] == changes["labels"]["leak"]["judged"] > 0
    assert changes["labels"]["leak"]["right"] == 0  # low pressure is a leak
    assert len(changes["numbers"]) >= changes["labels"]["leak"]["to_no"]
    assert (checksum(worker), worker.head.seq) == before
    added = eva("POST", f"{P}/rules", {"form": LOW})
    assert added.status_code == 201
    rule = added.json()["rule"]
    page = eva("GET", f"{P}/rules")
    assert page.json()["rules"][0]["name"] == "low"
    assert all(sum(shares.values()) == pytest.approx(1.0) for shares in page.json()["parts"].values())
    assert 0.0 < page.json()["parts"]["leak"]["written"] < 1.0
    assert eva("GET", f"{P}/rules?top=1").json()["rules"][1:] == page.json()["rules"][1:2]
    one = eva("GET", f"{P}/rules/{rule}")
    edited = eva(
        "PUT",
        f"{P}/rules/{rule}",
        {"form": {"if": {"flow": [1, None]}, "then": {"wear": 0.9}}},
        **{"If-Match": one.headers["etag"]},
    )
    assert edited.status_code == 200
    assert edited.json()["text"].startswith("IF flow")
    stale = eva("PUT", f"{P}/rules/{rule}", {"form": LOW}, **{"If-Match": one.headers["etag"]})
    assert (stale.status_code, stale.json()["type"]) == (412, "/problems/model-moved")
    assert eva("PUT", f"{P}/rules/{rule}", {"form": LOW}).status_code == 428
    assert eva("POST", f"{P}/rules/{rule}/lock", {}).status_code == 200
    assert eva("POST", f"{P}/rules/{rule}/rename", {"name": "flow"}).json()["name"] == "flow"
    assert [event["kind"] for event in eva("GET", f"{P}/rules/{rule}/life").json()["events"]] == [
        "added", "edited", "locked", "renamed"
    ]  # fmt: skip
    later = eva("POST", f"{P}/acts/{added.json()['seq']}/undo", {})
    assert (later.status_code, later.json()["type"]) == (409, "/problems/later-acts")


def test_acts_are_undone_with_a_trial_before(served):
    service, senders = served
    eva = senders["expert"]
    added = eva("POST", f"{P}/rules", {"form": LOW}, **{"Idempotency-Key": "one"}).json()
    assert eva("POST", f"{P}/rules", {"form": LOW}, **{"Idempotency-Key": "one"}).json()["seq"] == added["seq"]
    locked = eva("POST", f"{P}/rules/{added['rule']}/lock", {}).json()
    assert eva("POST", f"{P}/acts/{locked['seq']}/undo?dry_run=1", {}).json()["way"] == "inverse"
    assert eva("POST", f"{P}/acts/{locked['seq']}/undo", {}).json()["way"] == "inverse"
    cost = eva("POST", f"{P}/acts/{added['seq']}/undo?dry_run=1", {}).json()
    assert cost["way"] == "replay"
    assert cost["records"] >= 1
    begun = eva("POST", f"{P}/acts/{added['seq']}/undo", {})
    assert (begun.status_code, begun.json()["way"]) == (202, "replay")
    while service.changing:
        time.sleep(0.01)
    assert eva("GET", f"{P}/rules/{added['rule']}").status_code == 404
    assert eva("POST", f"{P}/acts/{added['seq']}/undo", {}).status_code == 409
    assert eva("POST", f"{P}/acts/1/undo", {}).status_code == 404


def test_refused_requests_say_why_and_change_nothing(served):
    service, senders = served
    worker, eva = service.workers["pumps"], senders["expert"]
    before = checksum(worker), worker.head.seq
    numbers = [rule["rule"] for rule in eva("GET", f"{P}/rules").json()["rules"]]
    for status, (method, path, body) in (
        (422, ("POST", "/rules", {"form": "IF presure BELOW 1 THEN leak LIKELY"})),
        (422, ("POST", "/rules?dry_run=1", {"form": {"if": 5}})),
        (422, ("POST", "/rules", {"form": ""})),
        (422, ("POST", "/rules/999/lock", {})),
        (409, ("POST", f"/rules/{numbers[0]}/unlock", {})),
        (422, ("POST", "/rules/merge", {"one": numbers[0], "other": numbers[0]})),
        (404, ("GET", "/rules/999", None)),
    ):
        response = eva(method, P + path, body)
        assert response.status_code == status, (path, response.text)
        assert response.json()["detail"]
    assert (checksum(worker), worker.head.seq) == before
    for role in ("producer", "annotator", "bridge"):
        assert senders[role]("GET", f"{P}/rules").status_code == 403
        assert senders[role]("POST", f"{P}/rules", {"form": LOW}).status_code == 403
