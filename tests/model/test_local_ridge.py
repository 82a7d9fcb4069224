"""The ridge of the rules: exact leave-one-out of the whole rule base, and a choice that stays with the model."""

import copy
import pickle

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.model.growth import grow_features
from evolabel.model.merge import merge
from evolabel.model.start import ridge as ridge_module
from evolabel.model.start.ridge import LOCAL_GRID as GRID
from evolabel.model.start.ridge import choose_local_ridge, leave_one_out
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.streams import DriftingStream

REGIONS = DriftingStream(n_features=6, n_labels=3, n_regions=4, drift="none", noise=0.0, seed=0).take(400)
ALONE = {"follow_drift": False}  # rules without members beside them
FULL = {"covariance": "full", "space": "product"}


def left_out(n, R, Y, psi, strength, gamma):
    """Output of row n by a model that has never seen it, from the definition."""
    others = np.arange(len(R)) != n
    R_, Y_, identity = R[others], Y[others], np.eye(R.shape[1])
    W_0 = np.linalg.solve(R_.T @ R_ + strength * identity, R_.T @ Y_)
    out = np.zeros(Y.shape[1])
    for i, share in enumerate(psi[n]):
        Q = psi[others, i][:, None] * R_
        out += share * (R[n] @ np.linalg.solve(R_.T @ Q + gamma * identity, Q.T @ Y_ + gamma * W_0))
    return out


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    p=st.integers(1, 12),
    C=st.integers(1, 4),
    strength=st.floats(0.1, 100.0),
    gamma=st.floats(0.01, 100.0),
)
def test_outputs_are_those_of_models_without_the_row(seed, n, p, C, strength, gamma):
    rng = np.random.default_rng(seed)
    R, Y, psi = rng.normal(size=(n, p)), rng.random((n, 2)), rng.dirichlet(np.ones(C), n)
    psi[psi < 0.2] = 0.0
    found = leave_one_out(R, Y, psi, strength, np.array([gamma, 3.0 * gamma]))
    for place, ridge in enumerate((gamma, 3.0 * gamma)):
        expected = [left_out(i, R, Y, psi, strength, ridge) for i in range(n)]
        np.testing.assert_allclose(found[place], expected, rtol=1e-6, atol=1e-8)


def settled(X, Y, **parameters):
    """A classifier and its scaled batch."""
    clf = EvolvingFuzzyClassifier(**parameters).fit(X, Y)
    return clf, clf.inner.any_model.trained(), clf.inner.any_model.scale(X)


def naive_choice(rules, Z, Y, unit, intercept_ridge):
    """The same choice, every row really left out."""
    R = np.column_stack([Z, np.ones(len(Z)) / np.sqrt(intercept_ridge)])
    psi, errors = rules.memberships(Z)[0], []
    for factor in GRID:
        outputs = [left_out(n, R, Y, psi, 1.5 * unit, factor * unit) for n in range(len(Z))]
        errors.append(((outputs - Y) ** 2).mean())
    return GRID[int(np.argmin(errors))]


@pytest.mark.parametrize("kind", ["regions", "noise"])
def test_the_choice_has_the_least_error_of_rows_left_out(kind):
    X, Y = REGIONS[0][:90], REGIONS[1][:90]
    if kind == "noise":
        Y = np.random.default_rng(1).integers(0, 2, Y.shape).astype(float)
    clf, rules, Z = settled(X, Y, max_rules=5)
    assert clf.local_ridge_ == naive_choice(rules, Z, Y, clf.ridge_, 0.01)


def test_regions_of_their_own_ask_for_less_ridge_than_noise_about_a_line():
    X, Y = REGIONS
    linear = (X @ np.ones(6) + 20.0 * np.random.default_rng(0).normal(size=len(X)) > 0.0).astype(float)
    assert EvolvingFuzzyClassifier().fit(X, Y).local_ridge_ < 0.1
    assert EvolvingFuzzyClassifier().fit(X, linear[:, None]).local_ridge_ == 0.2


@pytest.mark.parametrize("changes", [{}, {**ALONE, "alpha": 0.1}, {**ALONE, "beta": 1.0}, FULL])
def test_the_choice_is_the_parameter_of_that_number(changes):
    X, Y = REGIONS
    chosen = classifier_of(max_rules=8, **changes).fit(X[:200], Y[:200])
    given_ = classifier_of(max_rules=8, local_ridge=chosen.local_ridge_, **changes).fit(X[:200], Y[:200])
    assert chosen.local_ridge_ < 0.2
    assert given_.local_ridge_ == chosen.local_ridge_
    np.testing.assert_allclose(
        chosen.test_then_train(X[200:], Y[200:]), given_.test_then_train(X[200:], Y[200:]), atol=1e-8
    )


def test_penalties_on_top_do_not_change_the_choice():
    penalties = ({}, ALONE, {**ALONE, "alpha": 1.0}, {**ALONE, "beta": 5.0})
    assert len({classifier_of(**changes).fit(*REGIONS).local_ridge_ for changes in penalties}) == 1


@pytest.mark.parametrize("parent", ["nearest", "none"])
def test_without_a_global_parent_there_is_no_choice(parent):
    X, Y = REGIONS
    ridges = ("loo", 0.2)
    chosen, fixed = (classifier_of(parent=parent, local_ridge=r).fit(X, Y) for r in ridges)
    assert chosen.local_ridge_ == 0.2
    assert np.array_equal(chosen.decision_function(X), fixed.decision_function(X))


@pytest.mark.parametrize("kind", ["few", "constant features", "constant labels", "unlabelled"])
def test_where_the_batch_tells_nothing_the_ridge_stays_strong(kind):
    X, Y = (part[: 3 if kind == "few" else 50].copy() for part in REGIONS)
    if kind == "constant features":
        X[:] = 2.0
    elif kind != "few":
        Y[1:] = 1.0 if kind == "constant labels" else np.nan
        Y[0] = 1.0
    assert EvolvingFuzzyClassifier().fit(X, Y).local_ridge_ == 0.2


@pytest.mark.compiled  # numpy warns of the overflow that compiled code passes over
@pytest.mark.parametrize("scaling", ["none", "quantile"])
def test_hardly_any_ridge_leaves_a_choice_without_a_warning(scaling):
    X, Y = np.random.default_rng(0).normal(size=(30, 60)) * 1e5, REGIONS[1][:30]
    assert EvolvingFuzzyClassifier(ridge=1e-30, scaling=scaling, max_rules=3).fit(X, Y).local_ridge_ in GRID


def test_rows_that_teach_nothing_have_no_say():
    X, Y = REGIONS
    weights = np.repeat([1.0, 0.0], 200)
    noisy = np.where(weights[:, None] > 0.0, Y, 1.0 - Y)
    one, other = (EvolvingFuzzyClassifier().fit(X, labels, sample_weight=weights) for labels in (Y, noisy))
    assert one.local_ridge_ == other.local_ridge_ < 0.2


def test_gaps_count_as_average(gappy_stream):
    X, Y = (part[~np.isnan(gappy_stream[1]).all(axis=1)] for part in gappy_stream)
    clf, rules, Z = settled(X, Y, max_rules=3)
    psi, means = rules.memberships(Z)[0], np.nanmean(Y, axis=0)
    R = np.column_stack([np.nan_to_num(Z), np.full(len(Z), 10.0)])
    full = np.where(np.isnan(Y), means, Y)
    outputs = leave_one_out(R, full, psi, 1.5 * clf.ridge_, clf.ridge_ * np.array(GRID))
    assert clf.local_ridge_ == GRID[int(((outputs - full) ** 2).mean(axis=(1, 2)).argmin())]


def test_of_a_large_batch_rows_at_even_steps_are_asked(monkeypatch):
    X, Y = REGIONS
    clf, rules, Z = settled(X, Y)
    asked = []
    monkeypatch.setattr(ridge_module, "_MOST_ROWS", 40)
    monkeypatch.setattr(ridge_module, "leave_one_out", lambda R, *rest: asked.append(R) or leave_one_out(R, *rest))
    assert choose_local_ridge(rules, Z, Y, clf.ridge_).factor in GRID
    assert np.array_equal(asked[0][:, :-1], Z[np.linspace(0, 399, 40).astype(int)])


# ------------------------------------------------------------------ the choice stays with the model


@pytest.fixture
def chosen():
    """A classifier whose ridge is not the one its options start from."""
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(REGIONS[0][:200], REGIONS[1][:200])
    assert clf.local_ridge_ < 0.2
    return clf


def test_the_warm_up_ends_with_the_choice(chosen):
    X, Y = REGIONS
    streamed = EvolvingFuzzyClassifier(max_rules=6, warm_up=200).partial_fit(X[:200], Y[:200])
    assert streamed.local_ridge_ == chosen.local_ridge_
    assert np.array_equal(streamed.test_then_train(X[200:], Y[200:]), chosen.test_then_train(X[200:], Y[200:]))


@pytest.mark.parametrize("way", ["file", "pickle", "snapshot"])
def test_it_comes_back_with_the_model(way, chosen, tmp_path, state_of, assert_same_state):
    X, Y = REGIONS
    if way == "file":
        chosen.save(tmp_path / "model")
        twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    elif way == "pickle":
        twin = pickle.loads(pickle.dumps(chosen))
    else:
        twin = copy.deepcopy(chosen)
        twin.inner.replace_model(model_from_arrays(*model_to_arrays(chosen.inner.any_model)))
    assert twin.local_ridge_ == chosen.local_ridge_
    wider = np.column_stack([Y, Y[:, 0]])  # a new label: the settings are made anew
    assert np.array_equal(twin.test_then_train(X[200:], wider[200:]), chosen.test_then_train(X[200:], wider[200:]))
    assert_same_state(state_of(twin), state_of(chosen))


def test_a_united_model_keeps_its_own(chosen):
    X, Y = REGIONS
    other = chosen.sibling().partial_fit(X[200:], Y[200:])
    assert other.local_ridge_ == chosen.local_ridge_
    other.inner.any_model.local_ridge = 7.0
    other.inner.any_model.rules.settings = other.inner.any_model.settings()
    united = merge(chosen.inner.any_model, other.inner.any_model, 3, [0, 1, 2])
    assert united.local_ridge == chosen.local_ridge_
    gamma = chosen.local_ridge_ * chosen.ridge_ * np.append(np.ones(6), 0.01)
    rules = united.trained()
    for slot in range(1, rules.n_rules + 1):
        expected = np.linalg.inv(rules.hessian(slot) + np.diag(gamma))
        np.testing.assert_allclose(rules.inverse(slot), expected, rtol=1e-6, atol=1e-10)


def test_more_labels_and_features_keep_it(chosen):
    model, gamma = chosen.inner.any_model, chosen.local_ridge_ * chosen.ridge_
    model.grow_labels(5)
    assert model.trained().settings.penalty[1, 0] == gamma
    grow_features(model, [np.arange(5.0)])
    assert model.trained().settings.penalty[1].tolist() == [*[gamma] * 7, 0.01 * gamma]
