"""Ctrl-C at any step of learning leaves a whole model that goes on learning."""

import copy

import numpy as np
import pandas as pd
import pytest
from attacks.interrupts import (
    DRIFT,
    PROFILES,
    SOME_STEPS,
    assert_whole,
    drawn_steps,
    made,
    ordinary_handler,  # noqa: F401
    steps_of,
)
from choices import pairs

from evolabel import EvolvingFuzzyClassifier

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(("profile", "rows"), pairs(PROFILES, [1, 60]))
@pytest.mark.parametrize("steps", SOME_STEPS)
def test_learning(profile, rows, steps, tmp_path):
    X, Y = DRIFT
    known = made(profile).fit(X[:80], Y[:80])
    part = slice(80, 80 + rows)
    came = 0
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[part], Y[part]), seed=rows, number=steps):
        clf = copy.deepcopy(known)
        _, interrupted = steps_of(lambda clf=clf: clf.partial_fit(X[part], Y[part]), step)
        came += interrupted
        assert 80 <= clf.n_samples_seen_ <= 80 + rows
        assert_whole(clf, tmp_path, "complete")
        clf.partial_fit(X[200:260], Y[200:260])
        assert_whole(clf, tmp_path, "complete")
    assert came > 0


@pytest.mark.parametrize("kind", ["labels", "classes", "frames"])
@pytest.mark.parametrize("steps", SOME_STEPS)
def test_growing(kind, steps, tmp_path):
    X, Y = DRIFT
    frame = pd.DataFrame(Y, columns=list("abc"))
    codes = np.array(["u", "v", "w", "x"])[(Y[:, 0] + 2 * Y[:, 1]).astype(int)]
    first, then = {
        "labels": (np.ascontiguousarray(Y[:60, :1]), Y[60:110]),
        "classes": (np.where(codes[:60] > "v", "u", codes[:60]), codes[60:110]),
        "frames": (frame[["b"]][:60], frame[60:110]),
    }[kind]
    known = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], first)
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[60:110], then), seed=1, number=steps):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: clf.partial_fit(X[60:110], then), step)
        assert_whole(clf, tmp_path)
        clf.partial_fit(X[60:110], then)
        assert_whole(clf, tmp_path)


@pytest.mark.parametrize("profile", ["default", "paper", "macro_f1"])
@pytest.mark.parametrize("steps", SOME_STEPS)
def test_the_warm_up_and_its_end(profile, steps, tmp_path):
    X, Y = DRIFT
    known = made(profile).set_params(warm_up=20).partial_fit(X[:15], Y[:15])
    for step in drawn_steps(lambda: copy.deepcopy(known).partial_fit(X[15:30], Y[15:30]), seed=2, number=steps):
        clf = copy.deepcopy(known)
        steps_of(lambda clf=clf: clf.partial_fit(X[15:30], Y[15:30]), step)
        assert clf.n_samples_seen_ in (15, 30)
        assert_whole(clf, tmp_path)
        assert_whole(clf.partial_fit(X[30:60], Y[30:60]), tmp_path)


@pytest.mark.parametrize("steps", SOME_STEPS)
def test_the_very_first_call(steps, tmp_path):
    X, Y = DRIFT
    for step in drawn_steps(lambda: EvolvingFuzzyClassifier().partial_fit(X[:5], Y[:5]), seed=3, number=steps):
        clf = EvolvingFuzzyClassifier()
        steps_of(lambda clf=clf: clf.partial_fit(X[:5], Y[:5]), step)
        assert clf.inner.is_fitted == hasattr(clf.inner.state, "targets")
        assert_whole(clf.partial_fit(X[:5], Y[:5]), tmp_path)
