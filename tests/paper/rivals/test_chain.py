"""A chain, against links trained by hand on the features they are meant to see."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.paper import EvolvingChain, EvolvingOneVsRest

INITIAL = 60


def base(**parameters):
    return EvolvingFuzzyClassifier(max_rules=6, **parameters)


def naive_chain(X, Y, order):
    """Scores of a stream without gaps: links learn the truth of earlier labels and answer by predictions of them."""
    links = []
    for place, k in enumerate(order):
        links.append(base().fit(np.hstack([X, Y[:, order[:place]]])[:INITIAL], Y[:INITIAL, [k]]))
    scores = np.zeros(Y[INITIAL:].shape)
    for i in range(INITIAL, len(X)):
        row = X[i].tolist()
        for link, k in zip(links, order, strict=True):
            scores[i - INITIAL, k] = link.decision_function([row])[0, 0]
            row = [*row, float(scores[i - INITIAL, k] >= 0.5)]
        for place, k in enumerate(order):
            links[place].partial_fit([[*X[i], *Y[i, order[:place]]]], [[Y[i, k]]])
    return scores


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_links_learn_the_truth_and_answer_by_predictions(order, stream):
    X, Y = stream
    chain = EvolvingChain(base(), order=order).fit(X[:INITIAL], Y[:INITIAL])
    assert chain.order_ == order
    scores = chain.test_then_train(X[INITIAL:], Y[INITIAL:])
    np.testing.assert_allclose(scores, naive_chain(X, Y, order), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("profile", [EvolvingFuzzyClassifier, EvolvingFuzzyClassifier.paper])
def test_link_by_link_is_row_by_row(profile, gappy_stream):
    X, Y = gappy_stream
    by_link, by_row = (EvolvingChain(profile(max_rules=6)).fit(X[:INITIAL], Y[:INITIAL]) for _ in range(2))
    scores = [by_row.test_then_train(X[[i]], Y[[i]])[0] for i in range(INITIAL, len(X))]
    np.testing.assert_array_equal(by_link.test_then_train(X[INITIAL:], Y[INITIAL:]), scores)
    np.testing.assert_array_equal(by_link.decision_function(X), by_row.decision_function(X))


def test_later_links_use_what_earlier_labels_show():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    first = (X[:, 0] > 0.0).astype(float)
    Y = np.column_stack([first, np.where(rng.random(400) < 0.9, first, 1.0 - first)])
    chain = EvolvingChain(base()).fit(X, Y)
    scores = chain._engines[1].decision_function(np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
    assert scores[0, 0] < 0.3
    assert scores[1, 0] > 0.7


@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_missing_earlier_labels_are_filled_by_the_prediction(threshold, stream):
    X, Y = stream
    gappy = Y[:, :2].copy()
    gappy[::3, 0] = np.nan
    chain = EvolvingChain(base(threshold=threshold)).fit(X[:INITIAL], gappy[:INITIAL])
    chain.partial_fit(X[INITIAL:], gappy[INITIAL:])
    first = base().fit(X[:INITIAL], gappy[:INITIAL, [0]])
    answers = np.vstack(
        [first.decision_function(X[:INITIAL]), first.test_then_train(X[INITIAL:], gappy[INITIAL:, [0]])]
    )
    filled = np.hstack([X, np.where(np.isnan(gappy[:, [0]]), answers >= threshold, gappy[:, [0]])])
    second = base().fit(filled[:INITIAL], Y[:INITIAL, [1]]).partial_fit(filled[INITIAL:], Y[INITIAL:, [1]])
    inputs = np.hstack([X, first.decision_function(X) >= threshold])
    np.testing.assert_array_equal(chain.decision_function(X)[:, [1]], second.decision_function(inputs))


def test_the_first_link_is_a_classifier_of_its_own(gappy_stream):
    X, Y = gappy_stream
    chain = EvolvingChain(order=[1, 0, 2]).fit(X[:INITIAL], Y[:INITIAL])
    apart = EvolvingOneVsRest().fit(X[:INITIAL], Y[:INITIAL])
    streamed = X[INITIAL:], Y[INITIAL:]
    np.testing.assert_array_equal(chain.test_then_train(*streamed)[:, 1], apart.test_then_train(*streamed)[:, 1])


def test_a_random_order_depends_on_the_seed_only(stream):
    orders = [tuple(EvolvingChain(base(), order="random", seed=seed).fit(*stream).order_) for seed in (1, 1, 2, 3, 4)]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1
    assert all(sorted(order) == [0, 1, 2] for order in orders)


def test_labels_that_appear_go_to_the_end(stream):
    X, Y = stream
    chain = EvolvingChain(EvolvingFuzzyClassifier(warm_up=20), order=[1, 0]).fit(X[:INITIAL], Y[:INITIAL, :2])
    rules = chain.n_rules_
    chain.partial_fit(X[INITIAL:], Y[INITIAL:])
    assert chain.order_ == [1, 0, 2]
    assert chain.n_rules_ > rules
    assert chain._engines[2].n_features_in_ == X.shape[1] + 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": "sorted"}, 'use None, "random"'),
        ({"order": [0, 1]}, "each column of y once, 0 to 2"),
        ({"order": [0, 1, 1]}, "each column of y once"),
        ({"order": [2, "a", 1]}, r"order=\[2, 'a', 1\] must name each column of y once"),
        ({"order": 5}, "order=5 must name each column of y once"),
        ({"seed": -1}, "seed"),
        ({"base": "paper"}, "use an EvolvingFuzzyClassifier"),
    ],
)
def test_parameters_outside_their_range_are_named(change, message, stream):
    with pytest.raises(ParameterError, match=message):
        EvolvingChain(**change).fit(*stream)
