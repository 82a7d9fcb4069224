"""The pages of people and settings: what their forms do, and what a refused form leaves as it was."""

import re

import pytest

from server.pumps import call
from server.signed_in import PASSWORD, add_person, browser, post


@pytest.fixture
def service(sqlite, start):
    return start(sqlite)


@pytest.fixture
def omar(service):
    return browser(service, add_person(service, "omar", "operator"))


def settings_of(service):
    return call(service.workers["pumps"], lambda batch: batch.state.settings)


def people(client, act, **fields):
    return post(client, "/p/pumps/people", act=act, **fields)


def test_an_invitation_is_shown_once_and_withdrawn(service, omar):
    made = people(omar, "invite", person="Mira", role="annotator")
    link = re.search(r"http://testserver(/invite/[\w-]+)", made.text)[1]
    later = omar.get("/p/pumps/people").text
    assert link not in later
    assert "Invited: mira, annotator." in later
    assert browser(service).get(link).status_code == 200
    key = re.search(r'name="invite" value="(\w+)"', later)[1]
    assert people(omar, "withdraw", invite=key).status_code == 303
    assert browser(service).get(link).status_code == 404


def test_members_change_and_go(service, omar):
    anna = browser(service, add_person(service, "anna", None, PASSWORD))
    assert people(omar, "add", person="anna", role="annotator").status_code == 303
    assert anna.get("/p/pumps").status_code == 200
    assert people(omar, "change", person="anna", role="annotator", weight="0,5").status_code == 303
    shown = omar.get("/p/pumps/people").text
    assert 'value="0.5"' in shown
    assert anna.get("/p/pumps").status_code == 200  # the role is the same
    people(omar, "change", person="anna", role="expert", weight="")
    assert anna.get("/p/pumps").status_code == 303
    assert people(omar, "remove", person="anna").status_code == 303
    assert ">anna<" not in omar.get("/p/pumps/people").text


def test_a_token_is_shown_once_and_revoked(omar):
    made = people(omar, "token", person="gateway", purpose="Gateway 1", role="producer", until="")
    token = re.search(r"ev_[\w-]{43}", made.text)[0]
    headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
    assert omar.get("/api/v1/projects/pumps", headers=headers).status_code == 200
    later = omar.get("/p/pumps/people").text
    assert token not in later
    number = re.search(r'name="token" value="(\d+)"', later)[1]
    assert people(omar, "revoke", token=number).status_code == 303
    assert omar.get("/api/v1/projects/pumps", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [({"act": "invite", "person": "", "role": "annotator"}, 422, "cannot be a name"),
     ({"act": "invite", "person": "eve", "role": "producer"}, 422, "make a token instead"),
     ({"act": "invite", "person": "anna", "role": "expert"}, 409, "has an account already"),
     ({"act": "add", "person": "nobody", "role": "expert"}, 404, "invite the person instead"),
     ({"act": "change", "person": "anna", "role": "expert", "weight": "2"}, 422, "from 0 to 1"),
     ({"act": "change", "person": "anna", "role": "king", "weight": ""}, 422, "there is no role"),
     ({"act": "token", "person": "gateway", "role": "producer", "until": "2000-01-01"}, 422, "cannot end at"),
     ({"act": "revoke", "token": "x"}, 404, "no such token"),
     ({"act": "fly"}, 422, "no known act")],
)  # fmt: skip
def test_refused_forms_say_why(service, omar, fields, status, said):
    add_person(service, "anna", "annotator", PASSWORD)
    before = service.workers["pumps"].head
    refused = post(omar, "/p/pumps/people", **fields)
    assert refused.status_code == status
    assert said in refused.text
    assert 'role="alert"' in refused.text
    assert service.workers["pumps"].head == before


def test_settings_are_changed_by_name(service, omar):
    shown = omar.get("/p/pumps/settings").text
    assert 'name="budget" value="50"' in shown
    same = {"questions_per_hour": "0", "max_open": "50", "expire_after": "2000"}
    assert post(omar, "/p/pumps/settings", act="asking", budget="0.5", **same).status_code == 303
    assert settings_of(service).budget == 0.005
    head = service.workers["pumps"].head
    post(omar, "/p/pumps/settings", act="asking", budget="0.5", **same)
    assert service.workers["pumps"].head == head  # nothing was changed
    post(omar, "/p/pumps/settings", act="answering", hold_seconds="2,5", overlap="20", min_answers="2")
    changed = settings_of(service)
    assert (changed.hold_seconds, changed.overlap, changed.min_answers, changed.blind) == (2.5, 0.2, 2, False)


@pytest.mark.parametrize(
    "fields",
    [{"act": "asking", "budget": "much"}, {"act": "asking", "budget": "0"}, {"act": "asking", "max_open": "1.5"},
     {"act": "retire", "label": "none"}, {"act": "label", "label": " "}, {"act": "label", "label": "x", "csrf": ""},
     {}],
)  # fmt: skip
def test_refused_settings_change_nothing(service, omar, fields):
    before = service.workers["pumps"].head
    refused = omar.post("/p/pumps/settings", data={"csrf": omar.csrf, **fields})
    assert refused.status_code == (403 if "csrf" in fields else 422)
    assert service.workers["pumps"].head == before


def test_labels_are_added_and_retired(service, omar):
    assert post(omar, "/p/pumps/settings", act="label", label="noise", help="too loud").status_code == 303
    assert "too loud" in omar.get("/p/pumps/settings").text
    assert post(omar, "/p/pumps/settings", act="retire", label="noise").status_code == 303
    assert "Retired: predicted, not asked." in omar.get("/p/pumps/settings").text
    post(omar, "/p/pumps/settings", act="retire", label="leak")
    assert post(omar, "/p/pumps/settings", act="retire", label="wear").status_code == 422  # the last one


def test_tabs_follow_the_role(service, omar):
    assert 'href="/p/pumps/settings"' in omar.get("/p/pumps").text
    anna = browser(service, add_person(service, "anna"))
    assert 'href="/p/pumps/settings"' not in anna.get("/p/pumps").text
