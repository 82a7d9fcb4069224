"""`follows` and `memory`: the last answers count where a row is known to come right after them, and nowhere else."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, ParameterError
from evolabel.paper import PaperClassifier

METHODS = ("decision_function", "predict", "predict_proba", "predict_log_proba", "predict_set")


def persisting(rows, seed=0, run=15):
    """Two labels that last for about `run` rows; only the second one also follows from the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    state = np.repeat(rng.integers(0, 2, rows // run + 1), run)[:rows]
    other = (X[:, 0] + 1.5 * np.roll(state, 3) - 0.75 + rng.normal(0.0, 0.3, rows)) > 0.0
    return X, np.stack([state, other], axis=1).astype(float)


X, Y = persisting(1500)


def trained(rows=700, classes=False, **parameters):
    """A classifier that has learned the first rows."""
    target = Y[:rows, 0].astype(int) if classes else Y[:rows]
    return EvolvingFuzzyClassifier(max_rules=5, **parameters).partial_fit(X[:rows], target)


def answers(clf, rows, **how):
    return [getattr(clf, method)(rows, **how) for method in METHODS]


@pytest.mark.parametrize(
    "parameters", [{}, {"threshold_rules": False, "follow_drift": False}, {"optimise": "macro_f1"}]
)
def test_plain_answers_are_those_of_a_classifier_without_memory(parameters):
    with_memory, without = trained(**parameters), trained(memory=None, **parameters)
    for part in (slice(700, 900), slice(900, 1000)):
        with_memory.test_then_train(X[part], Y[part])
        without.partial_fit(X[part], Y[part])
    for found, expected in zip(answers(with_memory, X), answers(without, X), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(with_memory.thresholds_, without.thresholds_)


def test_what_persists_is_answered_better_in_order_and_probabilities_can_be_trusted():
    found, plain = (
        trained(80).answer_then_train(X[80:], Y[80:]),
        trained(80, memory=None).test_then_train(X[80:], Y[80:]),
    )
    later = slice(400, None)
    right = [((outputs >= 0.5) == Y[80:])[later].mean(axis=0) for outputs in (found.outputs, plain)]
    assert right[0][0] > 0.9
    assert right[1][0] < 0.65
    assert right[0][1] > right[1][1] - 0.01
    gaps = [found.probabilities[later][part].mean() - Y[80:][later][part].mean()
            for part in (found.probabilities[later] < 0.2, found.probabilities[later] > 0.8)]  # fmt: skip
    assert np.abs(gaps).max() < 0.04
    inside = np.where(Y[80:] > 0.5, found.sets[..., 1], found.sets[..., 0])[later]
    assert abs(inside.mean() - 0.9) < 0.03


@pytest.mark.parametrize("parameters", [{}, {"optimise": "macro_f1"}, {"optimise": "subset_accuracy"},
                                        {"class_weight": {"label0": 3.0}}, {"optimise": "balanced"}])  # fmt: skip
def test_answers_row_by_row_are_those_of_answer_then_train(parameters):
    whole, single = trained(300, **parameters), trained(300, **parameters)
    found = whole.answer_then_train(X[300:420], Y[300:420])
    for i in range(120):
        x = X[[300 + i]]
        np.testing.assert_array_equal(single.decision_function(x, follows=1)[0], found.outputs[i])
        np.testing.assert_array_equal(single.predict_proba(x, follows=1)[0], found.probabilities[i])
        np.testing.assert_array_equal(single.predict_set(x, follows=1)[0], found.sets[i])
        np.testing.assert_array_equal(single.predict(x, follows=1)[0], found.decisions[i])
        single.partial_fit(x, Y[[300 + i]])


def test_classes_follow_too():
    clf = trained(classes=True)
    assert (clf.predict(X[700:704], follows=1) == Y[699, 0]).all()
    np.testing.assert_allclose(clf.predict_proba(X[700:710], follows=1).sum(axis=1), 1.0)
    assert clf.decision_function(X[700:703], follows=1).shape == (3,)
    assert clf.predict_set(X[700:710], follows=1).any(axis=1).all()


def test_rows_follow_each_other():
    clf = trained()
    together = clf.decision_function(X[700:710], follows=1)
    for i in range(10):
        np.testing.assert_allclose(clf.decision_function(X[[700 + i]], follows=1 + i)[0], together[i], rtol=1e-12)
    np.testing.assert_array_equal(together[4:], clf.decision_function(X[700:710])[4:])
    assert (together[:4] != clf.decision_function(X[700:710])[:4]).any(axis=1).all()


def test_a_row_without_features_has_the_base_rates_and_the_others_their_ages():
    clf, rows = trained(), X[700:703].copy()
    rows[1] = np.nan
    with pytest.warns(match="base rates"):
        found = clf.decision_function(rows, follows=1)
    np.testing.assert_array_equal(found[[0, 2]], clf.decision_function(X[700:703], follows=1)[[0, 2]])
    with pytest.warns(match="base rates"):
        np.testing.assert_array_equal(found[1], clf.decision_function(rows[1:2])[0])
    with pytest.warns(match="base rates"):
        assert clf.predict_proba(rows, follows=1).shape == (3, 2)


@pytest.mark.parametrize("method", METHODS)
def test_asking_changes_nothing(method, state_of, assert_same_state):
    clf, twin = trained(), trained()
    getattr(clf, method)(X[700:705], follows=1)
    assert_same_state(state_of(clf), state_of(twin))


def test_the_first_rows_have_too_few_answers_to_follow():
    for clf in (EvolvingFuzzyClassifier().partial_fit(X[:30], Y[:30]), EvolvingFuzzyClassifier().fit(X[:90], Y[:90])):
        np.testing.assert_array_equal(clf.decision_function(X[90:94], follows=1), clf.decision_function(X[90:94]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("follows", [0, -1, 1.5, "1", np.nan])
def test_what_is_no_number_of_rows_is_refused(method, follows):
    with pytest.raises(ParameterError, match=r"follows=.* whole number >= 1"):
        getattr(trained(), method)(X[:1], follows=follows)


@pytest.mark.parametrize("method", [*METHODS, "explain"])
@pytest.mark.parametrize("make", [lambda: trained(memory=None), lambda: PaperClassifier().fit(X[:60], Y[:60])])
def test_without_a_memory_nothing_follows(method, make):
    with pytest.raises(ParameterError, match=r'follows=1 needs memory="answers"'):
        getattr(make(), method)(X[0] if method == "explain" else X[:1], follows=1)


def test_rows_of_the_stream_without_answers_let_the_last_one_grow_old():
    clf, twin = trained(), trained()
    clf.partial_fit(X[700:702], np.full((2, 2), np.nan))
    np.testing.assert_allclose(
        clf.decision_function(X[702:703], follows=1), twin.decision_function(X[702:703], follows=3), rtol=1e-9
    )


def test_a_written_rule_has_the_last_word():
    clf = trained()
    clf.rulebook.add("IF x0 ABOVE -100 THEN label0 30% WITH CONFIDENCE 1 WEIGHT 1000000")
    x, f = X[700:701], clf.decision_function
    np.testing.assert_allclose([f(x)[0, 0], f(x, follows=1)[0, 0]], 0.3, atol=0.01)
    assert f(x)[0, 1] != f(x, follows=1)[0, 1]
    outputs = clf.test_then_train(X[700:760], Y[700:760])
    np.testing.assert_allclose(outputs[:, 0], 0.3, atol=0.01)


def test_memory_comes_back_from_a_file_and_grows_with_labels(tmp_path):
    clf = trained()
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert loaded.memory == "answers"
    wider = np.column_stack([Y, 1.0 - Y[:, 0]])
    outputs = [each.answer_then_train(X[700:1000], wider[700:1000]) for each in (loaded, clf)]
    for found, expected in zip(*outputs, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert ((outputs[0].outputs >= 0.5) == wider[700:1000])[200:, 2].mean() > 0.85


def test_merged_classifiers_follow_the_answers_of_the_first():
    one, two = trained(), trained()
    two.partial_fit(X[700:1200], Y[700:1200])
    merged = one.merge(two)
    assert (merged.predict(X[700:701], follows=1)[0, 0] == Y[699, 0]).all()
    with pytest.raises(DataError, match="differ in memory"):
        merged.merge(trained(memory=None))


def test_a_sibling_has_a_memory_without_answers():
    twin = trained().sibling()
    np.testing.assert_array_equal(twin.decision_function(X[:2], follows=1), twin.decision_function(X[:2]))


# ---------------------------------------------------------------------- explanations


def test_the_last_answers_are_a_part_of_an_explanation():
    clf, x = trained(), X[700]
    why = clf.explain(x, follows=1)
    np.testing.assert_allclose(why.total, clf.decision_function(x[None], follows=1)[0], atol=1e-9)
    np.testing.assert_allclose(why.probabilities, clf.predict_proba(x[None], follows=1)[0], atol=1e-12)
    added = clf.decision_function(x[None], follows=1)[0] - clf.decision_function(x[None])[0]
    np.testing.assert_allclose(why.last_answers, added, atol=1e-9)
    word = "yes" if Y[699, 0] else "no"
    assert f"{why.last_answers[0]:+.3f} because the last answer was {word}" in why.text
    assert why.to_dict()["labels"][0]["last_answers"] == why.last_answers[0]


def test_older_answers_and_none_are_named_as_such():
    clf = trained()
    why = clf.explain(X[700], follows=3)
    assert f"because the answer 3 rows before was {'yes' if Y[699, 0] else 'no'}" in why.text
    assert clf.explain(X[700], follows=5).last_answers is None


def test_a_plain_explanation_has_no_part_of_the_last_answers():
    why = trained().explain(X[700])
    assert why.last_answers is None
    assert why.own == {}
    assert "last answer" not in why.text
    assert why.to_dict()["labels"][0]["last_answers"] == 0.0


@pytest.mark.parametrize("parameters", [{}, {"optimise": "macro_f1"}, {"class_weight": {"label0": 3.0}}])
def test_an_explanation_decides_as_predict_does(parameters):
    clf = trained(**parameters)
    for i in range(700, 720):
        why = clf.explain(X[i], follows=1)
        np.testing.assert_array_equal(why.predicted, clf.predict(X[[i]], follows=1)[0])
        clf.partial_fit(X[[i]], Y[[i]])


def test_changes_that_are_offered_turn_the_label_where_it_follows():
    clf, found = trained(), 0
    for i in range(700, 720):
        for change in clf.explain(X[i], follows=1).counterfactuals:
            if change is not None:
                turned = X[[i]].copy()
                turned[0, int(change.feature.removeprefix("x"))] = change.after
                label = int(change.label.removeprefix("label"))
                assert clf.predict(turned, follows=1)[0, label] == change.turns_on
                found += 1
        clf.partial_fit(X[[i]], Y[[i]])
    assert found
