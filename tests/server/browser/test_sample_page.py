"""The page of one sample and the own answers in a real browser: reached by a key, narrow, without violations."""

import pytest

from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from server.browser.conftest import check, picture
from server.pumps import ANNA, BOB, call, run, samples
from server.signed_in import ask


def test_a_final_answer_is_explained(anna, visit):
    service, url, person = anna
    worker = service.workers["pumps"]
    call(worker, operations.change_settings, {"hold_seconds": 0}, ANNA)
    run(worker, samples(240)[200:], BOB)
    number, labels = ask(service, 2)
    page = visit(service, url, person)
    page.goto(f"/p/pumps/samples/{number}")
    assert page.locator(".fall").count() == 0  # blind: the values alone
    with page.expect_navigation():  # until its script runs, keys do nothing
        page.click("text=Answer first >> .. >> a")
    for _ in labels:
        page.keyboard.press("y")
    page.keyboard.press("Enter")
    page.wait_for_selector(".last .explain")
    page.keyboard.press("e")
    page.wait_for_url(f"**/p/pumps/samples/{number}")
    texts = page.locator(".fall .give").all_inner_texts()[1:]
    given = [float(text.replace("\u2212", "-")) for text in texts]
    assert sum(given[:-1]) == pytest.approx(given[-1], abs=0.005 * len(given))
    assert page.locator(".turns li").count() <= 3
    assert page.locator(".people-say li").count() == 1
    page.click(".verdicts a:not([aria-current])")
    page.wait_for_url("**?label=*")
    page.click(".menu summary")
    page.click("text=My answers")
    assert page.locator(".answers tbody tr").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (320, 640)])
def test_axe_finds_nothing_on_samples(anna, visit, axe, theme, size):
    service, url, person = anna
    run(service.workers["pumps"], samples(240)[200:], Origin(person))
    call(service.workers["pumps"], operations.change_settings, {"hold_seconds": 0}, ANNA)
    number, _ = ask(service)
    page = visit(service, url, person, size=size, color_scheme=theme, bypass_csp=True)
    for name, path in (
        ("sample", f"samples/{number - 1}"),
        ("sample-blind", f"samples/{number}"),
        ("answers", "answers"),
    ):
        page.goto(f"/p/pumps/{path}")
        picture(page, f"{name}-{theme}-{size[0]}")
        check(page, axe, f"{path} {theme}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
