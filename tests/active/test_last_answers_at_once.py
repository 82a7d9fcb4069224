"""Last answers in a learner: they count where samples are answered at once, error feedback everywhere else."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner


def persisting(rows=700, run=15):
    """Two labels that last; the second one follows from the features, too."""
    rng = np.random.default_rng(0)
    X, state = rng.normal(size=(rows, 3)), np.repeat(rng.integers(0, 2, rows // run + 1), run)[:rows]
    return X, np.stack([state, X[:, 0] + 1.5 * state > 0.75], axis=1).astype(float)


X, Y = persisting()
N = 200


def learner_of(budget=1.0, rows=N, **parameters):
    """A learner past its initial batch that asks for everything, unless it has a smaller budget."""
    clf = EvolvingFuzzyClassifier(max_rules=4, **parameters).fit(X[:rows], Y[:rows])
    return ActiveLearner(clf, budget, antecedent_rate=1.0)


def answer(learner, rows):
    for i in rows:
        learner.update(learner.query(X[i]), Y[i])
    return learner


@pytest.mark.parametrize(
    "parameters", [{}, {"optimise": "macro_f1"}, {"class_weight": {"label0": 3.0}}, {"optimise": "subset_accuracy"}]
)
def test_where_all_is_answered_at_once_the_learner_is_the_classifier(parameters):
    learner = answer(learner_of(**parameters), range(N, N + 10))
    twin = (
        EvolvingFuzzyClassifier(max_rules=4, **parameters).fit(X[:N], Y[:N]).partial_fit(X[N : N + 10], Y[N : N + 10])
    )
    expected = twin.answer_then_train(X[N + 10 :], Y[N + 10 :])
    for i in range(N + 10, len(X)):
        x = X[[i]]
        np.testing.assert_array_equal(learner.decision_function(x)[0], expected.outputs[i - N - 10])
        np.testing.assert_array_equal(learner.predict_proba(x)[0], expected.probabilities[i - N - 10])
        np.testing.assert_array_equal(learner.predict(x)[0], expected.decisions[i - N - 10])
        answer(learner, [i])


def test_only_the_first_of_the_next_rows_follows_and_no_error_feedback_corrects_it():
    learner = answer(learner_of(), range(N, N + 60))
    clf, rows = learner.classifier, X[N + 60 : N + 64]
    after, plain, found = (
        clf.decision_function(rows, follows=1),
        clf.decision_function(rows),
        learner.decision_function(rows),
    )
    assert learner.next_follows
    np.testing.assert_array_equal(found[0], after[0])
    corrected = learner.strategy.outputs(clf.inner.any_model, rows, learner.bucket.seen + 1)
    np.testing.assert_array_equal(found[1:], corrected[1:])
    assert (corrected[0] != plain[0]).any()  # error feedback has something to say, and does not


def test_one_sample_without_an_answer_leaves_the_next_four_to_error_feedback():
    learner = answer(learner_of(), range(N, N + 60))
    learner.skip(learner.query(X[N + 60]))
    for i in range(N + 61, N + 65):
        assert not learner.next_follows
        corrected = learner.strategy.outputs(learner.classifier.inner.any_model, X[[i]], learner.bucket.seen + 1)
        np.testing.assert_array_equal(learner.decision_function(X[[i]]), corrected)
        answer(learner, [i])
    assert learner.next_follows


def test_answers_that_come_late_are_as_old_as_their_samples():
    learner = answer(learner_of(), range(N, N + 60))
    late = []
    for i in range(N + 60, N + 80):
        query = learner.query(X[i])
        learner.mark_pending(query)
        late.append((query, Y[i]))
        if len(late) > 1:
            learner.update(*late.pop(0))
        assert not learner.next_follows
    kept = learner.classifier.inner.any_model.memory.arrays
    assert kept.at.max() == kept.row[0] - 1
    np.testing.assert_array_equal(kept.answers[:, kept.at[0].argmax()], Y[N + 78])


def test_late_answers_change_no_newer_ones():
    learner = learner_of()
    query = learner.query(X[N])
    learner.mark_pending(query)
    answer(learner, range(N + 1, N + 5))
    before = copy.deepcopy(learner.classifier.inner.any_model.memory.arrays)
    learner.update(query, Y[N])
    after = learner.classifier.inner.any_model.memory.arrays
    for name in ("row", "at", "answers", "residuals"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), err_msg=name)
    assert (after.W != before.W).any()


def test_labels_that_came_with_a_sample_are_answers_at_once():
    learner, twin = learner_of(0.1), learner_of()
    for i in range(N, N + 30):
        query = learner.query(X[i])
        learner.skip(query)
        learner.learn(X[i], Y[i], late=0)
    answer(twin, range(N, N + 30))
    assert learner.next_follows
    np.testing.assert_array_equal(learner.decision_function(X[[N + 30]]), twin.decision_function(X[[N + 30]]))
    learner.skip(learner.query(X[N + 30]))
    learner.learn(X[N + 30], Y[N + 30])  # nobody knows when
    assert not learner.next_follows


def test_without_a_memory_and_in_the_first_rows_nothing_follows():
    assert not answer(learner_of(memory=None), range(N, N + 10)).next_follows
    assert not answer(learner_of(), range(N, N + 3)).next_follows
    assert not answer(learner_of(rows=90), range(90, 99)).next_follows  # labels have fewer than 100 answers


def test_a_learner_that_starts_with_nothing_follows_after_a_hundred_answers():
    learner, follows = ActiveLearner.start(["a", "b", "c"], ["d", "e"], budget=1.0), []
    for x, y in zip(X[:120], Y[:120], strict=True):
        follows.append(learner.next_follows)
        learner.update(learner.query(dict(zip("abc", x, strict=True))), y)
    assert follows == [False] * 100 + [True] * 20


def test_an_explanation_has_the_last_answers_in_place_of_error_feedback():
    learner, x = answer(learner_of(), range(N, N + 60)), X[N + 60]
    why = learner.explain(x)
    np.testing.assert_allclose(why.total, learner.decision_function(x[None])[0], atol=1e-9)
    np.testing.assert_allclose(why.probabilities, learner.predict_proba(x[None])[0], atol=1e-12)
    assert why.feedback is None
    assert "because the last answer was" in why.text
    assert learner.explain(x, first=learner.bucket.seen + 2).last_answers is None


def test_a_sample_without_features_does_not_follow():
    learner, rows = answer(learner_of(), range(N, N + 60)), X[N + 59 : N + 61].copy()
    rows[0] = np.nan
    with pytest.warns(match="base rates"):
        found = learner.decision_function(rows)
    np.testing.assert_array_equal(found[1], learner.decision_function(rows[1:])[0])
    with pytest.warns(match="base rates"):
        np.testing.assert_array_equal(found[0], learner.decision_function(rows[:1])[0])


def test_a_stored_learner_goes_on_in_the_same_way():
    learner = answer(learner_of(), range(N, N + 60))
    twin = ActiveLearner.from_bytes(learner.to_bytes())
    assert twin.next_follows
    np.testing.assert_array_equal(twin.decision_function(X[[N + 60]]), learner.decision_function(X[[N + 60]]))
