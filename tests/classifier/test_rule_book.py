"""`clf.rulebook`: rules of experts are used, read back, named, kept in files, and listed as events.

How a written rule answers and learns stands in `test_written_rules_in_front.py`.
"""

import copy
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, EvolabelError, ModelFileError, NotTrainedError, StateError
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.streams import DriftingStream

FEATURES, LABELS = ["heat", "flow", "noise"], ["fault_a", "fault_b"]
HOT = 'IF heat BETWEEN 2 AND 4 AND flow ABOVE 0 THEN fault_a LIKELY, fault_b UNLIKELY WITH CONFIDENCE 0.8 CALLED "hot"'
MAKERS = {
    "default": EvolvingFuzzyClassifier,
    "paper": EvolvingFuzzyClassifier.paper,
    "no trees": lambda **changes: EvolvingFuzzyClassifier(threshold_rules=False, **changes),
    "standard": lambda **changes: EvolvingFuzzyClassifier(threshold_rules=False, scaling="standard", **changes),
}


def plant(rows=300, seed=0):
    """Fault a where it is cold, fault b where it is hot: the opposite of what the expert claims."""
    X = np.random.default_rng(seed).normal(size=(rows, 3)) * [2.0, 1.0, 1.0]
    Y = np.column_stack([X[:, 0] < 0.0, X[:, 0] > 0.0]).astype(float)
    return pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)


@cache
def fitted(name):
    return MAKERS[name](max_rules=8).fit(*plant())


@pytest.fixture(params=MAKERS)
def clf(request):
    return copy.deepcopy(fitted(request.param))


@pytest.fixture
def book(clf):
    return clf.rulebook


def rows(*values):
    return pd.DataFrame(np.array(values, float), columns=FEATURES)


def rule_of(clf, number):
    return next(rule for rule in clf.rules_ if rule.identity == number)


def test_an_added_rule_answers_where_it_holds_and_nowhere_else(clf, book):
    inside, outside = rows([3.0, 1.0, 0.0]), plant()[0].query("heat < 2 or heat > 4 or flow <= 0")
    assert clf.predict(inside).tolist() == [[0, 1]]
    elsewhere = clf.decision_function(outside)
    number = book.add(HOT)
    assert [rule.number for rule in clf.rules_.written] == [number]
    assert clf.predict(inside).tolist() == [[1, 0]]
    np.testing.assert_array_equal(clf.decision_function(outside), elsewhere)


def test_the_stream_can_teach_the_model_better(clf, book):
    book.add(HOT)
    clf.partial_fit(*plant(600, seed=1))
    assert clf.predict(rows([3.0, 1.0, 0.0])).tolist() == [[0, 1]]


def test_a_locked_rule_cannot_be_taught(clf, book):
    number = book.add(HOT)
    book.lock("hot")
    before = clf.decision_function(rows([3.0, 1.0, 0.0]))
    clf.partial_fit(*plant(600, seed=1))
    np.testing.assert_array_equal(clf.decision_function(rows([3.0, 1.0, 0.0])), before)
    assert clf.rules_.written[0].title == f'Rule {number} "hot", locked, written, place 1'


def test_a_form_comes_back_from_its_rule(book):
    form = book.form(book.add(HOT))
    assert str(form) == HOT.replace(" CALLED", " WEIGHT 20 CALLED")
    assert book.form("hot") == form
    book.edit("hot", form.to_dict())
    assert book.form("hot") == form


def test_any_rule_can_be_written_down_and_read_again(clf, book):
    for rule in clf.rules_:
        book.edit(rule.identity, str(book.form(rule.identity)))
    assert np.isfinite(clf.decision_function(plant()[0])).all()


def test_an_edit_of_a_learned_rule_writes_a_rule_in_front_of_it(clf, book):
    learned = [rule.identity for rule in clf.rules_]
    book.rename(learned[0], "cold")
    number = book.edit("cold", HOT.replace("hot", "cold"))
    assert [rule.number for rule in clf.rules_.written] == [number]
    assert [rule.identity for rule in clf.rules_] == learned
    assert book.names == {number: "cold"}
    assert str(book.edits[-1]).startswith(
        f"sample 300: rule {number} was added by hand in front of rule {learned[0]}: IF"
    )
    assert (book.undo().rule, book.names) == (number, {learned[0]: "cold"})


def test_acts_are_events_in_order(clf, book):
    number = book.add(HOT)
    book.rename(number, "hot idle")
    book.lock("hot idle")
    book.unlock("hot idle")
    book.edit("hot idle", "IF flow IS low THEN fault_b 30%")
    others = [rule.identity for rule in clf.rules_ if rule.identity != number]
    kept = book.merge(*others[:2])
    book.delete("hot idle")
    kinds = ["added", "renamed", "locked", "unlocked", "edited", "merged by hand", "deleted"]
    assert [event.kind for event in book.edits] == kinds
    assert [event.rule for event in book.edits] == [number] * 5 + [kept, number]
    assert all(event.sample == 300 for event in book.edits)
    assert set(book.edits) <= set(clf.events_)
    assert str(book.edits[1]) == f"sample 300: rule {number} was renamed by hand: hot idle"
    assert book.names == {}


def test_a_saved_model_keeps_names_locks_and_the_way_back(clf, book, tmp_path):
    first = clf.rules_[0].identity
    untouched = model_to_arrays(clf.inner.any_model)[0]["rules.c"].copy()
    book.add(HOT)
    book.rename(first, "pump")
    book.lock("pump")
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert twin.rulebook.names == book.names
    assert rule_of(twin, first).locked
    assert twin.events_ == clf.events_
    X, Y = plant(100, seed=2)
    np.testing.assert_array_equal(twin.test_then_train(X, Y), clf.test_then_train(X, Y))
    again = EvolvingFuzzyClassifier.load(tmp_path / "model")
    for kind in ("locked", "renamed", "added"):
        assert again.rulebook.undo().kind == kind
    arrays, facts = model_to_arrays(again.inner.any_model)
    np.testing.assert_array_equal(arrays["rules.c"], untouched)
    assert facts["rule_names"] == {"names": {}, "written": {}}
    assert facts["changes"] == []


def test_a_deleted_rule_comes_back_from_a_file(clf, book, tmp_path):
    before, _ = model_to_arrays(clf.inner.any_model)
    before = {name: array.copy() for name, array in before.items()}
    book.delete(clf.rules_[-1].identity)
    book.delete(clf.rules_[0].identity)
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    twin.rulebook.undo()
    twin.rulebook.undo()
    after, _ = model_to_arrays(twin.inner.any_model)
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array, err_msg=name)


def test_a_file_whose_way_back_leads_nowhere_is_refused(clf, book, tmp_path):
    book.delete(clf.rules_[0].identity)
    clf.save(tmp_path / "model")
    arrays, manifest = read_model_file(tmp_path / "model")
    arrays["change.0.counters"][0] += 1000
    write_model_file(tmp_path / "model", arrays, manifest)
    with pytest.raises(ModelFileError, match="change: array counters"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


def test_rules_of_another_classifier_bring_names_and_locks(clf, book):
    other = clf.sibling().partial_fit(*plant(100, seed=4))
    clf.max_rules = other.max_rules = 8
    other.rulebook.rename(other.rules_[0].identity, "pump")
    other.rulebook.lock("pump")
    locked = rule_of(other, other.rules_[0].identity)
    book.rename(clf.rules_[0].identity, "pump")
    clf.merge(other)
    twin = next(rule for rule in clf.rules_ if rule.locked)
    assert twin.name == f"pump ({twin.identity})"
    np.testing.assert_allclose(twin.weights, locked.weights, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("IF haet IS high THEN fault_a LIKELY", "no feature 'haet'; the features are heat, flow, noise"),
        ("IF heat IS hot THEN fault_a LIKELY", "no term 'hot'"),
        ("IF heat IS high THEN fault_c LIKELY", "no label 'fault_c'; the labels are fault_a, fault_b"),
        ("IF heat IS high THEN fault_a LIKELY WITH CONFIDENCE 2", "confidence=2"),
    ],
)
def test_a_claim_the_model_cannot_place_changes_nothing(clf, book, form, told, state_of, assert_same_state):
    before = state_of(clf)
    with pytest.raises(EvolabelError, match=told):
        book.add(form)
    with pytest.raises(EvolabelError, match=told):
        book.edit(clf.rules_[0].identity, form)
    assert_same_state(state_of(clf), before)


def test_a_model_without_rules_has_no_book_to_write_in():
    with pytest.raises(NotTrainedError):
        EvolvingFuzzyClassifier().rulebook.add(HOT)
    X, Y = DriftingStream(n_features=3, n_labels=2).take(9)
    with pytest.raises(StateError, match="warm-up"):
        EvolvingFuzzyClassifier().partial_fit(X, Y).rulebook.add(HOT)


@pytest.mark.parametrize("rule", ["cold", None, 1.5, True, [1]])
def test_what_calls_no_rule_is_refused(book, rule):
    with pytest.raises(DataError, match=re.escape(f"no rule is called {rule!r}")):
        book.delete(rule)


def test_classes_can_be_expected_like_labels(blobs):
    X, y = blobs
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(X, y)
    clf.rulebook.add("IF x0 BETWEEN 4 AND 6 AND x1 BETWEEN 4 AND 6 THEN 2 LIKELY, 1 UNLIKELY, 0 UNLIKELY")
    assert clf.predict([[5.0, 5.0, 0.0]]).tolist() == [2]


def test_numbers_of_numpy_come_back_from_a_form(clf, book):
    low, high = np.quantile(plant()[0]["heat"], [0.2, 0.7])
    number = book.add({"if": {"heat": [low, high]}, "then": {"fault_a": 0.9}})
    assert book.form(number).conditions[0].low == low


def test_a_name_is_text_that_is_no_number(book, clf):
    number = clf.rules_[0].identity
    for name in (7, "2024"):
        with pytest.raises(DataError, match="cannot be a name"):
            book.rename(number, name)


def test_undo_is_exact_after_a_label_has_appeared(clf, book):
    X, Y = plant()
    book.lock(clf.rules_[0].identity)
    clf.partial_fit(X[:5], np.column_stack([Y[:5], np.ones(5)]))
    before = {name: array.copy() for name, array in clf.inner.any_model.trained().arrays._asdict().items()}
    book.unlock(clf.rules_[0].identity)
    book.undo()
    for name, array in clf.inner.any_model.trained().arrays._asdict().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
