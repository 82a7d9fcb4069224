"""What every classifier promises, for the paper's profile and each step between it and the default."""

import pickle

import numpy as np
import pytest
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import partial_accuracy
from evolabel.streams import DriftingStream


def paper(**changes):
    return EvolvingFuzzyClassifier.paper(**{"max_rules": 5, "warm_up": 40, **changes})


PROFILES = {
    "paper": {},
    "input space": {"space": "input"},
    "signed laplacian": {"coupling": "signed_laplacian"},
    "only least squares": {"alpha": 0.0, "beta": 0.0},
    "towards the global model": {"parent": "global"},
    "axis-parallel": {"covariance": "diag"},
    "pruned": {"prune_after": 20},
    "angle": {"consistency": "angle", "vigilance": 0.6},
}


def in_steps(clf, X, Y, sizes):
    cuts = np.cumsum(sizes)[:-1]
    for x, y in zip(np.split(X, cuts), np.split(Y, cuts), strict=True):
        clf.partial_fit(x, y)
    return clf


IN_CHECK = {
    "input space",
    "signed laplacian",
    "towards the global model",
    "pruned",
    "angle",
}  # the others are in `make test`, too


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name in IN_CHECK else ()) for name in PROFILES])
def profile(request):
    return PROFILES[request.param]


@pytest.fixture
def learned(profile, stream):
    X, Y = stream
    return paper(**profile).fit(X[:50], Y[:50]).partial_fit(X[50:80], Y[50:80])


def test_row_by_row_and_all_at_once_give_the_same_bits(profile, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    whole = paper(**profile).partial_fit(X, Y)
    assert_same_state(state_of(in_steps(paper(**profile), X, Y, [1] * len(X))), state_of(whole))
    assert_same_state(state_of(in_steps(paper(**profile), X, Y, [7, 50, 63])), state_of(whole))
    assert whole.n_rules_ > 1


def test_the_same_stream_twice_gives_the_same_bits(profile, gappy_stream, state_of, assert_same_state):
    one, two = (paper(**profile).partial_fit(*gappy_stream) for _ in range(2))
    assert_same_state(state_of(one), state_of(two))


def test_a_saved_model_answers_and_learns_on_with_the_same_bits(
    learned, gappy_stream, tmp_path, state_of, assert_same_state
):
    X, Y = gappy_stream
    learned.save(tmp_path / "model")
    twins = [EvolvingFuzzyClassifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(learned))]
    before, answers = learned.decision_function(X), learned.test_then_train(X, Y)
    for twin in twins:
        assert twin.get_params() == learned.get_params()
        np.testing.assert_array_equal(twin.decision_function(X), before)
        np.testing.assert_array_equal(twin.test_then_train(X, Y), answers)
    used = slice(0, learned.n_rules_ + 1)  # a loaded model has room for just its rules
    for twin in twins:
        assert twin.events_ == learned.events_
        for name in ("c", "k", "F", "H", "G", "P", "W", "Q", "top"):
            mine, theirs = (clf.inner.any_model.rules.by_slot[name][used] for clf in (learned, twin))
            np.testing.assert_array_equal(theirs, mine, err_msg=name)
    assert_same_state(state_of(twins[1]), state_of(learned))


def test_questions_change_nothing(learned, gappy_stream, state_of, assert_same_state):
    rows = gappy_stream[0][:20]
    before, asked = state_of(learned), rows.copy()
    learned.predict(rows)
    learned.predict_proba(rows)
    learned.memberships(rows)
    str(learned.explain(rows[0]))
    str(learned.rules_)
    learned.sibling().partial_fit(rows, learned.predict(rows))
    assert_same_state(state_of(learned), before)
    np.testing.assert_array_equal(rows, asked)


def test_test_then_train_is_asking_and_then_learning(profile, gappy_stream, stream, state_of, assert_same_state):
    X, Y = gappy_stream
    one, two = (paper(**profile).fit(stream[0][:40], stream[1][:40]) for _ in range(2))
    answers = []
    for i in range(60):
        answers.append(two.decision_function(X[i : i + 1])[0])
        two.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(one.test_then_train(X[:60], Y[:60]), answers)
    assert_same_state(state_of(one), state_of(two))


def test_missing_features_and_labels_are_learned_and_answered(profile, gappy_stream):
    X, Y = gappy_stream
    clf = paper(**profile).fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    assert np.isfinite(clf.decision_function(X)).all()
    np.testing.assert_allclose(clf.memberships(X).sum(axis=1), 1.0)
    only = np.full((1, 4), np.nan)
    only[0, 2] = 0.3
    assert np.isfinite(clf.decision_function(only)).all()


def test_rows_of_weight_zero_or_without_labels_teach_nothing(learned, stream):
    X, Y = stream
    before, seen = learned.decision_function(X), learned.n_samples_seen_
    learned.partial_fit(X[:5], Y[:5], sample_weight=np.zeros(5))
    learned.partial_fit(X[:5], np.full((5, 3), np.nan))
    np.testing.assert_array_equal(learned.decision_function(X), before)
    assert learned.n_samples_seen_ == seen + 10


def test_weights_of_one_change_nothing_and_others_do(profile, stream, state_of, assert_same_state):
    X, Y = stream
    plain, ones, others = (paper(**profile).fit(X[:50], Y[:50]) for _ in range(3))
    plain.partial_fit(X[50:90], Y[50:90])
    ones.partial_fit(X[50:90], Y[50:90], sample_weight=np.ones(40))
    others.partial_fit(X[50:90], Y[50:90], sample_weight=np.linspace(0.1, 3.0, 40))
    assert_same_state(state_of(ones), state_of(plain))
    assert np.isfinite(others.decision_function(X)).all()
    assert not np.array_equal(others.decision_function(X), plain.decision_function(X))


def test_labels_may_come_later(profile, stream, tmp_path):
    """Also in the product space, which grows with them; a saved model goes on in the same way."""
    X, Y = stream
    clf = paper(**profile).fit(X[:50], Y[:50, :2]).partial_fit(X[50:70], Y[50:70])
    assert clf.predict(X).shape == (len(X), 3)
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    for model in (clf, twin):
        model.partial_fit(X[70:], Y[70:])
    np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
    assert twin.events_ == clf.events_
    assert np.isfinite(clf.decision_function(X)).all()
    assert clf.inner.any_model.rules.settings.radius == paper(**profile).fit(X, Y).inner.any_model.rules.settings.radius


def test_a_label_that_comes_later_is_learned():
    X, Y = DriftingStream(n_features=4, n_labels=3, n_regions=2, drift_every=0, seed=3).take(400)
    clf = paper().fit(X[:80], Y[:80, :2]).partial_fit(X[80:300], Y[80:300])
    truth = Y[300:, 2]
    accuracy = (clf.predict(X[300:])[:, 2] == truth).mean()
    assert accuracy > max(truth.mean(), 1.0 - truth.mean()) + 0.02


def test_siblings_united_have_the_global_model_of_one_pass(learned, stream):
    X, Y = stream
    one, other, both = (learned.sibling() for _ in range(3))
    one.partial_fit(X[:60], Y[:60])
    other.partial_fit(X[60:], Y[60:])
    both.partial_fit(X, Y)
    one.merge(other)
    np.testing.assert_allclose(
        one.inner.any_model.rules.weights(0), both.inner.any_model.rules.weights(0), rtol=1e-6, atol=1e-9
    )
    assert one.n_rules_ <= learned.max_rules
    assert np.isfinite(one.decision_function(X)).all()
    one.partial_fit(X, Y)
    assert np.isfinite(one.decision_function(X)).all()


def test_uniting_with_an_empty_sibling_changes_no_answer(learned, stream):
    X, _ = stream
    before = learned.decision_function(X)
    np.testing.assert_allclose(learned.sibling().merge(learned).decision_function(X), before, atol=1e-7)
    np.testing.assert_allclose(learned.merge(learned.sibling()).decision_function(X), before, atol=1e-7)


def test_scalings_fitted_apart_are_translated(profile, stream):
    X, Y = stream
    one, other = (paper(**profile).fit(X[part], Y[part]) for part in (slice(0, 60), slice(60, 120)))
    alone = other.decision_function(X)
    empty = one.sibling().merge(other)
    np.testing.assert_allclose(
        empty.inner.any_model.rules.weights(0).shape, other.inner.any_model.rules.weights(0).shape
    )
    assert np.abs(empty.decision_function(X) - alone).mean() < 0.1
    assert np.isfinite(one.merge(other).decision_function(X)).all()


SWITCHES = {
    "paper": None,
    "default": {},
    "full": {"covariance": "full"},
    "product": {"space": "product"},
    "novelty paper": {"novelty": "paper"},
    "nearest": {"parent": "nearest"},
    "none": {"parent": "none"},
    "touching": {"merging": "touching"},
    "angle": {"merging": "touching", "consistency": "angle", "parent": "nearest"},
    "alpha": {"alpha": 0.1},
    "alpha without rls": {"alpha": 0.1, "rls": False},
    "alpha without parent": {"alpha": 0.1, "parent": "none"},
    "several steps": {"alpha": 0.1, "beta": 1.0, "prox_steps": 3},
    "coupling none": {"beta": 1.0, "coupling": "none"},
    "coupling ridge": {"beta": 1.0, "coupling": "ridge"},
    "coupling shifted": {"beta": 1.0, "coupling": "shifted"},
    "coupling signed laplacian": {"beta": 1.0},
    "condition": {"ridge": "condition", "local_ridge": 1.0},
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_switch_beats_the_majority(switch):
    X, Y = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=5).take(300)
    changes = SWITCHES[switch]
    clf = paper(max_rules=8) if changes is None else classifier_of(max_rules=8, **changes)
    scores = clf.fit(X[:100], Y[:100]).test_then_train(X[100:], Y[100:])
    assert np.isfinite(scores).all()
    assert np.isfinite(clf.decision_function(X)).all()
    majority = np.tile(Y[:100].mean(axis=0), (200, 1))
    assert partial_accuracy(Y[100:], scores) > partial_accuracy(Y[100:], majority) + 0.05


@pytest.mark.compiled
def test_memberships_never_vanish_in_260_dimensions():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 260)), rng.integers(0, 2, size=(60, 3)).astype(float)
    X += 4.0 * rng.normal(size=(5, 260))[rng.integers(5, size=60)]
    clf = EvolvingFuzzyClassifier.paper(vigilance=0.25).fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    assert clf.n_rules_ > 1
    gappy = X.copy()
    gappy[rng.random(X.shape) < 0.1] = np.nan
    for rows in (X, 1e3 * X, X + 1e6, gappy, 0.0 * X):
        psi = clf.memberships(rows)
        np.testing.assert_allclose(psi.sum(axis=1), 1.0)
        assert (psi >= 0.0).all()
        assert np.isfinite(clf.decision_function(rows)).all()


def test_the_profile_is_the_papers_and_single_parameters_may_change():
    clf = EvolvingFuzzyClassifier.paper(vigilance=0.7)
    assert (clf.space, clf.covariance, clf.parent, clf.merging) == ("product", "full", "nearest", "touching")
    assert clf.vigilance == 0.7
    assert clf.temperature == 1.0
    assert clf.alpha > 0.0
    assert clf.beta > 0.0
