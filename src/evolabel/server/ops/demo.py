"""Projects that the program makes by itself: a pump station to look at, and a small one whose kernels are compiled.

Samples of three pumps arrive, and a simulated annotator answers some of the questions.
"""

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evolabel.errors import EvolabelError
from evolabel.server.log.engines import read_url
from evolabel.server.log.times import now_us
from evolabel.server.people.people import find_or_insert_person, set_member
from evolabel.server.project import operations, reading
from evolabel.server.project.batch import Origin
from evolabel.server.project.service import NewProject, Service
from evolabel.server.project.settings import Feature, Label, ProjectSettings
from evolabel.server.project.worker import Worker
from evolabel.streams import PlantStream
from evolabel.streams.synthetic.plant import PUMPS, UNITS

logger = logging.getLogger("evolabel.server")

SLUG = "pumps"
ANNOTATOR = "robin"
_LABELLED = 120  # samples that come with their labels, so that the model has rules
_FIRST_SAMPLES = 500  # sent at once, so that there is something to see
_ANSWERED = 0.6  # share of the questions that the simulated annotator answers

_FEATURES = (
    *(Feature(name, title=name.capitalize(), unit=unit) for name, unit in UNITS.items()),
    Feature("pump", "text", PUMPS, title="Pump"),
)
_LABELS = (
    Label("leak", "Leak", "Water leaves the circuit: low pressure at high flow."),
    Label("wear", "Bearing wear", "The bearing of P-03 vibrates while it is warm."),
    Label("overheating", "Overheating", "The motor is hotter than it may be; the limit falls on the way."),
)


def pump_samples(seed: int = 0) -> Iterator[tuple[dict[str, Any], dict[str, bool]]]:
    """Yield samples of the pumps, one after the other, with their true labels; `seed` is that of the numbers drawn."""
    for row in PlantStream(seed=seed):
        yield {"x": {**row.readings, "pump": row.pump}, "source": row.pump}, row.faults


class Demo:
    """Sends samples to the project of the pumps and answers some of its questions, until it is stopped.

    The project of `service` is made if it is missing; `pause` are the seconds between two samples.
    """

    def __init__(self, service: Service, pause: float = 2.0) -> None:
        if SLUG not in service.workers:
            settings = ProjectSettings(budget=0.15, max_open=100)
            service.create_project(NewProject(SLUG, "Pump station", _FEATURES, _LABELS, settings))
        self._worker: Worker = service.workers[SLUG]
        at = now_us()
        with service.writer.transaction() as connection:
            person = find_or_insert_person(connection, ANNOTATOR, at)
            set_member(connection, self._worker.project.id, person, "annotator")
        self._annotator = Origin(person)
        self._pause = pause
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo", daemon=True)

    def start(self) -> None:
        """Begin to send samples."""
        self._thread.start()

    def stop(self) -> None:
        """Send no further samples."""
        self._stopped.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        try:
            seen = self._worker.call(reading.show_project)["samples"]
        except EvolabelError as error:
            logger.error("the demonstration sends no samples: %s", error)
            return
        stream, rng = pump_samples(), np.random.default_rng(seen)
        for number, (sample, truth) in enumerate(stream):
            if number < seen:
                continue  # sent before a restart
            if number < _LABELLED:
                sample["y"] = truth
            with contextlib.suppress(EvolabelError):  # the service is busy or stops; the next sample is tried
                self._send(sample, truth, answered=bool(rng.random() < _ANSWERED))
            if self._stopped.wait(self._pause if number >= _FIRST_SAMPLES else 0.0):
                return

    def _send(self, sample: dict[str, Any], truth: dict[str, bool], *, answered: bool) -> None:
        """Send one `sample`, and, if it is to be `answered`, the `truth` of the labels asked for."""
        sent = self._worker.submit(lambda batch: operations.send_samples(batch, [sample], Origin())).result()
        result = sent["results"][0]
        if result["question"] is not None and answered:
            given = {label: truth[label] for label in result["question"]["labels"]}
            number = result["number"]
            self._worker.submit(lambda batch: operations.give_answer(batch, number, given, self._annotator)).result()


def warm_up(folder: Path) -> int:
    """Run a small project in a database inside `folder`, so that its kernels are compiled; return its rules."""
    service = Service(read_url(f"sqlite:///{folder}/warm-up.db"))
    try:
        service.start()
        settings = ProjectSettings(budget=1.0, hold_seconds=0, overlap=0.0)
        features, labels = [Feature("a"), Feature("b")], [Label("x"), Label("y")]
        service.create_project(NewProject("warm-up", "Warm-up", features, labels, settings))
        worker = service.workers["warm-up"]
        rows = np.random.default_rng(0).normal(size=(200, 2)).tolist()
        samples = [{"x": [a, b], "y": {"x": a > 0.0, "y": b > 0.5}} for a, b in rows]
        worker.call(lambda batch: operations.send_samples(batch, samples, Origin()))
        worker.call(lambda batch: batch.state.decide(rows))  # the effect of an answer
        worker.call(lambda batch: batch.state.explain(rows[0], 3))
        return int(worker.call(lambda batch: batch.state.learner.classifier.n_rules_))
    finally:
        service.stop()
