"""Events and life lines of threshold rules have the words of the rule."""

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows
from written_trees import PUMP, trees

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.events import THRESHOLD_CHANGES, Event
from evolabel.explain import figures
from evolabel.stages.threshold_rules.event_words import noted_rule, with_rule_words
from evolabel.stages.threshold_rules.leaves import read_leaves
from evolabel.stages.threshold_rules.life import rule_note
from evolabel.stages.threshold_rules.read_trees import TreeReader

LEAVES = (
    ("pressure", 5.0, 0.1, 1), ("flow", np.inf, 0.0, 0), ("machine=M-01", 0.5, 0.5, 0),
    (1, 30), (0, 9), (0, 8), (0.2, 70),
)  # fmt: skip


def reader(t):
    return TreeReader(t, 0, PUMP, ["leak"], np.array([name.startswith("machine") for name in PUMP]), {})


def test_a_noted_rule_is_that_of_its_leaf():
    t = trees(*LEAVES, missing=[0, 1])
    for box in read_leaves(t, 0):
        event = Event(7, "rule found", 12, None, rule_note(t, 0, box.leaf), label=0)
        assert noted_rule(event, reader(t)) == reader(t).rule(0, box, 12)


def test_a_rule_that_is_gone_has_its_last_words():
    t = trees(*LEAVES, missing=[0])
    leaf = read_leaves(t, 0)[-1].leaf
    found = Event(7, "rule found", 12, None, rule_note(t, 0, leaf), label=0)
    t.edge[0, 0, 0] = 6.0
    moved = Event(8, "edge moved", 12, None, rule_note(t, 0, leaf), label=0, feature=0, before=5.0, after=6.0)
    gone, born = Event(9, "rule gone", 12, None, label=0), Event(9, "birth", 13, None)
    words = [event.note for event in with_rule_words([found, moved, gone, born], reader(t))]
    assert words == [
        "IF pressure is above 5.0 THEN leak in 20 % of 70 samples (rule 12)",
        *["IF pressure is above 6.0 THEN leak in 20 % of 70 samples (rule 12)"] * 2,
        "",
    ]
    assert [event.note for event in with_rule_words([found, moved, gone], reader(t), 2)] == words[2:3]
    assert [event.note for event in with_rule_words([gone], reader(t))] == [""]
    assert [event.note for event in with_rule_words([found, gone], None)] == ["", ""]
    assert str(with_rule_words([found], reader(t))[0]).endswith("for label 0 was found: " + words[0])


@pytest.mark.parametrize("note", ["", "IF", "[]", '{"path": [[99, 1, 1, 1, 1]], "support": 1, "positives": 1}'])
def test_a_note_that_cannot_be_read_has_no_words(note):
    event = Event(7, "rule found", 12, None, note, label=0)
    assert with_rule_words([event], reader(trees(*LEAVES)))[0].note == ""


@pytest.mark.compiled
def test_events_of_a_stream_have_the_words_of_their_rules(pump, tmp_path):
    changes = [event for event in pump.events_ if event.kind in THRESHOLD_CHANGES]
    assert {event.kind for event in changes} == set(THRESHOLD_CHANGES)
    for event in changes:
        assert event.note.startswith("IF ")
        assert f"rule {event.rule})" in event.note
        assert "machine=" not in event.note
    pump.save(tmp_path / "model.safetensors")
    assert EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors").events_ == pump.events_


@pytest.mark.compiled
def test_reported_events_are_those_that_are_kept():
    X, Y = pump_rows(900)
    clf, told = EvolvingFuzzyClassifier(), []
    for start in range(0, 900, 300):
        clf.partial_fit(X[start : start + 300], Y[start : start + 300], on_event=told.append)
    assert any(event.note.startswith("IF ") for event in told)
    assert [event[:2] for event in told] == [event[:2] for event in clf.events_]


@pytest.mark.compiled
def test_life_lines_have_the_words_of_threshold_rules(pump):
    ticks = [tick.get_text() for tick in figures.life_lines(pump, top=8).get_yticklabels()]
    rules = pump.rules_.threshold_rules[0].rules
    assert len(ticks) == 8
    for rule in rules:
        assert any(tick.startswith(f"{rule.number}: {rule.then()} if {rule.conditions[0].words()}") for tick in ticks)
    assert LABELS[0] in " ".join(ticks)
    assert FEATURES[0] in " ".join(ticks)
