"""The second server on a PostgreSQL database, as people and programs see it."""

import re

import pytest
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.security.first_token import create_token
from evolabel.server.security.policies import ROUTE_POLICIES
from evolabel.server.service import Service
from server.people import PASSWORD, add_person, browser
from server.pumps import run, samples

OPEN_ON_STANDBY = {
    "/livez", "/metrics", "/openapi.json", "/sign-in", "/invite/{code}", "/me", "/ls/{slug}/", "/ls/{slug}/health",
    "/api/v1/me/preferences", "/api/v1/users", "/api/v1/audit",
}  # fmt: skip


def test_every_route_of_the_standby_answers_503_or_what_it_can_read(database, start):
    if database.get_backend_name() != "postgresql":
        pytest.skip("a second process on a SQLite file is refused")
    active = start(database)
    run(active.workers["pumps"], samples(12))
    person = add_person(active, "anna", "operator", password=PASSWORD, admin=True)
    cookies = browser(active, person).cookies
    token = create_token(database, "root", None, None, "test")
    standby = Service(database)
    standby.start()
    try:
        assert not standby.is_writer
        client = TestClient(create_app(standby), follow_redirects=False, raise_server_exceptions=False)
        client.cookies = cookies
        for route in ROUTE_POLICIES:
            method, path = route.split(" ")
            place = re.sub(r"{\w+}", lambda m: {"{slug}": "pumps"}.get(m[0], "1"), path)
            is_page = not path.startswith(("/api", "/ls"))
            headers = {"accept": "text/html"} if is_page else {"authorization": f"Bearer {token}"}
            response = client.request(method, place, headers=headers, json=None if is_page or method == "GET" else {})
            expected = (200, 303, 404) if method == "GET" and path in OPEN_ON_STANDBY else (503, 403, 404, 422)
            assert response.status_code in expected, (route, response.status_code, response.text[:300])
            if response.status_code == 503 and is_page and path != "/readyz":
                assert "standby" in response.text or "nother process writes" in response.text, route
                assert response.headers["retry-after"], route
        signed_in = client.post("/sign-in", data={"name": "anna", "password": PASSWORD})
        assert signed_in.status_code == 503
    finally:
        standby.stop()
