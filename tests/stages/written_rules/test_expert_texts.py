"""Rules that people write about columns of texts: understood, used where the text is, and read back."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from washing_machine import MODES, frames, learned, machine, of_mode

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.stages.written_rules.expert_form import NO, YES, Condition, Expectation, ExpertRule
from evolabel.stages.written_rules.expert_reader import read_form


@pytest.fixture
def book():
    return learned(EvolvingFuzzyClassifier).rulebook


words = st.text(min_size=1, max_size=8) | st.sampled_from(
    [
        "idle",
        "very slow",
        "high",
        "Low to Medium",
        "any",
        "not",
        "NOT idle",
        "and",
        "then",
        "yes",
        "no",
        "a=b",
        "1",
        '"',
    ]
)


@given(words, words, words, st.sampled_from([YES, NO]))
def test_what_is_said_of_texts_comes_back_from_text_and_json(column, value, other, term):
    conditions = (
        Condition(f"{column}={value}", term),
        Condition(f"{column}={value} {other}", NO),
        Condition(f" {other}", "low"),
    )
    rule = ExpertRule(conditions, (Expectation("leak", 0.9),))
    assert read_form(str(rule)) == rule
    assert read_form(rule.to_dict()) == rule


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("mode IS idle", Condition("mode=idle", YES)),
        ("mode is not idle", Condition("mode=idle", NO)),
        ("mode IS very slow", Condition("mode=very slow", YES)),
        ('mode IS NOT "very slow"', Condition("mode=very slow", NO)),
        ('mode IS "not"', Condition("mode=not", YES)),
        ('level IS "low"', Condition("level=low", YES)),
        ("level IS low", Condition("level", "low")),
        ("not IS low", Condition("not", "low")),
    ],
)
def test_texts_are_written_as_people_say_them(text, condition):
    assert read_form(f"IF {text} THEN leak LIKELY").conditions == (condition,)


def test_json_takes_a_text_by_its_column():
    assert read_form({"if": {"mode": "Idle"}, "then": {"leak": 1}}).conditions == (Condition("mode=Idle", YES),)


def test_what_is_printed_can_be_written_again(book):
    clf = book._classifier
    for rule in clf.rules_:
        form = book.form(rule.identity)
        number = book.edit(rule.identity, str(form))
        assert book.form(number) == form
        assert book.edit(number, form.to_dict()) == number
        assert book.form(number) == form
    assert sum("mode IS" in str(book.form(rule.identity)) for rule in clf.rules_) > 2


@pytest.mark.parametrize(
    ("said", "modes"),
    [
        ("IS idle", {"idle"}),
        ("IS NOT idle", {"spin", "very slow", "wash"}),
        ("IS neither idle nor wash", {"spin", "very slow"}),
    ],
)
def test_a_written_rule_holds_where_the_text_is_as_said(said, modes):
    clf = learned()
    clf.rulebook.add(f"IF mode {said} THEN leak 77%")
    for mode in MODES:
        outputs = clf.decision_function(of_mode(mode))
        assert (outputs == 0.77).all() == (mode in modes)
        assert (outputs == 0.77).any() == (mode in modes)


def test_terms_of_a_feature_that_stands_for_a_text_are_still_understood(book):
    text = "IF mode=wash IS very high THEN leak LIKELY WITH CONFIDENCE 1 WEIGHT 20"
    assert str(book.form(book.add(text))) == text


def test_texts_that_are_terms_are_understood_by_what_the_model_knows():
    table = machine().assign(mode=np.tile(["Low", "high", "none"], 80))
    book = EvolvingFuzzyClassifier(max_rules=4).fit(*frames(table)).rulebook
    number = book.add('IF mode IS low AND heat IS "high" THEN leak LIKELY')
    assert book.form(number).conditions == (Condition("mode=Low", YES), Condition("heat", "high"))
    assert str(book.form(number)).startswith('IF mode IS "Low" AND heat IS high THEN')


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("mode IS dry", "there is no text 'dry' in mode; its texts are idle, spin, very slow, wash"),
        ("mode IS NOT dry", "there is no text 'dry' in mode"),
        ("mode IS high", "there is no text 'high' in mode"),
        ("mode IS idle AND mode IS wash", "mode cannot be idle and wash at once; write two rules"),
        ("heat IS hot", "there is no term 'hot'; use one of very low"),
        ("heat IS NOT high", "heat is a number, and IS NOT is for texts only"),
        ("lag IS 1", "lag=1 is a number to this model, and no text"),
        ("flow IS wet", "there is no feature 'flow'; the features are"),
        ("mode ABOVE 1", "there is no feature 'mode'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(book, said, message):
    with pytest.raises(DataError, match=message) as caught:
        book.add(f"IF {said} THEN leak LIKELY")
    assert "\n" not in str(caught.value)
    assert book.edits == []


def test_a_text_that_has_never_come_can_be_written_about():
    table = machine()
    table["mode"] = pd.Categorical(table["mode"], [*MODES, "dry"], ordered=True)
    book = EvolvingFuzzyClassifier(max_rules=4).fit(*frames(table)).rulebook
    assert str(book.form(book.add("IF mode IS dry THEN leak LIKELY"))).startswith("IF mode IS dry THEN leak LIKELY")
