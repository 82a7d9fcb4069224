"""/metrics in the text format of Prometheus: counts since the process began, and the present state."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, select

from evolabel import __version__
from evolabel._utils.optional import load
from evolabel.server.log.disk import free_bytes
from evolabel.server.log.schema import SNAPSHOT
from evolabel.server.log.times import DAY, SECOND
from evolabel.server.project.service import Service
from evolabel.server.project.statistics import taught_since
from evolabel.server.project.worker import Worker

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpCounts:
    """Requests by route, method and status, the seconds they took by route, and problem documents by type."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._rejected: Counter[str] = Counter()
        self._seconds: dict[str, tuple[int, float]] = {}

    def add(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request of `method` to `route` that was answered with `status` after `seconds`.

        A method that is not usual is counted as "other": senders can invent any number of them.
        """
        with self._turn:
            self._requests[route, method if method in _METHODS else "other", str(status)] += 1
            n, total = self._seconds.get(route, (0, 0.0))
            self._seconds[route] = n + 1, total + seconds

    def add_rejected(self, type: str) -> None:
        """Count a problem document of this `type`."""
        with self._turn:
            self._rejected[type] += 1

    def rejected(self) -> dict[str, int]:
        """Return the number of problem documents by type."""
        with self._turn:
            return dict(self._rejected)

    def requests(self) -> dict[tuple[str, str, str], int]:
        """Return the number of requests by route, method and status."""
        with self._turn:
            return dict(self._requests)

    def seconds(self) -> dict[str, tuple[int, float]]:
        """Return by route the number of requests and the sum of their seconds."""
        with self._turn:
            return dict(self._seconds)


_SHOWN = 7 * DAY
Values = Iterable[tuple[tuple[str, ...], float]]
"""Values by the texts of their labels."""
Sums = Iterable[tuple[tuple[str, ...], tuple[int, float]]]
"""Numbers and sums by the texts of their labels."""


def metrics_text(service: Service, counts: HttpCounts, streams: int) -> tuple[bytes, str]:
    """Return the metrics of `service`, of the requests in `counts` and of open `streams`, and their content type.

    MissingDependencyError if prometheus_client is not installed.
    """
    client: Any = load("prometheus_client", "server", "/metrics")
    registry = client.CollectorRegistry()
    core: Any = load("prometheus_client.core", "server", "/metrics")
    registry.register(_Collector(core, service, counts, streams))
    return client.generate_latest(registry), client.CONTENT_TYPE_LATEST


class _Collector:
    """Makes the metrics at the time of a request."""

    def __init__(self, core: Any, service: Service, counts: HttpCounts, streams: int) -> None:
        self._core = core
        self._service = service
        self._counts = counts
        self._streams = streams

    def describe(self) -> list[Any]:
        """Return nothing: the names are not checked before they are used."""
        return []

    def collect(self) -> Iterator[Any]:
        """Return all metrics."""
        workers = dict(self._service.workers)
        yield from self._server()
        yield from self._counters(workers)
        yield from self._batches(workers)
        yield from self._gauges(workers)
        with self._service.reader.connect() as connection:
            yield from self._stored(connection, workers)

    def _server(self) -> Iterator[Any]:
        yield self._gauge("info", "Version of the server", ("version",), [((__version__,), 1.0)])
        yield self._gauge("writer_active", "1 on the server that writes", (), [((), float(self._service.is_writer))])
        free = free_bytes(self._service.url)
        yield self._gauge("disk_free_bytes", "Room on the disk", (), [] if free is None else [((), float(free))])
        yield self._gauge("sse_clients", "Open streams of server-sent events", (), [((), float(self._streams))])
        requests = [(key, float(n)) for key, n in self._counts.requests().items()]
        yield self._counter("http_requests", "Requests", ("route", "method", "status"), requests)
        rejected = [((kind,), float(n)) for kind, n in self._counts.rejected().items()]
        yield self._counter("rejected", "Problem documents", ("type",), rejected)
        times = [((route,), found) for route, found in self._counts.seconds().items()]
        yield self._summary("http_seconds", "Time of requests", ("route",), times)

    def _counters(self, workers: dict[str, Worker]) -> Iterator[Any]:
        samples = [((slug,), float(worker.counters.samples)) for slug, worker in workers.items()]
        yield self._counter("samples", "Samples", ("project",), samples)
        for name, label, of, text in (
            ("questions", "reason", "asked", "Questions asked; one with several reasons counts under each"),
            ("questions_held", "limit", "held", "Questions held back"),
            ("questions_closed", "cause", "closed", "Questions closed"),
            ("responses", "kind", "responses", "Records of what people sent; a changed answer is one more"),
            ("rebuilds", "cause", "rebuilds", "Times that the state was made from the log"),
        ):
            values = [
                ((slug, key), float(n))
                for slug, worker in workers.items()
                for key, n in dict(getattr(worker.counters, of)).items()
            ]
            yield self._counter(name, text, ("project", label), values)

    def _batches(self, workers: dict[str, Worker]) -> Iterator[Any]:
        counters = {(slug,): worker.counters for slug, worker in workers.items()}
        applied = [(key, (count.batches, count.apply_seconds)) for key, count in counters.items()]
        yield self._summary("apply_seconds", "Time to apply a batch", ("project",), applied)
        written = [(key, (count.commits, count.commit_seconds)) for key, count in counters.items()]
        yield self._summary("commit_seconds", "Time to commit a batch", ("project",), written)
        rows = [(key, (count.commits, float(count.commit_rows))) for key, count in counters.items()]
        yield self._summary("commit_rows", "Records of a commit", ("project",), rows)

    def _gauges(self, workers: dict[str, Worker]) -> Iterator[Any]:
        now = time.time_ns() // 1000
        found: dict[str, list[tuple[tuple[str], float]]] = {}
        for slug, worker in workers.items():
            for name, value in _present(worker, now).items():
                found.setdefault(name, []).append(((slug,), value))
        for name, values in found.items():
            yield self._gauge(name, "Present value", ("project",), values)

    def _stored(self, connection: Connection, workers: dict[str, Worker]) -> Iterator[Any]:
        now = time.time_ns() // 1000
        ages, behind = list[tuple[tuple[str], float]](), list[tuple[tuple[str], float]]()
        right = list[tuple[tuple[str, str], float]]()
        for slug, worker in workers.items():
            last = select(SNAPSHOT.c.seq, SNAPSHOT.c.at).where(SNAPSHOT.c.project_id == worker.project.id)
            row = connection.execute(last.order_by(SNAPSHOT.c.seq.desc()).limit(1)).first()
            if row is not None:
                ages.append(((slug,), max(now - row.at, 0) / SECOND))
            behind.append(((slug,), float(worker.head.seq - (0 if row is None else row.seq))))
            taught = taught_since(connection, worker.project.id, now - _SHOWN)
            right += [((slug, label), correct / n) for label, (n, correct) in taught.items()]
        yield self._gauge("snapshot_age_seconds", "Age of the last snapshot", ("project",), ages)
        yield self._gauge("snapshot_behind_records", "Records behind the last snapshot", ("project",), behind)
        yield self._gauge("right_ratio", "Right on answers taught, 7 days", ("project", "label"), right)

    def _counter(self, name: str, text: str, labels: tuple[str, ...], values: Values) -> Any:
        return _filled(self._core.CounterMetricFamily(f"evolabel_{name}", text, labels=labels), values)

    def _gauge(self, name: str, text: str, labels: tuple[str, ...], values: Values) -> Any:
        return _filled(self._core.GaugeMetricFamily(f"evolabel_{name}", text, labels=labels), values)

    def _summary(self, name: str, text: str, labels: tuple[str, ...], values: Sums) -> Any:
        family = self._core.SummaryMetricFamily(f"evolabel_{name}", text, labels=labels)
        for key, (n, total) in values:
            family.add_metric(list(key), n, total)
        return family


def _filled(family: Any, values: Values) -> Any:
    for key, value in values:
        family.add_metric(list(key), value)
    return family


def _present(worker: Worker, now: int) -> dict[str, float]:
    """Return the present values of the project of `worker` at time `now`, by the name of the metric."""
    found = {"log_seq": float(worker.head.seq), "queue_jobs": float(worker.waiting)}
    state = worker.state
    if state is None:
        return found
    asked = [question.at for question in list(state.open.values())]
    return found | {
        "questions_open": float(len(asked)),
        "question_age_seconds": max(now - min(asked, default=now), 0) / SECOND,
        "budget_asked_ratio": float(state.learner.bucket.share),
        "budget_limit_ratio": float(state.settings.budget),
        "rules": float(state.learner.classifier.n_rules_),
    }
