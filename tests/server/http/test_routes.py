"""Every route has a policy, and the policy holds for each role."""

import re

import pytest

from evolabel.server.app import ROUTERS
from evolabel.server.people.accounts import create_token
from evolabel.server.people.policies import OPEN, ROUTE_POLICIES, SIGNED_IN, ForbiddenError, policy_of
from server.pumps import samples, send
from server.signed_in import add_person, browser

ROLES = (None, "producer", "bridge", "annotator", "expert", "operator")
VALUES = {"{slug}": "pumps", "{name}": "answers.csv"}  # in addresses; others are 1
LEVEL = {"annotator": 1, "expert": 2, "operator": 3}


def routes():
    """Method and path of all routes."""
    return sorted(f"{method} {route.path}" for router in ROUTERS for route in router.routes for method in route.methods)


def test_every_route_has_a_policy_and_every_policy_a_route():
    assert routes() == sorted(set(ROUTE_POLICIES) - {"GET /openapi.json"})
    with pytest.raises(ForbiddenError, match="has no policy"):
        policy_of("GET", "/p/{slug}/new-page")


def allowed(role, policy):
    """Whether the role suffices, by the words of the design: annotator < expert < operator, others for themselves."""
    if role in LEVEL and any(LEVEL.get(name, 9) <= LEVEL[role] for name in policy):
        return True
    return role in policy


@pytest.mark.parametrize("role", ROLES)
def test_pages_open_by_role(sqlite, start, role):
    service = start(sqlite)
    send(service.workers["pumps"], samples(1)[0][0])  # the sample 1 that addresses name
    client = browser(service, add_person(service, "anna", role))
    for route, policy in ROUTE_POLICIES.items():
        method, path = route.split(" ")
        if not path.startswith("/p/"):
            continue
        response = client.request(method, re.sub(r"{\w+}", lambda m: VALUES.get(m[0], "1"), path))
        if role is None:
            assert response.status_code == 404, route  # the project is not known to strangers
        elif not allowed(role, policy):
            assert response.status_code == 403, route
        elif method == "GET":
            assert response.status_code == 200, route
        else:  # the form has no token of the session
            assert response.status_code == 403, route
            assert "older than the session" in response.text


def test_without_a_session_only_open_pages_are_shown(sqlite, start):
    client = browser(start(sqlite))
    for route, policy in ROUTE_POLICIES.items():
        method, path = route.split(" ")
        if path.startswith("/api/") or path in ("/livez", "/readyz", "/metrics", "/openapi.json"):
            continue
        response = client.request(method, path.replace("{slug}", "pumps").replace("{number}", "1"))
        if policy == OPEN:
            assert response.status_code in (200, 401, 404), route
        else:
            assert response.status_code == (303 if method == "GET" else 401), route


def test_cookies_open_no_api_and_tokens_no_pages(sqlite, start):
    service = start(sqlite)
    client = browser(service, add_person(service, "anna", "operator"))
    assert client.get("/api/v1/projects/pumps").status_code == 401
    assert ROUTE_POLICIES["GET /"] == SIGNED_IN
    client.cookies.clear()
    assert client.get("/", headers={"authorization": "Bearer ev_x"}).status_code == 303


def test_headers_of_security(sqlite, start):
    client = browser(start(sqlite))
    page = client.get("/sign-in")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-store"
    assert "<script>" not in page.text
    assert "style=" not in page.text
    script = client.get("/static/answer.js")
    assert script.headers["cache-control"] == "public, max-age=86400"
    assert len(script.content) < 12_000
    assert client.get("/static/../texts/en.toml").status_code == 404
    assert client.get("/static/%2e%2e/texts/en.toml").status_code == 404


TRICKS = (
    "/static/..%2ftexts/en.toml", "/static/....//texts/en.toml", "/static/%2fetc/passwd", "/static/..\\texts\\en.toml",
    "/static/%c0%ae%c0%ae/texts/en.toml", "/p/..%2f..%2fetc/answer", "/p/%2e%2e/answer", "/p/pumps%00/answer",
    "/p/PUMPS/answer", "/p/" + "a" * 5000, "//p/pumps", "/p/pumps/samples/1%20OR%201=1", "/p/pumps/samples/-1",
    "/api/v1/projects/..%2fpumps", "/api/v1/projects/pumps%2f..%2fother",
    "/api/v1/projects/pumps/export/..%2flog.ndjson",
    "/api/v1/projects/pumps/export/%2fetc%2fpasswd", "/ls/..%2fpumps/health", "/invite/..%2f..%2fsign-in",
)  # fmt: skip


def test_tricks_with_paths_find_nothing(sqlite, start):
    service = start(sqlite)
    client = browser(service, add_person(service, "anna", "operator"))
    token = create_token(sqlite, "root", None, None, "test")
    for path in TRICKS:
        response = client.get(path, headers={"authorization": f"Bearer {token}"} if path.startswith("/api") else {})
        assert response.status_code in (404, 422), path
        assert "root:" not in response.text


def test_large_forms_are_refused(sqlite, start):
    client = browser(start(sqlite))
    response = client.post("/sign-in", data={"name": "a" * 300_000, "password": "x"})
    assert response.status_code == 413
    assert client.post("/sign-in", content=b"<x/>", headers={"content-type": "text/xml"}).status_code == 415


def test_a_problem_is_a_page_for_browsers_and_json_for_programs(sqlite, start):
    client = browser(start(sqlite))
    assert "Not found" in client.get("/nowhere").text
    assert client.get("/nowhere", headers={"accept": "application/json"}).json()["status"] == 404
