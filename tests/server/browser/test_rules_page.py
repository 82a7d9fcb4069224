"""The page of rules in a real browser: the expert's story, keys, phones, contrast."""

import pytest

from server.browser.conftest import picture
from server.browser.test_answer_page import check
from server.pages.test_rules_page import LOW, train
from server.signed_in import add_person


@pytest.fixture
def eva(serve):
    """A service with rules, its address, and the number of an expert."""
    service, url = serve()
    train(service)
    return service, url, add_person(service, "eva", "expert")


def test_add_preview_lock_and_undo_after_learning(eva, visit):
    service, url, person = eva
    page = visit(service, url, person)
    page.goto("/p/pumps/rules")
    page.click("text=Add a rule")
    page.fill("#form", LOW)
    page.click("button[value=preview]")
    page.wait_for_selector("#read-as")
    assert "predictions change" in page.locator(".figure").inner_text()
    page.click("button[value=save]")
    page.wait_for_selector(".js .rule[open] > summary:focus >> text=“low”")
    page.keyboard.press("l")
    page.wait_for_selector(".rule[open] .tag.locked")
    train(service, 10, seed=4)
    page.reload()
    page.locator(".undo-act button").first.click()
    page.wait_for_selector("text=eva undid an act")
    assert page.locator(".tag.locked").count() == 0
    page.locator(".undo-act button").first.click()
    page.wait_for_selector(".act-list li:nth-child(4)")  # the page follows the replay
    assert page.locator("text=“low”").count() == 0


def test_keys_search_move_and_open(eva, visit):
    service, url, person = eva
    page = visit(service, url, person)
    page.goto("/p/pumps/rules?kind=learned")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert page.locator(".rule").first.get_attribute("open") is not None
    page.keyboard.press("/")
    page.keyboard.type("jk")  # text, no keys
    assert page.locator("#q").input_value() == "jk"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No rule has the text “jk”.")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 800])
def test_nothing_is_wider_than_the_screen(eva, visit, width):
    service, url, person = eva
    page = visit(service, url, person, size=(width, 800))
    for path in ("/p/pumps/rules?show=0", "/p/pumps/rules/edit?rule=0"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_axe_finds_nothing(eva, visit, axe, theme, size):
    service, url, person = eva
    page = visit(service, url, person, size=size, color_scheme=theme, bypass_csp=True)
    page.goto("/p/pumps/rules/edit")
    page.fill("#form", LOW)
    page.click("button[value=preview]")
    check(page, axe, f"preview {theme}")
    picture(page, f"rule-edit-{size[0]}-{theme}")
    page.click("button[value=save]")
    page.wait_for_selector(".js .rule[open] > summary:focus")
    page.keyboard.press("l")
    page.wait_for_selector(".rule[open] .tag.locked")
    check(page, axe, f"rules {theme}")
    picture(page, f"rules-{size[0]}-{theme}")
    page.goto("/p/pumps/rules/edit")
    page.fill("#form", "IF presure BELOW 1 THEN leak LIKELY")
    page.click("button[value=save]")
    page.wait_for_selector("#form-error")
    check(page, axe, f"error {theme}")
    picture(page, f"rule-error-{size[0]}-{theme}")
