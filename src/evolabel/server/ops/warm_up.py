"""`warm_up`: a small project, so that the kernels of a service are compiled before it starts."""

from pathlib import Path

import numpy as np

from evolabel.server.log.engines import read_url
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.service import NewProject, Service
from evolabel.server.project.settings import Feature, Label, ProjectSettings

_SAMPLES = 200


def warm_up(folder: Path) -> int:
    """Run a small project in a database inside `folder`, so that its kernels are compiled; return its rules."""
    service = Service(read_url(f"sqlite:///{folder}/warm-up.db"))
    try:
        service.start()
        settings = ProjectSettings(budget=1.0, hold_seconds=0, overlap=0.0)
        features, labels = [Feature("a"), Feature("b")], [Label("x"), Label("y")]
        service.create_project(NewProject("warm-up", "Warm-up", features, labels, settings))
        worker = service.workers["warm-up"]
        rows = np.random.default_rng(0).normal(size=(_SAMPLES, 2)).tolist()
        samples = [{"x": [a, b], "y": {"x": a > 0.0, "y": b > 0.5}} for a, b in rows]
        worker.call(lambda batch: operations.send_samples(batch, samples, Origin()))
        worker.call(lambda batch: batch.state.decide(rows))  # the effect of an answer
        worker.call(lambda batch: batch.state.explain(rows[0], 3))
        return int(worker.call(lambda batch: batch.state.learner.classifier.n_rules_))
    finally:
        service.stop()
