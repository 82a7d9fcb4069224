"""The second server on a PostgreSQL database, as people and programs see it."""

import asyncio
import re
import time
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.http.streams import Streams
from evolabel.server.log.writer import NotWriterError
from evolabel.server.people.accounts import create_token
from evolabel.server.people.policies import ROUTE_POLICIES
from evolabel.server.project import operations
from evolabel.server.project import service as service_module
from evolabel.server.project.effects import Effects
from evolabel.server.project.jobs import BusyError
from evolabel.server.project.replay import ReplayError
from evolabel.server.project.service import Service
from evolabel.server.project.settings import Label
from server.conftest import on_postgres
from server.pumps import ANNA, call, checksum, new_project, run, samples, send
from server.signed_in import PASSWORD, add_person, browser

WRITING_READS = {
    "/readyz", "/p/{slug}/answer", "/p/{slug}/export/{name}", "/api/v1/projects/{slug}/export/{name}",
    "/api/v1/projects/{slug}/log",
}  # fmt: skip
"""Routes with GET that the standby refuses: a question that is shown is kept for a person, an export is audited."""
FILLED = {"{slug}": "pumps", "{name}": "answers.csv", "{sample}": "3"}


pytestmark = on_postgres  # a second process on a SQLite file is refused


@pytest.fixture
def pair(database, start, monkeypatch):
    """The service that writes, and the standby after it has found the project."""
    monkeypatch.setattr(Effects, "start", lambda effects: None)  # they may hold a connection longer than the test
    monkeypatch.setattr(service_module, "_TRY_SECONDS", 0.05)
    active = start(database)
    run(active.workers["pumps"], samples(40))
    standby = Service(database)
    standby.start()
    wait_for(lambda: is_found(standby))
    yield active, standby
    standby.stop()


def is_found(standby):
    try:
        return bool(standby.readable())
    except NotWriterError:
        return False


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def client_of(standby, **headers):
    app = create_app(standby)
    app.state.streams.stop()
    return TestClient(app, follow_redirects=False, raise_server_exceptions=False, headers=headers)


def test_the_standby_answers_what_only_reads_and_refuses_the_rest(pair, database):
    active, standby = pair
    person = add_person(active, "anna", "operator", password=PASSWORD, admin=True)
    page = client_of(standby, accept="text/html")
    page.cookies = browser(active, person).cookies
    client = client_of(standby, authorization=f"Bearer {create_token(database, 'root', None, None, 'test')}")
    assert not standby.is_writer
    for route in ROUTE_POLICIES:
        method, path = route.split(" ")
        place = re.sub(r"{\w+}", lambda m: FILLED.get(m[0], "1"), path)
        is_page = not path.startswith(("/api", "/ls"))
        reads = method == "GET" and path not in WRITING_READS
        body = {} if is_page or method == "GET" else {"json": {}}
        response = (page if is_page else client).request(method, place, **body)
        expected = (200, 204, 303, 404) if reads else (503, 403, 404, 422)
        assert response.status_code in expected, (route, response.status_code, response.text[:300])
        if reads and "{slug}" in path and not path.endswith(("{rule}", "/life", "/explanation", "/effect", "/file")):
            assert response.status_code in (200, 204), (route, response.text[:300])
        if response.status_code == 503 and path != "/readyz":
            assert "standby" in response.text or "nother process writes" in response.text, route
            assert response.headers["retry-after"], route
    assert page.post("/sign-in", data={"name": "anna", "password": PASSWORD}).status_code == 503
    assert "This server is the standby" in page.get("/p/pumps").text
    assert 'href="/p/pumps">To the overview' in page.get("/p/pumps/answer").text
    assert client.get("/api/v1/projects").json()["projects"][0]["slug"] == "pumps"


def test_the_standby_shows_no_act_that_it_would_refuse(pair):
    active, standby = pair
    for sample, _ in samples(60, seed=1)[40:]:
        send(active.workers["pumps"], {**sample, "id": f"open-{sample['id']}"})
    person = add_person(active, "anna", "operator", password=PASSWORD)
    writing, page = browser(active, person), client_of(standby, accept="text/html")
    page.cookies = writing.cookies
    for path in ("/", "/p/pumps", "/p/pumps/settings"):
        assert "This server is the standby" in page.get(path).text, path
        assert "This server is the standby" not in writing.get(path).text, path
        for act in ('href="/p/pumps/answer"', 'action="/p/pumps/pause"'):
            assert act not in page.get(path).text, (path, act)
    assert 'href="/p/pumps/answer"' in writing.get("/").text
    assert 'class="btn main" href="/p/pumps/answer"' in writing.get("/p/pumps").text
    assert 'action="/p/pumps/pause"' in writing.get("/p/pumps").text


def test_the_standby_shows_at_once_what_the_other_has_stored(pair):
    active, standby = pair
    worker, follower = active.workers["pumps"], standby.readable()["pumps"]
    assert checksum(follower) == checksum(worker)
    run(worker, samples(60)[40:])
    call(worker, operations.add_label, Label("noise"), ANNA)
    call(worker, operations.set_paused, ANNA, paused=True)
    assert checksum(follower) == checksum(worker)
    assert follower.head == worker.head
    assert follower.call(lambda batch: (batch.state.seen, batch.state.label_names, batch.state.paused)) == (
        60, ["leak", "wear", "noise"], True,
    )  # fmt: skip


def test_a_verb_that_writes_is_refused_by_a_follower_and_changes_nothing(pair):
    active, standby = pair
    follower = standby.readable()["pumps"]
    with pytest.raises(Exception, match="this server is the standby"):
        call(follower, operations.set_paused, ANNA, paused=True)
    assert checksum(follower) == checksum(active.workers["pumps"])
    assert not follower.call(lambda batch: batch.state.paused)


def test_the_standby_takes_over(pair):
    active, standby = pair
    before = checksum(active.workers["pumps"])
    active.stop()
    wait_for(lambda: standby.is_writer and standby.readable()["pumps"] is standby.workers.get("pumps"))
    assert checksum(standby.workers["pumps"]) == before
    run(standby.workers["pumps"], samples(60)[40:])


def test_a_stream_of_the_standby_ends_when_it_takes_over(pair):
    active, standby = pair

    async def main():
        follower = standby.readable()["pumps"]
        response = await Streams(standby, lambda item: "").response(SimpleNamespace(headers={}), follower, 9, _allow)
        lines = response.body_iterator
        await anext(lines)
        await asyncio.to_thread(active.stop)
        async with asyncio.timeout(60):
            async for _ in lines:
                pass

    asyncio.run(main())
    assert standby.is_writer


async def _allow():
    """A check that lets the stream go on."""


def test_a_project_that_is_hidden_is_like_one_that_is_not_there(pair, database):
    active, standby = pair
    active.create_project(new_project()._replace(slug="other"))
    wait_for(lambda: "other" in standby.readable())
    token = create_token(database, "expert-1", "pumps", "expert", "test")
    client = client_of(standby, authorization=f"Bearer {token}")
    assert client.get("/api/v1/projects/pumps").status_code == 200
    hidden, absent = client.get("/api/v1/projects/other"), client.get("/api/v1/projects/none")
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.json()["detail"] == absent.json()["detail"]


def test_a_log_that_cannot_be_applied_here_is_refused_with_the_reason(pair, monkeypatch):
    follower, tries = pair[1].readable()["pumps"], []

    def fail(connection, *place):
        tries.append(place)
        raise ReplayError("record 7 is odd")

    monkeypatch.setattr("evolabel.server.project.follower.restore", fail)
    follower.state = None
    for _ in range(3):
        with pytest.raises(BusyError, match=r"cannot read the project \(record 7 is odd\)"):
            follower.call(lambda batch: batch.seq)
    assert len(tries) == 1
