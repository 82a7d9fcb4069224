"""What every rival promises, whatever it learns with."""

import pickle

import numpy as np
import pandas as pd
import pytest
from choices import all_but, pairs
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import StaticClassifier, StreamLearner
from evolabel.baselines.base import WARM_UP_ROWS
from evolabel.checks import check_learner
from evolabel.errors import DataError, DataWarning, EvolabelError, NotTrainedError
from evolabel.learners import LEARNERS, make_learner
from evolabel.model import pipeline
from evolabel.paper import EvolvingChain, EvolvingOneVsRest

RIVALS = [name for name in LEARNERS if name not in ("evolabel", "macro-f1", "paper", "rfwls", "tuned", "paper-tuned")]
INITIAL = 60

every_rival = pytest.mark.parametrize("name", RIVALS)


def small(name):
    """A rival that is quick to train."""
    return make_learner(name).set_params(n_trees=5) if name == "forest" else make_learner(name)


def fitted(name, stream):
    return small(name).fit(stream[0][:INITIAL], stream[1][:INITIAL])


@pytest.mark.parametrize("name", all_but(RIVALS, "river-cc-ht", "river-br-ht"))  # as river-*-lr
def test_passes_the_public_checks(name):
    check_learner(small(name))


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
@pytest.mark.parametrize(("name", "initial"), pairs(RIVALS, [INITIAL, 0]))
def test_a_row_without_features_is_scored_by_label_shares_and_not_learned(name, initial, stream):
    X, Y = stream[0].copy(), stream[1]
    empty = [2, 30, 85, 86, len(X) - 1]
    X[empty] = np.nan
    full = np.delete(np.arange(len(X)), empty)
    with_them, without = small(name), small(name)
    if initial:
        with_them.fit(X[:initial], Y[:initial])
        without.fit(X[full[full < initial]], Y[full[full < initial]])
    rest = full[full >= initial]
    scores = with_them.test_then_train(X[initial:], Y[initial:])
    np.testing.assert_array_equal(scores[rest - initial], without.test_then_train(X[rest], Y[rest]))
    np.testing.assert_allclose(scores[85 - initial], Y[full[full < 85]].mean(axis=0))
    np.testing.assert_array_equal(scores[86 - initial], scores[85 - initial])
    np.testing.assert_allclose(with_them.decision_function(X[-1:])[0], Y[full].mean(axis=0))
    np.testing.assert_array_equal(with_them.decision_function(stream[0]), without.decision_function(stream[0]))


@every_rival
def test_rows_without_features_are_counted_and_nothing_else_is_refused(name, stream):
    X, Y = stream[0].copy(), stream[1]
    X[[2, 5]] = np.nan
    with pytest.warns(DataWarning, match=r"2 rows of X have no feature at all \(the first is row 2\); not learned"):
        learner = small(name).fit(X, Y)
    with pytest.warns(DataWarning, match="the scores are the shares of the labels"):
        learner.predict(X)
    with pytest.raises(DataError, match="no row of X has a feature"), pytest.warns(DataWarning):
        small(name).fit(X[[2, 5]], Y[:2])


@every_rival
def test_labels_are_predicted_from_one_half_on(name, stream):
    learner = fitted(name, stream)
    np.testing.assert_array_equal(learner.predict(stream[0]), (learner.decision_function(stream[0]) >= 0.5).astype(int))


@pytest.mark.parametrize("rival", [EvolvingChain, EvolvingOneVsRest, StaticClassifier])
def test_labels_are_predicted_from_the_threshold_of_the_base_on(rival, stream):
    learner = rival(EvolvingFuzzyClassifier(threshold=0.8)).fit(*stream)
    scores = learner.decision_function(stream[0])
    assert ((scores >= 0.5) & (scores < 0.8)).any()
    np.testing.assert_array_equal(learner.predict(stream[0]), scores >= 0.8)


DECIDING = [({"threshold": 0.3}, INITIAL), ({"optimise": "macro_f1"}, 0), ({"threshold": 0.3}, 0),
            ({"optimise": "macro_f1"}, INITIAL)]  # fmt: skip


@pytest.mark.parametrize(("rival", "deciding"), pairs([EvolvingOneVsRest, EvolvingChain, StaticClassifier], DECIDING))
def test_decisions_are_the_predictions_from_before_each_row(rival, deciding, gappy_stream):
    (base, initial), (X, Y) = deciding, gappy_stream
    at_once, by_row = (rival(EvolvingFuzzyClassifier(max_rules=5, warm_up=40, **base)) for _ in range(2))
    if initial:
        at_once.fit(X[:initial], Y[:initial])
        by_row.fit(X[:initial], Y[:initial])
    decisions = at_once.decide_then_train(X[initial:], Y[initial:])[1]
    expected = []
    for i in range(initial, len(X)):
        expected.append(by_row.predict(X[[i]])[0] if by_row.__sklearn_is_fitted__() else decisions[i - initial])
        by_row.partial_fit(X[[i]], Y[[i]])
    np.testing.assert_array_equal(decisions, expected)
    np.testing.assert_array_equal(at_once.thresholds_, by_row.thresholds_)
    assert not np.array_equal(at_once.thresholds_, np.full(3, 0.5))


def test_learned_thresholds_are_those_of_the_classifier_of_each_label(stream):
    X, Y = stream
    base = EvolvingFuzzyClassifier(max_rules=5, optimise="macro_f1")
    rival = EvolvingOneVsRest(base).fit(X, Y)
    alone = [clone(base).fit(X, Y[:, [k]]) for k in range(3)]
    np.testing.assert_array_equal(rival.predict(X), np.hstack([clf.predict(X) for clf in alone]))


@every_rival
def test_clones_have_the_parameters_and_nothing_learned(name, stream):
    learner = fitted(name, stream)
    twin = clone(learner)
    assert repr(twin) == repr(learner)
    assert twin.get_params(deep=False).keys() == learner.get_params(deep=False).keys()
    with pytest.raises(NotTrainedError, match="call fit with an initial batch first"):
        twin.decision_function(stream[0])
    twin.fit(stream[0][:INITIAL], stream[1][:INITIAL])
    np.testing.assert_array_equal(twin.decision_function(stream[0]), learner.decision_function(stream[0]))


@every_rival
def test_survives_pickling(name, stream):
    learner = fitted(name, stream)
    twin = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(twin.test_then_train(*stream), learner.test_then_train(*stream))


@every_rival
def test_without_an_initial_batch_the_first_annotated_rows_are_one(name, gappy_stream):
    X, Y = gappy_stream
    annotated = np.flatnonzero(~np.isnan(Y).all(axis=1))[:WARM_UP_ROWS]
    expected = small(name).fit(X[annotated], Y[annotated])
    start = annotated[-1] + 1
    expected_scores = expected.test_then_train(X[start:], Y[start:])
    cold, by_row = small(name), small(name)
    scores = cold.test_then_train(X, Y)
    np.testing.assert_array_equal(scores[start:], expected_scores)
    np.testing.assert_array_equal(scores[0], np.zeros(Y.shape[1]))
    for i in range(len(X)):
        by_row.partial_fit(X[[i]], Y[[i]])
    np.testing.assert_allclose(by_row.decision_function(X), cold.decision_function(X), rtol=1e-9, atol=1e-12)


@every_rival
def test_answering_may_be_the_very_first_call_and_may_end_while_it_waits(name, stream):
    X, Y = stream
    learner = small(name)
    assert learner.test_then_train(X[:10], Y[:10]).shape == Y[:10].shape
    np.testing.assert_array_equal(
        learner.decision_function(X[:2]), small(name).partial_fit(X[:10], Y[:10]).decision_function(X[:2])
    )


@every_rival
def test_while_it_waits_the_label_priors_answer(name, stream):
    X, Y = stream
    learner = small(name).partial_fit(X[:10], Y[:10])
    np.testing.assert_allclose(learner.decision_function(X[:3]), np.tile(Y[:10].mean(axis=0), (3, 1)))
    grown = np.hstack([Y[10:20], np.ones((10, 1))])
    assert learner.partial_fit(X[10:20], grown).decision_function(X[:1]).shape == (1, Y.shape[1] + 1)


BAD = {
    "too few features": lambda X, Y: (X[:, :2], Y),
    "an infinite feature": lambda X, Y: (np.vstack([X[:-1], np.full(X.shape[1], np.inf)]), Y),
    "text": lambda X, Y: (X.astype(str).astype(object) + "?", Y),
    "a label of 2": lambda X, Y: (X, Y + 2.0),
    "too few labels": lambda X, Y: (X, Y[:, :1]),
    "too few rows of labels": lambda X, Y: (X, Y[:-1]),
    "one class per row": lambda X, Y: (X, Y[:, 0]),
    "no labels": lambda X, Y: (X, None),
}


@pytest.mark.parametrize(("name", "damage"), pairs(RIVALS, BAD))
def test_bad_batches_are_refused_without_a_trace(name, damage, stream):
    learner = fitted(name, stream)
    before = learner.decision_function(stream[0])
    for call in (learner.partial_fit, learner.test_then_train):
        with pytest.raises(EvolabelError):
            call(*BAD[damage](*stream))
    np.testing.assert_array_equal(learner.decision_function(stream[0]), before)


@every_rival
def test_bad_initial_batches_are_refused_without_a_trace(name, stream):
    X, Y = stream
    learner = fitted(name, stream)
    before = learner.decision_function(X)
    with pytest.raises(DataError, match="no row of the initial batch has an annotated label"):
        learner.fit(X[:, :2], np.full(Y.shape, np.nan))
    with pytest.raises(DataError, match=r"takes a label matrix.*y.reshape\(-1, 1\)"):
        learner.fit(X[:, :2], Y[:, 0])
    np.testing.assert_array_equal(learner.decision_function(X), before)


@every_rival
def test_columns_of_a_frame_are_found_by_name(name, stream):
    X, Y = (pd.DataFrame(part, columns=list("abcdef")[: part.shape[1]]) for part in stream)
    learner = small(name).fit(X[:INITIAL], Y[:INITIAL])
    learner.partial_fit(X[INITIAL:], Y[INITIAL:].iloc[:, ::-1])
    expected = fitted(name, stream).partial_fit(stream[0][INITIAL:], stream[1][INITIAL:])
    np.testing.assert_array_equal(learner.decision_function(X), expected.decision_function(stream[0]))
    with pytest.raises(EvolabelError, match="no column for a"):
        learner.decision_function(X.rename(columns={"a": "z"}))


@every_rival
def test_labels_may_appear_mid_stream(name, stream):
    X, Y = stream
    learner = small(name).fit(X[:INITIAL], Y[:INITIAL, :1])
    scores = learner.test_then_train(X[INITIAL:], Y[INITIAL:])
    assert scores.shape == (len(X) - INITIAL, 3)
    assert np.isfinite(scores).all()
    nothing = 0.02 if name == "feedback" else 0.0  # the classifier inside begins with a base rate
    np.testing.assert_allclose(scores[0, 1:], 0.0, atol=nothing)
    later = learner.partial_fit(np.tile(X, (2, 1)), np.tile(Y, (2, 1))).decision_function(X)
    assert (later[:, 1:] != 0.0).any() or name == "static"


@pytest.mark.parametrize("name", [name for name in RIVALS if name != "forest"])  # trees split for all labels together
def test_a_label_that_appears_leaves_the_others_alone(name, stream, monkeypatch):
    monkeypatch.setattr(pipeline, "first_tree_of", lambda *_, **__: None)  # it splits for all labels together, too
    X, Y = stream
    grown, narrow = (small(name).fit(X[:INITIAL], Y[:INITIAL, :2]) for _ in range(2))
    wide = grown.test_then_train(X[INITIAL:], np.column_stack([Y[INITIAL:, :2], np.zeros(len(X) - INITIAL)]))
    np.testing.assert_allclose(wide[:, :2], narrow.test_then_train(X[INITIAL:], Y[INITIAL:, :2]), rtol=1e-12)


@every_rival
def test_a_sensor_gone_wild_does_no_lasting_harm(name, stream):
    X, Y = stream[0].copy(), stream[1]
    X[INITIAL, 0], X[INITIAL + 1, 1] = 1e99, -1e99
    learner = fitted(name, stream)
    assert np.isfinite(learner.test_then_train(X[INITIAL:], Y[INITIAL:])).all()
    assert np.isfinite(learner.decision_function(X)).all()


@every_rival
def test_has_the_tags_of_scikit_learn(name):
    learner = small(name)
    tags = learner.__sklearn_tags__()
    assert isinstance(learner, StreamLearner)
    assert tags.input_tags.allow_nan
    assert tags.classifier_tags.multi_label
    assert not tags.target_tags.single_output
