"""Active learning in the harness: labels are used only where they were asked for."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier, errors
from evolabel.active import BudgetedLearner, RandomSelection, SimulatedAnnotator
from evolabel.evaluate import prequential

BASE = EvolvingFuzzyClassifier(max_rules=4)
WAYS = {
    "samples": {},
    "labels": {"per": "labels"},
    "late": {"annotator": SimulatedAnnotator(noise=0.1, refusals=0.2, delay=(0, 9))},
}


@pytest.fixture(params=[*WAYS, "random samples", "random labels"])
def learner(request):
    if request.param.startswith("random"):
        return RandomSelection(BASE, 0.2, request.param.split()[1], seed=3)
    return BudgetedLearner(BASE, 0.2, **WAYS[request.param])


def test_one_pass_is_row_by_row(learner, stream):
    X, Y = stream
    whole = learner.fit(X[:60], Y[:60]).test_then_train(X[60:], Y[60:])
    learner.fit(X[:60], Y[:60])
    single = []
    for i in range(60, len(X)):
        single.append(learner.decision_function(X[i : i + 1])[0])
        learner.partial_fit(X[i : i + 1], Y[i : i + 1])
    np.testing.assert_array_equal(whole, single)


def test_only_what_is_asked_for_is_used(learner, stream):
    X, Y = stream
    scores = learner.fit(X[:60], Y[:60]).test_then_train(X[60:], Y[60:])
    assert 0.1 < learner.share_ <= 0.2
    assert sum(learner.reasons_.values()) >= learner.learner_.ledger.questions > 0
    asked = np.zeros(Y[60:].shape, bool)
    learner.fit(X[:60], Y[:60])
    send = learner.learner_.mark_pending

    def spy(query):
        number = send(query)
        asked[number - 1] |= query.labels
        return number

    learner.learner_.mark_pending = spy
    learner.test_then_train(X[60:], Y[60:])
    changed = learner.fit(X[:60], Y[:60]).test_then_train(X[60:], np.where(asked, Y[60:], 1.0 - Y[60:]))
    np.testing.assert_array_equal(changed, scores)


def test_a_learner_that_asks_for_everything_is_the_classifier(stream):
    X, Y = stream
    greedy = BudgetedLearner(BASE, 1.0, criteria="ambiguity", selection="tokens", antecedent_rate=1.0)
    greedy.fit(X[:60], Y[:60])
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(greedy.test_then_train(X[60:], Y[60:]), plain.test_then_train(X[60:], Y[60:]))
    assert greedy.share_ == 1.0


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_random_selection_spends_its_budget_evenly(stream, per):
    X, Y = np.tile(stream[0], (5, 1)), np.tile(stream[1], (5, 1))
    counts = []
    for seed in range(3):
        learner = RandomSelection(BASE, 0.1, per, seed=seed).fit(X[:60], Y[:60])
        learner.test_then_train(X[60:330], Y[60:330])
        half = learner.learner_.bucket.asked
        learner.test_then_train(X[330:], Y[330:])
        counts.append((half, learner.learner_.bucket.asked))
        assert learner.reasons_ == {"random": learner.learner_.ledger.questions}
    unit = 3 if per == "labels" else 1
    assert all(abs(half - 27 * unit) <= 1 and abs(whole - 54 * unit) <= 1 for half, whole in counts)


def test_refusals_and_noise_are_those_of_the_annotator(stream):
    X, Y = stream
    annotator = SimulatedAnnotator(refusals=1.0)
    silent = BudgetedLearner(BASE, 0.3, annotator=annotator).fit(X[:60], Y[:60])
    silent.test_then_train(X[60:], Y[60:])
    assert (
        silent.learner_.ledger.questions_refused == silent.learner_.ledger.questions == silent.learner_.bucket.asked > 0
    )
    truth = np.array([0.0, 1.0, np.nan])
    wrong = SimulatedAnnotator(noise=1.0).answer(truth, np.array([True, True, True]))
    np.testing.assert_array_equal(wrong, [1.0, 0.0, np.nan])


def test_it_runs_in_the_harness_beside_others(stream):
    learners = {"active": BudgetedLearner(BASE, 0.2), "random": RandomSelection(BASE, 0.2), "full": BASE}
    result = prequential(learners, stream, initial=0.5)
    assert {"active", "random", "full"} <= set(result.learners)
    assert "budget=0.2" in repr(learners["active"])


def test_an_initial_batch_is_needed(stream):
    with pytest.raises(errors.NotTrainedError, match="call fit"):
        BudgetedLearner().test_then_train(*stream)


def test_random_selection_takes_error_feedback_and_shows_its_seed():
    learner = RandomSelection(BASE, 0.2, seed=3, error_feedback=False)
    assert repr(learner).endswith("annotator=None, error_feedback=False, seed=3)")
    assert eval(repr(learner), {**globals(), "EvolvingFuzzyClassifier": type(BASE)}).seed == 3
