"""Records of older versions, in which a person edited learned rules in their place, are read as written rules."""

import pytest

from evolabel.errors import StateError
from evolabel.server.log.records import NewRecord, Record
from evolabel.server.project import rule_edits
from evolabel.server.project.learner_changes import conditions_of, present_rules
from evolabel.server.project.replay import apply_record
from server.project.test_acts import numbers, train
from server.pumps import call

FORM = "IF pressure BELOW -1 THEN leak UNLIKELY, wear LIKELY"
CONDITIONS = ["IF pressure BELOW -1"]


def record(seq, kind, payload, **outcome):
    return Record(seq, NewRecord(kind, payload, outcome, 0), b"")


@pytest.fixture
def edited(sqlite, start):
    """The state of a project after the record of an edited learned rule was replayed, and the number of that rule."""
    worker = start(sqlite).workers["pumps"]
    train(worker)
    learned = min(numbers(worker))
    state = call(worker, lambda batch: batch.state)
    before = conditions_of(state.learner, {"rule": learned})
    payload = {"rule": learned, "form": FORM}
    state, outcome = apply_record(state, record(900, "rule.edited", payload, rule=learned, conditions=before))
    assert "left_out" not in outcome
    return state, learned


def written(state):
    return list(state.learner.classifier.rules_.written)


def test_the_edit_adds_a_written_rule_and_the_learned_one_stays(edited):
    state, learned = edited
    (rule,) = written(state)
    assert rule.number != learned
    assert learned in {each.identity for each in state.learner.classifier.rules_}


def test_later_acts_on_the_number_are_about_the_written_rule(edited):
    state, learned = edited
    state, outcome = apply_record(
        state, record(901, "rule.locked", {"rule": learned}, rule=learned, conditions=CONDITIONS)
    )
    assert "left_out" not in outcome
    assert written(state)[0].locked
    with pytest.raises(StateError, match="the act was about IF flow BELOW 7; here its numbers are of IF"):
        present_rules(state.learner, {"rule": learned}, ["IF flow BELOW 7"])


def test_the_undo_of_the_edit_deletes_the_written_rule(edited):
    state, learned = edited
    contents = {"H": {"kind": "f", "shape": [0], "data": ""}}
    inverse = {"kind": "edited", "rule": learned, "name": "", "text": "", "contents": contents}
    payload = {"seq": 900, "way": "inverse", "inverse": inverse, "conditions": CONDITIONS}
    state, outcome = apply_record(state, record(901, rule_edits.UNDONE, payload))
    assert "left_out" not in outcome
    assert written(state) == []
    assert learned in {each.identity for each in state.learner.classifier.rules_}
