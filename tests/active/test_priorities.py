"""Labels that have drifted are asked for first, and some labels are drawn at random; the budget holds all the same."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.query import PROBE
from evolabel.active.scoring.priorities import DRIFT_PRIORITY, PROBE_SCORE, PROBE_SHARE, is_probe, prioritise

CALM = np.zeros(5, np.bool_)


def test_the_share_of_probes_is_that_of_the_questions():
    values = np.full((20_000, 5), 0.3)
    raised = prioritise(values, 1, 0.2, CALM)
    drawn = raised >= PROBE_SCORE
    assert drawn.mean() == pytest.approx(PROBE_SHARE * 0.2, rel=0.1)
    np.testing.assert_allclose(drawn.mean(axis=0), drawn.mean(), rtol=0.25)  # no label is drawn more often
    assert drawn.sum(axis=1).max() == 1
    np.testing.assert_array_equal(raised[~drawn], 0.3)
    np.testing.assert_array_equal(values, 0.3)


def test_probes_follow_from_the_number_of_the_row():
    values = np.random.default_rng(0).random((500, 5))
    whole = prioritise(values, 301, 0.3, CALM)
    parts = [prioritise(values[i : i + 1], 301 + i, 0.3, CALM) for i in range(500)]
    np.testing.assert_array_equal(np.vstack(parts), whole)
    assert (prioritise(values, 302, 0.3, CALM) != whole).any()


def test_labels_in_a_drift_come_first_unless_all_are():
    values = np.full((50, 5), 0.3)
    drifting = np.array([False, True, False, False, False])
    raised = prioritise(values, 1, 1e-9, drifting)
    np.testing.assert_allclose(raised[:, 1], 0.3 * DRIFT_PRIORITY)
    np.testing.assert_array_equal(np.delete(raised, 1, axis=1), 0.3)
    np.testing.assert_array_equal(prioritise(values, 1, 1e-9, ~CALM), values)


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
