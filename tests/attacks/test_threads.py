"""Threads that learn, grow labels, merge, predict and explain at the same time: every answer is of a whole model."""

import copy
import pickle
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.streams import DriftingStream

pytestmark = pytest.mark.compiled

PROFILES = {
    "default": lambda: EvolvingFuzzyClassifier(max_rules=8),
    "macro_f1": lambda: EvolvingFuzzyClassifier(max_rules=8, optimise="macro_f1"),
    "paper": lambda: EvolvingFuzzyClassifier.paper(max_rules=8),
}


def run(*jobs):
    """Run jobs in threads of their own; the first error of any is raised."""
    errors = []

    def guarded(job):
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def until(event, job):
    """A job done again and again until the event comes, at least three times."""

    def repeated():
        turns = 0
        while turns < 3 or not event.is_set():
            job()
            turns += 1

    return repeated


@pytest.fixture(autouse=True)
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def chunks(Y, X, size=20):
    """Rows in pieces whose labels become more and more."""
    for number, start in enumerate(range(0, len(X), size)):
        part = slice(start, start + size)
        yield X[part], np.ascontiguousarray(Y[part, : min(2 + number // 3, Y.shape[1])])


@pytest.mark.parametrize("profile", PROFILES)
def test_every_answer_is_that_of_a_state_between_two_chunks(profile):
    X, Y = DriftingStream(n_features=4, n_labels=6, seed=1).take(460)
    clf = PROFILES[profile]().fit(X[:60], Y[:60, :2])
    few, many, twin = X[:5], X[:100], copy.deepcopy(clf)
    outputs = {twin.decision_function(part).tobytes() for part in (few, many)}
    labels = {twin.predict(part).tobytes() for part in (few, many)}
    for rows, targets in chunks(Y[60:], X[60:]):
        twin.partial_fit(rows, targets)
        outputs |= {twin.decision_function(part).tobytes() for part in (few, many)}
        labels |= {twin.predict(part).tobytes() for part in (few, many)}
    done = threading.Event()

    def learn():
        try:
            for rows, targets in chunks(Y[60:], X[60:]):
                clf.partial_fit(rows, targets)
        finally:
            done.set()

    def answer():
        for rows in (few, many):
            assert clf.decision_function(rows).tobytes() in outputs
            assert clf.predict(rows).tobytes() in labels

    run(learn, until(done, answer), until(done, answer))
    np.testing.assert_array_equal(clf.decision_function(many), twin.decision_function(many))


def test_reading_in_all_ways_while_learning():
    X, Y = DriftingStream(n_features=4, n_labels=6, seed=2).take(300)
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60, :2])
    done, widths = threading.Event(), set(range(2, 7))

    def learn():
        try:
            for rows, targets in chunks(Y[60:], X[60:]):
                clf.partial_fit(rows, targets)
                clf.rulebook.lock(int(clf.inner.any_model.rules.arrays.identity[1]))
                clf.rulebook.undo()
        finally:
            done.set()

    def read():
        told = clf.explain(X[0])
        assert told.total.shape == (len(told.label_names),)
        assert np.isfinite(told.total).all()
        assert clf.predict_proba(X[:3]).shape[1] in widths
        assert len(clf.thresholds_) in widths
        np.testing.assert_allclose(clf.memberships(X[:3]).sum(axis=1), 1.0)
        assert len(clf.describe()) >= 1
        assert clf.sibling().n_samples_seen_ == 0

    run(learn, until(done, read))


def test_fit_replaces_the_model_while_others_ask(tmp_path):
    X, Y = DriftingStream(n_features=4, n_labels=4, seed=3).take(200)
    clf = EvolvingFuzzyClassifier(max_rules=5).fit(X, Y[:, :2])
    done, widths = threading.Event(), {2, 3, 4}

    def fit():
        try:
            for width in (3, 4, 2, 4):
                clf.fit(X, np.ascontiguousarray(Y[:, :width]))
        finally:
            done.set()

    def ask():
        assert clf.predict(X[:2]).shape[1] in widths
        clf.save(tmp_path / f"{threading.get_ident()}.safetensors")
        loaded = EvolvingFuzzyClassifier.load(tmp_path / f"{threading.get_ident()}.safetensors")
        assert loaded.predict(X[:2]).shape[1] == len(loaded.label_names_)

    run(fit, until(done, ask), until(done, ask))
    assert clf.predict(X).shape == (200, 4)


def test_two_classifiers_that_merge_each_other_do_not_wait_for_ever():
    X, Y = DriftingStream(n_features=3, n_labels=2, seed=4).take(200)
    one = EvolvingFuzzyClassifier(max_rules=4).fit(X[:100], Y[:100])
    other = one.sibling().partial_fit(X[100:], Y[100:])

    def merge(mine, theirs):
        return lambda: [mine.merge(theirs) for _ in range(5)]

    run(merge(one, other), merge(other, one))
    assert np.isfinite(one.decision_function(X)).all()


def test_a_learner_is_asked_and_taught_by_several_threads():
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=5).take(400)
    learner = ActiveLearner(EvolvingFuzzyClassifier(max_rules=6).fit(X[:100], Y[:100]), budget=1.0)

    def teach(rows, labels):
        def job():
            for x, y in zip(rows, labels, strict=True):
                query = learner.query(x)
                with suppress(RuntimeError):  # another thread may have spent the budget since
                    learner.update(query, y if query.asked else None)
                assert np.isfinite(learner.decision_function(X[:3])).all()

        return job

    run(teach(X[100:250], Y[100:250]), teach(X[250:], Y[250:]))
    assert learner.bucket.seen <= 300
    assert learner.bucket.asked <= learner.bucket.seen
    assert learner.classifier.n_samples_seen_ == 100 + learner.bucket.asked


def test_copies_have_locks_of_their_own(trained):
    for twin in (copy.copy(trained), copy.deepcopy(trained), pickle.loads(pickle.dumps(trained)), clone(trained)):
        assert twin.inner.lock is not trained.inner.lock


def test_a_copy_that_is_fitted_anew_leaves_the_model_of_the_other(trained, stream):
    twin, model = copy.copy(trained), trained.inner.any_model
    held = trained.inner
    twin.fit(*stream)
    assert trained.inner.any_model is held.any_model is model
    trained.fit(*stream)
    assert trained.inner.any_model is held.any_model is not model
