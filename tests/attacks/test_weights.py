"""Sample weights of any size end in finite outputs or in one of our errors, and an error leaves the model as it was."""

import copy
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from choices import pairs
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, EvolabelError
from evolabel.model.start.ridge import condition_ridge
from evolabel.stages.rules.rule_state import is_sound
from evolabel.streams import DriftingStream

pytestmark = pytest.mark.compiled  # numpy warns of the overflow that compiled code passes over

ROWS = 200
RNG = np.random.default_rng(0)

WEIGHTS = {
    "denormal": np.full(ROWS, 5e-324),
    "1e-300": np.full(ROWS, 1e-300),
    "1e-100": np.full(ROWS, 1e-100),
    "1e-12": np.full(ROWS, 1e-12),
    "1e6": np.full(ROWS, 1e6),
    "1e8": np.full(ROWS, 1e8),
    "1e12": np.full(ROWS, 1e12),
    "1e-8 to 1e12": 10.0 ** RNG.uniform(-8.0, 12.0, ROWS),
    "1e-300 to 1": 10.0 ** RNG.uniform(-300.0, 0.0, ROWS),
    "one of 1e12": np.where(np.arange(ROWS) == ROWS // 2, 1e12, 1.0),
    "0, 1e-300 or 1e12": RNG.choice([0.0, 1e-300, 1e12], ROWS),
}

PROFILES = {
    "default": {},
    "condition": {"ridge": "condition"},
    "iterated": {"alpha": 0.01, "beta": 0.1, "follow_drift": False},
    "rotated": {"covariance": "full"},
    "thresholds": {"optimise": "macro_f1"},
    "unscaled": {"scaling": "none"},
    "hardly any ridge": {"ridge": 1e-10},
    "paper": None,
}


def made(profile):
    changes = PROFILES[profile]
    if changes is None:
        return EvolvingFuzzyClassifier.paper(max_rules=6)
    return classifier_of(max_rules=6, **changes)


@pytest.fixture(scope="module")
def rows():
    return DriftingStream(n_features=4, n_labels=3, seed=1).take(ROWS)


def assert_sound(clf, X):
    for part in (X, X[:1]):
        assert np.isfinite(clf.decision_function(part)).all()
    assert clf.inner.any_model.warm_up is not None or is_sound(clf.inner.any_model.rules)


def refused(call):
    """Whether the call ends in one of our errors, of one line."""
    try:
        call()
    except EvolabelError as error:
        return "\n" not in str(error)
    return False


def known_state(clf, state_of):
    """The state without what a warm-up buffer holds beyond its rows."""
    state = state_of(clf)
    if clf.inner.any_model.warm_up is not None:
        state |= dict(zip(("X", "Y", "weights", "confidences"), clf.inner.any_model.warm_up.batch()[:4], strict=True))
        state["numbers"] = state["numbers"][: clf.inner.any_model.warm_up.filled]
    return {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize(("weights", "profile"), pairs(WEIGHTS, PROFILES))
def test_any_weights_end_in_finite_outputs_or_an_error(profile, weights, rows, state_of, assert_same_state):
    X, Y = rows
    w, half = WEIGHTS[weights], ROWS // 2
    for known in (None, made(profile).fit(X[:half], Y[:half])):
        clf = made(profile) if known is None else copy.deepcopy(known)
        if refused(lambda clf=clf: clf.fit(X, Y, sample_weight=w)):
            assert known is not None or not clf.inner.is_fitted
        else:
            assert_sound(clf, X)
        clf = made(profile) if known is None else copy.deepcopy(known)
        for part in (slice(0, half), slice(half, half + 1), slice(half + 1, ROWS)):
            before = None if not clf.inner.is_fitted else known_state(clf, state_of)
            failed = refused(lambda clf=clf, part=part: clf.partial_fit(X[part], Y[part], sample_weight=w[part]))
            if failed and before is not None:
                assert_same_state(known_state(clf, state_of), before)
            assert_sound(clf, X)
        with suppress(DataError) if clf.inner.any_model.warm_up is not None else nullcontext():
            clf.partial_fit(X, Y)  # a warm-up that holds such rows cannot end
        assert_sound(clf, X)


def test_the_condition_ridge_grows_with_the_weights(rows):
    Z = rows[0]
    alone, heavy = condition_ridge(Z, np.empty(0)), condition_ridge(Z, np.full(ROWS, 1e8))
    assert heavy == pytest.approx(1e8 * alone)
    assert condition_ridge(Z, np.ones(ROWS)) == alone


def test_a_warm_up_whose_end_fails_goes_on_with_better_rows(rows, monkeypatch):
    X, Y = rows
    clf = EvolvingFuzzyClassifier(warm_up=20, max_rules=4).partial_fit(X[:19], Y[:19])

    def fail(*_):
        raise np.linalg.LinAlgError("singular")

    with monkeypatch.context() as patched:
        patched.setattr("evolabel.model.stream_model.StreamModel._end_warm_up", fail)
        with pytest.raises(np.linalg.LinAlgError):
            clf.partial_fit(X[19:20], Y[19:20])
    assert (clf.inner.any_model.warm_up.filled, clf.n_samples_seen_) == (19, 19)
    assert clf.partial_fit(X[19:40], Y[19:40]).n_samples_seen_ == 40


def test_a_matrix_that_cannot_be_inverted_is_our_error(rows, monkeypatch):
    X, Y = rows
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X[:100], Y[:100])

    def fail(*_, **__):
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr("evolabel.stages.rules.inverses.ridge_inverse", fail)
    with pytest.raises(DataError, match="sample_weight"):
        clf.partial_fit(X, Y, sample_weight=np.full(ROWS, 1e12))
    assert clf.n_samples_seen_ == 100
    clf.inner.any_model.rules.settings = clf.inner.any_model.rules.settings._replace(upkeep_every=10)
    with pytest.raises(EvolabelError, match="inverted"):
        clf.partial_fit(X, Y)
    with pytest.raises(DataError, match="sample_weight"):
        classifier_of(alpha=0.1).fit(X, Y)
