"""/metrics in the text format of Prometheus: counts since the process began, and the present state."""

import math

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import select

from evolabel import __version__
from evolabel.server.log.disk import free_bytes
from evolabel.server.log.schema import SNAPSHOT
from evolabel.server.log.times import DAY, SECOND, now_us
from evolabel.server.project.service import Service
from evolabel.server.project.statistics import learned_since
from evolabel.server.project.worker import Worker

CONTENT_TYPE = CONTENT_TYPE_LATEST
_RIGHT_SINCE = 7 * DAY


def metrics_text(service: Service, streams: int) -> bytes:
    """Return the metrics of `service` as text, those of the present state as they are now; `streams` are open."""
    metrics, now = service.metrics, now_us()
    with metrics.reading, service.reader.connect() as connection:
        metrics.info.labels(__version__).set(1)
        metrics.writer.set(service.is_writer)
        free = free_bytes(service.url)
        metrics.disk.set(math.nan if free is None else free)
        metrics.streams.set(streams)
        for gauge in (*metrics.present.values(), metrics.right):
            gauge.clear()
        for slug, worker in dict(service.workers).items():
            project = worker.project.id
            last = select(SNAPSHOT.c.seq, SNAPSHOT.c.at).where(SNAPSHOT.c.project_id == project)
            row = connection.execute(last.order_by(SNAPSHOT.c.seq.desc()).limit(1)).first()
            found = {**_present(worker, now), "snapshot_behind_records": worker.head.seq - (row.seq if row else 0)}
            if row is not None:
                found["snapshot_age_seconds"] = max(now - row.at, 0) / SECOND
            for name, value in found.items():
                metrics.present[name].labels(slug).set(value)
            for label, (n, correct) in learned_since(connection, project, now - _RIGHT_SINCE).items():
                metrics.right.labels(slug, label).set(correct / n)
        return generate_latest(metrics.registry)


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
