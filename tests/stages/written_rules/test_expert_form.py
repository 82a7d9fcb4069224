"""Rules as people write them: text and JSON say the same, come back as they were, and bad ones are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.errors import DataError, ParameterError
from evolabel.stages.written_rules.expert_form import LIKELY, UNLIKELY, Condition, Expectation, ExpertRule
from evolabel.stages.written_rules.expert_reader import read_form
from evolabel.words.terms import TERMS

names = st.text(min_size=1, max_size=8) | st.sampled_from(["heat", "flow rate", "and", "50%", '"', "\\", "a,b", "THEN"])
numbers = st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-5, 5).map(float)
shares = st.sampled_from([LIKELY, UNLIKELY, 0.0, 0.3, 1.0]) | st.floats(0.0, 1.0)


@st.composite
def conditions(draw, feature):
    kind = draw(st.sampled_from(["term", "span", "between", "above", "below"]))
    if kind == "term":
        return Condition(feature, draw(st.sampled_from(TERMS)))
    if kind == "span":
        return Condition(feature, "low to very high")
    if kind == "between":
        low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
        return Condition(feature, low=low, high=high)
    return Condition(feature, **{"low" if kind == "above" else "high": draw(numbers)})


@st.composite
def expert_rules(draw):
    features = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    return ExpertRule(
        tuple(draw(conditions(feature)) for feature in features),
        tuple(Expectation(label, draw(shares)) for label in labels),
        draw(st.floats(0.01, 1.0)),
        draw(st.floats(0.01, 1e6)),
        draw(st.just("") | names),
    )


@given(expert_rules())
def test_text_and_json_come_back_as_the_same_rule(rule):
    assert read_form(str(rule)) == rule
    assert read_form(rule.to_dict()) == rule
    assert read_form(json.dumps(rule.to_dict())) == rule
    assert str(read_form(str(rule))) == str(rule)


def test_the_text_reads_as_a_person_would_write_it():
    text = 'IF "flow rate" BETWEEN 2 AND 5 AND heat IS very high THEN a LIKELY, b UNLIKELY, c 30%'
    rule = read_form(text.lower())
    assert rule.conditions == (Condition("flow rate", low=2.0, high=5.0), Condition("heat", "very high"))
    assert [said.share for said in rule.expectations] == [0.9, 0.1, 0.3]
    assert str(rule) == f"{text} WITH CONFIDENCE 1 WEIGHT 20"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("", "the rule ends, expected IF"),
        ("heat IS high", "has 'heat', expected IF"),
        ("IF heat high THEN a LIKELY", "IS, BETWEEN, ABOVE or BELOW"),
        ("IF heat IS high", "expected THEN"),
        ("IF heat IS high THEN", "a name"),
        ("IF heat IS high THEN a", "LIKELY, UNLIKELY or a share"),
        ("IF heat IS high THEN a LIKELY b LIKELY", "has 'b' after"),
        ("IF heat ABOVE lots THEN a LIKELY", "a number"),
        ("IF heat BETWEEN 5 AND 2 THEN a LIKELY", "the lower end comes first"),
        ("IF heat is missing or above 2 THEN a LIKELY", "'heat is missing or' is about missing values"),
        ("IF nothing else holds THEN a (40 %, 3 samples, rule 2)", "has no condition .'nothing else holds'"),
        (
            "IF heat is high (at least 3) THEN a is likely here (85%, usually 50%)",
            "'.at least 3.' is part of a printed region",
        ),
        ("IF heat ABOVE inf THEN a LIKELY", "a finite number"),
        ("IF heat BELOW 1e200 THEN a LIKELY", "at most 1e\\+100"),
        ("IF heat ABOVE 2 AND heat BELOW 1 THEN a LIKELY", "feature 'heat' is named twice"),
        ("IF heat IS high THEN a LIKELY, a UNLIKELY", "label 'a' is named twice"),
        ('IF "heat IS high THEN a LIKELY', "a quote is not closed"),
        ("{", "no JSON"),
        ({"if": {}, "then": {"a": "likely"}}, "no condition"),
        ({"if": {"heat": "high"}, "then": {}}, "expects no label"),
        ({"if": {"heat": "high"}}, 'needs "then"'),
        ({"if": {"heat": [1, 2, 3]}, "then": {"a": 1}}, "a range such as"),
        ({"if": {"heat": [None, None]}, "then": {"a": 1}}, "a term or a range"),
        ({"if": {"heat": ["1", 2]}, "then": {"a": 1}}, "a finite number"),
        ({"if": {"heat": "high"}, "then": {"a": "maybe"}}, "likely, unlikely, or a share"),
        ({"if": {"heat": "high"}, "then": {"a": 1}, "weigth": 3}, "no entry 'weigth'"),
        (7, "got int"),
    ],
)
def test_a_bad_form_ends_in_one_clear_line(form, message):
    with pytest.raises(DataError, match=message) as caught:
        read_form(form)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("WITH CONFIDENCE 1.2", "confidence=1.2"),
        ("WITH CONFIDENCE -1", "confidence=-1"),
        ("WITH CONFIDENCE 0", "confidence=0"),
        ("WITH CONFIDENCE nan", "confidence=nan"),
        ("WEIGHT 0", "weight=0"),
    ],
)
def test_numbers_outside_their_range_are_refused(ending, message):
    with pytest.raises(ParameterError, match=message):
        read_form(f"IF heat IS high THEN a LIKELY {ending}")


@pytest.mark.parametrize("share", ["120%", "-0.5", "nan"])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(ParameterError, match="share of a"):
        read_form(f"IF heat IS high THEN a {share}")


def test_an_end_beyond_float64_is_one_clear_error():
    with pytest.raises(DataError, match="use a finite number"):
        read_form({"if": {"heat": [10**400, None]}, "then": {"a": "likely"}})
