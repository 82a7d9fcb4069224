"""What a program that runs a learner for months needs: a start without data, a new budget, labels, bytes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool, TokenBucket
from evolabel.core.stored_checks import StoredFacts
from evolabel.errors import DataError, ModelFileError, ParameterError

FEATURES = {"heat": None, "flow": None, "machine": ["M-01", "M-02"]}
LABELS = ["leak", "wear"]


def rows(n, seed=0):
    """Samples by name, and their labels."""
    rng = np.random.default_rng(seed)
    for heat, flow in rng.normal(size=(n, 2)).tolist():
        x = {"heat": heat, "flow": flow, "machine": rng.choice(["M-01", "M-02"]).item()}
        yield x, [float(heat > 0.0), float(flow > 0.5)]


def run(learner, n, seed=0):
    """Query n samples and answer every question."""
    for x, y in rows(n, seed):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)


@pytest.fixture
def started():
    """A learner that began without data and has seen 120 samples."""
    learner = ActiveLearner.start(FEATURES, LABELS, EvolvingFuzzyClassifier(warm_up=20), budget=0.5, per="labels")
    run(learner, 120)
    return learner


def test_a_learner_starts_without_data():
    learner = ActiveLearner.start(FEATURES, LABELS, budget=1.0)
    query = learner.query({"heat": 1.0})
    assert query.prediction.shape == (2,)
    assert query.reasons == ("warm_up",)
    assert query.label_reasons == (("warm_up",), ("warm_up",))
    assert list(learner.classifier.feature_names_in_) == ["heat", "flow", "machine"]
    run(learner, 100)
    assert 80 <= learner.bucket.asked <= 100
    assert (learner.query({"heat": 2.0, "flow": 2.0}).prediction > 0.5).all()
    assert (learner.query({"heat": -2.0, "flow": -2.0}).prediction < 0.5).all()


def test_a_start_needs_names_and_an_untrained_classifier(trained):
    for features, labels in (([], LABELS), (["a", "a"], LABELS), (["a"], []), (["a"], ["b", "b"])):
        with pytest.raises(DataError, match="one name each"):
            ActiveLearner.start(features, labels)
    with pytest.raises(ParameterError, match="learned rows already"):
        ActiveLearner.start(["a"], ["b"], trained)


def test_bytes_hold_the_whole_state(started):
    seal = started.checksum()
    again = ActiveLearner.from_bytes(started.to_bytes())
    assert again.checksum() == seal
    run(started, 60, seed=1)
    run(again, 60, seed=1)
    assert started.checksum() == again.checksum() != seal
    data = bytearray(started.to_bytes())
    data[-1] ^= 1
    for broken in (bytes(data), b"", b"x" * 100, bytes(data[:50])):
        with pytest.raises(ModelFileError):
            ActiveLearner.from_bytes(broken)


def test_a_sample_that_is_passed_by_costs_nothing(started):
    asked = started.bucket.asked
    held = 0
    for x, _ in rows(60, seed=2):
        query = started.query(x)
        started.skip(query, over_limit=True)
        held += query.asked
    assert started.bucket.asked == asked
    assert started.bucket.seen == 180
    assert started.ledger.questions_held == held > 0


def test_labels_that_come_later_are_learned(started):
    x = {"heat": -1.0, "flow": -1.0, "machine": "M-01"}
    before = started.query(x).prediction
    for _ in range(30):
        started.update(started.query(x), None)
        started.learn(x, [1.0, np.nan])
    after = started.query(x).prediction
    assert after[0] > before[0] + 0.2
    with pytest.raises(DataError, match="pass 2 labels"):
        started.learn(x, [1.0])


def test_labels_that_come_later_report_their_events(started):
    events, first = [], len(started.classifier.events_)
    for i in range(200):
        x = {"heat": 40.0 + i, "flow": float(i % 7), "machine": "M-01"}
        started.update(started.query(x), None)
        started.learn(x, [float(i % 2), 1.0], on_event=events.append)
    assert events == list(started.classifier.events_[first:])
    assert events
    with pytest.raises(ParameterError, match="on_event=3 is not allowed; use a function"):
        started.learn(x, [1.0, 1.0], on_event=3)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.01, 0.1, 0.29, 1 / 3, 0.5, 1.0]), st.integers(0, 60)), min_size=1, max_size=6
    ),
    st.integers(1, 5),
    st.sampled_from([None, 3, 200]),
)
def test_the_promise_holds_for_every_budget_in_force(changes, n_labels, burst):
    bucket = TokenBucket(0.1, "labels", burst=burst)
    earned = Fraction(0)
    for budget, n_rows in changes:
        bucket.set_budget(budget)
        for _ in range(n_rows):
            cost = bucket.affordable(n_labels)
            tokens = bucket.tokens(n_labels, 1)[0]
            assert cost == bucket.limits(n_labels, 2)[0]
            assert abs(tokens - cost) <= 1.0 + 1e-9
            bucket.count(n_labels, min(cost, n_labels))
            earned += Fraction(repr(budget)) * n_labels
            assert bucket.asked <= earned
    again = TokenBucket(bucket.budget, "labels", burst=burst)
    again.restore(StoredFacts(bucket.facts()))
    assert again.affordable(n_labels) == bucket.affordable(n_labels)


def test_a_budget_changes_for_what_comes(started):
    asked = started.bucket.asked
    started.budget = 0.1
    assert started.budget == 0.1
    run(started, 200, seed=3)
    assert asked < started.bucket.asked <= 120 * 2 * 0.5 + 200 * 2 * 0.1
    again = ActiveLearner.from_bytes(started.to_bytes())
    assert again.bucket.facts() == started.bucket.facts()
    random = ActiveLearner(started.classifier, 0.1, selection="random")
    with pytest.raises(ParameterError, match="one budget"):
        random.budget = 0.2
    with pytest.raises(ParameterError, match="credit"):
        ActiveLearner(started.classifier, 0.1, credit=10).budget = 0.2


def test_probabilities_are_those_of_explanations_and_questions(started):
    run(started, 200, seed=3)
    x = {name: texts[0] if texts else 0.3 for name, texts in FEATURES.items()}
    P = started.predict_proba([x, x])
    np.testing.assert_array_equal(P[0], started.explain(x).probabilities)
    assert ((P > 0.0) & (P < 1.0)).all()
    with pytest.warns(UserWarning, match="no feature at all"):
        P = started.predict_proba([{}])
    np.testing.assert_array_equal(P[0], started.explain({}).probabilities)


def test_a_label_is_added_by_name_and_retired(started):
    started.add_label("noise")
    assert started.classifier.inner.label_names == ["leak", "wear", "noise"]
    asked = set()
    for x, y in rows(200, seed=4):
        query = started.query(x)
        asked |= set(np.flatnonzero(query.labels).tolist())
        started.update(query, [*y, y[0]] if query.asked else None)
    assert asked == {0, 1, 2}
    started.retire_label("wear")
    for learner in (started, ActiveLearner.from_bytes(started.to_bytes())):
        for x, y in rows(100, seed=5):
            query = learner.query(x)
            assert not query.labels[1]
            assert len(query.prediction) == 3
            learner.update(query, [*y, y[0]] if query.asked else None)
    for name in ("leak", "", 3):
        with pytest.raises(DataError, match="name of its own"):
            started.add_label(name)
    with pytest.raises(DataError, match="there is no label 'x'"):
        started.retire_label("x")


def test_another_classifier_takes_over(started):
    seen, asked = started.bucket.seen, started.bucket.asked
    copy = ActiveLearner.from_bytes(started.to_bytes()).classifier
    started.replace_classifier(copy)
    assert started.classifier is copy
    copy.threshold = 0.01
    X = [x for x, _ in rows(40, seed=7)]
    expected = started.decision_function(X) >= 0.01
    np.testing.assert_array_equal(started.predict(X), expected)
    assert (expected != (started.decision_function(X) >= 0.5)).any()
    run(started, 40, seed=6)
    assert started.bucket.seen == seen + 40
    assert started.bucket.asked >= asked
    narrow = ActiveLearner.start(["heat"], LABELS).classifier
    with pytest.raises(DataError, match="other features or labels"):
        started.replace_classifier(narrow)


def test_a_question_can_be_forced(started):
    x, _ = next(rows(1, seed=7))
    for _ in range(20):
        started.skip(started.query(x))
    number = started.mark_pending(started.query(x), labels=["wear"])
    question = started.pending[number]
    assert question.labels.tolist() == [False, True]
    assert question.cost == 1
    assert question.label_reasons == (question.reasons,)
    with pytest.raises(DataError, match="there is no label 'x'"):
        started.mark_pending(started.query(x), labels=["x"])


def test_a_question_that_was_forced_is_stored_with_its_probabilities(started):
    x, _ = next(rows(1, seed=7))
    while (query := started.query(x)).asked:
        started.update(query, None)
    number = started.mark_pending(query, labels=["wear"])
    again = ActiveLearner.from_bytes(started.to_bytes())
    assert again.pending[number].probabilities.tolist() == started.pending[number].probabilities.tolist()
    assert again.checksum() == started.checksum()


def test_each_label_has_its_reasons(started):
    for x, y in rows(200, seed=8):
        query = started.query(x)
        assert len(query.label_reasons) == np.count_nonzero(query.labels)
        assert {reason for why in query.label_reasons for reason in why} <= {*query.reasons, "ranking"}
        assert all(why for why in query.label_reasons)
        started.update(query, y if query.asked else None)


def test_a_weight_set_by_hand_can_be_taken_back():
    pool = AnnotatorPool({"anna": 0.5})
    pool.set_weight("anna", None)
    assert pool.weight("anna") == 1.0
