"""Numbers of samples, questions and answers, and the agreement between people, are the same in all places."""

import csv
import io
import json
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.ops.verify import verify_database
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations, reading
from evolabel.server.project.batch import Origin
from server.conftest import on_sqlite
from server.pumps import call, samples, send
from server.signed_in import add_person, ask, browser

P = "/api/v1/projects/pumps"


@pytest.fixture
def service(database, start):
    return start(database, min_answers=2)


class Places:
    """What the pages and the API show of a project, to an operator."""

    def __init__(self, service):
        self.service = service
        self.page = browser(service, add_person(service, "omar", "operator"))
        headers = {"authorization": f"Bearer {create_token(service.url, 'omar', 'pumps', 'operator', 'test')}"}
        self.http = TestClient(create_app(service, token_per_minute=10_000), headers=headers, client=("127.0.0.1", 1))

    def api(self, path=""):
        return self.http.get(P + path).raise_for_status().json()

    def member(self, name):
        return next(member for member in self.api("/members")["members"] if member["name"] == name)

    def cell(self, name, heading):
        """Number in the row of a person on the page of people, below this heading."""
        table = self.page.get("/p/pumps/people").text
        row = next(row for row in table.split("<tr>") if f">{name[0].upper()}</span>{name}</span>" in row)
        text = re.search(rf'data-h="{heading}">(.*?)</td>', row)[1]
        return re.sub(r"<.*", "", text).strip()

    def said_on(self, path, name):
        """How many questions a person has answered, by the sentences of a page."""
        shown = self.page.get(f"/p/pumps{path}").text
        return sum(int(n) for n in re.findall(rf"{name} answered (\d+) question", shown))


def answer_twice(service, n, disputed):
    """One label of each of n questions is answered by two people, who differ on as many as are disputed."""
    worker, anna, bob = service.workers["pumps"], add_person(service, "anna"), add_person(service, "bob")
    ask(service, n)
    for place, (number, question) in enumerate(list(worker.state.open.items())):
        label = question.labels[0]
        call(worker, operations.give_answer, number, {label: True}, Origin(anna))
        call(worker, operations.give_answer, number, {label: place >= disputed}, Origin(bob))
    call(worker, lambda batch: None)
    return worker


def test_the_agreement_counts_open_disputes(service):
    worker = answer_twice(service, 15, 3)
    assert len(worker.state.open) == 3
    places = Places(service)
    for name in ("anna", "bob"):
        shown = places.member(name)
        assert (shown["agreed"], shown["compared"], shown["agreement"]) == (12, 15, 0.8)
        assert places.cell(name, "Agreement") == "0.80"
    assert "12 of 15 comparisons with others" in places.page.get("/p/pumps/people").text
    assert places.cell("omar", "Agreement") == "\u2013"
    assert places.member("omar")["agreement"] is None


@on_sqlite
def test_a_third_person_is_compared_with_both(service):
    worker = answer_twice(service, 15, 3)
    carol = add_person(service, "carol")
    for number, question in list(worker.state.open.items()):
        call(worker, operations.give_answer, number, {question.labels[0]: True}, Origin(carol))
    places = Places(service)
    members = {name: places.member(name) for name in ("anna", "bob", "carol")}
    found = {name: (member["agreed"], member["compared"]) for name, member in members.items()}
    assert found == {"anna": (15, 18), "bob": (12, 18), "carol": (3, 6)}


@on_sqlite
def test_answers_that_were_taken_back_and_unsure_ones_are_not_compared(service):
    worker, anna, bob = service.workers["pumps"], add_person(service, "anna"), add_person(service, "bob")
    call(worker, operations.change_settings, {"hold_seconds": 3600}, Origin(bob))
    number, _ = ask(service)
    both = {"leak": True, "wear": True}
    call(worker, operations.give_answer, number, both, Origin(anna))
    call(worker, operations.give_answer, number, {"leak": None, "wear": False}, Origin(bob))
    places = Places(service)
    assert (places.member("anna")["agreed"], places.member("anna")["compared"]) == (0, 1)
    call(worker, operations.give_answer, number, both, Origin(bob))
    assert (places.member("anna")["agreed"], places.member("anna")["compared"]) == (2, 2)
    call(worker, operations.withdraw, number, Origin(bob))
    assert places.member("anna")["agreement"] is None


def busy_day(service):
    """People have answered, skipped, refused, changed, taken back and corrected answers, and differed on some.

    Between the answers there were more acts than the overview shows.
    """
    worker = service.workers["pumps"]
    anna, bob, omar = (Origin(add_person(service, *who)) for who in (("anna",), ("bob",), ("omar", "operator")))
    ask(service, 16)
    numbers = list(worker.state.open)
    labels = {number: worker.state.open[number].labels for number in numbers}

    def give(number, who, y):
        call(worker, operations.give_answer, number, dict.fromkeys(labels[number], y), who)

    call(worker, reading.next_question, worker.leases, anna.actor_id, {numbers[0]})  # skipped
    for number in numbers[1:7]:
        give(number, anna, True)
    for number in numbers[1:4]:
        give(number, bob, True)  # closed
    give(numbers[4], bob, False)  # disputed, and open
    for _ in range(8):
        call(worker, operations.set_paused, omar, paused=True)
        call(worker, operations.set_paused, omar, paused=False)
    call(worker, operations.change_settings, {"hold_seconds": 3600}, omar)
    give(numbers[7], anna, True)
    give(numbers[7], anna, False)  # changed
    give(numbers[8], anna, True)
    call(worker, operations.withdraw, numbers[8], anna)  # taken back
    call(worker, operations.refuse, numbers[9], None, anna)
    give(numbers[1], anna, False)  # corrected
    call(
        worker, operations.give_answer, numbers[2], dict.fromkeys(labels[numbers[2]]), anna
    )  # corrected to: cannot decide
    call(worker, operations.late_labels, numbers[10], {"leak": True}, omar)
    for sample, _ in samples(10, seed=3):
        send(worker, {"x": sample["x"]})
    stand = [numbers[1], *numbers[3:8]]
    return {"answers": len(stand), "labels_answered": sum(len(labels[n]) for n in stand), "cannot_decide": 2}


def test_the_answers_of_a_person_are_the_same_number_everywhere(service):
    expected = busy_day(service)
    places = Places(service)
    n = expected["answers"]
    assert places.member("anna")["last_7_days"] == expected
    assert places.cell("anna", "Answers, 7 days") == str(n)
    assert places.said_on("/events", "anna") == n
    assert places.said_on("/events?kind=answers&person=anna", "anna") == n
    assert places.said_on("", "anna") == n
    assert places.said_on("/events", "bob") == 4
    assert "bob answered" not in places.page.get("/p/pumps").text  # before the last ten acts
    assert "2 cannot decide" in places.page.get("/p/pumps/events").text
    listed = places.api("/answers?person=anna")["answers"]
    given = [one for one in listed if any(y is not None for y in one["answers"].values())]
    assert (len(given), len(listed)) == (n, n + expected["cannot_decide"])
    assert sum(y is not None for one in given for y in one["answers"].values()) == expected["labels_answered"]
    own = browser(service, add_person(service, "anna")).get("/p/pumps/answers").text
    assert own.count('<th scope="row"><a href="/p/pumps/samples/') == len(listed)
    for name in ("answers.ndjson", "answers.csv"):
        text = places.http.get(f"{P}/export/{name}").text
        rows = map(json.loads, text.splitlines()) if name.endswith("json") else csv.DictReader(io.StringIO(text))
        stand = [row for row in rows if row["person"] == "anna" and str(row["stands"]) in ("True", "1")]
        answered = [row["number"] for row in stand if row["answer"] not in (None, "")]
        assert (len(set(answered)), len(answered)) == (n, expected["labels_answered"])


@on_sqlite
def test_a_day_of_answers_is_on_one_page_of_events(service):
    worker = service.workers["pumps"]
    expected = busy_day(service)
    omar = Origin(add_person(service, "omar", "operator"))
    for _ in range(55):
        call(worker, operations.set_paused, omar, paused=True)
        call(worker, operations.set_paused, omar, paused=False)
    number = next(iter(worker.state.open))
    call(worker, operations.give_answer, number, {"leak": True}, Origin(add_person(service, "bob")))
    places, found, path = Places(service), {"anna": 0, "bob": 0}, "/events"
    while path:
        for name in found:
            found[name] += places.said_on(path, name)
        earlier = re.search(r"before=(\d+)", places.page.get(f"/p/pumps{path}").text)
        path = f"/events?before={earlier[1]}" if earlier else None
    assert found == {"anna": expected["answers"], "bob": 5}


@on_sqlite
def test_questions_and_samples_are_the_same_numbers_everywhere(service):
    busy_day(service)
    places, worker = Places(service), service.workers["pumps"]
    project, rows = places.api(), places.api("/stats?step=1440")["rows"]
    shown = places.page.get("/p/pumps").text
    metrics = {
        family.name: family.samples
        for family in text_string_to_metric_families(places.http.get("/metrics").raise_for_status().text)
    }
    (checked,) = verify_database(service.url).values()
    assert project["asked"] == worker.state.n_questions == sum(row["asked"] for row in rows) == checked.asked
    assert f"<b>{project['asked']}</b> " in re.search(r"Questions asked, 7 days.*?</p>", shown, re.S)[0]
    assert project["cost"] == checked.cost > project["asked"]
    assert project["samples"] == sum(row["samples"] for row in rows) == checked.samples
    assert project["samples"] == metrics["evolabel_samples"][0].value
    answered = sum(row["answered"] for row in rows)
    assert f"<b>{answered}</b> answered" in shown
    assert answered == next(s.value for s in metrics["evolabel_questions_closed"] if s.labels["cause"] == "answered")
    assert project["open"] == metrics["evolabel_questions_open"][0].value
    assert f"<b>{project['open']}</b> waiting" in shown


@on_sqlite
def test_the_answers_taught_for_a_label_are_the_same_number_everywhere(service, monkeypatch):
    busy_day(service)
    monkeypatch.setattr("evolabel.server.project.health._MOST_CLOSED", 2)  # questions of the trend
    places = Places(service)
    by_api = {}
    for row in places.api("/stats/labels")["rows"]:
        by_api[row["label"]] = by_api.get(row["label"], 0) + row["judged"]
    table = re.search(r"Answers learned</th>.*?</table>", places.page.get("/p/pumps").text, re.S)[0]
    cells = re.findall(r'<th scope="row">(\w+)</th>.*?<td class="num">(\d+)</td></tr>', table)
    assert {label: int(n) for label, n in cells} == by_api
    assert by_api["leak"] > 2
