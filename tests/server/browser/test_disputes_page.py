"""Two people and a dispute in a browser: answered by keys, decided by an expert, corrected; axe finds nothing."""

import pytest

from evolabel.server.project import operations
from server.browser.conftest import check, picture
from server.project.test_disputes import answer, asked
from server.pumps import ANNA, BOB, call
from server.signed_in import add_person


def test_two_people_differ_and_an_expert_decides_by_keys(serve, visit):
    service, url = serve(min_answers=2, hold_seconds=0)
    anna, bob = add_person(service, "anna"), add_person(service, "bob")
    eva = add_person(service, "eva", "expert")
    number, worker = asked(service), service.workers["pumps"]
    for person, key in ((anna, "y"), (bob, "n")):
        page = visit(service, url, person)
        page.goto(f"/p/pumps/answer?number={number}")
        for _ in range(page.locator(".asked .ask-row").count()):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector(".last .explain, .last .versus")
    expert = visit(service, url, eva)
    expert.goto("/p/pumps")
    expert.get_by_role("link", name="Disputes").click()
    picture(expert, "disputes")
    card = expert.get_by_role("region", name=f"Sample {number}")
    assert card.locator(".people-say > li p span:first-child").all_inner_texts() == ["anna", "bob"]
    for group in card.get_by_role("radiogroup").all():
        group.get_by_role("radio", name="No").focus()
        expert.keyboard.press("ArrowLeft")  # to yes
    card.get_by_role("button", name="Decide").focus()
    expert.keyboard.press("Enter")
    notice = expert.get_by_role("status").filter(has_text=f"Sample {number} is decided.")
    notice.wait_for()
    assert expert.get_by_text("No answers differ.").is_visible()
    assert number not in call(worker, lambda batch: set(batch.state.open))
    page.goto("/p/pumps/answers")  # bob's
    page.get_by_role("link", name=f"Correct this answer: Sample {number}").click()
    for group in page.get_by_role("radiogroup").all():
        group.get_by_text("Yes", exact=True).click()
    page.get_by_role("button", name="Send the correction").click()
    page.get_by_role("status").filter(has_text=f"The answer to sample {number} is corrected.").wait_for()
    assert page.locator(".people-say .earlier").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("size", "locale"), [((1280, 900), "en"), ((320, 640), "de")])
def test_axe_finds_nothing_on_disputes(serve, visit, axe, theme, size, locale):
    service, url = serve(min_answers=2, hold_seconds=0)
    for name in ("anna", "bob"):
        add_person(service, name)
    eva = add_person(service, "eva", "expert")
    worker, (one, other) = service.workers["pumps"], (asked(service), asked(service, 1))
    for number in (one, other):
        answer(worker, number, True, ANNA, wear=True)
        answer(worker, number, False, BOB, wear=True)
    call(worker, operations.decide, one, {"leak": True}, operations.Origin(eva))
    answer(worker, one, True, BOB, wear=False)
    page = visit(service, url, eva, size=size, color_scheme=theme, locale=locale, bypass_csp=True)
    paths = ("disputes", "disputes?decided=1&notice=decided&number=1", f"samples/{one}?form=decision")
    for name, path in zip(("disputes", "disputes-decided", "disputes-sample"), paths, strict=True):
        page.goto(f"/p/pumps/{path}")
        picture(page, f"{name}-{theme}-{size[0]}")
        check(page, axe, f"{path} {theme}")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
