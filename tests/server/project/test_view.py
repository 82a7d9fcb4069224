"""Copies of the state for readers."""

import threading

import pytest

from evolabel.server.project.copies import StateView
from evolabel.server.project.jobs import BusyError
from server.pumps import checksum, run, samples, send


@pytest.fixture
def worker(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(30))
    return worker


def with_clock(worker):
    """A view of the worker with a clock that stands still until it is set."""
    clock = [0.0]
    worker.view.stop()
    worker.view = StateView(worker.submit, clock=lambda: clock[0])
    return worker.view, clock


def test_a_copy_is_the_state_after_a_commit(worker):
    worker.view.forget()  # what the effects of answers were computed on
    copied = worker.view.read(lambda copy: (copy.state.checksum(), copy.seq)).result(30)
    assert copied == (checksum(worker), worker.head.seq)
    assert worker.view.read(lambda copy: copy.state is worker.state).result(30) is False


def test_a_copy_is_made_once_a_second_and_only_when_a_reader_waits(worker):
    view, clock = with_clock(worker)
    first = view.read(lambda copy: copy).result(30)
    send(worker, {"x": {"pressure": 1.0}})
    assert view.read(lambda copy: copy).result(30) is first
    clock[0] = 1.0
    send(worker, {"x": {"pressure": 1.0}})
    later = view.read(lambda copy: copy).result(30)
    assert later.seq == worker.head.seq == first.seq + 2


def test_a_forgotten_copy_is_made_again(worker):
    view, _ = with_clock(worker)
    first = view.read(lambda copy: copy).result(30)
    send(worker, {"x": {"pressure": 1.0}})
    view.forget()
    assert view.read(lambda copy: copy.seq).result(30) == first.seq + 1


def test_a_trial_changes_neither_the_copy_nor_the_worker(worker):
    worker.view.forget()
    before = checksum(worker)

    def trial(copy):
        state = copy.trial()
        state.learner.learn({"pressure": 1.0, "flow": 1.0, "machine=M-01": 1.0, "machine=M-02": 0.0}, [1.0, 0.0])
        return state.checksum(), copy.state.checksum()

    changed, kept = worker.view.read(trial).result(30)
    assert kept == before == checksum(worker) != changed


def test_readers_run_one_after_the_other(worker):
    at_once, most = [0], [0]
    turn = threading.Lock()

    def read(copy):
        with turn:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        copy.state.checksum()
        with turn:
            at_once[0] -= 1

    for future in [worker.view.read(read) for _ in range(8)]:
        future.result(30)
    assert most == [1]


def test_a_reader_of_a_stopped_worker_is_refused(worker):
    worker.stop()
    with pytest.raises(BusyError, match="stopping"):
        worker.view.read(lambda copy: copy.seq)
