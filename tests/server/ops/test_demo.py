"""The demonstration project: samples come, some questions are answered, some wait."""

import time

from evolabel.server.ops.demo import SLUG, Demo, pump_samples
from evolabel.server.project import reading
from evolabel.server.project.service import Service
from server.pumps import call


def test_the_demo_sends_samples_and_answers_some_questions(sqlite):
    service = Service(sqlite)
    service.start()
    demo = Demo(service, pause=0.0)
    demo.start()
    worker = service.workers[SLUG]
    end = time.monotonic() + 60.0
    while worker.state.seen < 200 and time.monotonic() < end:
        time.sleep(0.05)
    demo.stop()
    shown = call(worker, reading.show_project)
    service.stop()
    assert shown["samples"] >= 200
    assert 0 < shown["open"] <= 100
    assert worker.state.learner.ledger.labels_answered > 0
    assert shown["cost"] <= 0.15 * 3 * shown["samples"]


def test_the_samples_of_the_demo_have_every_label():
    stream = pump_samples()
    truths = [next(stream)[1] for _ in range(500)]
    assert all(0 < sum(truth[label] for truth in truths) < 100 for label in truths[0])
