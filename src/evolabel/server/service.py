"""`Service`: the database, its writer and one worker per project, without HTTP."""

import logging
import re
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import URL, Engine

from evolabel.errors import EvolabelError, ParameterError, StateError
from evolabel.server.contexts.desk import Origin
from evolabel.server.contexts.rebuild import RebuildPlan, rebuild_model
from evolabel.server.contexts.replay import ReplayError, versions
from evolabel.server.contexts.settings import MOST_LABELS, Feature, Label, ProjectSettings
from evolabel.server.contexts.state import Facts, ProjectState
from evolabel.server.contexts.verbs import ConflictError
from evolabel.server.contexts.worker import Worker
from evolabel.server.store import derive
from evolabel.server.store.blobs import store_blob
from evolabel.server.store.engines import reading_engine
from evolabel.server.store.log import LogError, NewRecord, Record
from evolabel.server.store.migrate import prepare_tables
from evolabel.server.store.pen import NotWriterError, Pen, reading
from evolabel.server.store.projects import Project, find_project, insert_project, list_projects

MOST_FEATURES = 2000
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LONGEST_NAME = 200  # characters
_PING_SECONDS = 2.0
_TRY_SECONDS = 1.0
_STOP_SECONDS = 10.0  # of all workers together

logger = logging.getLogger("evolabel.server")


class NewProject(NamedTuple):
    """A project to make: its name in addresses, title, features, labels and settings."""

    slug: str
    title: str
    features: Sequence[Feature]
    labels: Sequence[Label]
    settings: ProjectSettings


class Service:
    """Everything that runs behind the routes.

    Parameters
    ----------
    url : URL
        The database; its tables are made if there are none.
    keep_decisions : bool
        Whether a log that this version of the program would decide otherwise is read with the decisions in it.
    """

    def __init__(self, url: URL, *, keep_decisions: bool = False) -> None:
        self.url = url
        self._keep_decisions = keep_decisions
        self.pen = Pen(url)
        try:
            if self.pen.acquire():
                self._make_tables()
            elif url.get_backend_name() == "sqlite":
                raise NotWriterError(f"another process serves {url.database}; stop it first, or use its address")
        except BaseException:
            self.pen.close()
            raise
        self.reader: Engine = reading_engine(url)
        self.workers: dict[str, Worker] = {}
        self.broken: dict[str, str] = {}
        """Projects that are not served, and why."""
        self._begun_term = 0
        self._rebuilding: set[str] = set()
        self._turn = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Make the state of every project from its log, and begin to take requests.

        While another process writes to a PostgreSQL database, this one is the standby: it takes over when the other
        one ends or hangs.
        """
        if self.pen.is_writer:
            self._begin_all()
        else:
            logger.info("standby: another process writes to the database")
        threading.Thread(target=self._keep_writing, name="ping", daemon=True).start()

    def check_writer(self) -> None:
        """Raise NotWriterError while another process writes: this one has no projects then."""
        if not self.is_writer:
            raise NotWriterError("this server is the standby; send the request to the one that writes, or wait")

    @property
    def is_writer(self) -> bool:
        """Whether this process writes to the database and has a worker for every project in it."""
        return self.pen.is_writer and self._begun_term == self.pen.term

    def _keep_writing(self) -> None:
        """Keep the connection alive while this process is the writer, else try to become it."""
        while not self._stopped.wait(_PING_SECONDS if self.pen.is_writer else _TRY_SECONDS):
            try:
                self.pen.ping()
                if self.pen.acquire() and self._begun_term != self.pen.term:
                    self._make_tables()
                    self._begin_all()
            except EvolabelError as error:
                logger.error("this process cannot write: %s", error)
            except Exception:
                logger.exception("this process cannot write; it tries again")

    def _begin_all(self) -> None:
        """Begin every project that has no worker yet."""
        term = self.pen.term
        with self._turn:
            with reading(self.reader) as connection:
                projects = list_projects(connection)
            for project in projects:
                if project.slug in self.workers:
                    continue
                try:
                    self._begin(project)
                except (LogError, ReplayError) as error:  # the others are served
                    logger.error("project %s is not served: %s", project.slug, error)
                    self.broken[project.slug] = str(error)
        self._begun_term = term

    def stop(self) -> None:
        """Finish what waits, store snapshots, and release the database."""
        self._stopped.set()
        for worker in self.workers.values():
            worker.begin_stop()
        deadline = time.monotonic() + _STOP_SECONDS
        for worker in self.workers.values():
            worker.stop(max(deadline - time.monotonic(), 0.0))
        self.reader.dispose()  # first: the last connection of SQLite removes the write-ahead log
        self.pen.close()

    def create_project(self, new: NewProject, actor_id: int | None = None) -> Project:
        """Make a `new` project, for which the person `actor_id` has asked, and return it.

        ParameterError for names that cannot be used, StateError if the project exists.
        """
        slug, title, features, labels, settings = new
        _check_slug(slug)
        check_new_names("feature", [feature.name for feature in features], MOST_FEATURES)
        check_new_names("label", [label.name for label in labels], MOST_LABELS)
        payload = {
            "settings": settings.facts(),
            "features": [feature.facts() for feature in features],
            "labels": [label.facts() for label in labels],
            "versions": versions(),
        }
        state = ProjectState.created(payload)  # refuses what the learner cannot use, before anything is written
        at = time.time_ns() // 1000
        entry = NewRecord("project.created", payload, {"seal": state.seal()}, at, actor_id)
        with self._turn:
            with self.pen.transaction() as connection:
                if find_project(connection, slug) is not None:
                    raise StateError(f"there is a project {slug!r} already; choose another name")
                project = insert_project(connection, slug, title or slug, at)
                head = self.pen.append(connection, project.id, project.head, [entry])
                derive.write(connection, project.id, [Record(head.seq, entry, b"")])
            project = project._replace(head=head)
            self._begin(project)
        return project

    def begin_rebuild(self, worker: Worker, plan: RebuildPlan, origin: Origin) -> None:
        """Make the model of `worker` anew by `plan` of `origin`, in a thread; ConflictError while one does so."""
        slug = worker.project.slug
        with self._turn:
            if slug in self._rebuilding:
                raise ConflictError("rebuilding-already", "the model is being made anew; wait until that has ended")
            self._rebuilding.add(slug)

        def run() -> None:
            try:
                self.rebuild(worker, plan, origin)
            except EvolabelError as error:
                logger.error("the model of %s was not made anew: %s", slug, error)
            finally:
                self._rebuilding.discard(slug)

        threading.Thread(target=run, name=f"rebuild-{slug}", daemon=True).start()

    def rebuild(self, worker: Worker, plan: RebuildPlan, origin: Origin) -> Facts:
        """Make the model of `worker` anew by `plan` of `origin`, and return the seals before and after."""

        def store(data: bytes) -> None:
            with self.pen.transaction() as connection:
                store_blob(connection, worker.project.id, data, time.time_ns() // 1000)

        return rebuild_model(worker, plan, origin, store)

    def _begin(self, project: Project) -> None:
        worker = Worker(project, self.pen, self.reader)
        worker.start(keep_decisions=self._keep_decisions)
        self.workers[project.slug] = worker

    def _make_tables(self) -> None:
        with self.pen.transaction() as connection:
            prepare_tables(connection)


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
