"""`Streams`: server-sent events of projects to programs and pages, with limits and checks while they are open."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from evolabel.errors import EvolabelError
from evolabel.server.http.access import read
from evolabel.server.http.problems import ProblemError
from evolabel.server.log.activity import ActivityItem, activity_of
from evolabel.server.log.records import records_after
from evolabel.server.log.writer import reading
from evolabel.server.project.feed import Commit, StreamEvent, Waiting, stream_events
from evolabel.server.project.service import Service
from evolabel.server.project.worker import Worker

COMMENT_SECONDS = 15.0
MOST_PER_PERSON = 5
MOST_AGAIN = 1000  # records that are sent again, and that may wait for a slow reader
_SAMPLE_SECONDS = 0.5  # between two events of samples
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Check = Callable[[], Awaitable[object]]


class Streams:
    """All open streams of events of `service`; `words` returns the text of something that happened."""

    def __init__(self, service: Service, words: Callable[[ActivityItem], str]) -> None:
        self._service = service
        self._words = words
        self._open = Counter[int]()
        self._stopped = False

    @property
    def n_open(self) -> int:
        """Number of open streams."""
        return self._open.total()

    def stop(self) -> None:
        """End all streams at their next event or within a second."""
        self._stopped = True

    async def response(self, request: Request, worker: Worker, person: int, check: Check) -> StreamingResponse:
        """Return the stream of the project of `worker` to a `person`, from the `Last-Event-ID` of `request` on.

        `check` is called with every comment; the stream ends when it raises an error. ProblemError 429 if too many
        streams are open.
        """
        most = self._service.limits.sse
        if self.n_open >= most or self._open[person] >= MOST_PER_PERSON:
            detail = f"{self._open[person]} streams of this person are open, at most {MOST_PER_PERSON} can be"
            if self._open[person] < MOST_PER_PERSON:
                detail = f"{self.n_open} streams are open, at most {most} can be"
            raise ProblemError(429, "slow-down", f"{detail}; close one of them", {"Retry-After": "15"})
        given = request.headers.get("last-event-id", "")
        after = int(given) if given.isascii() and given.isdigit() and len(given) <= 18 else None
        reader = _Reader(worker, person)
        self._open[person] += 1
        worker.feed.listen(reader.inbox.put)
        try:  # what is read now is followed by the commits in the inbox, without a gap
            waiting = await read(worker, lambda batch: Waiting.of(batch.state, batch.seq))
            missed = await asyncio.to_thread(self._missed, worker, after, waiting.seq)
        except BaseException:
            self._end(reader)
            raise
        return _EventResponse(self._lines(reader, waiting, missed, check), lambda: self._end(reader))

    def _end(self, reader: "_Reader") -> None:
        """Forget a `reader` whose stream has ended, or was never sent."""
        if not reader.ended:
            reader.ended = True
            reader.worker.feed.forget(reader.inbox.put)
            self._open[reader.person] -= 1

    def _missed(self, worker: Worker, after: int | None, head: int) -> list[StreamEvent]:
        """Return the events behind record `after`, at most those of 1000 records, else the event `reset` alone."""
        if after is None or after >= head:
            return []
        if head - after > MOST_AGAIN:
            return [StreamEvent(head, "reset", {})]
        with reading(self._service.reader) as connection:
            events = stream_events(records_after(connection, worker.project.id, after, head - after))
        return self._in_words(worker, events)

    def _in_words(self, worker: Worker, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return `events`, of which each act has its text."""
        acts = {event.seq for event in events if event.name == "act"}
        if not acts:
            return events
        with reading(self._service.reader) as connection:
            happened = activity_of(connection, worker.project.id, acts)
        texts = {(h.seq, h.part): self._words(h) for h in happened}
        return [
            event._replace(data={"kind": event.data["kind"], "text": texts[event.seq, event.data["part"]]})
            if event.name == "act"
            else event
            for event in events
        ]

    def _is_served(self, worker: Worker) -> bool:
        """Whether `worker` still serves its project; after a takeover another one does, and clients connect again."""
        try:
            return self._service.find_worker(worker.project.slug) is worker
        except EvolabelError:
            return False

    async def _lines(
        self, reader: "_Reader", waiting: Waiting, missed: list[StreamEvent], check: Check
    ) -> AsyncIterator[str]:
        """Yield the text of the stream of `reader` until it ends."""
        samples, comment_at = _Samples(), time.monotonic() + COMMENT_SECONDS
        try:
            yield "retry: 3000\n\n" + "".join(event.text() for event in missed) + reader.changed(waiting)
            while not self._stopped and self._is_served(reader.worker):
                commits, is_whole = await reader.inbox.get(min(comment_at - time.monotonic(), samples.seconds(), 1.0))
                events = _events_behind(commits, waiting.seq, is_whole=is_whole)
                if any(event.name == "act" for event in events):
                    events = await asyncio.to_thread(self._in_words, reader.worker, events)
                waiting = commits[-1].waiting if commits and commits[-1].waiting.seq > waiting.seq else waiting
                text = "".join(event.text() for event in samples.passed(events)) + reader.changed(waiting)
                if time.monotonic() >= comment_at:
                    try:
                        await check()
                    except EvolabelError:
                        return
                    text, comment_at = text + ": here\n\n", time.monotonic() + COMMENT_SECONDS
                if text:
                    yield text
        finally:
            self._end(reader)


class _EventResponse(StreamingResponse):
    """A stream of events; `end` is called when it ends, also if it was never begun."""

    def __init__(self, lines: AsyncIterator[str], end: Callable[[], None]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers=_HEADERS)
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()


class _Reader:
    """A person who reads the stream of the project of `worker`, the commits for it, and what was sent last."""

    def __init__(self, worker: Worker, person: int) -> None:
        self.worker = worker
        self.person = person
        self.inbox = _Inbox()
        self.ended = False
        self._sent: dict[str, dict[str, Any]] = {}

    def changed(self, waiting: Waiting) -> str:
        """Return the events `waiting` and `state` as text, as far as they differ from those sent last."""
        now: dict[str, dict[str, Any]] = {
            "waiting": {"n": waiting.count(self.person)},
            "state": {"paused": waiting.paused, "ready": self.worker.is_ready},
        }
        new = {name: data for name, data in now.items() if self._sent.get(name) != data}
        self._sent = now
        return "".join(StreamEvent(waiting.seq, name, data).text() for name, data in new.items())


def streams_of(request: Request) -> Streams:
    """Return the streams of the application that serves `request`."""
    found: Streams = request.app.state.streams
    return found


def _events_behind(commits: list[Commit], seq: int, *, is_whole: bool) -> list[StreamEvent]:
    """Return the events of `commits` behind record `seq`; `reset` alone unless they have all records (`is_whole`)."""
    if not is_whole:
        return [StreamEvent(max(seq, commits[-1].waiting.seq), "reset", {})]
    return stream_events(record for commit in commits for record in commit.records if record.seq > seq)


class _Inbox:
    """Commits that wait for a stream, put by other threads; of more than 1,000 waiting records none is kept."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._commits: deque[Commit] = deque()
        self._n_records = 0  # since the last look
        self._wake = asyncio.Event()

    def put(self, commit: Commit) -> None:
        """Keep `commit` until it is read; can be called in any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._keep, commit)

    def _keep(self, commit: Commit) -> None:
        self._n_records += len(commit.records)
        if self._n_records > MOST_AGAIN:
            self._commits.clear()
            commit = Commit([], commit.waiting)
        self._commits.append(commit)
        self._wake.set()

    async def get(self, seconds: float) -> tuple[list[Commit], bool]:
        """Return the commits put since the last call, after at most `seconds`, and whether they have all records."""
        try:
            await asyncio.wait_for(self._wake.wait(), max(seconds, 0.0))
        except TimeoutError:
            return [], True
        self._wake.clear()
        found, is_whole = list(self._commits), self._n_records <= MOST_AGAIN
        self._commits.clear()
        self._n_records = 0
        return found, is_whole


class _Samples:
    """Lets at most two events of samples pass in a second; the last one passes in any case, later."""

    def __init__(self) -> None:
        self._last = 0.0
        self._sample: StreamEvent | None = None

    def seconds(self) -> float:
        """Return after how many seconds the event that waits may pass."""
        return COMMENT_SECONDS if self._sample is None else self._last + _SAMPLE_SECONDS - time.monotonic()

    def passed(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return which of `events`, and of the one that waits, pass now."""
        others = [event for event in events if event.name != "sample"]
        samples = [event for event in events if event.name == "sample"]
        self._sample = samples[-1] if samples else self._sample
        if self._sample is None or time.monotonic() < self._last + _SAMPLE_SECONDS:
            return others
        sample, self._sample, self._last = self._sample, None, time.monotonic()
        return [sample, *others]
