"""Labels that have drifted are asked for first, some questions are drawn at random; the budget holds all the same."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.query import CONFIRM, PROBE, Query
from evolabel.active.scoring.priorities import (
    CONFIRM_SCORE,
    DRIFT_PRIORITY,
    PROBE_SCORE,
    PROBE_SHARE,
    PROBE_SHARE_IN_DRIFT,
    labels_to_confirm,
    prioritise_doubts,
    prioritise_labels,
    prioritise_samples,
)
from evolabel.model.label_states import doubts

CALM = np.zeros(5, np.bool_)


def test_the_share_of_probes_is_that_of_the_questions():
    values = np.full((20_000, 5), 0.3)
    raised = prioritise_labels(values, 1, 0.2, CALM)
    drawn = raised >= PROBE_SCORE
    assert drawn.mean() == pytest.approx(PROBE_SHARE * 0.2, rel=0.1)
    np.testing.assert_allclose(drawn.mean(axis=0), drawn.mean(), rtol=0.25)  # no label is drawn more often
    assert drawn.sum(axis=1).max() == 1
    np.testing.assert_array_equal(raised[~drawn], 0.3)
    np.testing.assert_array_equal(values, 0.3)


def test_probes_follow_from_the_number_of_the_row():
    values = np.random.default_rng(0).random((500, 5))
    whole = prioritise_labels(values, 301, 0.3, CALM)
    parts = [prioritise_labels(values[i : i + 1], 301 + i, 0.3, CALM) for i in range(500)]
    np.testing.assert_array_equal(np.vstack(parts), whole)
    assert (prioritise_labels(values, 302, 0.3, CALM) != whole).any()


def test_labels_in_a_drift_come_first_unless_all_are():
    values = np.full((50, 5), 0.3)
    drifting = np.array([False, True, False, False, False])
    raised = prioritise_labels(values, 1, 1e-9, drifting)
    np.testing.assert_allclose(raised[:, 1], 0.3 * DRIFT_PRIORITY)
    np.testing.assert_array_equal(np.delete(raised, 1, axis=1), 0.3)
    np.testing.assert_array_equal(prioritise_labels(values, 1, 1e-9, ~CALM), values)


@pytest.mark.parametrize(("in_drift", "share"), [(False, PROBE_SHARE), (True, PROBE_SHARE_IN_DRIFT)])
def test_more_samples_are_drawn_while_a_label_is_in_a_drift(in_drift, share):
    values = np.full((20_000, 1), 0.3)
    raised = prioritise_samples(values, 301, 0.2, in_drift=in_drift)
    drawn = raised >= PROBE_SCORE
    assert drawn.mean() == pytest.approx(share * 0.2, rel=0.1)
    np.testing.assert_array_equal(raised[~drawn], 0.3)
    np.testing.assert_array_equal(values, 0.3)
    parts = [prioritise_samples(values[i : i + 1], 301 + i, 0.2, in_drift=in_drift) for i in range(500)]
    np.testing.assert_array_equal(np.vstack(parts), raised[:500])


def test_sure_outputs_of_doubted_labels_are_asked_for_before_all_but_probes():
    values = np.array([[0.1, PROBE_SCORE, 0.2], [0.5, 0.6, 0.7]])
    outputs = np.array([[0.9, 0.1, 0.9], [0.6, 0.9, 0.1]])
    doubted = np.array([True, True, False])
    raised = prioritise_doubts(values, outputs, doubted)
    np.testing.assert_array_equal(raised, [[CONFIRM_SCORE, PROBE_SCORE, 0.2], [0.5, CONFIRM_SCORE, 0.7]])
    assert prioritise_doubts(values, outputs, np.zeros(3, bool)) is values


def pending(labels, outputs):
    return Query(np.zeros(2), np.array(outputs), np.array(labels, bool), (), {}, 1)


def test_labels_are_confirmed_while_more_answers_contradict_than_questions_can_show_it():
    doubted = np.array([1, 2, 0, 3])
    np.testing.assert_array_equal(labels_to_confirm(doubted, []), [True, True, False, True])
    waiting = [pending([1, 1, 0, 1], [0.9, 0.1, 0.5, 0.6]), pending([1, 0, 1], [0.5, 0.0, 1.0])]
    np.testing.assert_array_equal(labels_to_confirm(doubted, waiting), [False, True, False, True])
    np.testing.assert_array_equal(labels_to_confirm(doubted, 3 * waiting), [False, False, False, True])
    np.testing.assert_array_equal(labels_to_confirm(np.zeros(4, int), waiting), np.zeros(4, bool))


@pytest.mark.compiled
@pytest.mark.parametrize("ahead", [False, True])
def test_few_questions_confirm_a_drift_while_answers_are_late(ahead, tmp_path):
    """After one answer that contradicts a sure output one question is asked, not one for every row; loaded, too."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:500], Y[:500]), 0.5, "labels", burst=None)
    for x in X[500:600]:
        learner.skip(learner.query(x))
    query = next(query for query in map(learner.query, X[600:700]) if abs(query.prediction[0] - 0.5) > 0.45)
    wrong = {learner.classifier.label_names_[0]: float(query.prediction[0] < 0.5)}
    learner.update(query, wrong)
    model = learner.classifier.inner.model
    assert doubts(model).tolist() == [1, 0, 0]
    confirming = []
    for start in range(700, 1000, 50):
        rows, done = X[start : start + 50], 0
        while done < 50:
            if ahead:
                query, passed = learner.next_query(rows[done:])
            else:
                query, passed = learner.query(rows[done]), 0
            done += passed + 1
            if query is not None and query.asked:
                confirming += [query] * ("confirm" in query.reasons)
                learner.mark_pending(query)
            elif query is not None:
                learner.update(query, None)
        learner.save(tmp_path / "learner")
        learner = ActiveLearner.load(tmp_path / "learner")
    assert len(confirming) == 1


@pytest.mark.compiled
def test_pending_questions_about_other_labels_do_not_count():
    """The classifier is fitted anew with fewer labels; `query` changes nothing, so the questions are still pending."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1001, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:500], Y[:500]), 0.5, "labels", burst=None)
    for x in X[500:520]:
        if (query := learner.query(x)).asked:
            learner.mark_pending(query)
        else:
            learner.update(query, None)
    assert learner.pending
    clf = learner.classifier.fit(X[:500], Y[:500, :2])
    for x, y in zip(X[520:], Y[520:, :2], strict=True):
        output = clf.decision_function(x[None])[0, 0]
        wrong = float(output < 0.5) if abs(output - 0.5) > 0.45 else y[0]
        clf.partial_fit(x[None], [[wrong, y[1]]])
        if doubts(clf.inner.model).any():
            break
    assert doubts(clf.inner.model).tolist() == [1, 0]
    assert len(learner.query(X[1000]).labels) == 2


@pytest.mark.compiled
def test_a_flipped_label_is_noticed_soon_by_questions_that_confirm_the_first_wrong_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2500, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    Y[1500:, 0] = 1.0 - Y[1500:, 0]
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:500], Y[:500]), 0.1, "labels")
    before = 0
    for i in range(500, 2500):
        query = learner.query(X[i])
        learner.update(query, np.where(query.labels, Y[i], np.nan) if query.asked else None)
        assert learner.bucket.asked <= 0.1 * 3 * learner.bucket.seen
        before = before if i >= 1500 else learner.ledger.reasons[CONFIRM]
    drifts = [event.sample - 1500 for event in learner.classifier.events_ if event.kind == "drift"]
    assert 0 < drifts[0] < 250
    assert learner.ledger.reasons[CONFIRM] > before


@pytest.mark.compiled
def test_a_label_in_a_drift_is_asked_for_more_often_within_the_budget():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1800, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    classifier = EvolvingFuzzyClassifier().fit(X[:300], Y[:300])
    learner = ActiveLearner(classifier, 0.2, "labels")
    members = classifier.inner.model.drift.arrays
    asked, reasons = np.zeros((2, 3)), set()
    for i in range(300, 1800):
        if i == 1200:
            members.episode[0] = members.clock[0]  # as an alarm would set it
        query = learner.query(X[i])
        reasons |= set(query.reasons)
        asked[int(1200 <= i < 1500)] += query.labels
        learner.update(query, np.where(query.labels, Y[i], np.nan) if query.asked else None)
        assert learner.bucket.asked <= 0.2 * 3 * learner.bucket.seen
    assert PROBE in reasons
    before, after = asked / asked.sum(axis=1, keepdims=True)
    assert after[0] > before[0] + 0.1
    assert members.clock[0] == 1800  # rows without a question count, too


@pytest.mark.compiled
def test_rows_without_an_answer_count_during_the_warm_up_too(stream, tmp_path):
    X, Y = stream
    learner = ActiveLearner.start(list("abcd"), list("uvw"), budget=0.2)
    for i in range(700):
        query = learner.query(dict(zip("abcd", X[i].tolist(), strict=True)))
        learner.update(query, Y[i] if query.asked and i % 7 else None)  # some questions stay without an answer
        if i in (200, 650):
            learner.save(tmp_path / "learner.zip")
            learner = ActiveLearner.load(tmp_path / "learner.zip")
            assert (learner.classifier.inner.model.rules is None) == (i == 200)
    assert learner.classifier.inner.model.drift.arrays.clock[0] == 700
    assert learner.bucket.asked < 150


@pytest.fixture
def stream():
    """Rows and labels: the first 300 are the initial batch."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 4))
    return X, (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)


def started(stream, budget, **options):
    """Return a learner that asks about whole samples, trained on the initial batch of `stream`."""
    X, Y = stream
    return ActiveLearner(EvolvingFuzzyClassifier(**options).fit(X[:300], Y[:300]), budget, "samples")


def share_of_probes(learner, stream):
    """Return the share of the questions about the rest of `stream` that are drawn at random; none is answered."""
    for x in stream[0][300:]:
        learner.update(learner.query(x), None)
    return learner.ledger.reasons[PROBE] / learner.bucket.asked


def in_drift(learner):
    """Let the first label of `learner` be in a drift, as an alarm would."""
    members = learner.classifier.inner.model.drift.arrays
    members.episode[0] = members.clock[0]
    return learner


@pytest.mark.compiled
def test_a_tenth_of_the_samples_is_drawn_at_random_within_the_budget(stream):
    learner = started(stream, 0.5)
    for x, y in zip(*(part[300:] for part in stream), strict=True):
        query = learner.query(x)
        if PROBE in query.reasons:
            assert query.reasons == (PROBE,)
            assert query.label_reasons == ((PROBE,),) * 3
            assert learner.strategy.drawn_labels(query).all()
        else:
            assert not learner.strategy.drawn_labels(query).any()
        learner.update(query, y if query.asked else None)
        assert learner.bucket.asked <= 0.5 * learner.bucket.seen
    assert learner.ledger.reasons[PROBE] / learner.bucket.asked == pytest.approx(0.1, abs=0.03)


@pytest.mark.compiled
def test_a_drift_has_half_of_the_samples_drawn_at_random(stream):
    assert share_of_probes(in_drift(started(stream, 0.5)), stream) == pytest.approx(0.5, abs=0.08)


@pytest.mark.compiled
def test_the_drift_of_a_retired_label_does_not_count(stream):
    learner = in_drift(started(stream, 0.5))
    learner.retire_label(learner.classifier.label_names_[0])
    assert share_of_probes(learner, stream) == pytest.approx(0.1, abs=0.03)


@pytest.mark.compiled
@pytest.mark.parametrize(("budget", "options"), [(0.5, {"follow_drift": False}), (1.0, {})])
def test_nothing_is_drawn_where_drift_is_not_followed_or_everything_is_asked(stream, budget, options):
    assert share_of_probes(started(stream, budget, **options), stream) == 0.0


def asked_between(learner, X, start, stop):
    """Return the rows of `X` that `learner` asks about, and why; none is answered."""
    asked = []
    while start < stop:
        query, passed = learner.next_query(X[start : stop + 300])
        start += passed
        if query is not None:
            asked.append((start, query.reasons))
            learner.update(query, None)
            start += 1
    return asked


@pytest.mark.compiled
def test_rows_scored_ahead_are_drawn_anew_after_a_change_of_the_budget(stream):
    X, _ = stream
    learner = started(stream, 0.9)
    asked_between(learner, X, 300, 600)
    first = learner.bucket.seen + 300
    learner.budget = 0.3
    fresh = copy.deepcopy(learner)
    fresh.strategy._ahead = None
    assert asked_between(learner, X, first, 900) == asked_between(fresh, X, first, 900)


@pytest.mark.compiled
def test_a_learner_that_was_taught_rows_it_has_not_counted_can_be_saved(stream, tmp_path):
    X, Y = stream
    learner = ActiveLearner.start(list("abcd"), list("uvw"), budget=0.2)
    for i in range(90):
        learner.learn(dict(zip("abcd", X[i].tolist(), strict=True)), Y[i])
        if i in (0, 40, 89):
            learner.save(tmp_path / "learner.zip")
            learner = ActiveLearner.load(tmp_path / "learner.zip")
    learner.learn(dict.fromkeys("abcd", np.nan), Y[0])
    learner.save(tmp_path / "learner.zip")
    assert learner.classifier.n_samples_seen_ == 90
