"""People and settings in a browser: an operator invites, weighs, makes a token, changes settings; axe finds nothing."""

import pytest

from server.browser.conftest import picture
from server.browser.test_answer_page import check
from server.signed_in import PASSWORD, add_person

SCREENS = [("light", (1280, 900)), ("dark", (1280, 900)), ("light", (390, 844)), ("dark", (320, 640))]


def test_an_operator_runs_a_project(anna, visit):
    service, url, _ = anna
    page = visit(service, url, add_person(service, "omar", "operator", PASSWORD))
    page.goto("/p/pumps")
    page.get_by_role("link", name="People").click()
    page.get_by_text("Change anna").click()
    row = page.get_by_role("row", name="anna annotator")
    row.get_by_label("Weight").fill("0.5")
    row.get_by_role("button", name="Save").click()
    assert "0.50 set" in page.get_by_role("row", name="anna annotator").inner_text()
    page.locator("#invite-name").fill("mira")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator(".note.once code").inner_text()
    guest = visit(service, url)
    guest.goto(link)
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Join").click()
    assert guest.url.endswith("/p/pumps/answer")
    page.goto("/p/pumps/settings")
    page.get_by_label("Questions without an answer").fill("7")
    page.get_by_role("button", name="Save asking").click()
    assert page.get_by_label("Questions without an answer").input_value() == "7"


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "size"), SCREENS)
def test_axe_finds_nothing_on_people_and_settings(anna, visit, axe, theme, size):
    service, url, _ = anna
    operator = add_person(service, "omar", "operator")
    page = visit(service, url, operator, size=size, color_scheme=theme)
    page.goto("/p/pumps/people")
    page.get_by_text("New token").click()
    page.locator("#token-name").fill("gateway")
    page.locator("#token-purpose").fill("Gateway 1")
    page.get_by_role("button", name="Make a token").click()
    page.locator("#invite-name").fill("mira")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_text("Change anna").click()
    for name in ("people", "settings"):
        if name == "settings":
            page.goto("/p/pumps/settings")
            page.get_by_text("New label").click()
        check(page, axe, f"{name} {theme} {size}")
        picture(page, f"{name}-{size[0]}-{theme}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)
