"""JSON with a depth of 100,000 and numbers of 400 and 5000 digits, over every kind of route and in forms of pages."""

from functools import partial

import pytest

from evolabel.server.log.engines import read_url
from evolabel.server.project.service import Service
from server.http.test_http import P, ask, serving
from server.pumps import new_project
from server.signed_in import add_person, browser, post

DEEP = "[" * 100_000 + "]" * 100_000
MIDDLE = "[" * 300 + "]" * 300
HUGE, LONG = "1" + "0" * 400, "1" * 5000
NESTED = "[" * 4000 + "]" * 4000  # short enough for the text of a rule
PARTS = {
    "deep": DEEP,
    "nested": NESTED,
    "middle": MIDDLE,
    "unclosed": "[" * 100_000,
    "huge": HUGE,
    "negative": f"-{HUGE}",
    "long": LONG,
}

BODIES = {  # role, method, path, body with the value in the place of %s
    "values by name": ("producer", "POST", f"{P}/samples", '{"samples": [{"x": {"pressure": %s}}]}'),
    "values in order": ("producer", "POST", f"{P}/samples", '{"samples": [{"x": [%s, 1, null]}]}'),
    "predictions": ("producer", "POST", f"{P}/predictions", '{"samples": [{"x": {"flow": %s}}]}'),
    "history": ("operator", "POST", f"{P}/history", '{"rows": [{"x": {"flow": %s}, "y": {"leak": true}}]}'),
    "known labels": ("producer", "POST", f"{P}/samples", '{"samples": [{"x": {}, "y": {"leak": %s}}]}'),
    "later labels": ("producer", "PUT", f"{P}/samples/1/labels", '{"y": {"leak": %s}}'),
    "answer": ("annotator", "PUT", f"{P}/questions/1/answer", '{"answers": {"leak": %s}}'),
    "time of an answer": (
        "annotator", "PUT", f"{P}/questions/1/answer", '{"answers": {"leak": true}, "took_ms": %s}',
    ),
    "draft": ("annotator", "PUT", f"{P}/questions/1/draft", '{"answers": {"leak": %s}}'),
    "skipped questions": ("annotator", "POST", f"{P}/questions/next", '{"skip": [%s]}'),
    "settings": ("operator", "PATCH", P, '{"settings": {"budget": %s}}'),
    "whole settings": ("operator", "PATCH", P, '{"settings": {"max_open": %s}}'),
    "rule": ("expert", "POST", f"{P}/rules", '{"form": {"if": {"flow": [0, %s]}, "then": {"leak": "likely"}}}'),
    "share of a rule": ("expert", "POST", f"{P}/rules", '{"form": {"if": {"flow": "high"}, "then": {"leak": %s}}}'),
    "weight of a rule": (
        "expert", "POST", f"{P}/rules", '{"form": {"if": {"flow": "high"}, "then": {"leak": "likely"}, "weight": %s}}',
    ),
    "rule as text": ("expert", "POST", f"{P}/rules", '{"form": "{\\"if\\": %s}"}'),
    "rules to merge": ("expert", "POST", f"{P}/rules/merge", '{"one": %s, "other": 1}'),
    "weight": ("operator", "PATCH", f"{P}/members/annotator-1", '{"weight": %s}'),
    "project": (
        "admin", "POST", "/api/v1/projects",
        '{"slug": "p2", "features": [{"name": "a"}], "labels": [{"name": "b"}], "settings": {"budget": %s}}',
    ),
    "token": ("operator", "POST", f"{P}/tokens", '{"person": "a", "role": "producer", "per_minute": %s}'),
    "prediction for Label Studio": (
        "bridge", "POST", "/ls/pumps/predict", '{"tasks": [{"id": %s, "data": {"pressure": 1}}]}',
    ),
    "task of Label Studio": ("bridge", "POST", "/ls/pumps/predict", '{"tasks": [{"id": 1, "data": {"pressure": %s}}]}'),
    "question of Label Studio": (
        "bridge", "POST", "/ls/pumps/webhook",
        '{"action": "ANNOTATION_CREATED", "task": {"id": 1, "data": {"question": %s}}, "annotation": {"result": []}}',
    ),
    "setup by Label Studio": ("bridge", "POST", "/ls/pumps/setup", '{"project": %s, "schema": "<View/>"}'),
}  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The service behind an application, and a sender for each role; no body here is taken."""
    url = read_url(f"sqlite:///{tmp_path_factory.mktemp('extreme')}/evolabel.db")
    service = Service(url)
    service.start()
    service.create_project(new_project())
    for found in serving(service, url):
        ask(found[1])
        yield found
    service.stop()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("place", BODIES)
def test_an_extreme_value_is_refused_and_the_service_goes_on(served, place, part):
    _, senders = served
    role, method, path, body = BODIES[place]
    sender = senders[role]
    headers = {**sender.headers, "Content-Type": "application/json"}
    sent = sender._client.request(method, path, content=body % PARTS[part], headers=headers)
    assert sent.status_code < 500, sent.text[:300]
    if sent.status_code >= 400:
        assert sent.headers["content-type"] == "application/problem+json"
        assert 0 < len(sent.json()["detail"]) < 1000


@pytest.fixture(scope="module")
def page(served):
    """A function that sends a form of a page as an administrator."""
    service, _ = served
    return partial(post, browser(service, add_person(service, "ruth", None, admin=True)))


FORMS = {
    "the text of a rule": ("/p/pumps/rules/edit", {"form": '{"if": %s, "then": {"leak": "likely"}}'}),
    "the number of a rule": ("/p/pumps/rules/edit", {"form": "high flow", "rule": "%s"}),
    "a rule to merge": ("/p/pumps/rules/1/merge", {"other": "%s"}),
    "a whole setting": ("/p/pumps/settings", {"act": "asking", "max_open": "%s"}),
    "a share": ("/p/pumps/settings", {"act": "asking", "budget": "%s"}),
    "the weight of a person": ("/p/pumps/people", {"act": "change", "person": "annotator-1", "weight": "%s"}),
}


@pytest.mark.parametrize("part", ["nested", "huge", "negative", "long"])
@pytest.mark.parametrize("form", FORMS)
def test_an_extreme_value_in_a_form_is_refused(page, form, part):
    path, fields = FORMS[form]
    sent = page(path, **{name: text.replace("%s", PARTS[part]) for name, text in fields.items()})
    assert sent.status_code < 500, sent.text[:300]
