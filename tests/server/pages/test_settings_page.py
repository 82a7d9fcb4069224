"""The page of settings: what a refused form keeps, the source of samples, and the forms of administrators."""

import time

import pytest

from evolabel.server.log.canonical import canonical
from evolabel.server.people import audit
from evolabel.server.people.audit import read_audit
from server.project.test_model import trained_file
from server.pumps import call, samples, send
from server.signed_in import add_person, browser, post, refuse_audits

SETTINGS = "/p/pumps/settings"


@pytest.fixture
def service(sqlite, start):
    return start(sqlite)


@pytest.fixture
def omar(service):
    return browser(service, add_person(service, "omar", "operator"))


@pytest.fixture
def root(service):
    return browser(service, add_person(service, "root", None, admin=True))


def settings_of(service):
    return call(service.workers["pumps"], lambda batch: batch.state.settings)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("budget", "150", "Budget is 150 %; write a number above 0, at most 100."),
        ("budget", "much", "Budget is “much”; write a number."),
        ("max_open", "2.5", "Questions without an answer is “2.5”; write a whole number."),
        ("expire_after", "0", "Questions expire after is 0; write a number from 1 to 10000000."),
    ],
)
def test_a_refused_form_keeps_what_was_typed_and_says_why_beside_the_field(service, omar, name, typed, said):
    before = settings_of(service)
    fields = {"budget": "20", "questions_per_hour": "7", "max_open": "50", "expire_after": "2000", name: typed}
    refused = post(omar, SETTINGS, act="asking", **fields)
    assert refused.status_code == 422
    assert said in refused.text
    for field, value in fields.items():
        assert f'id="{field}" name="{field}" value="{value}"' in refused.text
    assert f'aria-describedby="{name}-more {name}-wrong" aria-invalid="true"' in refused.text
    assert settings_of(service) == before


def test_a_refused_label_is_kept(omar):
    refused = post(omar, SETTINGS, act="label", label="leak", help="another one")
    assert refused.status_code == 422
    assert 'name="label" required maxlength="200" autocomplete="off" value="leak"' in refused.text
    assert 'value="another one"' in refused.text


def test_a_text_feature_is_the_source_of_samples(service, omar):
    worker = service.workers["pumps"]
    first = send(worker, samples(1)[0][0])
    assert post(omar, SETTINGS, act="asking", source="machine").status_code == 303
    second = send(worker, {"x": [0.1, 0.2, "M-02"]})
    third = send(worker, {"x": [0.1, 0.2, None], "source": "gateway"})
    assert "M-02 · " in omar.get(f"/p/pumps/samples/{second['number']}").text
    assert "gateway · " in omar.get(f"/p/pumps/samples/{third['number']}").text
    page = omar.get(f"/p/pumps/samples/{first['number']}").text
    assert "M-01 · " not in page
    assert "M-02 · " not in page
    assert post(omar, SETTINGS, act="asking", source="pressure").status_code == 422


def test_administrators_replace_and_rebuild_the_model(service, omar, root):
    assert "Rebuild it" in root.get(SETTINGS).text
    assert "Rebuild it" not in omar.get(SETTINGS).text
    assert omar.post("/p/pumps/model", data={"csrf": omar.csrf}).status_code == 403
    file = {"file": ("model.safetensors", trained_file())}
    assert root.post("/p/pumps/model", data={"csrf": "wrong"}, files=file).status_code == 403
    assert root.post("/p/pumps/model", data={"csrf": root.csrf}, files=file).status_code == 303
    assert "replaced the model" in root.get("/p/pumps/events").text
    service.limits = service.limits._replace(model=1000)
    large = {"file": ("model.safetensors", b"x" * 70_000)}
    assert root.post("/p/pumps/model", data={"csrf": root.csrf}, files=large).status_code == 413
    assert post(root, "/p/pumps/rebuild", cause=" ").status_code == 422
    assert post(root, "/p/pumps/rebuild", cause="test", people="nobody").status_code == 422


def test_changes_are_in_the_audit_table_with_their_request_before_the_response(service, omar, monkeypatch):
    monkeypatch.setattr(audit, "canonical", lambda detail: time.sleep(0.2) or canonical(detail))  # a slow disk
    post(omar, SETTINGS, act="asking", budget="200")
    post(omar, SETTINGS, act="asking", budget="20", headers={"x-request-id": "change-1"})
    with service.reader.connect() as connection:
        found = [entry for entry in read_audit(connection, 0, 100) if entry["action"] == "settings-changed"]
    assert [(entry["actor"], entry["subject"], entry["request_id"]) for entry in found] == [
        ("omar", "pumps", "change-1")
    ]
    assert found[0]["address"]


def test_a_change_that_is_not_in_the_audit_table_is_an_error_in_the_log(service, omar, caplog):
    refuse_audits(service)
    assert post(omar, SETTINGS, act="asking", budget="20").status_code == 303
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "'settings-changed' of 'pumps' is missing in the audit table: " in line.getMessage()
    assert line.request_id


def test_an_unexpected_error_of_the_audit_table_leaves_the_response_as_it_is(omar, caplog, monkeypatch):
    def fail(*arguments, **facts):
        raise KeyError("gone")

    monkeypatch.setattr("evolabel.server.people.audit.write_audit", fail)
    assert post(omar, SETTINGS, act="asking", budget="20").status_code == 303
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert line.exc_info


def test_an_error_keeps_the_menu_of_the_project_for_its_members(service, omar):
    page = omar.get("/p/pumps/samples/99")
    assert page.status_code == 404
    assert 'href="/p/pumps/settings"' in page.text
    forbidden = browser(service, add_person(service, "anna")).get("/p/pumps/people")
    assert forbidden.status_code == 403
    assert 'href="/p/pumps/answer"' in forbidden.text
    assert "needs the role operator" in forbidden.text
    stranger = browser(service, add_person(service, "mallory", None)).get("/p/pumps")
    assert stranger.status_code == 404
    assert "/p/pumps/answer" not in stranger.text


def test_a_lowered_budget_is_shown_beside_what_was_promised_before(service, omar):
    for sample, _ in samples(30):
        send(service.workers["pumps"], sample)
    assert "at most 50 % promised" in omar.get("/p/pumps").text
    post(omar, SETTINGS, act="asking", budget="10")
    assert "at most 50.00 % promised so far, 10 % of those to come" in omar.get("/p/pumps").text
