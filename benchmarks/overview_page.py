"""Measure the overview page of a project with 100,000 samples of seven days: milliseconds and statements.

    python benchmarks/overview_page.py               # writes benchmarks/results/overview_page.json

The project is made by the service itself, with a clock that runs from seven days ago to now; questions are answered.
Requests are sent to the application in this process. `cold` is the first look after a start, `warm` are looks after a
batch of samples each, `unchanged` those before which nothing has happened. Where others use the machine, too, the
processor times say more.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from shared import result_files
from sqlalchemy import URL, event
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.log.engines import read_url
from evolabel.server.log.times import DAY
from evolabel.server.people.people import find_or_insert_person, set_member
from evolabel.server.people.sessions import make_session
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.service import NewProject, Service
from evolabel.server.project.settings import Feature, Label, ProjectSettings
from evolabel.server.project.worker import Worker
from evolabel.streams import DriftingStream

ROWS = 100_000
BATCH = 100
STARTS, LOOKS = 3, 30
NAMES, LABEL_NAMES = [f"f{j}" for j in range(20)], [f"l{k}" for k in range(5)]
CHOICES = ("M-01", "M-02")
Facts = dict[str, Any]


class Clock:
    """A time in nanoseconds that stands still until it is moved."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __call__(self) -> int:
        """Return the time."""
        return self.at


def make_project(url: URL, rows: int) -> None:
    """Store a project of seven days with so many `rows` at `url`; anna and bob have answered its questions in turn."""
    end = time.time_ns()
    clock = Clock(end - 7 * DAY * 1000)
    with mock.patch("time.time_ns", clock):
        service = Service(url)
        service.start()
        features = [*map(Feature, NAMES), Feature("machine", "text", CHOICES)]
        settings = ProjectSettings(budget=0.05, hold_seconds=0, overlap=0.0, max_open=1000)
        labels = [Label(name) for name in LABEL_NAMES]
        service.create_project(NewProject("plant", "Plant", features, labels, settings))
        with service.writer.transaction() as connection:
            for name in ("anna", "bob"):
                find_or_insert_person(connection, name, clock() // 1000)
        X, Y = stream(rows)
        for first in range(0, rows, BATCH):
            clock.at = end - (7 * DAY * (rows - first) // rows) * 1000
            send_and_answer(service.workers["plant"], X[first : first + BATCH], Y[first : first + BATCH])
        service.stop()


def stream(rows: int) -> tuple[Any, Any]:
    """Return so many `rows` of a stream, and their true labels."""
    return DriftingStream(n_features=len(NAMES), n_labels=len(LABEL_NAMES), drift_every=20_000, seed=1).take(rows)


def send_and_answer(worker: Worker, X: Any, Y: Any) -> None:
    """Send the samples `X` to `worker`; anna and bob answer the questions in turn by the true labels `Y`."""
    sent = [{"x": dict(zip(NAMES, x, strict=True)) | {"machine": CHOICES[i % 2]}} for i, x in enumerate(X.tolist())]
    results = worker.call(lambda batch: operations.send_samples(batch, sent, Origin(1)))["results"]
    for result, y in zip(results, (Y == 1).tolist(), strict=True):
        if result["question"]:
            truth = dict(zip(LABEL_NAMES, y, strict=True))
            asked, number = {name: truth[name] for name in result["question"]["labels"]}, result["number"]
            origin = Origin(1 + number % 2)
            worker.submit(lambda batch, a=(number, asked, origin): operations.give_answer(batch, *a, took_ms=4000))


def open_client(service: Service) -> TestClient:
    """Return a browser of anna, who is an operator of the project of `service`."""
    at = time.time_ns() // 1000
    with service.writer.transaction() as connection:
        person = find_or_insert_person(connection, "anna", at)
        set_member(connection, service.workers["plant"].project.id, person, "operator")
        made = make_session(connection, person, at)
    client = TestClient(create_app(service), headers={"accept": "text/html"})
    client.cookies.set("evolabel", made.secret)
    return client


@contextmanager
def counted(service: Service) -> Iterator[list[str]]:
    """Yield a list that gets every statement by which `service` reads."""
    found = list[str]()

    def keep(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(service.reader, "before_cursor_execute", keep)
    yield found
    event.remove(service.reader, "before_cursor_execute", keep)


class ShownQuestion(NamedTuple):
    """Milliseconds until a page is there, those of the processor, and the statements that it took."""

    ms: float
    cpu_ms: float
    queries: int


def look(service: Service, client: TestClient) -> ShownQuestion:
    """Return what it takes until `client` has the page of `service`."""
    with counted(service) as statements:
        begun, used = time.perf_counter(), time.process_time()
        shown = client.get("/p/plant")
        passed, used = time.perf_counter() - begun, time.process_time() - used
    assert shown.status_code == 200, shown.text[:500]
    return ShownQuestion(1000 * passed, 1000 * used, len(statements))


def summary(looks: list[ShownQuestion]) -> Facts:
    """Return the medians of the times of `looks`, and their most statements."""
    medians = {name: round(statistics.median(getattr(look, name) for look in looks), 1) for name in ("ms", "cpu_ms")}
    return {**medians, "queries": max(look.queries for look in looks)}


def measure(url: URL, rows: int) -> Facts:
    """Return the times of the page of the project at `url`, which has so many `rows`."""
    found: dict[str, list[ShownQuestion]] = {"cold": [], "warm": [], "unchanged": []}
    X, Y = stream(rows + BATCH)
    for _ in range(STARTS):
        service = Service(url)
        service.start()
        worker, client = service.workers["plant"], open_client(service)
        with client:
            client.get("/")  # reads templates and routes, not the project
            found["cold"].append(look(service, client))
            for _ in range(LOOKS):
                send_and_answer(worker, X[-BATCH:], Y[-BATCH:])
                worker.call(lambda batch: None)
                found["warm"].append(look(service, client))
                found["unchanged"].append(look(service, client))
        service.stop()
    return {name: summary(looks) for name, looks in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--keep", type=Path, help="file of the database; a project in it is measured as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "evolabel.db"
        url, is_new = read_url(f"sqlite:///{path}"), not path.exists()
        if is_new:
            make_project(url, options.rows)
        machine = {"cores": os.cpu_count(), "load_average": round(os.getloadavg()[0], 1)}
        result_files.write("overview_page", {"rows": options.rows, "machine": machine, **measure(url, options.rows)})
    print(result_files.read("overview_page"))


if __name__ == "__main__":
    main()
