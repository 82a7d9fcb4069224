"""Webhooks over the API: made, listed, removed; the secret is shown once, and the audit table has who did it."""

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.log.schema import AUDIT
from evolabel.server.people.accounts import create_token

HOOKS = "/api/v1/projects/pumps/webhooks"


@pytest.fixture
def operator(sqlite, start):
    service = start(sqlite)
    token = create_token(sqlite, "omar", "pumps", "operator", "test")
    client = TestClient(create_app(service), headers={"authorization": f"Bearer {token}"})
    client.service = service
    return client


def test_a_webhook_is_made_listed_and_removed(operator):
    made = operator.post(HOOKS, json={"url": "https://example.org/hook", "kinds": ["question", "event"]})
    assert made.status_code == 201
    assert set(made.json()) == {"id", "url", "kinds", "secret"}
    (listed,) = operator.get(HOOKS).json()["webhooks"]
    assert (listed["id"], listed["kinds"], listed["tries"]) == (made.json()["id"], ["question", "event"], 0)
    assert "secret" not in listed
    assert operator.get(f"{HOOKS}/{listed['id']}/tries").json() == {"tries": []}
    assert operator.delete(f"{HOOKS}/{listed['id']}").status_code == 204
    assert operator.delete(f"{HOOKS}/{listed['id']}").status_code == 404
    assert operator.get(HOOKS).json() == {"webhooks": []}
    with operator.service.reader.connect() as connection:
        audited = list(connection.scalars(select(AUDIT.c.action).order_by(AUDIT.c.id)))
    assert [action for action in audited if action.startswith("webhook")] == ["webhook-made", "webhook-removed"]
    assert made.json()["secret"] not in str(audited)


@pytest.mark.parametrize(
    "body",
    [
        {"url": "ftp://example.org", "kinds": ["event"]},
        {"url": "https://example.org", "kinds": []},
        {"url": "https://example.org", "kinds": ["secrets"]},
        {"url": "https://a:b@example.org", "kinds": ["event"]},
    ],
)
def test_what_cannot_be_used_is_refused(operator, body):
    assert operator.post(HOOKS, json=body).status_code == 422
    assert operator.get(HOOKS).json() == {"webhooks": []}
