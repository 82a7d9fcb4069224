"""The page of rules without a script: search, preview, save, lock, rename, delete, undo, by role."""

import re
import time

import pytest

from evolabel.core.events import Event
from evolabel.server.pages.rules import PartsRow, life_line, parts_rows, why_unclaimed
from evolabel.server.project import operations
from evolabel.server.project.rule_list import rule_list
from server.pumps import ANNA, call, samples
from server.signed_in import add_person, browser, post

LOW = 'IF pressure BELOW -0.2 THEN leak 2% CALLED "low"'


def train(service, n=90, seed=0):
    known = [{**sample, "id": f"{seed}{sample['id']}", "y": y} for sample, y in samples(n, seed)]
    call(service.workers["pumps"], operations.send_samples, known, ANNA)


@pytest.fixture
def eva(sqlite, start):
    """A client of an expert in a project with rules."""
    service = start(sqlite)
    train(service)
    client = browser(service, add_person(service, "eva", "expert"))
    client.service = service
    return client


def save(client, form=LOW, **fields):
    return post(client, "/p/pumps/rules/edit", form=form, act="save", last=fields.pop("last", "0"), **fields)


def undo_addresses(client):
    return re.findall(r'action="(/p/pumps/acts/\d+/undo)"', client.get("/p/pumps/rules").text)


def test_the_page_begins_with_the_parts_that_answer(eva):
    page = eva.get("/p/pumps/rules?kind=learned").text
    shares = call(eva.service.workers["pumps"], lambda batch: batch.state.learner.classifier.parts_)
    leak = shares["leak"]
    assert f"regions {100.0 * leak.rules:.0f} %" in page
    assert page.index("Which part answers") < page.index('class="rule"')
    assert "Welcher Teil antwortet" in eva.get("/p/pumps/rules", headers={"Accept-Language": "de"}).text


def test_regions_are_shown_on_request(eva):
    count = eva.service.workers["pumps"].state.learner.classifier.n_rules_
    page = eva.get("/p/pumps/rules").text
    assert page.count('class="tag learned"') == 0
    assert f"{count} learned regions and the linear part answer the rest" in page
    assert 'href="/p/pumps/rules?kind=learned">Show the regions' in page
    learned = eva.get("/p/pumps/rules?kind=learned").text
    assert learned.count('class="tag learned"') == count
    assert "Show the regions" not in learned
    assert eva.get("/p/pumps/rules?show=0").text.count('class="tag learned"') == 1
    assert eva.get("/p/pumps/rules?q=is").text.count('class="tag learned"') > 0


def test_parts_are_grouped_by_their_shares():
    some = {"rules": 0.0, "linear": 1.0, "threshold_rules": 0.0, "written": 0.0}
    other = {"rules": 0.3, "linear": 0.3, "threshold_rules": 0.4, "written": 0.001}
    assert parts_rows({"a": some, "b": other, "c": some}) == [
        PartsRow("a, c", [("linear", 100), ("rules", 0)]),
        PartsRow("b", [("threshold_rules", 40), ("rules", 30), ("linear", 30)]),
    ]
    assert parts_rows({"a": dict.fromkeys(some, 0.0)}) == [PartsRow("a", [])]


@pytest.mark.parametrize(("by_rules", "reason"), [((0.2, 0.5), "parts"), ((0.6, 1.0), "model"), ((0.0, 0.6), "both")])
def test_a_rule_without_a_label_has_the_reason(eva, monkeypatch, by_rules, reason):
    shares = {str(i): {"rules": rules} for i, rules in enumerate(by_rules)}
    assert why_unclaimed(shares) == reason
    silent = [
        {**rule, "labels": []} for rule in call(eva.service.workers["pumps"], lambda batch: rule_list(batch.state))
    ]
    monkeypatch.setattr("evolabel.server.pages.rules.rule_list", lambda state: silent)
    monkeypatch.setattr("evolabel.server.pages.rules.label_parts", lambda state: shares)
    page = eva.get("/p/pumps/rules?kind=learned").text
    said = set(re.findall('<li class="quiet">no label now: (.*?)</li>', page))
    others, whole = "other parts of the model answer", "the whole model predicts otherwise here"
    assert said == {{"parts": others, "model": whole, "both": f"{others}, or {whole}"}[reason]}


def test_an_expert_writes_previews_locks_and_undoes_after_learning(eva):
    preview = post(eva, "/p/pumps/rules/edit", form=LOW, act="preview", last="0")
    assert preview.status_code == 200
    assert "of the last 90 predictions" in preview.text
    assert "WITH CONFIDENCE 1 WEIGHT 20" in preview.text
    assert undo_addresses(eva) == []
    saved = save(eva)
    assert saved.status_code == 303
    rule = int(re.search(r"show=(\d+)", saved.headers["location"])[1])
    page = eva.get(saved.headers["location"]).text
    assert "“low”" in page
    assert "eva added rule" in page
    assert post(eva, f"/p/pumps/rules/{rule}/lock").status_code == 303
    assert post(eva, f"/p/pumps/rules/{rule}/rename", name="cold").status_code == 303
    assert "“cold”" in eva.get("/p/pumps/rules?q=cold").text
    train(eva.service, 10, seed=4)
    assert len(undo_addresses(eva)) == 2  # the rule cannot be taken away under its name and lock
    for _ in range(2):
        assert post(eva, undo_addresses(eva)[0]).status_code == 303
    page = eva.get("/p/pumps/rules").text
    assert "“low”" in page
    assert "replays" in page
    begun = post(eva, undo_addresses(eva)[0])
    assert begun.headers["location"] == "/p/pumps/rules?runs=1#live"
    while eva.service.changing:
        time.sleep(0.01)
    assert "“low”" not in eva.get("/p/pumps/rules").text


def test_rules_are_merged_by_their_numbers(eva):
    first, second = re.findall(r'action="/p/pumps/rules/(\d+)/merge"', eva.get("/p/pumps/rules?kind=learned").text)[:2]
    merged = post(eva, f"/p/pumps/rules/{first}/merge", other=second)
    assert merged.status_code == 303
    assert f"eva merged rules {first} and {second}" in eva.get(merged.headers["location"]).text
    assert post(eva, f"/p/pumps/rules/{first}/merge", other="").status_code == 422
    assert post(eva, f"/p/pumps/rules/{first}/merge", other="999").status_code == 422


def test_changed_samples_of_a_preview_are_links_and_texts_have_one_name(eva):
    preview = post(eva, "/p/pumps/rules/edit", form=LOW, act="preview", last="0").text
    number = re.search(r'<a href="/p/pumps/samples/(\d+)">\1</a>', preview)[1]
    assert eva.get(f"/p/pumps/samples/{number}").status_code == 200
    assert "the features are pressure, flow, machine" in save(eva, "IF presure BELOW 1 THEN leak LIKELY").text
    assert "at most 1e+100" in save(eva, "IF pressure BELOW 1e200 THEN leak LIKELY").text


def test_what_is_wrong_is_said_beside_the_text(eva):
    wrong = save(eva, "IF presure BELOW 1 THEN leak LIKELY")
    assert wrong.status_code == 422
    assert "presure" in wrong.text
    assert 'id="form-error"' in wrong.text
    assert save(eva).status_code == 303
    moved = save(eva, "IF flow ABOVE 1 THEN wear LIKELY", last="0")
    assert moved.status_code == 422
    assert "Another person has changed the rules" in moved.text
    last = re.search(r'name="last" value="(\d+)"', moved.text)[1]
    assert save(eva, "IF flow ABOVE 1 THEN wear LIKELY", last=last).status_code == 303


def test_rules_are_searched_edited_and_deleted(eva):
    rule = re.search(r"show=(\d+)", save(eva).headers["location"])[1]
    page = eva.get("/p/pumps/rules?kind=written").text
    assert page.count('<details class="rule"') == 1
    assert "No rule has the text" in eva.get("/p/pumps/rules?q=nowhere").text
    assert eva.get("/p/pumps/rules?q=%3Cb%3E&kind=x&show=3").status_code == 200
    form = eva.get(f"/p/pumps/rules/edit?rule={rule}").text
    assert "IF pressure BELOW -0.2" in form
    last = re.search(r'name="last" value="(\d+)"', form)[1]
    assert save(eva, "IF pressure BELOW -3 THEN leak 1%", rule=rule, last=last).status_code == 303
    assert "pressure BELOW -3" in eva.get("/p/pumps/rules").text
    assert post(eva, f"/p/pumps/rules/{rule}/delete").status_code == 303
    assert f"eva deleted rule {rule}" in eva.get("/p/pumps/rules").text
    assert eva.get(f"/p/pumps/rules/edit?rule={rule}").status_code == 404
    assert post(eva, f"/p/pumps/rules/{rule}/melt").status_code == 404


def test_tabs_and_pages_by_role(eva):
    anna = browser(eva.service, add_person(eva.service, "anna"))
    assert 'href="/p/pumps/rules"' not in anna.get("/p/pumps").text
    assert anna.get("/p/pumps/rules").status_code == 403
    assert 'href="/p/pumps/rules"' in eva.get("/p/pumps").text


def test_a_project_without_rules_says_when_they_come(sqlite, start):
    service = start(sqlite)
    client = browser(service, add_person(service, "eva", "expert"))
    page = client.get("/p/pumps/rules").text
    assert "No rules yet" in page
    assert "<b>leak, wear</b>: the shares of the labels so far, because there are no rules yet" in page
    wrong = save(client)
    assert wrong.status_code == 422


def test_the_line_of_a_life():
    events = [Event(20, "added", 5, None), Event(50, "locked", 5, None), Event(60, "edited", 5, None),
              Event(80, "unlocked", 5, None), Event(90, "locked", 5, None)]  # fmt: skip
    life = life_line(events, None, 100, 0.5)
    assert life == (20.0, [60.0], [(50.0, 80.0), (90.0, 100.0)], 5.5)
    assert life_line([], 7, 0, 0.0) == (0.0, [], [], 3.0)
