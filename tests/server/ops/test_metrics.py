"""/metrics: its names, its values, and who may read it."""

import pytest
from fastapi.testclient import TestClient

pytest.importorskip("prometheus_client")

from prometheus_client.parser import text_string_to_metric_families

from evolabel.server.app import create_app
from evolabel.server.project.batch import Origin
from server.pumps import run, samples, send
from server.signed_in import add_person

NAMES = """samples questions questions_open questions_held questions_closed question_age_seconds responses
budget_asked_ratio budget_limit_ratio apply_seconds commit_seconds commit_rows queue_jobs rejected rebuilds
snapshot_behind_records log_seq writer_active disk_free_bytes sse_clients rules right_ratio http_requests
http_seconds info"""


def read(service, **options):
    client = TestClient(create_app(service, **options), client=("127.0.0.1", 5000))
    client.get("/api/v1/projects")
    response = client.get("/metrics")
    assert response.status_code == 200, response.text
    return {family.name: family.samples for family in text_string_to_metric_families(response.text)}


def value(samples, **labels):
    return next(one.value for one in samples if labels.items() <= one.labels.items())


def test_names_and_values(sqlite, start):
    service = start(sqlite, max_open=2)
    worker = service.workers["pumps"]
    run(worker, samples(40), Origin(add_person(service)))
    for sample, _ in samples(60, seed=1):
        send(worker, {"x": sample["x"]})
    found = read(service)
    assert {f"evolabel_{name}" for name in NAMES.split()} <= set(found)
    assert value(found["evolabel_samples"], project="pumps") == 100
    assert value(found["evolabel_questions_open"], project="pumps") == 2
    assert value(found["evolabel_questions_held"], limit="max_open") > 0
    closed = value(found["evolabel_questions_closed"], cause="answered")
    assert closed == value(found["evolabel_responses"], kind="answer") > 5
    assert value(found["evolabel_rejected"], type="unauthorised") == 1
    assert value(found["evolabel_budget_asked_ratio"]) <= value(found["evolabel_budget_limit_ratio"]) == 0.5
    assert value(found["evolabel_log_seq"]) == worker.head.seq
    assert 0.0 <= value(found["evolabel_right_ratio"], label="leak") <= 1.0


def test_only_addresses_of_the_list_may_read(sqlite, start):
    service = start(sqlite)
    for address, status in (("10.1.2.3", 200), ("10.2.0.1", 404), ("127.0.0.1", 404), ("nowhere", 404)):
        app = create_app(service, metrics_for="10.1.0.0/16")
        assert TestClient(app, client=(address, 1)).get("/metrics").status_code == status


def test_invented_methods_are_counted_together(sqlite, start):
    app = create_app(start(sqlite))
    client = TestClient(app, client=("127.0.0.1", 5000))
    for method in ("AAA", "BBB", "GET"):
        client.request(method, "/livez")
    found = text_string_to_metric_families(client.get("/metrics").text)
    requests = next(family.samples for family in found if family.name == "evolabel_http_requests")
    assert {sample.labels["method"] for sample in requests} == {"other", "GET"}
    assert sum(sample.value for sample in requests if sample.labels["method"] == "other") == 2
