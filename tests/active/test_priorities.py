"""Labels that have drifted are asked for first, some questions are drawn at random; the budget holds all the same."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.query import PROBE
from evolabel.active.scoring.priorities import (
    DRIFT_PRIORITY,
    PROBE_SCORE,
    PROBE_SHARE,
    PROBE_SHARE_IN_DRIFT,
    is_probe,
    prioritise_labels,
    prioritise_samples,
)

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


def test_a_probe_is_one_of_the_labels_asked_for():
    value = np.array([0.1, PROBE_SCORE, 0.2])
    assert is_probe(value, np.array([False, True, True]))
    assert not is_probe(value, np.array([True, False, True]))


@pytest.mark.compiled
def test_a_label_in_a_drift_is_asked_for_more_often_within_the_budget():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1800, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    classifier = EvolvingFuzzyClassifier().fit(X[:300], Y[:300])
    learner = ActiveLearner(classifier, 0.2, "labels")
    members = classifier.inner.model.trained().members
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
def test_whole_samples_are_drawn_at_random_within_the_budget():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 0.3).astype(float)
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), 0.2, "samples")
    for x, y in zip(X[300:], Y[300:], strict=True):
        query = learner.query(x)
        if PROBE in query.reasons:
            assert query.reasons == (PROBE,)
            assert query.label_reasons == ((PROBE,),) * 3
            assert learner.strategy.drawn_labels(query).all()
        learner.update(query, y if query.asked else None)
        assert learner.bucket.asked <= 0.2 * learner.bucket.seen
    assert 0.03 < learner.ledger.reasons[PROBE] / learner.bucket.asked < 0.2


@pytest.mark.compiled
def test_nothing_is_drawn_where_drift_is_not_followed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 4))
    Y = (X > 0.3).astype(float)
    classifier = EvolvingFuzzyClassifier(follow_drift=False).fit(X[:300], Y[:300])
    learner = ActiveLearner(classifier, 0.2, "samples")
    for x, y in zip(X[300:], Y[300:], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    assert learner.bucket.asked > 50
    assert PROBE not in learner.ledger.reasons
