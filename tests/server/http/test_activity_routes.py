"""Statistics, activity and the log over HTTP."""

import hashlib
import json
from itertools import pairwise

import pytest
from sqlalchemy import select

from evolabel.server.log.canonical import canonical
from evolabel.server.log.schema import AUDIT
from evolabel.server.project import operations
from server.http.test_http import P, served, shared
from server.pumps import ANNA, call, run, samples

__all__ = ["served", "shared"]


def test_statistics_are_summed_over_steps(served):
    service, senders = served
    run(service.workers["pumps"], samples(40))
    found = senders["annotator"]("GET", f"{P}/stats?step=1440").json()
    assert sum(row["samples"] for row in found["rows"]) == 40
    assert sum(row["asked"] for row in found["rows"]) == service.workers["pumps"].state.n_questions
    assert found["budget"]["promised"] == 0.5
    assert found["budget"]["asked"] <= 0.5
    assert senders["annotator"]("GET", f"{P}/stats?from=2000-01-01&to=2000-01-02").json()["rows"] == []
    labels = senders["annotator"]("GET", f"{P}/stats/labels").json()["rows"]
    assert {row["label"] for row in labels} == {"leak", "wear"}
    assert all(0 <= row["right"] <= row["judged"] <= row["asked"] for row in labels)


@pytest.mark.parametrize(
    "question",
    ["stats?from=2026-01-02&to=2026-01-01", "stats?step=1&from=2020-01-01", "stats?step=0", "stats?from=soon",
     "stats/labels?from=2001-01-01", "activity?after=-1", "activity?limit=0", "log?limit=1000000"],
)  # fmt: skip
def test_questions_that_cannot_be_answered_are_refused(shared, question):
    _, senders = shared
    refused = senders["operator"]("GET", f"{P}/{question}")
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"


def test_activity_comes_in_pages_of_whole_records(served):
    service, senders = served
    worker = service.workers["pumps"]
    call(worker, operations.send_samples, [{**sample, "y": truth} for sample, truth in samples(90)], ANNA)
    call(worker, operations.set_paused, ANNA, paused=True)
    whole = senders["annotator"]("GET", f"{P}/activity?limit=1000").json()
    assert whole["next"] is None
    pages, after = [], 0
    while after is not None:
        page = senders["annotator"]("GET", f"{P}/activity?limit=2&after={after}").json()
        pages += page["activity"]
        after = page["next"]
    assert pages == whole["activity"]
    assert pages[0]["kind"] == "project.created"
    assert pages[-1]["kind"] == "paused"
    births = senders["annotator"]("GET", f"{P}/activity?kind=model.birth").json()["activity"]
    assert births == [item for item in pages if item["kind"] == "model.birth"] != []


def test_an_operator_reads_the_log_with_its_chain(served):
    service, senders = served
    run(service.workers["pumps"], samples(5))
    assert senders["expert"]("GET", f"{P}/log").status_code == 403
    response = senders["operator"]("GET", f"{P}/log?after=1&limit=3")
    assert response.headers["content-type"].startswith("application/x-ndjson")
    records = [json.loads(line) for line in response.text.splitlines()]
    assert [record["seq"] for record in records] == [2, 3, 4]
    for before, record in pairwise(records):
        facts = {name: record[name] for name in ("seq", "epoch", "kind", "v", "at", "key", "part", "outcome")}
        facts |= {"project": record["project_id"], "actor": record["actor_id"]}
        facts |= {"body": record["body_hash"], "payload": record["payload_hash"]}
        assert hashlib.sha256((before["chain"] + canonical(facts)).encode()).hexdigest() == record["chain"]
        assert hashlib.sha256(canonical(record["payload"]).encode()).hexdigest() == record["payload_hash"]
    with service.reader.connect() as connection:
        assert "log read" in connection.scalars(select(AUDIT.c.action)).all()
