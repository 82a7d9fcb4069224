"""Questions, counts and annotators are printed as people read them."""

from dataclasses import replace

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool, Ledger
from evolabel.core.stored_checks import StoredFacts

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"temp_C": RNG.uniform(20, 90, 200), "pressure": RNG.uniform(1, 9, 200), "machine": ["M-01", "M-02"] * 100}
)
Y = pd.DataFrame({"leak": X["pressure"] < 3, "overheated": X["temp_C"] > 70}).astype(float)


@pytest.fixture
def learner():
    return ActiveLearner(EvolvingFuzzyClassifier().fit(X, Y), budget=1.0, per="labels")


def test_a_question_has_values_labels_probabilities_and_reasons(learner):
    query = learner.query({"temp_C": 70.5, "machine": "M-02"})
    lines = str(query).splitlines()
    assert lines[0] == "Question about a sample: temp_C = 70.5, machine = M-02"
    for name, asked, probability in zip(Y, query.labels, query.probabilities, strict=True):
        printed = {"0.00": "under 0.01", "1.00": "over 0.99"}.get(f"{probability:.2f}", f"{probability:.2f}")
        assert (f"{name} (probability {printed})" in lines[1]) == asked
    assert lines[1].startswith("Asked for: ")
    assert lines[2].startswith("Reason: ")
    assert len(lines) == 3
    learner.update(query, {"leak": 1})
    assert str(query).startswith("Question about sample 1: temp_C")


def test_a_question_has_a_note_on_what_is_unfamiliar(learner):
    query = learner.query({"temp_C": 1e6, "pressure": 5, "machine": "M-01"})
    assert f"Note: {query.unfamiliar[0]}" in str(query)
    assert "temp_C = 1e+06" in str(query)


def test_a_probability_is_never_printed_as_0_or_1(learner):
    query = learner.query({"temp_C": 70.5, "machine": "M-02"})
    sure = replace(query, labels=np.array([True, True]), probabilities=np.array([1e-9, 1.0 - 1e-9]))
    assert "leak (probability under 0.01), overheated (probability over 0.99)" in str(sure)


def test_no_question_is_printed_as_none(learner):
    learner = ActiveLearner(learner.classifier, budget=1e-6)
    assert str(learner.query({"temp_C": 50})) == "No question about a sample: temp_C = 50"


def test_wide_samples_without_names_are_shortened():
    A = RNG.normal(size=(60, 25))
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(A, (A[:, :2] > 0).astype(float)), budget=1.0)
    text = str(learner.query(A[0]))
    assert f"x0 = {A[0, 0]:,.6g}, x1 = " in text
    assert " and 5 more\n" in text
    assert "Asked for: label0 (probability " in text


def test_pending_questions_are_printed_the_same_after_loading(learner, tmp_path):
    number = learner.mark_pending(learner.query({"temp_C": 70.5, "machine": "M-02"}))
    learner.save(tmp_path / "learner")
    loaded = ActiveLearner.load(tmp_path / "learner")
    assert str(loaded.pending[number]) == str(learner.pending[number])


def test_probabilities_are_those_of_the_classifier(learner):
    query = ActiveLearner(learner.classifier, budget=1.0, error_feedback=False).query(X.iloc[[7]])
    np.testing.assert_allclose(query.probabilities, learner.classifier.predict_proba(X.iloc[[7]])[0])


def test_control_characters_of_names_are_not_printed():
    A = pd.DataFrame({"heat\x1b[31m\n": RNG.normal(size=60), "flow": RNG.normal(size=60)})
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(A, np.eye(60)[:, :2]), budget=1.0)
    assert "\x1b" not in str(learner.query(A.iloc[[0]]))
    assert len(str(learner.query(A.iloc[[0]])).splitlines()) == 3


def test_a_ledger_is_a_sentence_of_counts(learner):
    assert repr(Ledger()) == (
        "0 questions asked for 0 labels; 0 of these labels answered, 0 questions refused; "
        "0 labels answered without being asked for"
    )
    learner = ActiveLearner(learner.classifier, budget=1.0, per="samples")
    learner.update(learner.query(X.iloc[[0]]), {"leak": 1})
    learner.update(learner.query(X.iloc[[1]]), None)
    ledger = learner.ledger
    assert (ledger.questions, ledger.questions_refused) == (2, 1)
    assert (ledger.labels_asked, ledger.labels_answered, ledger.labels_volunteered) == (4, 1, 0)
    assert str(ledger).startswith(
        "2 questions asked for 4 labels; 1 of these labels answered, 1 question refused; 0 labels"
    )
    assert "; reasons: " in str(ledger)


def test_a_ledger_counts_errors_that_answers_have_met(learner):
    asking = ActiveLearner(learner.classifier, budget=0.5, per="labels")
    expected = np.zeros(4, int)
    for i in range(len(X)):
        query = asking.query(X.iloc[[i]])
        y = np.where(query.labels, RNG.integers(0, 2, len(query.labels)), np.nan)
        asking.update(query, y if query.asked else None)
        wrong = query.labels & ((query.prediction >= 0.5) != (y >= 0.5))
        drawn = np.zeros(len(y), bool) if query.drawn is None else query.drawn
        expected += [query.labels.sum(), wrong.sum(), drawn.sum(), (drawn & wrong).sum()]
    assert asking.ledger.met == tuple(expected)
    assert asking.ledger.met.drawn > 0
    assert str(asking.ledger).endswith(str(asking.ledger.met))
    before = {name: value for name, value in asking.ledger.facts().items() if name != "met"}  # a file of 0.1
    assert Ledger.from_facts(StoredFacts(before)).met == (0, 0, 0, 0)


def test_a_pool_shows_the_weight_of_every_annotator():
    pool = AnnotatorPool({"anna": 1.0})
    assert repr(AnnotatorPool()) == "AnnotatorPool()"
    pool.vote([[1, 0], [1, 1]], ["anna", "bob"])
    bob = f"bob: weight {pool.weight('bob'):.2f}, agreed on 1 of 2 labels"
    assert repr(pool) == f"AnnotatorPool(anna: weight 1.00, set by hand; {bob})"
