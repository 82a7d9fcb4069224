"""The first edit of a rule ends the warm-up, stays, and can be undone."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, EvolabelError, StateError
from evolabel.model.start.first_model import FEWEST_ROWS
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=2).take(300)
HOT = 'IF x0 IS very high THEN label0 LIKELY, label1 UNLIKELY WITH CONFIDENCE 0.8 CALLED "hot"'
MAKERS = {
    "default": EvolvingFuzzyClassifier,
    "no drift": lambda: EvolvingFuzzyClassifier(follow_drift=False),
    "thresholds": lambda: EvolvingFuzzyClassifier(optimise="macro_f1"),
    "no trees": lambda: EvolvingFuzzyClassifier(threshold_rules=False),
    "paper": EvolvingFuzzyClassifier.paper,
}
EDITS = {
    "add": lambda book: book.add(HOT),
    "edit": lambda book: book.edit(0, HOT),
    "lock": lambda book: book.lock(0),
    "rename": lambda book: book.rename(0, "first"),
}


@pytest.fixture(params=MAKERS)
def clf(request):
    """A classifier in its warm-up."""
    return MAKERS[request.param]().partial_fit(X[:25], Y[:25])


@pytest.fixture
def ended(clf):
    """The same classifier after the batch phase on the rows so far."""
    ended = copy.deepcopy(clf)
    ended.inner.any_model.end_warm_up()
    return ended


def added_rule(clf, number):
    """The written rule of this number."""
    return next(rule for rule in clf.rules_.written if rule.number == number)


def test_the_batch_phase_runs_on_the_rows_so_far(clf, ended):
    fitted = copy.deepcopy(clf).fit(X[:25], Y[:25])
    np.testing.assert_array_equal(ended.decision_function(X), fitted.decision_function(X))
    assert ended.n_samples_seen_ == 25
    assert np.array_equal(ended.thresholds_, fitted.thresholds_)


def test_a_rule_added_in_the_warm_up_stays(clf):
    number = clf.rulebook.add(HOT)
    clf.rulebook.lock("hot")
    before = added_rule(clf, number)
    clf.partial_fit(X[25:], Y[25:])
    after = added_rule(clf, number)
    assert [o.answer for o in after.outcomes] == [o.answer for o in before.outcomes] == [0.9, 0.1]
    assert after.outcomes[0].support > 10.0
    assert (after.name, clf.rulebook.names) == ("hot", {number: "hot"})
    assert [event.kind for event in clf.rulebook.edits] == ["added", "locked"]
    assert clf.n_samples_seen_ == 300


@pytest.mark.parametrize("edit", EDITS)
def test_undo_restores_the_model_from_just_before_the_edit(clf, ended, edit, state_of, assert_same_state):
    EDITS[edit](clf.rulebook)
    clf.rulebook.undo()
    assert_same_state(state_of(clf), state_of(ended))
    np.testing.assert_array_equal(clf.decision_function(X), ended.decision_function(X))
    for model in (clf, ended):
        model.partial_fit(X[25:120], Y[25:120])
    assert_same_state(state_of(clf), state_of(ended))
    with pytest.raises(StateError, match="no edit to undo"):
        ended.rulebook.undo()


def test_learning_goes_on_as_after_the_batch_phase(clf, ended):
    clf.rulebook.rename(0, "first")
    for model in (clf, ended):
        model.partial_fit(X[25:120], Y[25:120])
    np.testing.assert_array_equal(clf.decision_function(X), ended.decision_function(X))


@pytest.mark.parametrize(
    ("edit", "told"), [(lambda book: book.add("IF heat"), "heat"), (lambda book: book.lock(99), "no rule 99")]
)
def test_a_refused_edit_leaves_the_warm_up_as_it_was(clf, edit, told, state_of, assert_same_state):
    before = state_of(clf)
    with pytest.raises(EvolabelError, match=told):
        edit(clf.rulebook)
    assert clf.inner.any_model.warm_up is not None
    assert_same_state(state_of(clf), before)


@pytest.mark.parametrize(("warm_up", "rows", "needed"), [(80, FEWEST_ROWS - 1, FEWEST_ROWS), (5, 3, 5)])
def test_too_few_rows_are_refused_with_the_number_needed(warm_up, rows, needed):
    clf = EvolvingFuzzyClassifier(warm_up=warm_up).partial_fit(X[:rows], Y[:rows])
    with pytest.raises(StateError, match=f"{rows} annotated samples, and rules can be edited from {needed} on"):
        clf.rulebook.add(HOT)
    assert clf.n_rules_ == 0


def test_rows_that_cannot_be_learned_are_refused():
    clf = EvolvingFuzzyClassifier().partial_fit(np.ones((15, 4)), Y[:15])
    with pytest.raises(DataError):
        clf.rulebook.add(HOT)
    assert clf.inner.any_model.warm_up is not None


def test_rows_without_labels_keep_their_numbers():
    gaps = Y[:40].copy()
    gaps[::2] = np.nan
    clf = EvolvingFuzzyClassifier().partial_fit(X[:40], gaps)
    clf.rulebook.add(HOT)
    assert clf.n_samples_seen_ == 40
    assert clf.events_[-1].sample == 40


def test_a_file_of_a_warm_up_can_be_edited_and_goes_on(tmp_path):
    EvolvingFuzzyClassifier().partial_fit(X[:25], Y[:25]).save(tmp_path / "model")
    clf = EvolvingFuzzyClassifier.load(tmp_path / "model")
    clf.rulebook.add(HOT)
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert list(loaded.rulebook.names.values()) == ["hot"]
    for model in (clf, loaded):
        model.partial_fit(X[25:], Y[25:])
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))


def test_an_active_learner_goes_on_after_an_edit():
    clf = EvolvingFuzzyClassifier().partial_fit(X[:25], Y[:25])
    learner = ActiveLearner(clf, budget=0.5)
    for row in range(25, 100):
        query = learner.query(X[row])
        learner.update(query, Y[row] if query.asked else None)
        if row == 40:
            clf.rulebook.add(HOT)
    assert learner.bucket.asked <= 0.5 * learner.bucket.seen
    assert "hot" in clf.rulebook.names.values()
