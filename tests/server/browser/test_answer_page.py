"""The answer page in a real browser: keys, mouse, without a script, undo, offline, phones, contrast."""

import json

import pytest
from sqlalchemy import select

from evolabel.server.log.schema import RESPONSE
from evolabel.server.project import operations
from server.browser.conftest import check, picture
from server.pumps import ANNA, call, samples
from server.signed_in import PASSWORD, add_person, ask


def stored(service):
    """Status and answers of all responses, oldest first."""
    with service.reader.connect() as connection:
        rows = connection.execute(select(RESPONSE).order_by(RESPONSE.c.seq)).all()
    return [(row.number, row.status, json.loads(row.answers)) for row in rows]


def heading(page):
    return page.locator("#sample-title").inner_text()


def answer_all(page, key):
    for _ in range(page.locator(".asked .ask-row").count()):
        page.keyboard.press(key)


def said(page, text):
    page.wait_for_function("text => document.getElementById('live').textContent.includes(text)", arg=text)


def test_sign_in_and_answer_by_keys_with_one_enter_per_question(serve, visit):
    service, url = serve(hold_seconds=60)
    person = add_person(service, password=PASSWORD)
    ask(service, 2)
    page = visit(service, url)
    page.goto("/p/pumps/answer")
    page.fill("#name", "anna")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/p/pumps/answer")  # the address of the sign-in page ends in the same path
    first = heading(page)
    answer_all(page, "y")
    page.keyboard.press("Enter")
    said(page, "Sent. Undo with Backspace. Sample")
    assert heading(page) != first
    page.keyboard.press("Enter")  # the next question is still open: nothing is sent
    said(page, "still open")
    answer_all(page, "n")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Nothing to ask.")
    kept = stored(service)
    assert [status for _, status, _ in kept] == ["submitted"] * 2
    assert set(kept[0][2].values()) == {1}
    assert set(kept[1][2].values()) == {0}
    assert person > 0


def test_without_a_script(anna, visit):
    service, url, person = anna
    number, labels = ask(service, 2)
    page = visit(service, url, person, java_script_enabled=False)
    page.goto("/p/pumps/answer")
    assert page.inner_text("#sample-title") == f"Sample {number}"
    page.click("#send")
    assert "still open" in page.inner_text("#missing")
    for row in page.locator(".asked .ask-row").all():
        row.locator(".choice.unsure").click()
    page.locator(".asked .choice.no").first.click()
    page.click("#send")
    page.wait_for_url("**notice=sent")
    assert stored(service)[0][2] == {label: 0 if label == labels[0] else None for label in labels}
    assert page.inner_text("#sample-title") != f"Sample {number}"
    page.locator("#last .undo button").click()
    page.wait_for_url("**notice=taken_back")
    assert page.inner_text("#sample-title") == f"Sample {number}"
    assert page.locator(".choice.no input").first.is_checked()
    assert stored(service)[-1][1] == "withdrawn"


def test_undo_brings_the_question_back_with_its_answers(anna, visit):
    service, url, person = anna
    number, _ = ask(service, 2)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    answer_all(page, "n")
    page.keyboard.press("Enter")
    said(page, "Sent.")
    assert heading(page) != f"Sample {number}"
    page.keyboard.press("Backspace")
    said(page, "Taken back.")
    assert heading(page) == f"Sample {number}"
    assert page.locator(".asked .choice.no input:checked").count() == page.locator(".asked .ask-row").count()
    page.keyboard.press("Enter")
    said(page, "Sent.")
    assert [status for _, status, _ in stored(service)] == ["submitted", "withdrawn", "submitted"]


@pytest.mark.slow
def test_keys_of_the_page(anna, visit):
    service, url, person = anna
    ask(service, 4)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    rows = page.locator(".asked .ask-row")
    n = rows.count()
    page.keyboard.press("Digit1")
    page.keyboard.press("u")
    said(page, ": unsure")
    page.keyboard.press("Digit0")
    assert page.locator(".asked .choice.no input:checked").count() == n - 1
    assert page.locator(".fold input:checked").count() == 0
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("y")  # keys are silent while the list is open
    page.keyboard.press("Escape")
    assert page.locator(".asked .choice.yes input:checked").count() == 0
    first = heading(page)
    page.keyboard.press("s")
    said(page, "Skipped.")
    assert heading(page) != first
    page.keyboard.press("r")
    said(page, "cannot decide")
    assert [status for _, status, _ in stored(service)] == ["refused"]
    if page.locator(".asked .ask-row").count() > 1:
        page.keyboard.press("y")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(500)
    assert all(status in ("refused", "submitted") for _, status, _ in stored(service))


@pytest.mark.slow
def test_single_keys_can_be_switched_off(anna, visit):
    service, url, person = anna
    ask(service)
    page = visit(service, url, person)
    page.goto("/me")
    page.uncheck("input[name=keys]")
    page.click("text=Save")
    page.goto("/p/pumps/answer")
    page.keyboard.press("y")
    assert page.locator("input:checked").count() == 0
    page.locator(".asked input").first.focus()
    page.keyboard.press("Space")
    assert page.locator("input:checked").count() == 1


@pytest.mark.slow
def test_by_mouse_and_a_double_click_sends_once(anna, visit):
    service, url, person = anna
    ask(service, 3)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    for row in page.locator(".asked .ask-row").all():
        row.locator(".choice.yes").click()
    page.dblclick("#send")
    said(page, "Sent.")
    page.wait_for_timeout(300)
    assert len(stored(service)) == 1


@pytest.mark.slow
def test_an_answer_is_kept_while_there_is_no_connection(anna, visit):
    service, url, person = anna
    ask(service, 2)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    answer_all(page, "y")
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    said(page, "Not sent: no connection.")
    assert page.locator("#unsent").is_visible()
    assert stored(service) == []
    page.context.set_offline(False)
    said(page, "Sent.")
    assert len(stored(service)) == 1
    assert not page.locator("#unsent").count()


@pytest.mark.slow
def test_an_answer_outlives_the_end_of_a_session_but_not_a_change_of_person(serve, visit):
    service, url = serve(hold_seconds=60)
    person = add_person(service, password=PASSWORD)
    add_person(service, "bob", password=PASSWORD)
    ask(service, 3)
    page = visit(service, url, person)

    def answer_without_session_then_sign_in(name):
        answer_all(page, "y")
        page.context.clear_cookies()
        page.keyboard.press("Enter")
        page.wait_for_url("**/sign-in**")
        page.fill("#name", name)
        page.fill("#password", PASSWORD)
        page.click("button.main")
        page.wait_for_url(f"{url}/p/pumps/answer")  # the address of the sign-in page ends in the same path

    page.goto("/p/pumps/answer")
    answer_without_session_then_sign_in("anna")
    said(page, "Sent.")
    assert [status for _, status, _ in stored(service)] == ["submitted"]
    answer_without_session_then_sign_in("bob")
    page.wait_for_timeout(500)
    assert len(stored(service)) == 1


@pytest.mark.slow
def test_a_new_question_appears_by_itself(anna, visit):
    service, url, person = anna
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    page.wait_for_selector("text=Nothing to ask.")
    number, _ = ask(service)
    page.wait_for_selector("#ask")
    said(page, f"Sample {number}.")


WATCH = """
    window.seen = { events: [], fetches: 0, draws: 0, held: null };
    window.hold = () => { seen.held = new Promise(go => { seen.release = go; }); };
    const plain = window.fetch, replace = Element.prototype.replaceWith;
    window.fetch = async (...given) => {
      if (!String(given[0]).endsWith("/answer")) return plain(...given);
      seen.fetches += 1;
      const answer = await plain(...given);
      await seen.held;
      return answer;
    };
    Element.prototype.replaceWith = function (...given) {
      if (this.id === "main") seen.draws += 1;
      return replace.apply(this, given);
    };
    document.addEventListener("evolabel", event => seen.events.push(event.detail.name));
"""
WAITING = "document.dispatchEvent(new CustomEvent('evolabel', { detail: { name: 'waiting', data: { n: 1 } } }))"


@pytest.fixture
def empty_page(anna, visit):
    """A service, and its answer page without a question, which counts fetches and draws and can hold fetches back."""
    service, url, person = anna
    page = visit(service, url, person)
    page.add_init_script(WATCH)
    page.goto("/p/pumps/answer")
    page.wait_for_function("() => seen.events.includes('state')")  # the stream is open, and its first events are there
    page.wait_for_timeout(300)
    page.evaluate("seen.fetches = 0; seen.events = []; hold()")
    return service, page


def test_an_arriving_question_is_fetched_and_drawn_once_and_keeps_every_key(empty_page):
    service, page = empty_page
    _, labels = ask(service)
    page.wait_for_function("() => ['question', 'waiting'].every(name => seen.events.includes(name))")
    page.evaluate("seen.release()")
    page.wait_for_selector("#ask")
    page.keyboard.press("y")
    page.evaluate(WAITING)
    for _ in labels[1:]:
        page.keyboard.press("n")
    page.wait_for_timeout(500)
    chosen = page.locator(".asked input:checked").evaluate_all("inputs => inputs.map(input => input.value)")
    assert chosen == ["1"] + ["0"] * (len(labels) - 1)
    assert len(labels) == 2
    assert page.evaluate("[seen.fetches, seen.draws]") == [1, 1]


def test_a_question_that_arrives_during_a_fetch_without_one_is_fetched_after_it(empty_page):
    service, page = empty_page
    page.evaluate(WAITING)
    page.wait_for_timeout(300)  # the server has answered that there is none
    number, _ = ask(service)
    page.wait_for_function("() => seen.events.includes('question')")
    page.evaluate("seen.release()")
    said(page, f"Sample {number}.")
    assert page.evaluate("[seen.fetches, seen.draws]") == [2, 1]


def test_a_question_does_not_take_the_place_of_an_answer_that_is_taken_back(empty_page):
    service, page = empty_page
    page.evaluate("seen.release()")
    first, _ = ask(service)
    page.wait_for_selector("#ask")
    answer_all(page, "y")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Nothing to ask.")
    page.evaluate("hold()")
    call(service.workers["pumps"], operations.send_samples, [{"x": sample["x"]} for sample, _ in samples(30, 3)], ANNA)
    page.wait_for_function("() => seen.events.filter(name => name === 'question').length > 1")
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")  # while the new question is being fetched
    said(page, "Taken back.")
    page.keyboard.press("n")
    page.evaluate("seen.release()")
    page.wait_for_timeout(300)
    assert heading(page) == f"Sample {first}"
    assert page.locator(".asked .choice.no input:checked").count() == 1


@pytest.mark.slow
def test_two_people_get_different_questions(anna, visit):
    service, url, person = anna
    bob = add_person(service, "bob")
    ask(service, 2)
    pages = [visit(service, url, who) for who in (person, bob)]
    for page in pages:
        page.goto("/p/pumps/answer")
    assert heading(pages[0]) != heading(pages[1])


@pytest.mark.slow
def test_a_late_answer_is_kept_as_a_correction(anna, visit):
    service, url, person = anna
    number, _ = ask(service)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    call(service.workers["pumps"], operations.late_labels, number, {"leak": True}, ANNA)
    answer_all(page, "y")
    page.keyboard.press("Enter")
    said(page, "kept as a correction")
    assert stored(service)[-1][1] == "correction"


@pytest.mark.slow
def test_what_the_model_said_is_shown_when_the_answer_is_final(serve, visit):
    service, url = serve(hold_seconds=2)
    person = add_person(service)
    ask(service, 2)
    page = visit(service, url, person)
    page.goto("/p/pumps/answer")
    answer_all(page, "y")
    page.keyboard.press("Enter")
    said(page, "Sent.")
    assert "model" not in page.inner_text("#last")
    page.wait_for_selector("#last >> text=model")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(390, 844), (320, 640)])
def test_on_a_phone_send_is_in_view_and_covers_nothing(anna, visit, size):
    service, url, person = anna
    ask(service, 2)
    page = visit(service, url, person, size=size)
    page.goto("/p/pumps/answer")
    answer_all(page, "y")
    page.keyboard.press("Enter")
    said(page, "Sent.")
    foot, middle = page.locator(".foot").bounding_box(), page.locator(".scroll").bounding_box()
    assert foot["y"] + foot["height"] <= size[1] + 1
    assert middle["y"] + middle["height"] <= foot["y"] + 1
    assert page.locator("#send").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    picture(page, f"answer-{size[0]}")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 800, 1000, 1440])
def test_no_page_scrolls_sideways(anna, visit, width):
    service, url, person = anna
    ask(service, 2)
    page = visit(service, url, person, size=(width, 800))
    for path in ("/", "/me", "/p/pumps", "/p/pumps/answer", "/sign-in", "/p/none"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_axe_finds_nothing(anna, visit, axe, theme, size):
    service, url, person = anna
    worker = service.workers["pumps"]
    call(worker, operations.send_samples, [sample for sample, _ in samples(40, seed=5)], ANNA)
    page = visit(service, url, person, size=size, color_scheme=theme, bypass_csp=True)
    for path in ("/", "/me", "/p/pumps", "/p/pumps/answer", "/p/none"):
        page.goto(path)
        check(page, axe, f"{path} {theme}")
        picture(page, f"{path.strip('/').replace('/', '-') or 'projects'}-{size[0]}-{theme}")
    page.goto("/p/pumps/answer")
    answer_all(page, "y")
    page.keyboard.press("Enter")
    said(page, "Sent.")
    check(page, axe, f"sent {theme}")
    picture(page, f"sent-{size[0]}-{theme}")
    while page.locator("#ask").count():
        before = heading(page)
        page.keyboard.press("r")
        page.wait_for_function("before => document.getElementById('sample-title')?.textContent !== before", arg=before)
    check(page, axe, f"empty {theme}")
    picture(page, f"empty-{size[0]}-{theme}")
    stranger = visit(service, url, size=size, color_scheme=theme, bypass_csp=True)
    stranger.goto("/sign-in")
    check(stranger, axe, f"sign-in {theme}")
