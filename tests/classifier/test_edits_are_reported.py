"""An edit reports all that it has changed, and messages name what there is."""

import copy
from functools import partial

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, StateError
from evolabel.paper import PaperClassifier
from evolabel.streams import DriftingStream

pytestmark = pytest.mark.compiled


def learned(rows=300, **parameters):
    X, Y = DriftingStream(n_features=3, n_labels=3, drift_every=0, seed=1).take(rows)
    return EvolvingFuzzyClassifier(max_rules=5, **parameters).fit(X, Y), X


@pytest.fixture(scope="module")
def steps():
    """A classifier with threshold rules for one label of two."""
    X = np.random.default_rng(0).normal(size=(1500, 3))
    Y = np.column_stack([(X[:, 0] < -0.5) & (X[:, 1] > 0.4), X[:, 2] > 0.0]).astype(float)
    return EvolvingFuzzyClassifier().partial_fit(X, Y)


@pytest.mark.parametrize("edit", ["add", "edit"])
@pytest.mark.parametrize("make", [partial(EvolvingFuzzyClassifier, threshold_rules=False), PaperClassifier])
def test_labels_that_are_not_mentioned_keep_their_scores_without_threshold_rules(make, edit, tmp_path):
    X, Y = DriftingStream(n_features=3, n_labels=3, drift_every=0, seed=1).take(400)
    clf = make(max_rules=5).fit(X[:300], Y[:300])
    before, twin, rules = clf.decision_function(X), copy.deepcopy(clf), {rule.identity for rule in clf.rules_}
    form = "IF x0 ABOVE 0.5 THEN label0 70%"
    number = clf.rulebook.add(form) if edit == "add" else clf.rulebook.edit(clf.rules_[0].identity, form)
    after, inside = clf.decision_function(X), X[:, 0] > 0.5
    np.testing.assert_array_equal(after[:, 1:], before[:, 1:])
    np.testing.assert_array_equal(after[~inside], before[~inside])
    np.testing.assert_allclose(after[inside, 0], 0.7)
    assert [rule.number for rule in clf.rules_.written] == [number]
    assert {rule.identity for rule in clf.rules_} == rules  # nothing was merged to make room
    np.testing.assert_array_equal(
        clf.test_then_train(X[300:], Y[300:])[:, 1:], twin.test_then_train(X[300:], Y[300:])[:, 1:]
    )
    clf.save(tmp_path / "model")
    again = EvolvingFuzzyClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    merged = again.merge(twin)
    assert [rule.number for rule in merged.rules_.written] == [number]


def test_a_written_rule_leaves_labels_alone_that_it_does_not_mention(steps):
    X = np.random.default_rng(1).normal(size=(200, 3))
    before = steps.decision_function(X)
    steps.rulebook.add("IF x0 IS very high THEN label0 LIKELY")
    np.testing.assert_array_equal(steps.decision_function(X)[:, 1], before[:, 1])
    assert "does not mention" not in str(steps.rulebook.edits[-1])
    steps.rulebook.undo()


def test_edit_returns_the_number_of_the_rule_that_has_the_form(steps):
    book = steps.rulebook
    threshold_rule = steps.rules_.threshold_rules[0].rules[0].number
    new = book.edit(threshold_rule, "IF x0 BELOW -0.4 THEN label0 LIKELY")
    assert [rule.number for rule in steps.rules_.written] == [new]
    assert str(book.edits[-1]).startswith(f"sample 1500: rule {new} was added by hand in front of rule")
    assert book.edit(new, "IF x0 BELOW -0.3 THEN label0 LIKELY") == new
    book.undo()
    book.undo()


def test_an_unknown_number_lists_the_rules_of_all_kinds(steps):
    book = steps.rulebook
    written = book.add("IF x0 BELOW -0.4 THEN label0 LIKELY")
    found = [rule.number for rule in steps.rules_.threshold_rules[0].rules]
    for call in (
        book.delete,
        book.lock,
        book.form,
        lambda rule: book.move(rule, 1),
        lambda rule: book.rename(rule, "a"),
    ):
        with pytest.raises(DataError, match="there is no rule 999; the regions are 0, 1") as error:
            call(999)
        assert f"the written rules {written}" in str(error.value)
        assert all(str(number) in str(error.value).partition("the threshold rules ")[2] for number in found)
    book.undo()


def test_the_name_of_a_rule_is_its_present_name_everywhere(steps):
    book = steps.rulebook
    number = book.add('if x0 below -0.4 and x1 above 0 then label0 likely with confidence 0.8 called "CALLED cold"')
    book.rename(number, "warm")
    (rule,) = steps.rules_.written
    assert rule.written == "if x0 below -0.4 and x1 above 0 then label0 likely with confidence 0.8"
    assert rule.title == f'Rule {number} "warm", written, place 1'
    assert book.form(number).name == "warm"
    why = steps.explain(np.array([-1.0, 1.0, 0.0]))
    assert f'(rule {number} "warm")' in why.text
    assert "CALLED" not in why.text
    other = steps.sibling().partial_fit(*_few_rows())
    other.rulebook.add('IF x1 ABOVE 3 THEN label0 LIKELY CALLED "warm"')
    other.merge(steps)
    first, second = other.rules_.written
    assert (first.name, second.name) == ("warm", f"warm ({second.number})")
    assert "warm" not in first.written + second.written
    book.undo()
    book.undo()


def _few_rows():
    X = np.random.default_rng(5).normal(size=(60, 3))
    return X, (X[:, :2] > 0.0).astype(float)


def test_a_classifier_is_not_merged_with_itself(steps):
    n_seen, n_rules = steps.n_samples_seen_, steps.n_rules_
    with pytest.raises(DataError, match="cannot be merged with itself"):
        steps.merge(steps)
    assert (steps.n_samples_seen_, steps.n_rules_) == (n_seen, n_rules)


def test_undo_after_a_merge_names_the_merge(steps):
    other = steps.sibling().partial_fit(*_few_rows())
    other.rulebook.add("IF x1 ABOVE 3 THEN label0 LIKELY")
    other.merge(steps)
    with pytest.raises(StateError, match="has learned since the last edit, or was merged with another"):
        other.rulebook.undo()


def test_a_contradicted_rule_that_is_locked_stays_without_a_say():
    clf, X = learned(900)
    number = clf.rulebook.add("IF x0 ABOVE -9 THEN label0 99% WEIGHT 5000")
    Y = np.column_stack([np.zeros(300), np.full(300, np.nan), np.full(300, np.nan)])
    clf.partial_fit(X[:300], Y)
    assert not clf.rules_.written[0].outcomes[0].is_used
    clf.rulebook.lock(number)
    clf.partial_fit(X[300:600], 1.0 - Y)  # the data agree with the rule again
    (rule,) = clf.rules_.written
    assert rule.locked
    assert not rule.outcomes[0].is_used
