"""Ctrl-C at any step of any call that changes a model leaves a whole model, and the interrupt is not lost.

SIGINT is sent at steps drawn from all steps (byte codes) that a call takes inside evolabel, so that runs repeat. Only
compiled kernels are one step.
"""

import copy
import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evolabel
from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.interrupts import deliver, held
from evolabel.active import ActiveLearner
from evolabel.streams import DriftingStream

HERE = str(Path(evolabel.__file__).parent)
STEPS = 25  # drawn per scenario

pytestmark = pytest.mark.compiled


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


def drawn_steps(call, seed, number=STEPS):
    total, _ = steps_of(call)
    return np.sort(np.random.default_rng(seed).choice(np.arange(1, total + 1), min(number, total), replace=False))


def assert_whole(clf, path, rows=None):
    """Everything that must agree does; the model can be saved, loaded and taught."""
    model, size = clf._model, clf._targets.size
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
        if model.counts is not None and model.warm_up is None:
            assert model.counts.seen.sum() == model.n_answers.sum()
    clf.save(path / "model.safetensors")
    loaded = EvolvingFuzzyClassifier.load(path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(DRIFT[0][:3]), clf.predict(DRIFT[0][:3]))


DRIFT = DriftingStream(n_features=3, n_labels=3, drift_every=40, seed=7).take(400)

PROFILES = {
    "default": {"max_rules": 4},
    "forgetting": {"max_rules": 4, "forgetting": 0.95},
    "pruned": {"max_rules": 6, "prune_after": 20, "merging": "touching"},
    "macro_f1": {"max_rules": 4, "optimise": "macro_f1"},
    "micro_f1": {"max_rules": 4, "optimise": "micro_f1"},
    "relevance": {"max_rules": 4, "feature_weights": "relevance"},
    "iterated": {"max_rules": 4, "alpha": 0.01, "beta": 0.1, "follow_drift": False},
    "paper": None,
}


def made(profile):
    changes = PROFILES[profile]
    return EvolvingFuzzyClassifier.paper(max_rules=5) if changes is None else EvolvingFuzzyClassifier(**changes)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("rows", [1, 60])
def test_learning(profile, rows, tmp_path):
    X, Y = DRIFT
    known = made(profile).fit(X[:80], Y[:80])
    part = slice(80, 80 + rows)
    came = 0
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[part], Y[part]), seed=rows):
        clf = copy.deepcopy(known)
        _, interrupted = steps_of(lambda clf=clf: clf.partial_fit(X[part], Y[part]), step)
        came += interrupted
        assert 80 <= clf.n_samples_seen_ <= 80 + rows
        assert_whole(clf, tmp_path, "complete")
        clf.partial_fit(X[200:260], Y[200:260])
        assert_whole(clf, tmp_path, "complete")
    assert came > 0


@pytest.mark.parametrize("kind", ["labels", "classes", "frames"])
def test_growing(kind, tmp_path):
    X, Y = DRIFT
    frame = pd.DataFrame(Y, columns=list("abc"))
    codes = np.array(["u", "v", "w", "x"])[(Y[:, 0] + 2 * Y[:, 1]).astype(int)]
    first, then = {
        "labels": (np.ascontiguousarray(Y[:60, :1]), Y[60:110]),
        "classes": (np.where(codes[:60] > "v", "u", codes[:60]), codes[60:110]),
        "frames": (frame[["b"]][:60], frame[60:110]),
    }[kind]
    known = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], first)
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[60:110], then), seed=1):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: clf.partial_fit(X[60:110], then), step)
        assert_whole(clf, tmp_path)
        clf.partial_fit(X[60:110], then)
        assert_whole(clf, tmp_path)


@pytest.mark.parametrize("profile", ["default", "paper", "macro_f1"])
def test_the_warm_up_and_its_end(profile, tmp_path):
    X, Y = DRIFT
    known = made(profile).set_params(warm_up=20).partial_fit(X[:15], Y[:15])
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[15:30], Y[15:30]), seed=2):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: clf.partial_fit(X[15:30], Y[15:30]), step)
        assert clf.n_samples_seen_ in (15, 30)
        assert_whole(clf, tmp_path)
        assert_whole(clf.partial_fit(X[30:60], Y[30:60]), tmp_path)


def test_the_very_first_call(tmp_path):
    X, Y = DRIFT
    for step in drawn_steps(lambda: EvolvingFuzzyClassifier().partial_fit(X[:5], Y[:5]), seed=3):
        clf = EvolvingFuzzyClassifier()
        steps_of(lambda clf=clf: clf.partial_fit(X[:5], Y[:5]), step)
        assert ("_model" in vars(clf)) == ("_targets" in vars(clf))
        assert_whole(clf.partial_fit(X[:5], Y[:5]), tmp_path)


def sections(known, other):
    """Calls that happen as a whole or not at all."""
    X, Y = DRIFT
    number = int(known._model.rules.arrays.identity[1])
    return {
        "fit": lambda clf: clf.fit(X[:40], pd.DataFrame(Y[:40], columns=list("abc"))),
        "merge": lambda clf: clf.merge(other),
        "add": lambda clf: clf.rulebook.add("IF x0 IS very high THEN label0 LIKELY"),
        "edit": lambda clf: clf.rulebook.edit(number, "IF x0 IS very high THEN label0 LIKELY"),
        "lock": lambda clf: clf.rulebook.lock(number),
        "delete": lambda clf: clf.rulebook.delete(number),
        "undo": lambda clf: clf.rulebook.undo(),
        "names": lambda clf: clf.name_columns(list("xyz"), list("abc")),
    }


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["fit", "merge", "add", "edit", "lock", "delete", "undo", "names"])
def test_all_or_nothing(kind, tmp_path, state_of):
    X, Y = DRIFT
    known = EvolvingFuzzyClassifier(max_rules=4).fit(X[:80], Y[:80])
    other = known.sibling().partial_fit(X[80:140], Y[80:140])
    known.rulebook.rename(int(known._model.rules.arrays.identity[1]), "one")
    call = sections(known, other)[kind]

    def told(clf):
        rules, names = clf._model.rules, list(getattr(clf, "feature_names_in_", []))
        state = [value.tobytes() if isinstance(value, np.ndarray) else value for value in state_of(clf).values()]
        return repr([state, rules.rule_names, len(clf._model.changes), names])

    done = copy.deepcopy(known)
    call(done)
    outcomes, seen = {told(known), told(done)}, set()
    for step in drawn_steps(lambda: call(copy.deepcopy(known)), seed=4, number=25):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: call(clf), step)
        seen.add(told(clf))
        assert_whole(clf, tmp_path)
    assert seen <= outcomes


def test_dictionaries(tmp_path):
    pytest.importorskip("river")
    from evolabel.adapters.river import RiverEvolvingFuzzyClassifier

    def samples(first, last, *names):
        rows = zip(DRIFT[0][first:last].tolist(), DRIFT[1][first:last].tolist(), strict=True)
        return [(dict(zip("abc", x, strict=True)), dict(zip(names, y, strict=False))) for x, y in rows]

    known = RiverEvolvingFuzzyClassifier(max_rules=4, warm_up=20)
    for x, y in samples(0, 18, "u"):
        known.learn_one(x, y)
    stream = samples(18, 26, "u") + samples(26, 34, "u", "v", "w")

    def learn(model):
        for x, y in stream:
            model.learn_one(x, y)

    for step in drawn_steps(lambda: learn(copy.deepcopy(known)), seed=9):
        model = copy.deepcopy(known)
        steps_of(lambda model=model: learn(model), step)
        clf = model.estimator
        assert clf._targets.size == clf._model.n_labels == len(model._labels) == len(clf._model.n_answers)
        assert clf._model.n_features == len(model._features) == clf.n_features_in_
        learn(model)
        assert set(model.predict_one(stream[0][0])) == {"u", "v", "w"}


@pytest.mark.parametrize("profile", ["default", "paper"])
def test_active_learning(profile, tmp_path):
    X, Y = DRIFT
    known = ActiveLearner(made(profile).fit(X[:80], Y[:80]), budget=0.5)
    for x, y in zip(X[80:100], Y[80:100], strict=True):
        query = known.query(x)
        known.update(query, y if query.asked else None)

    def update(learner):
        for x, y in zip(X[100:106], Y[100:106], strict=True):
            query = learner.query(x)
            learner.update(query, y if query.asked else None)

    def pend(learner):
        query = learner.next_query(X[100:140])[0]
        assert query is not None
        learner.mark_pending(query)
        learner.update(query, Y[100])

    for number, job in enumerate((update, pend)):
        for step in drawn_steps(lambda job=job: job(copy.deepcopy(known)), seed=5 + number, number=30):
            learner = copy.deepcopy(known)
            steps_of(lambda learner=learner, job=job: job(learner), step)
            taught = learner.classifier.n_samples_seen_ - 80
            assert taught == learner.bucket.asked - len(learner.pending)
            assert learner.bucket.asked <= learner.bucket.seen
            assert_whole(learner.classifier, tmp_path)
            learner.save(tmp_path / "learner.safetensors")
            update(ActiveLearner.load(tmp_path / "learner.safetensors"))


def learn_for_ever(clf, X, Y):
    while True:
        clf.partial_fit(X, Y)


def test_long_batches_stop_between_chunks():
    X, Y = (np.tile(part, (60, 1)) for part in DRIFT)
    for optimise in ("accuracy", "macro_f1"):
        clf = EvolvingFuzzyClassifier(max_rules=3, optimise=optimise).fit(X[:100], Y[:100])
        timer = threading.Timer(0.01, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            learn_for_ever(clf, X, Y)
        timer.join()
        assert clf._model.n_answers[0] == clf.n_samples_seen_


def test_many_interrupts_from_a_timer(tmp_path):
    X, Y = DRIFT
    clf, rng = EvolvingFuzzyClassifier(max_rules=4, forgetting=0.95).fit(X[:80], Y[:80]), np.random.default_rng(8)
    process, came = os.getpid(), 0
    for turn in range(200):
        rows = slice(turn, turn + 1 + turn % 40)
        timer = threading.Timer(rng.uniform(0.0, 2e-3), lambda: os.kill(process, signal.SIGINT))
        try:
            timer.start()
            learn_for_ever(clf, X[rows], Y[rows])
        except KeyboardInterrupt:
            came += 1
        timer.join()
        if turn % 20 == 0:
            assert_whole(clf, tmp_path, "complete")
    assert came == 200
    assert_whole(clf, tmp_path, "complete")


def test_what_is_held_comes_afterwards_and_once():
    done = []

    def nested():
        with held():
            with held():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")

    def delivered():
        with held():
            signal.raise_signal(signal.SIGINT)
            deliver()

    for call in (nested, delivered):
        with pytest.raises(KeyboardInterrupt):
            call()
        with held():
            deliver()
    assert done == ["inner", "outer"]


def test_other_handlers_and_other_threads():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with held():
        signal.raise_signal(signal.SIGINT)
        assert not seen
        deliver()
        assert seen == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
        assert seen == [signal.SIGINT]
    assert seen == [signal.SIGINT] * 2

    def elsewhere():
        with held():
            seen.append("thread")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen[-1] == "thread"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held():
        signal.raise_signal(signal.SIGINT)
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is signal.SIG_IGN
