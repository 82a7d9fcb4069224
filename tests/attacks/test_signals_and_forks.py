"""Ctrl-C is delivered once and to the right handler; forked processes and old pickles have locks that work."""

import multiprocessing
import pickle
import signal
import threading

import numpy as np
import pytest

from evolabel._utils.interrupts import deliver, held
from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.core.events import Event


@pytest.fixture
def calls():
    """Calls of a handler of SIGINT, which is put back afterwards."""
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("handled"))
    yield seen
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("at", ["end", "deliver"])
def test_one_interrupt_is_handled_once_and_late(calls, at):
    with held():
        signal.raise_signal(signal.SIGINT)
        assert calls == []
        if at == "deliver":
            deliver()
            assert calls == ["handled"]
    assert calls == ["handled"]


@pytest.mark.parametrize("at", ["end", "deliver"])
def test_a_handler_that_puts_another_in_its_place_is_followed(at):
    seen = []

    def second(*_):
        seen.append("second")

    before = signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, second))
    try:
        with held():
            signal.raise_signal(signal.SIGINT)
            if at == "deliver":
                deliver()
        signal.raise_signal(signal.SIGINT)
        assert seen == ["second"]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_gives_an_object_with_a_lock(trained, stream, protocol):
    copied = pickle.loads(pickle.dumps(trained, protocol=protocol))
    np.testing.assert_array_equal(copied.predict(stream[0]), trained.predict(stream[0]))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_can_use_a_classifier_whose_lock_was_held(trained, stream):
    release, held_now = threading.Event(), threading.Event()

    def hold():
        with trained.inner.lock:
            held_now.set()
            release.wait(30.0)

    holder = threading.Thread(target=hold)
    holder.start()
    held_now.wait(30.0)
    child = multiprocessing.get_context("fork").Process(target=trained.predict, args=(stream[0][:2],))
    child.start()
    child.join(60.0)
    ended = child.exitcode
    child.kill()
    release.set()
    holder.join()
    assert ended == 0


def test_merges_in_a_circle_do_not_hang(trained, stream):
    """Events of a crafted file: after an undo, two rules have each been merged into the other."""
    model = trained.inner.any_model
    moments = SecondMoments()
    moments.update(model, stream[0])
    first, second = (int(identity) for identity in model.rules.arrays.identity[1:3])
    model.rules.events.extend([Event(1, "merge", first, second, ""), Event(2, "merge", second, first, "")])
    trained.rulebook.delete(int(model.rules.arrays.identity[model.rules.n_rules]))
    assert len(moments.of(model.rules).M) == model.rules.n_rules + 1
