"""The sign-in page in a real browser: where it leads to."""

from urllib.parse import urlsplit

import pytest

from server.signed_in import PASSWORD, add_person

TARGETS = [
    "//evil.example/", "///evil.example/", "/%5Cevil.example/", "/%09/evil.example/", "/%0A/evil.example/",
    "/%2509/evil.example/", "%2F%2F%2Fevil.example/", "https:evil.example", "https:%2F%2Fevil.example/",
    "%09//evil.example/",
]  # fmt: skip


@pytest.fixture
def asked(serve, visit):
    """A page of a person who is signed out, and the hosts that it asks."""
    service, url = serve()
    add_person(service, password=PASSWORD)
    page, hosts = visit(service, url), set()
    page.context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    return page, hosts, url.removeprefix("http://")


def test_no_target_leads_to_another_host(asked):
    page, hosts, own = asked
    for to in TARGETS:
        page.context.clear_cookies()
        page.goto(f"/sign-in?to={to}")
        page.fill("#name", "anna")
        page.fill("#password", PASSWORD)
        with page.expect_navigation():
            page.click("button.main")
        page.goto(f"/sign-in?to={to}")  # with a session
        assert hosts == {own}, to
