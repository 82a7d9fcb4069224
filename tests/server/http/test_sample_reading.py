"""Samples as they are read by the API: pages of them, what is hidden, what people said, explanations, own answers."""

import re

import pytest
from fastapi.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations, rule_edits
from evolabel.server.project.batch import Origin
from server.conftest import on_sqlite
from server.pumps import ANNA, call, run, samples
from server.signed_in import add_person, ask, browser

P = "/api/v1/projects/pumps"


def sender(service, url, name, role):
    """A function that reads a path of the API with the token of a person, and the number of the person."""
    person = add_person(service, name, role)
    headers = {"Authorization": f"Bearer {create_token(url, name, 'pumps', role, 'test')}"}
    client = TestClient(create_app(service, token_per_minute=10_000), headers=headers)
    return lambda path: client.get(P + path), Origin(person)


@pytest.fixture
def service(sqlite, start):
    return start(sqlite, hold_seconds=60)


@pytest.fixture
def anna(service, sqlite):
    return sender(service, sqlite, "anna", "annotator")


@on_sqlite
def test_pages_of_samples_and_what_is_hidden_in_them(database, start):
    service = start(database)
    get, _ = sender(service, database, "anna", "annotator")
    number, _ = ask(service, 3)
    listed = get(f"/samples?limit={number - 1}").json()
    assert [sample["number"] for sample in listed["samples"]] == list(range(1, number))
    assert listed["next"] == number - 1
    rest = get(f"/samples?after={listed['next']}").json()
    assert (rest["next"], [sample["number"] for sample in rest["samples"]]) == (None, [number])
    asked = get("/samples?asked=true").json()["samples"]
    assert len(asked) == 3
    assert all(sample["hidden"] and "prediction" not in sample for sample in asked)
    others = get("/samples?asked=false").json()["samples"]
    assert not any(sample["hidden"] for sample in others)
    assert [sample["number"] for sample in get(f"/samples?numbers={number},1,999").json()["samples"]] == [1, number]
    assert get("/samples?numbers=1,x").status_code == 422
    look, _ = sender(service, database, "eva", "expert")
    assert not any(sample["hidden"] for sample in look("/samples").json()["samples"])


def test_before_the_own_answer_is_final_nothing_of_the_model_or_of_others_is_shown(service, sqlite, anna):
    get, origin = anna
    number, labels = ask(service)
    worker = service.workers["pumps"]
    bob = Origin(add_person(service, "bob"))
    call(worker, operations.give_answer, number, dict.fromkeys(labels, True), bob, note="a drop at noon")
    hidden = get(f"/samples/{number}").json()
    assert (hidden["hidden"], hidden["responses"]) == (True, [])
    refused = get(f"/samples/{number}/explanation")
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/answer-first")
    call(worker, operations.give_answer, number, dict.fromkeys(labels, False), origin)
    held = get(f"/samples/{number}").json()
    assert [response["person"] for response in held["responses"]] == ["anna"]
    assert "model" not in get("/answers").json()["answers"][0]
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    seen = get(f"/samples/{number}").json()
    assert not seen["hidden"]
    assert [(r["person"], r["note"]) for r in seen["responses"]] == [("bob", "a drop at noon"), ("anna", None)]
    producer, _ = sender(service, sqlite, "gateway", "producer")
    assert "responses" not in producer(f"/samples/{number}").json()


def test_parts_of_an_explanation_add_up_and_its_changes_turn_the_label(service, anna):
    get, _ = anna
    worker = service.workers["pumps"]
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    run(worker, samples(3))
    early = get("/samples/1/explanation")
    assert (early.status_code, early.json()["type"]) == (409, "/problems/no-rules-yet")
    run(worker, samples(120)[3:])
    worker.view.forget()  # the copy of a moment ago
    offered = 0
    for number in (30, 60, 90):
        found = get(f"/samples/{number}/explanation?label=wear").json()
        then, now = found["then"], found["now"]
        assert then["prediction"] == get(f"/samples/{number}").json()["prediction"]
        total = now["base"] + sum(part["gives"] for part in now["parts"]) + now["feedback"]
        assert total == pytest.approx(now["output"], abs=1e-9)
        assert [part["name"] for part in now["parts"][:3]] == ["pressure", "flow", "machine"]
        assert now["positive"] == (now["output"] >= now["threshold"])
        x = {part["name"]: part["value"] for part in now["parts"][:3]}
        for turn in now["turns"]:
            changed = [{"x": {**x, turn["feature"]: turn["after"]}}]
            labels = call(worker, operations.predict_samples, changed)["results"][0]["labels"]
            assert ("wear" in labels) == turn["turns_on"] != now["positive"]
            offered += 1
        assert len(now["turns"]) == len({turn["feature"] for turn in now["turns"]}) <= 3
    assert offered
    assert get("/samples/30/explanation?label=rust").status_code == 404
    assert get("/samples/999/explanation").status_code == 404
    assert get("/samples/id:s30/explanation").json()["number"] == 31


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1.7e18])
@pytest.mark.parametrize("form", ["IF pressure BELOW 0 THEN leak LIKELY", "IF pressure ABOVE 0 THEN leak UNLIKELY"])
def test_samples_are_explained_beside_a_rule_that_ends_at_0(service, anna, form, scale):
    get, origin = anna
    worker = service.workers["pumps"]
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    stream = [({"x": {**sample["x"], "pressure": sample["x"]["pressure"] * scale}}, y) for sample, y in samples(60)]
    run(worker, stream, origin)
    call(worker, rule_edits.act, "rule.added", {"form": form}, ANNA)
    worker.view.forget()
    page = browser(service, add_person(service, "eva", "expert"))
    offered = []
    for number in range(30, 40):
        found = get(f"/samples/{number}/explanation?label=leak")
        assert found.status_code == 200
        offered += [turn["after"] for turn in found.json()["now"]["turns"] if turn["feature"] == "pressure"]
        shown = page.get(f"/p/pumps/samples/{number}?label=leak")
        assert shown.status_code == 200
        assert not re.search(r"\b(nan|inf)\b", shown.text)
    assert offered
    assert not any(0.0 < abs(after) < 1e-9 * scale for after in offered)  # not the smallest number of all


def test_own_answers_with_what_the_model_said_and_those_of_others_for_operators(service, sqlite, anna):
    get, origin = anna
    worker = service.workers["pumps"]
    number, labels = ask(service, 2)
    call(worker, operations.give_answer, number, dict.fromkeys(labels, True), origin)
    call(worker, operations.give_answer, number, dict.fromkeys(labels, False), origin)
    page = get("/answers?limit=1").json()
    assert [(a["number"], a["revision"], a["final"]) for a in page["answers"]] == [(number, 2, False)]
    assert get(f"/answers?after={page['next']}").json() == {"answers": [], "next": None}
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    assert get("/answers").json()["answers"][0]["model"].keys() == set(labels)
    call(worker, operations.late_labels, 1, {"leak": True}, ANNA)
    bob, _ = sender(service, sqlite, "bob", "annotator")
    assert bob("/answers").json()["answers"] == []
    assert bob("/answers?person=anna").status_code == 403
    omar, _ = sender(service, sqlite, "omar", "operator")
    assert len(omar("/answers?person=anna").json()["answers"]) == 1
    assert omar("/answers?person=nobody").status_code == 404
