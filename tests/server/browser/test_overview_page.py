"""The overview and the events in a real browser: they follow the project live, and have no violation of axe-core."""

import pytest

from evolabel.server.project import operations
from server.browser.conftest import picture
from server.browser.test_answer_page import check
from server.pumps import ANNA, call, run, samples
from server.signed_in import add_person, ask


def test_the_overview_follows_the_project(serve, visit):
    service, url = serve()
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    page = visit(service, url, omar)
    page.goto("/p/pumps")
    assert "No sample yet" in page.inner_text("h1")
    page.wait_for_selector("#following:not([hidden])")
    run(worker, samples(12))
    page.wait_for_selector("text=All is well")
    page.click("text=What is checked")
    page.focus("text=Pause asking")
    call(worker, operations.set_paused, ANNA, paused=True)
    page.wait_for_selector("text=Asking is paused")
    assert page.locator(".checked").get_attribute("open") is not None  # what was opened stays open
    assert page.evaluate("document.activeElement.textContent.trim()") == "Resume asking"


def test_the_overview_is_fetched_again_only_when_something_has_changed(serve, visit):
    service, url = serve()
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    run(worker, samples(12))
    page, fetched = visit(service, url, omar), []
    page.on("request", lambda request: fetched.append(request.url) if request.resource_type == "fetch" else None)
    page.goto("/p/pumps")
    page.wait_for_selector("#following:not([hidden])")  # the first events are there
    page.wait_for_timeout(1000)
    assert fetched == []
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(1000)
    assert fetched == []
    call(worker, operations.set_paused, ANNA, paused=True)
    page.wait_for_selector("text=Asking is paused")
    page.wait_for_timeout(4000)
    assert fetched == [f"{url}/p/pumps"]


def test_several_changes_within_a_short_time_are_one_fetch(serve, visit):
    service, url = serve()
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    page, fetched = visit(service, url, omar), []
    page.clock.install(time=0)
    page.on("request", lambda request: fetched.append(request.url) if request.resource_type == "fetch" else None)
    page.goto("/p/pumps")
    page.wait_for_selector("#following:not([hidden])", state="attached")
    page.clock.pause_at(45_000)
    page.evaluate("seen = 0; document.addEventListener('evolabel', event => { seen += event.detail.name === 'act' })")
    for is_paused in (True, False, True):
        call(worker, operations.set_paused, ANNA, paused=is_paused)
    while page.evaluate("seen") < 3:
        page.wait_for_timeout(20)
    assert fetched == []
    page.clock.run_for(5000)
    page.wait_for_selector("text=Asking is paused")
    page.clock.run_for(45_000)
    assert fetched == [f"{url}/p/pumps"]


def test_a_page_without_news_is_fetched_once_a_minute_while_it_is_seen(serve, visit):
    service, url = serve()
    omar = add_person(service, "omar", "operator")
    page, fetched = visit(service, url, omar), []
    page.clock.install(time=0)
    page.on("request", lambda request: fetched.append(request.url) if request.resource_type == "fetch" else None)
    page.goto("/p/pumps")
    page.wait_for_selector("#following:not([hidden])", state="attached")
    page.clock.pause_at(50_000)
    for n in (1, 2):
        while len(fetched) < n:
            page.clock.run_for(10_000)
            page.wait_for_timeout(100)  # in which the page takes what was fetched
        assert page.evaluate("Date.now()") >= n * 60_000
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(600_000)
    assert len(fetched) == 2
    page.evaluate("delete document.hidden")
    with page.expect_response(f"{url}/p/pumps"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.clock.run_for(3000)


def test_a_fetch_without_an_answer_does_not_stop_later_ones(serve, visit):
    service, url = serve()
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    page, hanging = visit(service, url, omar), []
    page.clock.install(time=0)
    by_this_clock = "const it = new AbortController(); setTimeout(() => it.abort(), ms); return it.signal"
    page.add_init_script(f"AbortSignal.timeout = ms => {{ {by_this_clock} }}")
    page.goto("/p/pumps")
    page.wait_for_selector("#following:not([hidden])", state="attached")
    page.route(f"{url}/p/pumps", lambda route: route.continue_() if hanging else hanging.append(route))
    call(worker, operations.set_paused, ANNA, paused=True)
    while not hanging:
        page.wait_for_timeout(20)
    page.clock.fast_forward(100_000)
    page.clock.fast_forward(100_000)
    page.wait_for_selector("text=Asking is paused")


def test_one_stream_serves_all_tabs_of_a_browser(serve, visit):
    service, url = serve()
    ask(service)
    first = visit(service, url, add_person(service))
    streams = []
    first.context.on("request", lambda request: streams.append(request.url) if request.url.endswith("/live") else None)
    first.goto("/p/pumps")
    first.wait_for_selector("#following:not([hidden])")
    second = first.context.new_page()
    second.goto("/p/pumps/events")
    waiting = service.workers["pumps"].state.n_questions
    call(service.workers["pumps"], operations.send_samples, [{"x": sample["x"]} for sample, _ in samples(30, 3)], ANNA)
    now = service.workers["pumps"].state.n_questions
    assert now > waiting
    for page in (first, second):
        page.wait_for_function("n => document.querySelector('#count span').textContent === String(n)", arg=now)
    assert len(streams) == 1
    first.close()  # the other tab takes over
    second.wait_for_event("request", lambda request: request.url.endswith("/live"))
    call(service.workers["pumps"], operations.send_samples, [{"x": sample["x"]} for sample, _ in samples(30, 4)], ANNA)
    now = service.workers["pumps"].state.n_questions
    second.wait_for_function("n => document.querySelector('#count span').textContent === String(n)", arg=now)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "theme"), [((1280, 900), "light"), ((390, 844), "dark")])
def test_no_violation_of_axe(serve, visit, axe, size, theme):
    service, url = serve()
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    call(worker, operations.send_samples, [{"x": sample["x"], "y": truth} for sample, truth in samples(90, 1)], ANNA)
    run(worker, samples(20), operations.Origin(omar))
    call(worker, operations.set_paused, operations.Origin(omar), paused=True)
    page = visit(service, url, omar, size=size, color_scheme=theme, bypass_csp=True)
    page.goto("/p/pumps")
    page.evaluate("document.querySelectorAll('main details').forEach(fold => { fold.open = true; })")
    check(page, axe, f"overview {theme}")
    picture(page, f"overview-full-{size[0]}-{theme}")
    page.goto("/p/pumps/events")
    check(page, axe, f"events {theme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.locator(".segments label", has_text="Acts").click()
    page.click("text=Show")
    page.wait_for_url("**kind=acts**")
    assert "omar paused asking" in page.inner_text("main")
    assert "is new" not in page.inner_text("main")
