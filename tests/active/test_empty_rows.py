"""A row without any feature is never asked about, not counted, and answered by the base rates."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, BudgetedLearner
from evolabel.errors import DataError, DataWarning, StateError
from evolabel.evaluate import prequential
from evolabel.streams import Dataset, DriftingStream

EMPTY = [3, 4, 90]


@pytest.fixture
def rows():
    return DriftingStream(seed=1).take(400)


@pytest.fixture
def learner(rows):
    return ActiveLearner(EvolvingFuzzyClassifier(max_rules=6).fit(rows[0][:200], rows[1][:200]), budget=0.2)


def holed(X):
    X = X.copy()
    X[EMPTY] = np.nan
    return X


def test_a_query_about_it_asks_for_nothing_and_changes_nothing(learner, rows):
    X, Y = rows
    query = learner.query(np.full(X.shape[1], np.nan))
    assert not query.asked
    assert query.unfamiliar == ("no feature at all",)
    assert np.allclose(query.prediction, Y[:200].mean(axis=0), atol=0.02)
    n_seen = learner.classifier.n_samples_seen_
    learner.update(query, Y[0])
    learner.update(query)
    assert (learner.bucket.seen, learner.classifier.n_samples_seen_) == (0, n_seen)
    with pytest.raises(StateError, match="nothing is asked"):
        learner.mark_pending(query)


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_many_rows_are_asked_about_as_without_them(rows, learner):
    X, Y = rows[0][200:], rows[1][200:]
    plain = ActiveLearner(EvolvingFuzzyClassifier(max_rules=6).fit(rows[0][:200], rows[1][:200]), budget=0.2)
    asked, done = [], 0
    table = holed(X)
    while done < len(X):
        query, passed = learner.next_query(table[done:])
        done += passed
        if query is not None:
            asked.append(done)
            learner.update(query, Y[done])
            done += 1
    full = np.delete(np.arange(len(X)), EMPTY)
    expected = []
    for place in full:
        query = plain.query(X[place])
        plain.update(query, Y[place] if query.asked else None)
        expected += [place] if query.asked else []
    assert asked == expected
    assert learner.bucket.seen == len(full)


def test_outputs_are_the_base_rates_and_rows_are_counted_in_a_note(learner, rows):
    X = rows[0][200:]
    known = learner.decision_function(np.delete(X, EMPTY, 0))
    with pytest.warns(DataWarning, match=r"3 rows of X have no feature at all \(the first is row 3\); the output is"):
        outputs = learner.decision_function(holed(X))
    assert np.array_equal(np.delete(outputs, EMPTY, 0), known)
    assert np.array_equal(outputs[EMPTY], np.tile(learner.query(holed(X)[3]).prediction, (3, 1)))
    with pytest.warns(DataWarning, match="not asked about, and not counted"):
        assert learner.next_query(holed(X)[3:5]) == (None, 2)
    with pytest.warns(DataWarning, match="base rates"):
        assert learner.predict(holed(X)[3:5]).shape == (2, rows[1].shape[1])


def test_a_bad_value_is_refused_as_before(learner, rows):
    x = rows[0][0].copy()
    x[1] = np.inf
    with pytest.raises(DataError, match="X contains inf"):
        learner.query(x)


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_a_simulated_run_goes_through_them(rows):
    X, Y = rows
    learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=6), 0.2).fit(X[:200], Y[:200])
    assert learner.test_then_train(holed(X[200:]), Y[200:]).shape == Y[200:].shape
    assert learner.learner_.bucket.seen == 197


@pytest.mark.parametrize("form", ["tables", "dataset", "pairs"])
def test_an_evaluation_leaves_them_out_with_a_note(rows, form):
    X, Y = holed(rows[0]), rows[1]
    full = np.delete(np.arange(400), EMPTY)
    stream = {"tables": (X, Y), "dataset": Dataset(X, Y, split=100), "pairs": list(zip(X, Y, strict=True))}[form]
    clf, initial = EvolvingFuzzyClassifier(max_rules=6), "split" if form == "dataset" else 97
    with pytest.warns(DataWarning, match=r"no feature at all \(.*\): left out"):
        found = prequential(clf, stream, initial=initial)
    expected = prequential(clf, (X[full], Y[full]), initial=97)
    name = "EvolvingFuzzyClassifier"
    assert found.summary[name].metrics == expected.summary[name].metrics
