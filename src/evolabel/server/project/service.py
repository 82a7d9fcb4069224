"""`Service`: the database, its writer and one worker per project, without HTTP."""

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple

from sqlalchemy import URL, Engine, event
from sqlalchemy.pool import ConnectionPoolEntry

from evolabel.errors import EvolabelError, ParameterError, StateError
from evolabel.server.log import derive
from evolabel.server.log.activity import COMMAND
from evolabel.server.log.engines import reading_engine
from evolabel.server.log.migrate import prepare_tables
from evolabel.server.log.projects import Project, find_project, insert_project, list_projects
from evolabel.server.log.records import NewRecord, Record, store_blob
from evolabel.server.log.times import DAY, now_us
from evolabel.server.log.writer import LogWriter, NotWriterError, StoreError, crash_point, reading
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.people.policies import HiddenError
from evolabel.server.project.batch import Origin
from evolabel.server.project.counters import Metrics
from evolabel.server.project.file_rows import FileRows
from evolabel.server.project.file_stream import FileStreams
from evolabel.server.project.follower import STANDBY, Follower
from evolabel.server.project.jobs import BusyError
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.outgoing import Network
from evolabel.server.project.replay import versions
from evolabel.server.project.retention import archive_all
from evolabel.server.project.settings import (
    DEFAULT_LIMITS,
    MOST_LABELS,
    Feature,
    Label,
    ProjectSettings,
    Retention,
    ServiceLimits,
)
from evolabel.server.project.state import ProjectState
from evolabel.server.project.webhooks import Webhooks
from evolabel.server.project.worker import Worker

MOST_FEATURES = 2000
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LONGEST_NAME = 200  # characters
_PING_SECONDS = 2.0
_TRY_SECONDS = 1.0
_HOUR_SECONDS = 3600.0
_STOP_SECONDS = 10.0  # of all workers together
_BEGUN_AT_ONCE = 4  # projects, so that short logs do not wait behind a long one; each reads through a connection

logger = logging.getLogger("evolabel.server")


class NewProject(NamedTuple):
    """A project to make: its name in addresses, title, features, labels and settings, and the file it is made of."""

    slug: str
    title: str
    features: Sequence[Feature]
    labels: Sequence[Label]
    settings: ProjectSettings
    file: FileRows | None = None


class Service:
    """Everything that runs behind the routes, over the database at `url`, whose tables are made if there are none.

    Without `checkpoint` another program moves SQLite's write-ahead log into the database. Values of samples go to
    files by `retention`, never without it. Addresses of webhooks are public, or in one of the `webhook_networks`.
    """

    def __init__(
        self,
        url: URL,
        *,
        limits: ServiceLimits = DEFAULT_LIMITS,
        checkpoint: bool = True,
        retention: Retention | None = None,
        webhook_networks: Sequence[Network] = (),
    ) -> None:
        self.url = url
        self.limits = limits
        self.metrics = Metrics()
        self._retention = retention
        self.writer = LogWriter(url, checkpoint=checkpoint)
        try:
            if self.writer.acquire():
                self._make_tables()
            elif url.get_backend_name() == "sqlite":
                raise NotWriterError(f"another process serves {url.database}; stop it first, or use its address")
        except BaseException:
            self.writer.close()
            raise
        self.reader: Engine = reading_engine(url)
        self.workers: dict[str, Worker] = {}
        self.files = FileStreams(self.reader)
        self._webhooks = Webhooks(self.writer, self.reader, webhook_networks)
        self._followers: dict[str, Follower] = {}
        self._reads_log = threading.Lock()  # followers read their logs one after the other: connections are few
        self._begun_term = 0
        self._beginners: list[threading.Thread] = []
        self.changing: set[str] = set()
        """Projects whose models are changed in threads."""
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._pinger = threading.Thread(target=self._keep_writing, name="ping", daemon=True)

    def start(self, *, wait: bool = True) -> None:
        """Make the state of every project from its log, several side by side; each takes requests once it has its own.

        Without `wait` this returns at once. While another process writes to a PostgreSQL database, this one is the
        standby: it takes over when the other one ends or hangs.
        """
        if self.writer.is_writer:
            self._begin_all()
        else:
            logger.info("standby: another process writes to the database")
        self._pinger.start()
        self._webhooks.start()
        threading.Thread(target=self._look_after, name="hourly", daemon=True).start()
        if wait:
            for thread in self._beginners:
                thread.join()

    def start_one(self, slug: str) -> None:
        """Make the state of project `slug` alone, for a command; NotWriterError while a service runs."""
        if not self.writer.is_writer:
            raise NotWriterError("a service runs on this database; stop it first, or use its address")
        with reading(self.reader) as connection:
            project = find_project(connection, slug)
        if project is not None:
            self._begin(project, COMMAND)

    def readable(self) -> dict[str, Worker]:
        """Return what answers requests that only read, by project: on the standby followers of the writing server.

        NotWriterError on the standby before it has found any project.
        """
        if self.is_writer:
            followers = self._followers  # after a takeover, until the worker has begun
            return {
                slug: worker if worker.is_begun else followers.get(slug, worker)
                for slug, worker in list(self.workers.items())
            }
        found = dict(self._followers or self.workers)  # one that was the writer before has workers
        if not found:
            raise NotWriterError(STANDBY)
        return found

    def find_worker(self, slug: str) -> Worker:
        """Return what serves project `slug`, on the standby a follower; HiddenError if there is no such project.

        NotWriterError on the standby before it has found any project.
        """
        if (worker := self.readable().get(slug)) is None:
            raise HiddenError("there is no such project; check its name and your token")
        return worker

    @property
    def is_writer(self) -> bool:
        """Whether this process writes to the database and has a worker for every project in it."""
        return self.writer.is_writer and self._begun_term == self.writer.term

    def _keep_writing(self) -> None:
        """Keep the connection alive while this process is the writer, else try to become it."""
        while not self._stopped.wait(_PING_SECONDS if self.writer.is_writer else _TRY_SECONDS):
            try:
                self.writer.ping()
                if not self.writer.acquire():
                    self._follow_all()
                elif self._begun_term != self.writer.term:
                    self._make_tables()
                    self._begin_all()
                elif self._followers and not any(thread.is_alive() for thread in self._beginners):
                    self._stop_following()
            except EvolabelError as error:
                logger.error("this process cannot write: %s", error)
            except Exception:
                logger.exception("this process cannot write; it tries again")

    def _look_after(self) -> None:
        """Every hour write the head of each log to the journal, so that a change of it shows; archive old payloads."""
        while True:
            workers = [worker for worker in list(self.workers.values()) if worker.is_begun] if self.is_writer else []
            for worker in workers:
                facts = {"project": worker.project.slug, "seq": worker.head.seq}
                logger.info("head of the log: %s", worker.head.chain.hex(), extra=facts)
            if self._retention is not None:
                before = now_us() - self._retention.days * DAY
                archive_all(workers, self.writer, self._retention.folder, before)
            if self._stopped.wait(_HOUR_SECONDS):
                return

    def _begin_all(self) -> None:
        """Begin the workers of all projects that have none or a refused one, in a few threads."""
        term, waiting = self.writer.term, SimpleQueue[Worker]()
        with self._lock:
            with reading(self.reader) as connection:
                projects = list_projects(connection)
            for project in projects:
                worker = self.workers.get(project.slug)
                if worker is None:
                    self.workers[project.slug] = worker = self._worker(project)
                elif not worker.refusal:
                    continue
                worker.refusal = ""
                waiting.put(worker)
        self._begun_term = term
        for _ in range(min(waiting.qsize(), _BEGUN_AT_ONCE)):
            thread = threading.Thread(target=self._begin_waiting, args=(waiting,), name="begin", daemon=True)
            self._beginners.append(thread)
            thread.start()

    def _begin_waiting(self, waiting: "SimpleQueue[Worker]") -> None:
        """Begin one of the `waiting` workers after the other, until there is none."""
        with suppress(Empty):
            while not self._stopped.is_set():
                self._begin_until_done(waiting.get_nowait())

    def _begin_until_done(self, worker: Worker) -> None:
        """Begin `worker`, again after a second while the database cannot be used; keep why it cannot be served."""
        slug = worker.project.slug
        while not self._stopped.is_set():
            try:
                worker.start()
                self.files.begin(worker)
                return
            except BusyError:  # the service stops
                return
            except (NotWriterError, StoreError) as error:
                logger.error("project %s is not served yet: %s", slug, error)
                self._stopped.wait(_TRY_SECONDS)
            except Exception as error:  # the others are served
                is_known = isinstance(error, EvolabelError)
                logger.error("project %s is not served: %s", slug, error, exc_info=not is_known)
                worker.refuse(str(error) if is_known else f"{type(error).__name__}: {error}")
                return

    def _follow_all(self) -> None:
        """Follow every project that the other process has, so that it can be read here."""
        with self._lock, reading(self.reader) as connection:
            found = dict(self._followers)
            for project in list_projects(connection):
                if project.slug not in found and not self._stopped.is_set():
                    follower = Follower(project, self.writer, self.reader, self.limits)
                    follower.follow(self._reads_log)
                    found[project.slug] = follower
            self._followers = found

    def _stop_following(self, seconds: float = 0.0) -> None:
        """Serve all requests by the workers; wait so many `seconds` for all followers, which store nothing."""
        followers, self._followers = self._followers, {}
        deadline = time.monotonic() + seconds
        for follower in followers.values():
            follower.begin_stop()
        for follower in followers.values():
            follower.stop(max(deadline - time.monotonic(), 0.0))

    def stop(self) -> None:
        """Finish what waits, store snapshots, and release the database."""
        self._stopped.set()
        deadline = time.monotonic() + _STOP_SECONDS
        if self._pinger.is_alive():
            self._pinger.join(_STOP_SECONDS)
        self._stop_following(max(deadline - time.monotonic(), 0.0))
        self._webhooks.stop()
        self.files.stop(max(deadline - time.monotonic(), 0.0))
        workers = list(self.workers.values())
        for worker in workers:
            worker.begin_stop()
        for thread in self._beginners:
            thread.join(max(deadline - time.monotonic(), 0.0))
        for worker in workers:
            worker.stop(max(deadline - time.monotonic(), 0.0))
        event.listen(self.reader, "checkin", _close)  # of readers that end later
        self.reader.dispose()  # first: the last connection of SQLite removes the write-ahead log
        self.writer.close()

    def create_project(self, new: NewProject, actor_id: int | None = None, cause: str = "start") -> Project:
        """Make a `new` project, for which the person `actor_id` has asked, begin it for this `cause`, and return it.

        ParameterError for names that cannot be used, StateError if the project exists.
        """
        slug, title, features, labels, settings, file = new
        _check_slug(slug)
        check_new_names("feature", [feature.name for feature in features], MOST_FEATURES)
        check_new_names("label", [label.name for label in labels], MOST_LABELS)
        payload = {
            "settings": settings.facts(),
            "features": [feature.facts() for feature in features],
            "labels": [label.facts() for label in labels],
            "versions": versions(),
            **({"file": file.facts()} if file else {}),
        }
        state = ProjectState.created(payload)  # refuses what the learner cannot use, before anything is written
        at = now_us()
        entry = NewRecord("project.created", payload, {"seal": state.checksum()}, at, actor_id)
        with self._lock:
            with self.writer.transaction() as connection:
                if find_project(connection, slug) is not None:
                    raise StateError(f"there is a project {slug!r} already; choose another name")
                project = insert_project(connection, slug, title or slug, at)
                head = self.writer.append(connection, project.id, project.head, [entry])
                derive.write(connection, project.id, [Record(head.seq, entry, b"")])
                for part in file.parts if file else ():
                    store_blob(connection, project.id, part, at)
                crash_point("in_creation")
            project = project._replace(head=head)
            self._begin(project, cause)
        return project

    def begin_change(
        self, worker: Worker, what: str, change: Callable[[], object], sender: Sender, **detail: object
    ) -> None:
        """Change the model of `worker` by `change`, for `sender`, in a thread; ConflictError while another one does so.

        `what` is rebuild, fit or undo. The audit table has its begin and the `detail`; where it fails, the log and the
        audit table have the cause.
        """
        slug = worker.project.slug
        with self._lock:
            if slug in self.changing:
                raise ConflictError("rebuilding-already", "the model is being made anew; wait until that has ended")
            self.changing.add(slug)

        def run() -> None:
            try:
                with self.writer.transaction() as connection:
                    write_audit(connection, f"{what}-begun", slug, sender, **detail)
                change()
            except Exception as error:
                self._keep_failure(worker, what, sender, error)
            finally:
                self.changing.discard(slug)

        threading.Thread(target=run, name=f"{what}-{slug}", daemon=True).start()

    def _keep_failure(self, worker: Worker, what: str, sender: Sender, error: Exception) -> None:
        """Write to the log of `worker` and to the audit table that `what` `sender` asked for has ended in `error`."""
        slug, is_known = worker.project.slug, isinstance(error, EvolabelError)
        cause = str(error) if is_known else f"{type(error).__name__}: {error}"
        logger.error("%s of the model of %s failed: %s", what, slug, cause, exc_info=not is_known)
        try:
            worker.call(lambda batch: batch.record(f"{what}.failed", {"error": cause}, Origin(sender.person_id)))
            with self.writer.transaction() as connection:
                write_audit(connection, f"{what}-failed", slug, sender, error=cause)
        except EvolabelError as lost:  # the service stops, or the database is gone
            logger.error("'%s-failed' of %r is missing in the audit table: %s", what, slug, lost)

    def _worker(self, project: Project) -> Worker:
        return Worker(project, self.writer, self.reader, self.limits, metrics=self.metrics)

    def _begin(self, project: Project, cause: str = "start") -> None:
        worker = self._worker(project)
        worker.start(cause)
        self.workers[project.slug] = worker
        if cause != COMMAND:
            self.files.begin(worker)

    def _make_tables(self) -> None:
        with self.writer.transaction() as connection:
            prepare_tables(connection)


def _close(connection: object, record: ConnectionPoolEntry) -> None:
    """Close the `connection` of `record`, which comes back to a pool that is not used any more."""
    record.invalidate()


def _check_slug(slug: str) -> None:
    if not _SLUG.fullmatch(slug):
        raise ParameterError(
            f"{slug!r} cannot be the name of a project; use 1 to 40 of the characters a-z, 0-9 and -, no - at the ends"
        )


def check_new_names(kind: str, names: Sequence[str], most: int) -> None:
    """Raise ParameterError unless there are 1 to `most` different `names` of this `kind`."""
    if not 1 <= len(names) <= most:
        raise ParameterError(f"{len(names)} {kind}s were given; give from 1 to {most}")
    if len(set(names)) < len(names):
        raise ParameterError(f"two {kind}s have the same name; give each its own")
    for name in names:
        if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            raise ParameterError(f"{name[:50]!r} cannot be the name of a {kind}; use up to 200 printable characters")
