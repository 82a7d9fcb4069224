"""A stream of pump samples and people who answer, for tests of the service."""

import numpy as np

from evolabel.server.log.projects import find_project
from evolabel.server.ops.verify import verify_project
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.service import NewProject
from evolabel.server.project.settings import Feature, Label, ProjectSettings

ANNA, BOB = Origin(1), Origin(2)
FEATURES = [Feature("pressure"), Feature("flow"), Feature("machine", "text", ("M-01", "M-02"))]
LABELS = [Label("leak"), Label("wear")]


def new_project(**settings):
    """A project of pumps that asks often and holds no answer back."""
    chosen = {"budget": 0.5, "hold_seconds": 0, "overlap": 0.0, **settings}
    return NewProject("pumps", "Pump station", FEATURES, LABELS, ProjectSettings(**chosen))


def samples(n, seed=0):
    """n samples with ids, and their true labels."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        pressure, flow = rng.normal(size=2).tolist()
        x = {"pressure": pressure, "flow": flow, "machine": rng.choice(["M-01", "M-02"]).item()}
        found.append(({"id": f"s{i}", "x": x}, {"leak": pressure < 0.0, "wear": flow > 0.5}))
    return found


def proven(connection, slug="pumps"):
    """What a check of the project finds in which a replay from the first record on differs nowhere."""
    found = verify_project(connection, find_project(connection, slug), from_start=True)
    assert found.replay.first is None, found.replay.first
    return found


def call(worker, operation, *arguments, **named):
    """Result of a operation that the worker has carried out."""
    return worker.submit(lambda batch: operation(batch, *arguments, **named)).result(30)


def send(worker, sample, origin=ANNA):
    """Result of one sample."""
    return call(worker, operations.send_samples, [sample], origin)["results"][0]


def run(worker, stream, origin=ANNA):
    """Send all samples, and answer every question at once."""
    for sample, truth in stream:
        result = send(worker, sample)
        if result["question"]:
            asked = {label: truth[label] for label in result["question"]["labels"]}
            call(worker, operations.give_answer, result["number"], asked, origin)


def checksum(worker):
    """Checksum of the learner."""
    return worker.submit(lambda batch: batch.state.checksum()).result(30)
