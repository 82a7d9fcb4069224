"""Entries of the journal: taken back after more learning, the rule is as it was, and all else as it was learned."""

import copy
import json

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from stages.written_rules.test_rule_edits import X, Y, a_box, apply, assert_consistent, assert_same, fresh

from evolabel.core.rows import Batch
from evolabel.errors import DataError, StateError
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.stages.written_rules.edits import journal, rule_edits
from evolabel.stages.written_rules.edits.journal import EditEntry, current_entries
from evolabel.stages.written_rules.edits.rule_edits import take_back


def last_entry(model):
    return current_entries(model)[-1]


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


def through_json(entry):
    return EditEntry.from_dict(json.loads(json.dumps(entry.to_dict())))


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
    entry = through_json(last_entry(model))
    learn(model)
    assert take_back(model, entry).note == "as written"
    assert_equal_rows(row_of(model, rule), before)
    names = model.trained().rule_names
    assert (names.names[rule], names.texts[rule]) == ("box", "as written")


@pytest.mark.parametrize("profile", ["default", "no trees", "paper"])
def test_a_lock_and_a_name_are_taken_back(profile):
    model = fresh(profile)
    rule = first_region(model)
    rule_edits.rename_rule(model, rule, "first")
    rule_edits.rename_rule(model, rule, "second")
    name = through_json(last_entry(model))
    rule_edits.lock_rule(model, rule)
    lock = through_json(last_entry(model))
    learn(model)
    slot = rule_edits.slot_of_rule(model.trained(), rule)
    assert take_back(model, lock).kind == "unlocked"
    unlock = last_entry(model)
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
    lock = last_entry(model)
    learn(model)
    take_back(model, lock)
    assert not model.written.is_locked(place)
    take_back(model, last_entry(model))
    assert model.written.is_locked(place)


@pytest.mark.parametrize("now", [False, True])
def test_the_lock_of_an_edited_written_rule_stays_as_it_is(now):
    model, rule = with_written()
    rule_edits.lock_rule(model, rule)
    held = model.written.arrays.held.copy()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    entry = last_entry(model)
    if not now:
        rule_edits.unlock_rule(model, rule)
    take_back(model, entry)
    assert model.written.is_locked(model.written.place_of(rule)) == now
    if now:
        np.testing.assert_array_equal(model.written.arrays.held, held)


@pytest.mark.parametrize("profile", ["default", "no trees", "paper"])
def test_labels_that_came_since_stay_empty(profile):
    model, rule = with_written(profile)
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    entry = last_entry(model)
    model.grow_labels(4)
    take_back(model, entry)
    assert np.isnan(model.written.arrays.shares[0, 3])
    assert np.isfinite(model.outputs(X)).all()


def test_edits_that_cannot_be_taken_back_later_are_named():
    model = fresh("default")
    assert current_entries(model) == []
    rule = rule_edits.add_rule(model, a_box(), "as written", "")
    other = rule_edits.add_rule(model, a_box(), "as written", "")
    rule_edits.move_rule(model, other, 1)
    added, _, moved = current_entries(model)
    before = model_to_arrays(copy.deepcopy(model))
    for entry, kind in ((added, "added"), (moved, "moved")):
        with pytest.raises(StateError, match=f"was {kind}, and the others have learned without it"):
            take_back(model, entry)
    assert_same(model_to_arrays(model), before)
    rule_edits.lock_rule(model, rule)
    learn(model)
    assert current_entries(model) == []


def test_an_entry_of_a_rule_that_is_gone_changes_nothing():
    model, rule = with_written()
    entries = []
    for act in (
        lambda: rule_edits.rename_rule(model, rule, "other"),
        lambda: rule_edits.lock_rule(model, rule),
        lambda: rule_edits.edit_rule(model, rule, a_box(3.0), "anew", ""),
    ):
        act()
        entries.append(last_entry(model))
    rule_edits.delete_rule(model, rule)
    for entry in entries:
        before = copy.deepcopy(model.trained().rule_names), len(model.journal)
        with pytest.raises(DataError, match=f"there is no rule {rule}"):
            take_back(model, entry)
        assert (model.trained().rule_names, len(model.journal)) == before


def test_an_entry_is_an_edit_that_can_be_undone():
    model, rule = with_written()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "other")
    edited = row_of(model, rule)
    take_back(model, last_entry(model))
    journal.undo(model)
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
    with pytest.raises(DataError, match=r"no entry of a journal|cannot be taken back"):
        EditEntry.from_dict(facts)


def test_contents_that_do_not_fit_are_refused():
    model, rule = with_written()
    rule_edits.edit_rule(model, rule, a_box(3.0), "anew", "")
    entry = last_entry(model)
    contents = {**entry.contents, "low": entry.contents["low"][:, :2]}
    with pytest.raises(StateError, match="features of the model have changed"):
        take_back(model, EditEntry("edited", rule, contents=contents))
    with pytest.raises(DataError, match="has no array number"):
        take_back(model, EditEntry("edited", rule))
    with pytest.raises(DataError, match="is no written rule"):
        take_back(model, EditEntry("edited", first_region(model)))


lasting = st.sampled_from(["edit", "rename", "lock", "unlock"])


@given(plan=st.lists(st.tuples(lasting, st.integers(0, 1)), min_size=1, max_size=6))
@settings(max_examples=examples(15), deadline=None)
def test_any_lasting_edits_taken_back_in_turn_after_learning_leave_rules_as_they_were(plan):
    """Contents are those from before the first edit of a rule, which its rows since do not change."""
    model, rule = with_written()
    rules = [rule, rule_edits.add_rule(model, a_box(9.0), "the other", "")]
    entries, before = [], {}
    for act, which in plan:
        number = rules[which]
        was = described(model, number)
        if apply(model, act, model.written.place_of(number)):
            entries.append(through_json(last_entry(model)))
            before.setdefault(number, was)
        learn(model)
    for entry in reversed(entries):
        take_back(model, entry)
        learn(model, 200, 210)
    for number, was in before.items():
        assert described(model, number) == was


def described(model, rule):
    """Name, text, lock and place of a rule, and what was written."""
    place, names = model.written.place_of(rule), model.trained().rule_names
    written = [getattr(model.written.arrays, name)[place].tobytes() for name in ("low", "high", "shares", "prior")]
    return names.names.get(rule), names.texts[rule], model.written.is_locked(place), place, written
