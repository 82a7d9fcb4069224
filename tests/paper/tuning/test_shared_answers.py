"""One structure pass for all alpha and beta: the answers are those of separate runs."""

import numpy as np
import pytest
from choices import pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import PLAIN, classifier_of
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.model.start import batch_phase
from evolabel.paper import PaperClassifier
from evolabel.paper.rules.proximal import minimise_all
from evolabel.paper.tuning import shared
from evolabel.paper.tuning.grid import Grid
from evolabel.paper.tuning.shared import can_share, separate_answers, shared_answers
from evolabel.streams import DriftingStream

POINTS = Grid.of({"alpha": (0.0, 0.1, 2.0), "beta": (0.0, 50.0)}).consequents
PROFILES = {
    "default": PaperClassifier(**PLAIN),
    "paper": EvolvingFuzzyClassifier.paper(),
    "few rules": classifier_of(max_rules=2, alpha=0.0),
    "rules that merge": EvolvingFuzzyClassifier.paper(vigilance=0.2, coupling="signed_laplacian"),
    "rules that merge and start from the global model": classifier_of(merging="touching", covariance="full"),
    "rules that die": classifier_of(prune_after=5, parent="none"),
    "no coupling": EvolvingFuzzyClassifier.paper(coupling="none", space="input"),
}


def assert_shared_is_separate(estimator, points, X, Y, at=40, within=1e-9):
    batch = X[:at], Y[:at]
    expected = separate_answers(estimator, points, batch, X[at:])
    assert expected.shape == (len(points), len(X) - at, Y.shape[1])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(shared_answers(estimator, points, batch, X[at:]), expected, rtol=0.0, atol=within)


CHANGES = [{"threshold": 0.2}, {"optimise": "macro_f1"}, {"optimise": "micro_f1"}]


@pytest.mark.parametrize(("changes", "profile"), pairs(CHANGES, ["default", "paper"]))
def test_decisions_are_those_of_predict(stream, profile, changes):
    X, Y = stream
    estimator, batch, asked = clone(PROFILES[profile]).set_params(**changes), (X[:40], Y[:40]), X[40:]
    expected = [clone(estimator).set_params(**point).fit(*batch).predict(asked) for point in POINTS]
    np.testing.assert_array_equal(separate_answers(estimator, POINTS, batch, asked, True), expected)
    np.testing.assert_array_equal(shared_answers(estimator, POINTS, batch, asked, True), expected)
    at_half = shared_answers(estimator, POINTS, batch, asked) >= 0.5
    assert (at_half != expected).any()


@pytest.fixture
def structure_passes(monkeypatch):
    """Counts them."""
    counted = []
    whole = shared.fit_statistics

    def fit_statistics(*arguments, **named):
        counted.append(1)
        return whole(*arguments, **named)

    for module in (shared, batch_phase):
        monkeypatch.setattr(module, "fit_statistics", fit_statistics)
    return counted


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_are_those_of_separate_runs(stream, profile):
    assert_shared_is_separate(PROFILES[profile], POINTS, stream[0][:60], stream[1][:60])


@pytest.mark.parametrize("profile", ["default", "paper", "rules that merge"])
def test_answers_are_those_of_separate_runs_with_features_and_labels_missing(gappy_stream, profile):
    X, Y = gappy_stream
    assert np.isnan(X[40:60]).any()
    assert np.isnan(Y[:40]).all(axis=1).any()
    assert_shared_is_separate(PROFILES[profile], POINTS, X[:60], Y[:60])


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    profile=st.sampled_from(["default", "paper"]),
    pairs=st.lists(
        st.tuples(st.floats(0.01, 10.0) | st.just(0.0), st.floats(0.01, 100.0) | st.just(0.0)), min_size=1, max_size=3
    ),
)
def test_answers_are_those_of_separate_runs_on_any_stream(seed, profile, pairs):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=seed).take(50)
    points = [{"alpha": alpha, "beta": beta} for alpha, beta in pairs]
    assert_shared_is_separate(PROFILES[profile], points, X, Y)


def test_rows_far_from_every_rule_are_answered_alike(stream):
    X, Y = stream[0][:45].copy(), stream[1][:45]
    X[40:] *= 1000.0
    assert_shared_is_separate(PROFILES["paper"], POINTS, X, Y)


def test_more_features_than_rows(stream):
    """At alpha = beta = 0 a run of its own multiplies by an inverse, which costs some digits here."""
    rng = np.random.default_rng(0)
    X = np.hstack([stream[0][:30], rng.normal(size=(30, 20))])
    assert_shared_is_separate(PROFILES["paper"], POINTS[:1], X, stream[1][:30], at=20, within=1e-7)
    assert_shared_is_separate(PROFILES["paper"], POINTS[1:], X, stream[1][:30], at=20)


def test_what_a_point_leaves_open_is_the_estimators_own(stream):
    X, Y = stream[0][:60], stream[1][:60]
    estimator = classifier_of(alpha=0.3, beta=2.0)
    assert_shared_is_separate(estimator, [{}, {"alpha": 0.0}, {"beta": 0.0}], X, Y)


def test_one_structure_pass_serves_all_points(stream, structure_passes):
    X, Y = stream
    shared_answers(PROFILES["paper"], POINTS, (X[:40], Y[:40]), X[40:60])
    assert len(structure_passes) == 1
    separate_answers(PROFILES["paper"], POINTS, (X[:40], Y[:40]), X[40:60])
    assert len(structure_passes) == 1 + len(POINTS)


@pytest.mark.parametrize("literal", [{"coupling": "paper"}, {"lipschitz": "paper"}, {"prox_steps": 0}])
def test_literal_formulas_go_their_own_way(stream, structure_passes, literal):
    X, Y = stream
    estimator = EvolvingFuzzyClassifier.paper(**literal)
    points = [{"alpha": 0.1, "beta": 0.0}, {"alpha": 0.1, "beta": 1000.0}]
    assert not can_share(estimator)
    answers = shared_answers(estimator, points, (X[:40], Y[:40]), X[40:60])
    assert len(structure_passes) == 2
    np.testing.assert_array_equal(answers, separate_answers(estimator, points, (X[:40], Y[:40]), X[40:60]))


def test_members_beside_the_rules_go_their_own_way(stream, structure_passes):
    X, Y = stream
    estimator, points = EvolvingFuzzyClassifier(), [{}, {"vigilance": 0.5}]
    assert not can_share(estimator)
    answers = shared_answers(estimator, points, (X[:40], Y[:40]), X[40:60])
    assert len(structure_passes) == 2
    expected = EvolvingFuzzyClassifier().fit(X[:40], Y[:40]).decision_function(X[40:60])
    np.testing.assert_array_equal(answers, [expected, expected])


def test_a_point_that_blows_up_has_no_answer_and_spares_the_others(stream):
    X, Y = stream
    estimator = EvolvingFuzzyClassifier.paper(coupling="paper")
    points = [{"beta": 1000.0}, {"beta": 0.0}]
    answers = shared_answers(estimator, points, (X[:40], Y[:40]), X[40:60])
    assert np.isnan(answers[0]).all()
    assert np.isfinite(answers[1]).all()


def test_the_estimator_stays_as_it_was(stream):
    X, Y = stream
    estimator = EvolvingFuzzyClassifier.paper()
    before = estimator.get_params()
    shared_answers(estimator, POINTS, (X[:40], Y[:40]), X[40:60])
    assert estimator.get_params() == before
    assert not hasattr(estimator, "n_features_in_")


def test_rules_that_agree_are_minimised_once(stream, monkeypatch):
    batch, calls = (stream[0][:60], stream[1][:60]), []
    shared._minima.cache_clear()
    monkeypatch.setattr(shared, "minimise_all", lambda *args: (calls.append(1), minimise_all(*args))[1])
    points = [{"alpha": 0.1, "beta": 0.0}, {"alpha": 1.0, "beta": 1.0}]
    one_rule = [EvolvingFuzzyClassifier.paper(vigilance=vigilance) for vigilance in (50.0, 60.0)]
    answers = [shared_answers(estimator, points, batch, stream[0][60:80]) for estimator in one_rule]
    assert len(calls) == 1
    np.testing.assert_array_equal(answers[0], answers[1])
    shared_answers(one_rule[0], points, (batch[0][1:], batch[1][1:]), stream[0][60:80])
    assert len(calls) == 2, "other rows, other minima"
