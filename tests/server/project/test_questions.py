"""Questions by status, leases that outlive a restart, and drafts."""

import pytest
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations, reading
from server.conftest import on_sqlite
from server.pumps import BOB, call
from server.signed_in import add_person, ask, browser, post

QUESTIONS = "/api/v1/projects/pumps/questions"


@pytest.fixture
def service(database, start):
    return start(database, overlap=1.0)


def annotator(service, name="anna"):
    token = create_token(service.url, name, "pumps", "annotator", "test")
    return TestClient(create_app(service), headers={"authorization": f"Bearer {token}"})


def statuses(client, **query):
    return [(row["number"], row["status"]) for row in client.get(QUESTIONS, params=query).json()["questions"]]


@on_sqlite
def test_questions_are_listed_by_status(service):
    ask(service, 4)
    client = annotator(service)
    numbers = sorted(number for number, _ in statuses(client))
    first, second, third, fourth = numbers
    client.put(f"{QUESTIONS}/{second}/answer", json={"answers": {"leak": True, "wear": True}})
    client.put(f"{QUESTIONS}/{third}/lease")
    for name in ("anna", "bob"):
        annotator(service, name).put(f"{QUESTIONS}/{fourth}/refusal", json={})
    assert statuses(client) == [(third, "taken"), (second, "partly"), (first, "open")]
    assert statuses(client, status="open", after=first) == []
    assert statuses(client, status="refused") == [(fourth, "refused")]
    page = client.get(QUESTIONS, params={"status": "refused", "limit": 1}).json()
    assert (page["next"], page["questions"][0]["answered"]) == (fourth, True)
    assert client.get(QUESTIONS, params={"status": "lost"}).status_code == 422


def test_a_question_whose_answer_can_be_taken_back_does_not_wait_for_another_person(sqlite, start):
    service = start(sqlite, hold_seconds=3600)
    number, _ = ask(service, 1)
    client = annotator(service)
    client.put(f"{QUESTIONS}/{number}/answer", json={"answers": {"leak": True, "wear": True}})
    assert statuses(client) == [(number, "open")]
    assert statuses(client, status="partly") == []


def test_leases_outlive_a_restart(service, database, start):
    number, _ = ask(service, 1)
    worker = service.workers["pumps"]
    call(worker, lambda batch: reading.renew_lease(batch, worker.leases, number, 7))
    call(worker, lambda batch: reading.renew_lease(batch, worker.leases, number, 8))
    call(worker, lambda batch: worker.leases.give_back(number, 8))
    call(worker, lambda batch: None)
    service.stop()
    again = start(database).workers["pumps"]
    assert call(again, lambda batch: again.leases.is_taken(number, batch.now))
    offered = call(again, lambda batch: reading.next_question(batch, again.leases, 9, ()))
    assert offered["number"] == number  # two people are needed, and one looks at it
    assert call(again, lambda batch: reading.next_question(batch, again.leases, 10, ())) is None


@on_sqlite
def test_a_draft_is_there_in_another_browser_and_is_no_answer(service):
    number, labels = ask(service)
    person = add_person(service)
    client = browser(service, person)
    place = ["leak", "wear"].index(labels[0])
    chosen = f'name="y{place}" value="1" checked'
    assert post(client, f"/p/pumps/questions/{number}/draft", **{f"y{place}": "1"}).status_code == 204
    assert chosen in browser(service, person).get("/p/pumps/answer").text
    assert chosen not in browser(service, add_person(service, "bob")).get("/p/pumps/answer").text
    assert call(service.workers["pumps"], lambda batch: len(batch.state.open[number].responses)) == 0
    assert post(client, f"/p/pumps/questions/{number}/draft").status_code == 204
    assert chosen not in client.get("/p/pumps/answer").text


@on_sqlite
def test_drafts_of_closed_questions_and_other_labels_are_refused(service):
    number, _ = ask(service)
    client = annotator(service)
    assert client.put(f"{QUESTIONS}/{number}/draft", json={"answers": {"leak": None}}).status_code == 204
    assert client.put(f"{QUESTIONS}/{number}/draft", json={"answers": {"rust": True}}).status_code == 422
    worker = service.workers["pumps"]
    call(worker, operations.late_labels, number, {"leak": True}, BOB)
    gone = client.put(f"{QUESTIONS}/{number}/draft", json={"answers": {"leak": True}})
    assert (gone.status_code, gone.json()["type"]) == (409, "/problems/question-closed")
