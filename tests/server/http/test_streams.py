"""Streams of events: what they send, after which record they begin, when they end, and how many there may be."""

import asyncio
import contextlib
import json
from collections import deque
from types import SimpleNamespace

import httpx
import pytest
from sqlalchemy import update

from evolabel.server.http import streams
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.streams import Streams
from evolabel.server.log.records import records_after
from evolabel.server.log.schema import TOKEN
from evolabel.server.pages.events import describe
from evolabel.server.people import tokens
from evolabel.server.people.accounts import create_token
from evolabel.server.people.policies import ForbiddenError
from evolabel.server.project import operations
from evolabel.server.project.feed import StreamEvent, stream_events
from server.listening import listening
from server.pumps import ANNA, call, run, samples, send
from server.signed_in import add_person, browser


def asking(last=None):
    """A request for a stream, behind the record `last`."""
    return SimpleNamespace(headers={} if last is None else {"last-event-id": str(last)})


def words(item):
    """The text of an act."""
    return describe(item).title


async def allow():
    """A check that lets the stream go on."""


async def gone():
    """The message that the client has gone."""
    return {"type": "http.disconnect"}


async def ignore(message):
    """Send nothing."""


async def events_of(response, enough):
    """Names and data of the events of a stream, until `enough` says so of them."""
    found = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(20):
            async for text in response.body_iterator:
                for block in text.split("\n\n"):
                    lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
                    if "event" in lines:
                        found.append((lines["event"], json.loads(lines["data"]), int(lines["id"])))
                if enough(found):
                    break
    await response.body_iterator.aclose()
    return found


def read_stream(service, act, enough, last=None, person=9):
    """Events of a stream that is opened before `act` is done."""

    async def main():
        open_streams = Streams(service, words)
        response = await open_streams.response(asking(last), service.workers["pumps"], person, allow)
        doing = asyncio.get_running_loop().run_in_executor(None, act)
        found = await events_of(response, enough)
        await doing
        assert open_streams.n_open == 0
        return found

    return asyncio.run(main())


def test_a_stream_sends_what_happens(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]

    def act():
        run(worker, samples(12))
        call(worker, operations.set_paused, ANNA, paused=True)

    paused = ("state", {"paused": True, "ready": True})
    found = read_stream(service, act, lambda events: [e for e in events if e[:2] == paused])
    names = [name for name, _, _ in found]
    assert names[:2] == ["waiting", "state"]
    asked = {data["number"] for name, data, _ in found if name == "question"}
    assert asked == {data["number"] for name, data, _ in found if name == "closed"}
    assert asked == {data["number"] for name, data, _ in found if name == "final"}
    assert ("act", {"kind": "paused", "text": "A command paused asking"}) in [(name, data) for name, data, _ in found]
    assert names.count("sample") < 12  # at most two a second
    numbers = [seq for _, _, seq in found]
    assert numbers[-1] == worker.head.seq


def test_a_stream_goes_on_behind_the_last_event(sqlite, start, monkeypatch):
    service = start(sqlite)
    worker = service.workers["pumps"]
    before = worker.head.seq
    run(worker, samples(12))
    with service.reader.connect() as connection:
        missed = stream_events(records_after(connection, worker.project.id, before, 1000))
    found = read_stream(service, lambda: None, lambda events: events[-1:] and events[-1][0] == "state", last=before)
    assert [StreamEvent(seq, name, data) for name, data, seq in found[:-2]] == missed
    assert {event.name for event in missed} == {"sample", "question", "closed", "final"}
    found = read_stream(service, lambda: None, lambda events: events[-1:] and events[-1][0] == "state", last=0)
    assert ("act", {"kind": "project.created", "text": "A command made the project"}, 1) in found
    monkeypatch.setattr(streams, "MOST_AGAIN", 3)
    found = read_stream(service, lambda: None, lambda events: events[-1:] and events[-1][0] == "state", last=before)
    assert [name for name, _, _ in found] == ["reset", "waiting", "state"]
    assert found[0][2] == worker.head.seq


def test_a_slow_reader_holds_a_bounded_number_of_records(sqlite, start, monkeypatch):
    service = start(sqlite)
    worker, kept = service.workers["pumps"], []
    monkeypatch.setattr(streams, "MOST_AGAIN", 3)
    monkeypatch.setattr(streams, "deque", lambda: kept.append(deque()) or kept[-1])

    async def main():
        response = await Streams(service, words).response(asking(), worker, 9, allow)
        await asyncio.to_thread(run, worker, samples(12))  # nothing is read meanwhile
        await asyncio.sleep(0)
        assert sum(len(news.records) for news in kept[0]) <= 3
        return await events_of(response, lambda events: any(name == "reset" for name, *_ in events))

    found = asyncio.run(main())
    assert [name for name, *_ in found if name not in ("waiting", "state")] == ["reset"]
    assert next(seq for name, _, seq in found if name == "reset") == worker.head.seq


def test_waiting_is_counted_for_the_person(sqlite, start):
    service = start(sqlite, min_answers=2)
    worker = service.workers["pumps"]
    numbers = [result["number"] for result in (send(worker, s) for s, _ in samples(20)) if result["question"]]

    def act():
        call(worker, operations.give_answer, numbers[-1], {"leak": True}, operations.Origin(9))

    def enough(events):
        return [e for e in events if e[:2] == ("waiting", {"n": len(numbers) - 1})]

    assert enough(read_stream(service, act, enough))
    assert read_stream(service, lambda: None, lambda events: events, person=8)[0][1] == {"n": len(numbers)}


def test_a_stream_ends_when_the_person_may_no_longer_read_it(sqlite, start, monkeypatch):
    service = start(sqlite)
    monkeypatch.setattr(streams, "COMMENT_SECONDS", 0.05)

    async def refuse():
        raise ForbiddenError("no more")

    async def main():
        response = await Streams(service, words).response(asking(), service.workers["pumps"], 9, refuse)
        return await events_of(response, lambda events: False)

    assert [name for name, _, _ in asyncio.run(main())] == ["waiting", "state"]


def test_there_are_limits(sqlite, start, monkeypatch):
    service = start(sqlite)

    async def main():
        open_streams, worker = Streams(service, words), service.workers["pumps"]
        responses = [await open_streams.response(asking(), worker, 9, allow) for _ in range(5)]
        with pytest.raises(ProblemError, match="5 streams of this person"):
            await open_streams.response(asking(), worker, 9, allow)
        other = await open_streams.response(asking(), worker, 8, allow)
        await anext(other.body_iterator)
        service.limits = service.limits._replace(sse=6)
        with pytest.raises(ProblemError):
            await open_streams.response(asking(), worker, 7, allow)
        for response in [*responses, other]:  # some were never begun
            await response({"type": "http"}, gone, ignore)
        assert open_streams.n_open == 0

    asyncio.run(main())


def test_streams_over_the_network_end_with_their_token(sqlite, start, monkeypatch):
    monkeypatch.setattr(streams, "COMMENT_SECONDS", 0.2)
    monkeypatch.setattr(tokens, "_CACHE_SECONDS", 0.0)
    service = start(sqlite)
    token = create_token(sqlite, "anna", "pumps", "annotator", "test")
    with (
        listening(service) as address,
        httpx.stream(
            "GET", f"{address}/api/v1/projects/pumps/events", headers={"Authorization": f"Bearer {token}"}, timeout=20
        ) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        assert "event: waiting" in [next(lines) for _ in range(5)]
        send(service.workers["pumps"], samples(1)[0][0])
        assert next(line for line in lines if line == "event: sample")
        with service.writer.transaction() as connection:
            connection.execute(update(TOKEN).values(revoked=1))
        assert len([line for line in lines if line == "event: state"]) == 0  # read to the end


def test_the_checks_of_an_open_stream_are_no_requests_of_its_token(sqlite, start, monkeypatch):
    monkeypatch.setattr(streams, "COMMENT_SECONDS", 0.01)
    service = start(sqlite)
    token = create_token(sqlite, "anna", "pumps", "annotator", "test")
    with service.writer.transaction() as connection:
        connection.execute(update(TOKEN).values(per_minute=2))
    with (
        listening(service) as address,
        httpx.stream(
            "GET", f"{address}/api/v1/projects/pumps/events", headers={"Authorization": f"Bearer {token}"}, timeout=20
        ) as response,
    ):
        comments = (line for line in response.iter_lines() if line == ": here")
        assert len([next(comments) for _ in range(5)]) == 5


def test_pages_have_a_stream_with_the_session(sqlite, start):
    service = start(sqlite)
    shown = browser(service, add_person(service)).get("/p/pumps/live")
    assert shown.headers["content-type"].startswith("text/event-stream")
    assert "event: waiting" in shown.text
    assert browser(service).get("/p/pumps/live").status_code == 303
