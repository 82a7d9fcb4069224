"""Projects whose samples have one label of several: one is predicted, and yes to one is no to all others."""

import pytest

from evolabel.errors import DataError
from evolabel.server.log.records import find_kinds
from evolabel.server.log.writer import reading
from evolabel.server.project import operations
from evolabel.server.project.operations import ConflictError
from server.pumps import ANNA, call, proven, samples


@pytest.fixture
def project(sqlite, start):
    service = start(sqlite, one_of=True, budget=1.0)
    return service, service.workers["pumps"]


def test_one_label_is_predicted_and_answered(project):
    service, worker = project
    stream = [sample for sample, _ in samples(60)]
    results = call(worker, operations.send_samples, stream, ANNA)["results"]
    assert all(len(result["labels"]) >= 1 for result in results)
    asked = [result["number"] for result in results if result["question"]]
    for number in asked:
        call(worker, operations.give_answer, number, {"leak": number % 2 == 0, "wear": number % 2 == 1}, ANNA)
    assert all(
        len(row) == 2 and row.sum() == 1 for row in call(worker, lambda batch: batch.state.decide([[0.1, 2.0, "M-01"]]))
    )
    with reading(service.reader) as connection:
        proven(connection)


def test_yes_to_one_is_no_to_the_others(project):
    service, worker = project
    results = call(worker, operations.send_samples, [sample for sample, _ in samples(5)], ANNA)["results"]
    number = next(result["number"] for result in results if result["question"])
    call(worker, operations.give_answer, number, {"leak": True}, ANNA)
    call(worker, operations.send_samples, [{"x": [1.0, 2.0, "M-01"], "y": {"wear": True}}], ANNA)
    with reading(service.reader) as connection:
        (answer,) = find_kinds(connection, worker.project.id, ("answer",))
        sample = find_kinds(connection, worker.project.id, ("sample",))[-1]
    assert answer.entry.payload["answers"] == {"leak": 1, "wear": 0}
    assert sample.entry.payload["y"] == {"leak": 0, "wear": 1}


def test_two_labels_of_one_sample_are_refused(project):
    _, worker = project
    with pytest.raises(DataError, match="'leak' and 'wear' are both true; each sample has one"):
        call(worker, operations.send_samples, [{"x": [1.0, 2.0, "M-01"], "y": {"leak": True, "wear": True}}], ANNA)
    with pytest.raises(ConflictError, match="one_of is fixed"):
        call(worker, operations.change_settings, {"one_of": False}, ANNA)
