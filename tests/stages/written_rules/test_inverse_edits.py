"""Inverse edits: taken back after more learning, the rule is as it was, and all else is as it was learned."""

import copy
import json

import numpy as np
import pytest
from stages.written_rules.test_acts import X, Y, a_box, assert_consistent, fresh

from evolabel.core.rows import Batch
from evolabel.errors import DataError, StateError
from evolabel.stages.written_rules.edits import rule_edits, undo
from evolabel.stages.written_rules.edits.inverse import InverseEdit, inverse_of_last, take_back


def first_region(model):
    return int(model.trained().arrays.identity[1])


def with_written(profile="default"):
    """A model with a written rule that has counted rows, and its number."""
    model = fresh(profile)
    rule = rule_edits.add_rule(model, a_box(), "as written", "box")
    learn(model, 100, 160)
    return model, rule


def learn(model, first=160, last=200):
    model.learn(Batch(X[first:last], Y[first:last]))


def through_json(inverse):
    return InverseEdit.from_dict(json.loads(json.dumps(inverse.to_dict())))


def row_of(model, rule):
    """All arrays of a written rule, by name."""
    place = model.written.place_of(rule)
    return {name: array[place].copy() for name, array in model.written.arrays._asdict().items()}


def assert_equal_rows(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def test_an_edited_written_rule_has_its_former_counts_text_and_name():
    model, rule = with_written()
    before = row_of(model, rule)
    assert before["rows"].sum() > 0.0
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "edited")
    inverse = through_json(inverse_of_last(model))
    learn(model)
    assert take_back(model, inverse).note == "as written"
    assert_equal_rows(row_of(model, rule), before)
    names = model.trained().rule_names
    assert (names.names[rule], names.written[rule]) == ("box", "as written")


@pytest.mark.parametrize("profile", ["default", "no trees", "paper"])
def test_a_lock_and_a_name_are_taken_back(profile):
    model = fresh(profile)
    rule = first_region(model)
    rule_edits.rename_rule(model, rule, "first")
    rule_edits.rename_rule(model, rule, "second")
    name = through_json(inverse_of_last(model))
    rule_edits.lock_rule(model, rule)
    lock = through_json(inverse_of_last(model))
    learn(model)
    slot = rule_edits.slot_of_rule(model.trained(), rule)
    assert take_back(model, lock).kind == "unlocked"
    unlock = inverse_of_last(model)
    assert not model.trained().arrays.locked[slot]
    assert take_back(model, name).note == "first"
    learn(model, 200, 201)
    assert take_back(model, unlock).kind == "locked"
    assert model.trained().arrays.locked[slot]
    assert_consistent(model.trained())


def test_the_lock_of_a_written_rule_is_taken_back():
    model, rule = with_written()
    place = model.written.place_of(rule)
    rule_edits.lock_rule(model, rule)
    lock = inverse_of_last(model)
    learn(model)
    take_back(model, lock)
    assert not model.written.is_locked(place)
    take_back(model, inverse_of_last(model))
    assert model.written.is_locked(place)


@pytest.mark.parametrize("now", [False, True])
def test_the_lock_of_an_edited_written_rule_stays_as_it_is(now):
    model, rule = with_written()
    rule_edits.lock_rule(model, rule)
    held = model.written.arrays.held.copy()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    inverse = inverse_of_last(model)
    if not now:
        rule_edits.unlock_rule(model, rule)
    take_back(model, inverse)
    assert model.written.is_locked(model.written.place_of(rule)) == now
    if now:
        np.testing.assert_array_equal(model.written.arrays.held, held)


@pytest.mark.parametrize("profile", ["default", "no trees", "paper"])
def test_labels_that_came_since_stay_empty(profile):
    model, rule = with_written(profile)
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    inverse = inverse_of_last(model)
    model.grow_labels(4)
    take_back(model, inverse)
    assert np.isnan(model.written.arrays.shares[0, 3])
    assert np.isfinite(model.outputs(X)).all()


def test_acts_without_inverse_are_named():
    model = fresh("default")
    with pytest.raises(StateError, match="right after the edit"):
        inverse_of_last(model)
    rule = rule_edits.add_rule(model, a_box(), "as written", "")
    other = rule_edits.add_rule(model, a_box(), "as written", "")
    with pytest.raises(StateError, match="a rule that was added has no inverse"):
        inverse_of_last(model)
    rule_edits.move_rule(model, other, 1)
    with pytest.raises(StateError, match="a rule that was moved has no inverse"):
        inverse_of_last(model)
    rule_edits.lock_rule(model, rule)
    learn(model)
    with pytest.raises(StateError, match="right after the edit"):
        inverse_of_last(model)


def test_an_inverse_of_a_rule_that_is_gone_changes_nothing():
    model, rule = with_written()
    inverses = []
    for act in (
        lambda: rule_edits.rename_rule(model, rule, "other"),
        lambda: rule_edits.lock_rule(model, rule),
        lambda: rule_edits.edit_rule(model, rule, a_box(3.0), "anew", ""),
    ):
        act()
        inverses.append(inverse_of_last(model))
    rule_edits.delete_rule(model, rule)
    for inverse in inverses:
        before = copy.deepcopy(model.trained().rule_names), len(model.changes)
        with pytest.raises(DataError, match=f"there is no rule {rule}"):
            take_back(model, inverse)
        assert (model.trained().rule_names, len(model.changes)) == before


def test_an_inverse_is_an_edit_that_can_be_undone():
    model, rule = with_written()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "other")
    edited = row_of(model, rule)
    take_back(model, inverse_of_last(model))
    undo.undo(model)
    assert_equal_rows(row_of(model, rule), edited)
    assert model.trained().rule_names.names[rule] == "other"


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"kind": "added", "rule": 1, "name": "", "text": "", "contents": {}},
        {"kind": "edited", "rule": "1", "name": "", "text": "", "contents": {}},
        {
            "kind": "edited",
            "rule": 1,
            "name": "",
            "text": "",
            "contents": {"c": {"kind": "f", "shape": [2], "data": ""}},
        },
    ],
)
def test_facts_of_something_else_are_refused(facts):
    with pytest.raises(DataError, match="no inverse of an edit"):
        InverseEdit.from_dict(facts)


def test_contents_that_do_not_fit_are_refused():
    model, rule = with_written()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    inverse = inverse_of_last(model)
    contents = {**inverse.contents, "low": inverse.contents["low"][:, :2]}
    with pytest.raises(StateError, match="features of the model have changed"):
        take_back(model, InverseEdit("edited", rule, contents=contents))
    with pytest.raises(DataError, match="has no array number"):
        take_back(model, InverseEdit("edited", rule))
    with pytest.raises(DataError, match="is no written rule"):
        take_back(model, InverseEdit("edited", first_region(model)))
