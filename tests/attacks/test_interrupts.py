"""Ctrl-C at any step of any call that changes a model leaves a whole model, and the interrupt is not lost."""

import copy
import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from attacks.interrupts import (
    DRIFT,
    SOME_STEPS,
    assert_whole,
    drawn_steps,
    made,
    ordinary_handler,  # noqa: F401
    steps_of,
)

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.interrupts import deliver, held
from evolabel.active import ActiveLearner

pytestmark = pytest.mark.compiled


def sections(known, other):
    """Calls that happen as a whole or not at all."""
    X, Y = DRIFT
    number = int(known.inner.any_model.rules.arrays.identity[1])
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
@pytest.mark.parametrize("steps", SOME_STEPS)
def test_all_or_nothing(kind, steps, tmp_path, state_of):
    X, Y = DRIFT
    known = EvolvingFuzzyClassifier(max_rules=4).fit(X[:80], Y[:80])
    other = known.sibling().partial_fit(X[80:140], Y[80:140])
    known.rulebook.rename(int(known.inner.any_model.rules.arrays.identity[1]), "one")
    call = sections(known, other)[kind]

    def told(clf):
        rules, names = clf.inner.any_model.rules, list(getattr(clf, "feature_names_in_", []))
        state = [value.tobytes() if isinstance(value, np.ndarray) else value for value in state_of(clf).values()]
        return repr([state, rules.rule_names, len(clf.inner.any_model.journal), names])

    done = copy.deepcopy(known)
    call(done)
    outcomes, seen = {told(known), told(done)}, set()
    for step in drawn_steps(lambda: call(copy.deepcopy(known)), seed=4, number=steps):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: call(clf), step)
        seen.add(told(clf))
        assert_whole(clf, tmp_path)
    assert seen <= outcomes


@pytest.mark.parametrize("steps", SOME_STEPS)
def test_dictionaries(steps):
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

    for step in drawn_steps(lambda: learn(copy.deepcopy(known)), seed=9, number=steps):
        model = copy.deepcopy(known)
        steps_of(lambda model=model: learn(model), step)
        clf = model.estimator
        assert (
            clf.inner.targets.size
            == clf.inner.any_model.n_labels
            == len(model._labels)
            == len(clf.inner.any_model.n_answers)
        )
        assert clf.inner.any_model.n_features == len(model._features) == clf.n_features_in_
        learn(model)
        assert set(model.predict_one(stream[0][0])) == {"u", "v", "w"}


@pytest.mark.parametrize("profile", ["default", "paper"])
@pytest.mark.parametrize("steps", SOME_STEPS)
def test_active_learning(profile, steps, tmp_path):
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
        for step in drawn_steps(lambda job=job: job(copy.deepcopy(known)), seed=5 + number, number=steps):
            learner = copy.deepcopy(known)
            steps_of(lambda learner=learner, job=job: job(learner), step)
            taught = learner.classifier.n_samples_seen_ - 80
            assert taught == learner.bucket.asked - len(learner.pending)
            assert learner.bucket.asked <= learner.bucket.seen
            assert_whole(learner.classifier, tmp_path)
            learner.save(tmp_path / "learner.safetensors")
            update(ActiveLearner.load(tmp_path / "learner.safetensors"))


def learn_for_ever(clf, X, Y, timer):
    """Learn until `timer` interrupts; it is started here, because a busy machine may not come here before it ends."""
    timer.start()
    while True:
        clf.partial_fit(X, Y)


@pytest.mark.posix
def test_long_batches_stop_between_chunks():
    X, Y = (np.tile(part, (60, 1)) for part in DRIFT)
    for optimise in ("accuracy", "macro_f1"):
        clf = EvolvingFuzzyClassifier(max_rules=3, optimise=optimise).fit(X[:100], Y[:100])
        timer = threading.Timer(0.01, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            learn_for_ever(clf, X, Y, timer)
        timer.join()
        assert clf.inner.any_model.n_answers[0] == clf.n_samples_seen_


@pytest.mark.posix
def test_many_interrupts_from_a_timer(tmp_path):
    X, Y = DRIFT
    clf, rng = EvolvingFuzzyClassifier(max_rules=4).fit(X[:80], Y[:80]), np.random.default_rng(8)
    process, came = os.getpid(), 0
    for turn in range(100):
        rows = slice(turn, turn + 1 + turn % 40)
        timer = threading.Timer(rng.uniform(0.0, 2e-3), lambda: os.kill(process, signal.SIGINT))
        try:
            learn_for_ever(clf, X[rows], Y[rows], timer)
        except KeyboardInterrupt:
            came += 1
        timer.join()
        if turn % 20 == 0:
            assert_whole(clf, tmp_path, "complete")
    assert came == 100
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
