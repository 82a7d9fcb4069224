"""`optimise="macro_f1"`: labels get thresholds of their own, and nothing else changes."""

import copy
import pickle

import numpy as np
import pytest
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, ModelWriteError, ParameterError
from evolabel.evaluate import MacroF1, MicroF1
from evolabel.streams import DriftingStream

KINDS = ("macro_f1", "micro_f1")


def fresh(optimise="macro_f1", **changes):
    return classifier_of(**{"max_rules": 6, "optimise": optimise, **changes})


@pytest.fixture(params=KINDS)
def tuned(request, stream):
    X, Y = stream
    return fresh(request.param).fit(X[:60], Y[:60]).partial_fit(X[60:100], Y[60:100])


@pytest.fixture(scope="module")
def rare_labels():
    """A longer stream whose labels are rare."""
    X, Y = DriftingStream(n_features=5, n_labels=4, drift_every=0, seed=5).take(900)
    return X, Y * (np.random.default_rng(0).random(Y.shape) < 0.35)


@pytest.mark.parametrize("optimise", KINDS)
def test_outputs_and_rules_are_those_of_the_default(optimise, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    default, other = (fresh(kind).fit(X[:60], Y[:60]) for kind in ("accuracy", optimise))
    assert np.array_equal(default.test_then_train(X[60:], Y[60:]), other.test_then_train(X[60:], Y[60:]))
    assert np.array_equal(default.predict_proba(X), other.predict_proba(X))
    learned = state_of(other)
    assert_same_state({name: learned[name] for name in state_of(default)}, state_of(default))


def test_the_default_cuts_all_labels_at_the_threshold(trained, stream):
    assert trained.thresholds_.tolist() == [0.5, 0.5, 0.5]
    trained.threshold = 0.3
    assert trained.thresholds_.tolist() == [0.3, 0.3, 0.3]
    assert np.array_equal(trained.predict(stream[0]), trained.decision_function(stream[0]) >= 0.3)


def test_predictions_use_the_thresholds(tuned, stream):
    outputs = tuned.decision_function(stream[0])
    assert not np.array_equal(tuned.thresholds_, np.full(3, 0.5))
    assert np.array_equal(tuned.predict(stream[0]), outputs >= tuned.thresholds_)


def test_one_threshold_for_micro_f1_several_for_macro_f1(stream):
    macro, micro = (fresh(kind).fit(*stream).thresholds_ for kind in KINDS)
    assert len(set(macro.tolist())) == 3
    assert len(set(micro.tolist())) == 1


@pytest.mark.parametrize(("optimise", "metric"), [("macro_f1", MacroF1), ("micro_f1", MicroF1)])
def test_what_is_asked_for_becomes_better(optimise, metric, rare_labels):
    X, Y = rare_labels
    outputs, _, _, decisions = fresh(optimise).fit(X[:200], Y[:200]).answer_then_train(X[200:], Y[200:])
    own, fixed = (metric().update(Y[200:], scores).get() for scores in (decisions.astype(float), outputs))
    assert own > fixed + 0.05


@pytest.mark.parametrize("optimise", ["accuracy", *KINDS])
@pytest.mark.parametrize("prepared", [True, False])
def test_decisions_are_the_predictions_of_single_steps(optimise, prepared, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    one, two = (fresh(optimise, warm_up=30).partial_fit(X[:1], Y[1:2]) for _ in range(2))
    if prepared:
        one.fit(X[:40], Y[:40])
        two.fit(X[:40], Y[:40])
    outputs, _, _, decisions = one.answer_then_train(X[40:], Y[40:])
    for i in range(40, len(X)):
        row = slice(i, i + 1)
        assert np.array_equal(two.decision_function(X[row])[0], outputs[i - 40])
        assert np.array_equal(two.predict(X[row])[0], decisions[i - 40])
        two.partial_fit(X[row], Y[row])
    assert_same_state(state_of(one), state_of(two))
    assert np.array_equal(one.thresholds_, two.thresholds_)


def test_thresholds_do_not_know_the_labels_of_their_row_or_later(stream):
    X, Y = stream
    for row in (60, 75, 119):
        later = Y.copy()
        later[row:] = 1.0 - later[row:]
        decided = [fresh().fit(X[:60], Y[:60]).answer_then_train(X[60:], labels[60:]) for labels in (Y, later)]
        for before, after in zip(*decided, strict=True):
            assert np.array_equal(before[: row - 59], after[: row - 59])


def test_the_initial_batch_is_counted_by_answers_from_before_each_row(stream):
    X, Y = stream
    last = Y.copy()
    last[-1] = 1.0 - last[-1]
    one, other = (fresh(ridge=1.0).fit(X, labels).inner.any_model.decisions for labels in (Y, last))
    assert np.array_equal(one.seen, other.seen)  # were the last row's own labels in its output, it would move
    assert np.abs(one.on - other.on).sum() == 3.0


@pytest.mark.parametrize(
    "profile", [{}, {"alpha": 0.1, "follow_drift": False}, {"space": "product", "covariance": "full"}]
)
def test_every_profile_counts_its_initial_batch(profile, stream):
    clf = fresh(**profile).fit(*stream)
    assert clf.inner.any_model.decisions.seen.sum() == stream[1].size
    assert clf.inner.any_model.decisions.on.sum() == stream[1].sum()


def test_the_warm_up_decides_at_one_half_and_then_counts_once(stream):
    X, Y = stream
    clf = fresh(warm_up=40).partial_fit(X[:39], Y[:39])
    assert clf.thresholds_.tolist() == [0.5, 0.5, 0.5]
    clf.partial_fit(X[39:50], Y[39:50])
    assert clf.inner.any_model.decisions.seen.sum() == 50 * 3
    assert not np.array_equal(clf.thresholds_, np.full(3, 0.5))


def test_labels_nobody_annotated_and_samples_without_weight_count_nothing(tuned, stream, state_of, assert_same_state):
    X, Y = stream
    before = tuned.thresholds_
    tuned.partial_fit(X, np.full(Y.shape, np.nan)).partial_fit(X, Y, sample_weight=np.zeros(len(X)))
    assert np.array_equal(tuned.thresholds_, before)


def test_labels_may_appear(tuned, stream):
    X, Y = stream
    wider = np.hstack([Y, Y[:, :1]])
    outputs, _, _, decisions = tuned.answer_then_train(X[:20], wider[:20])
    assert outputs.shape == decisions.shape == (20, 4)
    assert tuned.thresholds_.shape == (4,)
    assert np.array_equal(tuned.predict(X), tuned.decision_function(X) >= tuned.thresholds_)


def test_counts_of_siblings_add_up(tuned, stream):
    X, Y = stream
    one, other = (tuned.sibling() for _ in range(2))
    one.partial_fit(X[:60], Y[:60])
    other.partial_fit(X[60:], Y[60:])
    seen = one.inner.any_model.decisions.seen + other.inner.any_model.decisions.seen
    assert np.array_equal(one.merge(other).inner.any_model.decisions.seen, seen)
    assert seen.sum() == Y.size


def test_counts_follow_their_labels_when_models_unite(stream):
    import pandas as pd

    X, Y = stream
    one, other = (pd.DataFrame(Y[:, order], columns=[f"label {k}" for k in order]) for order in ([0, 1], [2, 0]))
    first = fresh().fit(X, one)
    second = fresh().fit(X, other)
    expected = first.inner.any_model.decisions.on[0] + second.inner.any_model.decisions.on[1]
    united = first.merge(second)
    assert united.label_names_.tolist() == ["label 0", "label 1", "label 2"]
    assert np.array_equal(united.inner.any_model.decisions.on[0], expected)
    assert np.array_equal(united.inner.any_model.decisions.on[2], second.inner.any_model.decisions.on[0])


def test_classifiers_that_optimise_different_things_do_not_unite(tuned, trained):
    with pytest.raises(DataError, match="what they optimise"):
        tuned.merge(trained)


@pytest.mark.parametrize("stored", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf)), None])
def test_a_stored_classifier_goes_on_with_the_same_bits(stored, tuned, gappy_stream, tmp_path):
    X, Y = gappy_stream
    if stored is None:
        tuned.save(tmp_path / "model")
        twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    else:
        twin = stored(tuned)
    assert np.array_equal(twin.thresholds_, tuned.thresholds_)
    for mine, theirs in zip(tuned.answer_then_train(X, Y), twin.answer_then_train(X, Y), strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(twin.thresholds_, tuned.thresholds_)


def test_counts_of_the_wrong_shape_are_refused(tuned, tmp_path):
    tuned.inner.any_model.decisions.seen = tuned.inner.any_model.decisions.seen[:, :5]
    with pytest.raises(ModelWriteError, match="decisions: array seen has shape"):
        tuned.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_asking_changes_nothing(tuned, stream, state_of, assert_same_state):
    before = state_of(tuned)
    tuned.thresholds_[:] = 7.0
    tuned.predict(stream[0])
    assert_same_state(state_of(tuned), before)


def test_classes_are_still_the_largest_output(blobs):
    X, y = blobs
    default, other = (fresh(kind).fit(X, y) for kind in ("accuracy", "macro_f1"))
    assert np.array_equal(default.predict(X), other.predict(X))
    assert np.array_equal(default.answer_then_train(X, y).decisions, other.answer_then_train(X, y).decisions)


def test_an_unknown_wish_is_refused(stream):
    with pytest.raises(ParameterError, match="macro_f1"):
        fresh("f2").fit(*stream)


@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1", "micro_f1"])
def test_explanations_decide_as_predictions_do(stream, optimise):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=4, optimise=optimise).fit(X[:80], Y[:80])
    told = [clf.explain(x).predicted for x in X[80:]]
    np.testing.assert_array_equal(told, clf.predict(X[80:]).astype(bool))
