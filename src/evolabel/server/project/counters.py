"""Metrics of a service, as objects of prometheus_client in a registry of its own."""

import threading
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Summary, disable_created_metrics

from evolabel.server.log.records import NewRecord

_RESPONSES = ("answer", "refusal", "withdrawal", "correction")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PRESENT = {
    "log_seq": "Number of the last record",
    "queue_jobs": "Requests that wait",
    "questions_open": "Open questions",
    "question_age_seconds": "Age of the oldest open question",
    "budget_asked_ratio": "Share that was asked",
    "budget_limit_ratio": "Share that may be asked",
    "rules": "Rules",
    "snapshot_age_seconds": "Age of the last snapshot",
    "snapshot_behind_records": "Records behind the last snapshot",
}

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """All metrics of one service; those of the present state are set when they are read."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        reasons = "Questions asked; one with several reasons counts under each"
        self.samples = self._counter("samples", "Samples", "project")
        self.asked = self._counter("questions", reasons, "project", "reason")
        self.held = self._counter("questions_held", "Questions held back", "project", "limit")
        self.closed = self._counter("questions_closed", "Questions closed", "project", "cause")
        sent = "Records of what people sent; a changed answer is one more"
        self.responses = self._counter("responses", sent, "project", "kind")
        self.rebuilds = self._counter("rebuilds", "Times that the state was made from the log", "project", "cause")
        self.apply_seconds = self._summary("apply_seconds", "Time to apply a batch", "project")
        self.commit_seconds = self._summary("commit_seconds", "Time to commit a batch", "project")
        self.commit_rows = self._summary("commit_rows", "Records of a commit", "project")
        self.requests = self._counter("http_requests", "Requests", "route", "method", "status")
        self.rejected = self._counter("rejected", "Problem documents", "type")
        self.http_seconds = self._summary("http_seconds", "Time of requests", "route")
        self.reading = threading.Lock()
        """Locked while the metrics of the present state are set and read."""
        self.info = self._gauge("info", "Version of the server", "version")
        self.writer = self._gauge("writer_active", "1 on the server that writes")
        self.disk = self._gauge("disk_free_bytes", "Room on the disk; NaN where it is not known")
        self.streams = self._gauge("sse_clients", "Open streams of server-sent events")
        self.present = {name: self._gauge(name, text, "project") for name, text in _PRESENT.items()}
        self.right = self._gauge("right_ratio", "Right on answers learned, 7 days", "project", "label")

    def value(self, name: str, **labels: str) -> float:
        """Return the present value of the metric called `name` with these `labels`, 0 without one."""
        return self.registry.get_sample_value(f"evolabel_{name}", labels) or 0.0

    def add_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request of `method` to `route` that was answered with `status` after `seconds`.

        A method that is not usual is counted as "other": senders can invent any number of them.
        """
        self.requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self.http_seconds.labels(route).observe(seconds)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"evolabel_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"evolabel_{name}", text, labels, registry=self.registry)

    def _summary(self, name: str, text: str, *labels: str) -> Summary:
        return Summary(f"evolabel_{name}", text, labels, registry=self.registry)


class WorkerCounters:
    """Counts of the committed records of project `slug`, and the seconds that batches took, in `metrics`."""

    def __init__(self, metrics: Metrics, slug: str) -> None:
        self._metrics = metrics
        self._slug = slug
        self._samples = metrics.samples.labels(slug)
        self._seconds = metrics.commit_seconds.labels(slug)
        self._rows = metrics.commit_rows.labels(slug)
        self._apply = metrics.apply_seconds.labels(slug)

    def add_batch(self, seconds: float) -> None:
        """Count a batch that was applied in this many `seconds`."""
        self._apply.observe(seconds)

    def add_rebuild(self, cause: str) -> None:
        """Count that the state was made from the log for this `cause`."""
        self._metrics.rebuilds.labels(self._slug, cause).inc()

    def add_commit(self, entries: Sequence[NewRecord], seconds: float) -> None:
        """Count `entries` that were committed in this many `seconds`."""
        self._seconds.observe(seconds)
        self._rows.observe(len(entries))
        for entry in entries:
            self._add(entry)

    def _add(self, entry: NewRecord) -> None:
        metrics, slug = self._metrics, self._slug
        if entry.kind == "sample":
            self._samples.inc()
            if "held" in entry.outcome:
                metrics.held.labels(slug, entry.outcome["held"]).inc()
            if (question := entry.outcome["question"]) is not None:
                for reason in {reason for why in question["reasons"].values() for reason in why}:
                    metrics.asked.labels(slug, reason).inc()
        elif entry.kind in _RESPONSES and entry.actor_id is not None:
            metrics.responses.labels(slug, entry.kind).inc()
        elif entry.kind == "close" or entry.outcome.get("closes"):
            metrics.closed.labels(slug, entry.payload.get("cause", "answered")).inc()
