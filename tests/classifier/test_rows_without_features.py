"""A row without any feature stops nothing: it gets the base rates, is counted in a note, and is not learned."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning


def small(**changes):
    return EvolvingFuzzyClassifier(max_rules=4, **changes)


def with_empty(X, rows):
    holed = X.copy()
    holed[rows] = np.nan
    return holed


def test_such_rows_are_predicted_by_the_base_rates(stream):
    X, Y = stream
    clf = small().fit(X, Y)
    with pytest.warns(DataWarning, match=r"2 rows of X have no feature at all \(the first is row 1\); the output is"):
        outputs = clf.decision_function(with_empty(X[:5], [1, 4]))
    assert np.allclose(outputs[[1, 4]], Y.mean(axis=0), atol=0.02)
    assert np.array_equal(outputs[[0, 2, 3]], clf.decision_function(X[[0, 2, 3]]))


def test_one_such_row_alone_is_predicted(stream):
    clf = small().fit(*stream)
    with pytest.warns(DataWarning, match="1 row of X has no feature at all"):
        assert clf.predict_proba(np.full((1, 4), np.nan)).shape == (1, 3)


def test_the_initial_batch_is_learned_without_them(stream, state_of, assert_same_state):
    X, Y = stream
    with pytest.warns(DataWarning, match="; not learned"):
        clf = small().fit(with_empty(X, [0, 7]), Y)
    assert_same_state(state_of(clf), state_of(small().fit(np.delete(X, [0, 7], 0), np.delete(Y, [0, 7], 0))))


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1"])
@pytest.mark.parametrize("warm_up", [20, 1000])
def test_a_stream_with_them_is_learned_row_by_row_or_at_once(stream, optimise, warm_up):
    X, Y = with_empty(stream[0], [0, 3, 25, 26, len(stream[0]) - 1]), stream[1]
    at_once, by_row = (small(optimise=optimise, warm_up=warm_up) for _ in range(2))
    outputs, _, _, decided = at_once.answer_then_train(X, Y)
    pieces = [by_row.answer_then_train(X[i : i + 1], Y[i : i + 1]) for i in range(len(X))]
    assert np.array_equal(outputs, np.vstack([piece[0] for piece in pieces]))
    assert np.array_equal(decided, np.vstack([piece.decisions for piece in pieces]))
    full = ~np.isnan(X).all(axis=1)
    plain = small(optimise=optimise, warm_up=warm_up).partial_fit(X[full], Y[full])
    for other in (by_row, plain):
        assert np.array_equal(at_once.decision_function(stream[0]), other.decision_function(stream[0]))
        assert at_once.n_samples_seen_ == other.n_samples_seen_


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("prepared", [False, True])
def test_all_answers_about_them_are_those_of_predict(stream, classes, prepared):
    X, Y = with_empty(stream[0], [3, 30, 90]), stream[1][:, 0] if classes else stream[1]
    clf = small(warm_up=40)
    clf = clf.fit(X[:60], Y[:60]) if prepared else clf.partial_fit(X[:2], Y[:2])
    for row in (slice(3, 4), slice(29, 31), slice(90, 91)):
        clf.partial_fit(X[row.start - 1 : row.start], Y[row.start - 1 : row.start])
        P, sets, decided = clf.predict_proba(X[row]), clf.predict_set(X[row], 0.8), clf.predict(X[row])
        found = clf.answer_then_train(X[row], Y[row], coverage=0.8)
        np.testing.assert_allclose(found.probabilities[0], P[0], rtol=1e-14)
        np.testing.assert_array_equal(found.sets[0], sets[0])
        expected = clf.classes_ == decided[0] if classes else decided[0]
        np.testing.assert_array_equal(found.decisions[0], expected)


def test_a_single_row_to_be_learned_may_be_empty(stream, state_of, assert_same_state):
    clf = small().fit(*stream)
    before = state_of(clf)
    with pytest.warns(DataWarning, match="; not learned"):
        clf.partial_fit(np.full((1, 4), np.nan), np.ones((1, 3)))
    assert_same_state(state_of(clf), before)


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_a_batch_of_nothing_else_is_refused(stream):
    with pytest.raises(DataError, match="no row of X has a feature"):
        small().fit(np.full((9, 4), np.nan), stream[1][:9])


def test_a_bad_value_behind_such_a_row_is_refused_by_its_place(stream):
    clf = small().fit(*stream)
    X = with_empty(stream[0][:6], [2])
    X[4, 1] = np.inf
    with pytest.raises(DataError, match="X contains inf at row 4, column 1"):
        clf.predict(X)


@pytest.mark.parametrize("warm_up", [20, 1000])
def test_such_a_row_is_explained_by_the_base_rates(stream, warm_up):
    X, Y = stream
    clf = small(warm_up=warm_up).partial_fit(X, Y)
    why = clf.explain(np.full(X.shape[1], np.nan))
    with pytest.warns(DataWarning, match="base rates"):
        assert np.array_equal(why.total, clf.decision_function(np.full((1, X.shape[1]), np.nan))[0])
    assert "No rule is active (no feature at all): the outputs are the base rates of the labels." in why.text
    assert "would turn" not in why.text
    assert why.to_dict()["rules"] == []
    assert "No rule is active" in why.html()
    assert "No rule is active" in why.markdown()


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_the_probabilities_of_a_row_without_features_are_the_base_rates(stream, blobs):
    empty = np.full((1, 4), np.nan)
    clf = EvolvingFuzzyClassifier().fit(*stream)
    rates = clf.decision_function(empty)[0]
    assert clf.predict_proba(empty)[0] == pytest.approx(rates)
    weight = dict.fromkeys(clf.inner.label_names, 10.0)
    weighted = EvolvingFuzzyClassifier(class_weight=weight).fit(*stream)
    assert (weighted.predict(empty)[0] == (10.0 * rates >= 1.0 - rates)).all()
    X, y = blobs
    classes = EvolvingFuzzyClassifier().fit(X, y)
    shares = np.bincount(y) / len(y)
    assert classes.predict_proba(np.full((1, 3), np.nan))[0] == pytest.approx(shares, abs=0.05)
