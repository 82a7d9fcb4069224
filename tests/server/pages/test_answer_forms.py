"""The answer page by its forms, as a browser without scripts sends them."""

import json
import time

import pytest
from sqlalchemy import select

from evolabel.server.log.schema import RESPONSE
from evolabel.server.pages.feature_rows import feature_rows
from evolabel.server.pages.texts import catalogue
from evolabel.server.project import operations
from evolabel.server.project.effects import store_effect
from evolabel.server.project.settings import Feature, Label
from server.pumps import ANNA, call, new_project
from server.signed_in import add_person, ask, browser, post

FRAGMENT = {"x-fragment": "1"}


@pytest.fixture
def service(sqlite, start):
    return start(sqlite, hold_seconds=60)


def stored(service):
    with service.reader.connect() as connection:
        rows = connection.execute(select(RESPONSE).order_by(RESPONSE.c.seq)).all()
    return [(row.number, row.status, json.loads(row.answers)) for row in rows]


def fields(labels, value):
    """The fields of a form that answers labels."""
    return {f"y{['leak', 'wear'].index(label)}": value for label in labels}


def test_a_form_sends_and_leads_to_the_next_question(service):
    number, labels = ask(service, 2)
    client = browser(service, add_person(service))
    assert f"Sample {number}" in client.get("/p/pumps/answer").text
    response = post(client, f"/p/pumps/questions/{number}/answer", act="send", **fields(labels, "1"))
    assert response.headers["location"] == "/p/pumps/answer?notice=sent"
    assert stored(service) == [(number, "submitted", dict.fromkeys(labels, 1))]
    assert f"Sample {number}, sent" in client.get("/p/pumps/answer?notice=sent").text


def test_with_the_script_the_next_question_comes_with_the_receipt(service):
    number, labels = ask(service, 2)
    client = browser(service, add_person(service))
    response = post(client, f"/p/pumps/questions/{number}/answer", headers=FRAGMENT, **fields(labels, "0"))
    assert response.status_code == 200
    assert response.text.lstrip().startswith("<main")
    assert "Sent. Undo with Backspace. Sample" in response.text
    assert 'id="ask"' in response.text
    again = post(client, f"/p/pumps/questions/{number}/answer", headers=FRAGMENT, **fields(labels, "0"))
    assert again.status_code == 200
    assert len(stored(service)) == 1  # a retry of the same answer counts once


def test_open_labels_are_named_and_nothing_is_stored(service):
    number, labels = ask(service)
    client = browser(service, add_person(service))
    response = post(client, f"/p/pumps/questions/{number}/answer", act="send", y9="1", y0="maybe")
    assert response.status_code == 422
    assert "still open" in response.text
    assert stored(service) == []
    if len(labels) == 2:
        as_is = {f"y{0}": "1", "as_is": "1"}
        post(client, f"/p/pumps/questions/{number}/answer", **as_is)
        assert stored(service) == [(number, "submitted", {"leak": 1, "wear": None})]


def test_skip_and_cannot_tell(service):
    number, _ = ask(service, 2)
    client = browser(service, add_person(service))
    client.get("/p/pumps/answer")
    skipped = post(client, f"/p/pumps/questions/{number}/answer", act="skip")
    assert skipped.headers["location"] == f"/p/pumps/answer?skip={number}&notice=skipped"
    assert f"Sample {number}<" not in client.get(skipped.headers["location"]).text
    refused = post(client, f"/p/pumps/questions/{number}/answer", act="refuse")
    assert refused.headers["location"].endswith("notice=refused")
    assert stored(service) == [(number, "refused", {})]


def test_undo_until_final(service):
    number, labels = ask(service)
    client = browser(service, add_person(service))
    post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    back = post(client, f"/p/pumps/questions/{number}/undo").headers["location"]
    assert back == f"/p/pumps/answer?number={number}&notice=taken_back"
    assert client.get(back).text.count(" checked") == len(labels)
    post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    call(service.workers["pumps"], operations.change_settings, {"hold_seconds": 0}, ANNA)
    assert "notice=final" in post(client, f"/p/pumps/questions/{number}/undo").headers["location"]


def test_a_blind_page_shows_nothing_of_the_model_before_the_answer_is_final(service):
    number, labels = ask(service)
    client = browser(service, add_person(service))
    pages = [client.get("/p/pumps/answer").text]
    post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    pages += [client.get("/p/pumps/answer").text, client.get("/p/pumps/answer/last").text]
    assert not any(">model<" in page or "agreed.<" in page for page in pages)
    call(service.workers["pumps"], operations.change_settings, {"hold_seconds": 0}, ANNA)
    assert ">model<" in client.get("/p/pumps/answer/last").text


def test_a_late_answer_is_a_correction(service):
    number, labels = ask(service)
    client = browser(service, add_person(service))
    call(service.workers["pumps"], operations.late_labels, number, {"leak": True}, ANNA)
    late = post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    assert "notice=late" in late.headers["location"]
    assert stored(service)[0][1] == "correction"
    assert "said" not in post(client, f"/p/pumps/questions/{number}/answer").headers["location"]


def test_names_are_text_and_never_markup(sqlite, start):
    service = start(sqlite)
    hostile = "<img src=x onerror=alert(1)>"
    features = [Feature(hostile, title=hostile, unit=hostile), Feature("b", "text", (hostile, "b"))]
    labels = [Label("a", title=hostile, help=hostile), Label(hostile)]
    made = service.create_project(new_project()._replace(slug="evil", title=hostile, features=features, labels=labels))
    worker = service.workers["evil"]
    for i in range(40):
        sample = {"x": [float(i % 7), hostile], "source": hostile, "id": f"{hostile}{i}"}
        call(worker, operations.send_samples, [sample], ANNA)
    client = browser(service, add_person(service, role=None, admin=True))
    for path in ("/", "/p/evil", "/p/evil/answer"):
        shown = client.get(path)
        assert shown.status_code == 200
        assert "<img" not in shown.text
        assert "&lt;img" in shown.text
    assert made.slug == "evil"


def test_a_lease_is_renewed(service):
    number, _ = ask(service)
    client = browser(service, add_person(service))
    assert post(client, f"/p/pumps/questions/{number}/lease").status_code == 204
    assert post(client, "/p/pumps/questions/999/lease").status_code == 409


def test_unusual_features_come_first_then_missing_ones():
    features = [Feature("a"), Feature("b"), Feature("c", unit="bar"), Feature("kind", "text", ("x", "y"))]
    recent = [[float(i), float(i), float(i), "x" if i % 4 else "y"] for i in range(101)]
    rows = feature_rows(features, {"a": 50.0, "b": None, "c": 99.0, "kind": "x"}, recent, recent[-60:])
    assert [(row.name, row.state) for row in rows] == [("c", "high"), ("b", "missing"), ("a", ""), ("kind", "")]
    assert (rows[0].low, rows[0].high, rows[0].value) == ("5.0", "95.0", "99.0")
    assert rows[2].dot == 50.0
    assert rows[3].share == 74
    assert len(rows[0].curve.points.split(" ")) == 60


def test_features_without_enough_samples_have_no_range():
    rows = feature_rows([Feature("a"), Feature("b")], {"a": 1.25, "b": None}, [[1.0, None]] * 5, [])
    assert [(row.value, row.low, row.curve) for row in rows] == [("\u2013", "", None), ("1.25", "", None)]


def test_equal_values_have_a_range_of_width_zero():
    rows = feature_rows([Feature("a")], {"a": 2.0}, [[2.0]] * 60, [[2.0]] * 60)
    assert (rows[0].state, rows[0].value, rows[0].dot) == ("", "2.00", 20.0)


def test_the_curve_of_the_smallest_numbers_has_places():
    recent = [[place * 5e-324] for place in range(60)]
    curve = feature_rows([Feature("a")], {"a": 0.0}, recent, recent)[0].curve
    assert (curve.points[:8], curve.points[-10:]) == ("0.0,88.0", "100.0,12.0")


def test_texts_have_no_mark_of_haste():
    for key, text in catalogue().items():
        assert "!" not in text, key
        assert "please" not in text.lower(), key


def test_an_answer_unsure_of_every_label_is_a_refusal_and_says_so(service):
    number, labels = ask(service)
    client = browser(service, add_person(service))
    nothing = post(client, f"/p/pumps/questions/{number}/answer", act="send", as_is="1")
    assert nothing.status_code == 422  # nothing was chosen: nothing is sent
    assert stored(service) == []
    sent = post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "u"))
    assert sent.headers["location"].endswith("notice=refused")
    assert stored(service) == [(number, "refused", {})]


def test_what_an_answer_changes_stands_beside_it(service):
    number, labels = ask(service)
    worker, person = service.workers["pumps"], add_person(service)
    client = browser(service, person)
    post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    while not worker.effects.find([number]):
        time.sleep(0.01)
    assert "Will change " in client.get("/p/pumps/answer/last").text
    post(client, f"/p/pumps/questions/{number}/undo")
    assert worker.effects.find([number]) == {}
    post(client, f"/p/pumps/questions/{number}/answer", **fields(labels, "1"))
    with service.writer.transaction() as connection:
        facts = {"of": 500, "changed": 4, "labels": {"leak": {"to_yes": 3, "to_no": 1}}}
        store_effect(connection, worker.project.id, number, facts, 0)
    assert "Changed 4 of the last 500 predictions." in client.get("/p/pumps/answer/last").text
    page = client.get("/p/pumps/answer").text
    if "Nothing to ask" in page:
        assert "4 changes among the last 500 predictions" in page
        assert "What your last answer changed" in page
