"""Calls with SIGINT at steps drawn from all steps (byte codes) that they take inside evolabel, so that runs repeat.

Only compiled kernels are one step.
"""

import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from profiles import classifier_of

import evolabel
from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

HERE = str(Path(evolabel.__file__).parent)

# Steps drawn per scenario; `make check` tries more of them.
SOME_STEPS = [3, pytest.param(25, marks=pytest.mark.slow)]


@pytest.fixture(autouse=True)
def ordinary_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def steps_of(call, at=-1):
    """Run a call, with SIGINT at one of its steps; returns the steps it took and whether it was interrupted."""
    count, former = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        if not frame.f_code.co_filename.startswith(HERE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            count += 1
            if count == at:
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return count, True
    finally:
        sys.settrace(former)
    return count, False


def drawn_steps(call, seed, number):
    total, _ = steps_of(call)
    return np.sort(np.random.default_rng(seed).choice(np.arange(1, total + 1), min(number, total), replace=False))


def assert_whole(clf, path, rows=None):
    """Everything that must agree does; the model can be saved, loaded and taught."""
    model, size = clf.inner.any_model, clf.inner.targets.size
    assert model.n_labels == size == len(model.n_answers)
    assert clf.predict(DRIFT[0][:3]).shape[:1] == (3,)
    if model.warm_up is None:
        rules = model.rules
        assert rules.n_labels == size
        for slot in range(rules.n_rules + 1):
            H = rules.hessian(slot) + np.diag(rules.settings.penalty[min(slot, 1)])
            np.testing.assert_allclose(rules.inverse(slot) @ H, np.eye(len(H)), atol=1e-6)
        assert len(set(rules.arrays.identity[1 : rules.n_rules + 1])) == rules.n_rules
    if rows == "complete":
        assert model.warm_up is not None or model.n_answers[0] == model.n_seen
        if hasattr(model.decisions, "seen") and model.warm_up is None:
            assert model.decisions.seen.sum() == model.n_answers.sum()
    clf.save(path / "model.safetensors")
    loaded = EvolvingFuzzyClassifier.load(path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(DRIFT[0][:3]), clf.predict(DRIFT[0][:3]))


DRIFT = DriftingStream(n_features=3, n_labels=3, drift_every=40, seed=7).take(400)

PROFILES = {
    "default": {"max_rules": 4},
    "pruned": {"max_rules": 6, "prune_after": 20, "merging": "touching"},
    "macro_f1": {"max_rules": 4, "optimise": "macro_f1"},
    "micro_f1": {"max_rules": 4, "optimise": "micro_f1"},
    "balanced": {"max_rules": 4, "optimise": "balanced"},
    "subset_accuracy": {"max_rules": 4, "optimise": "subset_accuracy"},
    "iterated": {"max_rules": 4, "alpha": 0.01, "beta": 0.1, "follow_drift": False},
    "paper": None,
}


def made(profile):
    changes = PROFILES[profile]
    return EvolvingFuzzyClassifier.paper(max_rules=5) if changes is None else classifier_of(**changes)
