"""Shortened rules: exact where nothing is dropped, and honest about what dropping costs."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.explain.shortening import (
    ShortRules,
    answers_to,
    labels_on,
    local_outputs,
    measure_fidelity,
    outputs_of_rules,
    prefix_distances,
    rank_features,
    reference_rows,
    shorten,
)
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.relevance import feature_relevance, squared_correlations
from evolabel.stages.rules.weights import answers, weights_of_all
from evolabel.streams import DriftingStream

PROFILES = [EvolvingFuzzyClassifier, EvolvingFuzzyClassifier.paper]


@pytest.fixture(scope="module", params=PROFILES, ids=["default", "paper"])
def model(request):
    X, Y = DriftingStream(n_features=6, n_labels=4, n_regions=4, drift_every=0, seed=1).take(300)
    return request.param(max_rules=8).fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:]).inner.any_model


@pytest.fixture(scope="module")
def rows(model):
    return reference_rows(model, 80, seed=5)


def outputs(model, rows, length):
    distances = prefix_distances(model, rows, rank_features(model, rows))[:, :, length - 1]
    return outputs_of_rules(model, distances, local_outputs(model, rows))


def of_rules(model, rows):
    """What the rules of the model answer, without the linear member, which is not shortened."""
    return answers(model.trained(), rows, model.drift.mixed(weights_of_all)).outputs


def test_rules_that_drop_nothing_answer_as_those_of_the_model(model, rows):
    np.testing.assert_allclose(outputs(model, rows, model.n_features), of_rules(model, rows), atol=1e-10)


def test_a_prefix_is_the_marginal_distance_of_its_features(model, rows):
    rules = model.trained()
    order = rank_features(model, rows)
    found = prefix_distances(model, rows, order)
    for i in range(rules.n_rules):
        for length in (1, 3, 6):
            kept = order[i, :length]
            unseen = np.full_like(rows, np.nan)
            unseen[:, kept] = rows[:, kept]
            np.testing.assert_allclose(found[:, i, length - 1], naive_distance(rules, unseen, kept, i + 1), rtol=1e-8)


def naive_distance(rules, Z, kept, slot):
    a, p = rules.arrays, rules.n_features
    if isinstance(rules, PaperRules):
        F = np.tril(rules.own.F[slot])
        covariance = (F @ F.T)[:p, :p] / (rules.settings.prior_count + a.k[slot] - 1.0)
    else:
        covariance = np.diag(1.0 / a.inv[slot, :p])
    e = Z[:, kept] - a.c[slot, kept]
    return np.einsum("nj,jk,nk->n", e, np.linalg.inv(covariance[np.ix_(kept, kept)]), e) / len(kept)


def test_a_dropped_feature_is_treated_as_the_model_treats_a_missing_one(model, rows):
    kept = np.array([4, 0, 2])
    order = np.tile(np.append(kept, [1, 3, 5]), (model.trained().n_rules, 1))
    unseen = np.full_like(rows, np.nan)
    unseen[:, kept] = rows[:, kept]
    distances = model.trained().memberships(unseen)[1]
    found = prefix_distances(model, rows, order)[:, :, 2]
    known = np.isfinite(distances)  # hopeless rules are abandoned
    np.testing.assert_allclose(found[known], distances[known], rtol=1e-8)


def test_fidelity_is_the_share_of_labels_alike(model, rows):
    short = ShortRules(model, rank_features(model, rows), 2)
    fidelity = measure_fidelity(short, rows)
    full = answers_to(model, rows) >= 0.5  # of all members, not of the rules alone
    psi = model.trained().memberships(rows)[0]
    other = outputs(model, rows, 2) >= 0.5
    alike = [np.mean([full[n, c] == other[n, c] for c in range(4)]) for n in range(len(rows))]
    assert fidelity.labels == pytest.approx(np.mean(alike))
    on = [(full[n, c], other[n, c]) for n in range(len(rows)) for c in range(4) if full[n, c] or other[n, c]]
    assert fidelity.positives == pytest.approx(np.mean([one and two for one, two in on]))
    for i in range(model.trained().n_rules):
        if psi[:, i].sum() > 0.0:
            assert fidelity.by_rule[i] == pytest.approx(np.average(alike, weights=psi[:, i]))
    np.testing.assert_allclose(fidelity.activity, psi.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("fidelity", [0.8, 0.95, 1.0])
def test_the_shortest_rules_that_are_faithful_enough_are_taken(model, fidelity):
    rows = reference_rows(model)
    short = shorten(model, fidelity)
    reached = {m: measure_fidelity(ShortRules(model, short.order, m), rows).labels for m in range(3, 7)}
    assert short.length == min((m for m, labels in reached.items() if labels >= fidelity * reached[6]), default=6)
    whole = of_rules(model, rows) >= 0.5
    assert reached[6] == pytest.approx((whole == (answers_to(model, rows) >= 0.5)).mean())


def test_the_feature_that_separates_rules_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[30:, 4] += 100.0
    clf = EvolvingFuzzyClassifier(max_rules=2, scaling="standard").fit(X, (X[:, [4]] > 50.0).astype(int))
    short = shorten(clf.inner.any_model, fewest=1)
    assert [features.tolist() for features in short.kept] == [[4], [4]]


def test_reference_rows_look_like_the_stream():
    X, Y = DriftingStream(n_features=4, n_labels=2, drift_every=0, seed=2).take(600)
    model = EvolvingFuzzyClassifier(scaling="standard").fit(X, Y).inner.any_model
    rows, Z = reference_rows(model, 4000), model.scale(X)
    np.testing.assert_allclose(rows.mean(axis=0), Z.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(rows.std(axis=0), Z.std(axis=0), rtol=0.1)
    np.testing.assert_array_equal(reference_rows(model, 50), reference_rows(model, 50))


def test_the_largest_output_decides_between_classes():
    outputs = np.array([[0.2, 0.7, 0.7], [0.1, -0.2, 0.0]])
    assert labels_on(outputs, None).tolist() == [[False, True, False], [True, False, False]]


def test_relevance_is_the_squared_correlation_with_each_label(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(scaling="standard").fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    Z = clf.inner.any_model.scale(X)
    expected = [[np.corrcoef(Z[:, j], Y[:, c])[0, 1] ** 2 for j in range(4)] for c in range(3)]
    np.testing.assert_allclose(clf.relevance_.by_label, expected, atol=1e-10)
    overall = np.max(expected, axis=0)
    np.testing.assert_allclose(clf.relevance_.overall, overall / overall.max(), atol=1e-9)
    (best, share), *_ = clf.relevance_.strongest("label0", 2)
    assert (best, share) == (f"x{np.argmax(expected[0])}", pytest.approx(np.max(expected[0])))
    with pytest.raises(DataError, match="no label 'hail'; the labels are label0, label1, label2"):
        clf.relevance_.strongest("hail")


def test_what_never_varies_is_irrelevant():
    H = np.array([[4.0, 2.0, 4.0], [2.0, 2.0, 2.0], [4.0, 2.0, 4.0]])  # the first feature is constant
    G = np.array([[4.0, 2.0, 4.0], [2.0, 2.0, 2.0]])  # the first label always on, the second is the second feature
    found = squared_correlations(H[None, -1], np.diag(H)[None], G[None])
    np.testing.assert_allclose(found, [[[0.0, 0.0], [0.0, 1.0]]])


def test_the_most_relevant_feature_has_relevance_1(model):
    assert feature_relevance(model.trained(), [], []).overall.max() == 1.0
