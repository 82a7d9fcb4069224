"""A printed threshold rule can be given to `rulebook.add` as it is, or is refused with the part that cannot be read."""

import copy
import re
import warnings

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning
from evolabel.stages.threshold_rules.words import (
    ADMITTED_TOO,
    NEVER_SEEN,
    NOT_ADMITTED,
    NOTHING_ELSE,
    ThresholdCondition,
    ThresholdRule,
    edge_text,
)
from evolabel.stages.written_rules.expert_form import KNOWN_VALUE, NO, YES, Condition
from evolabel.stages.written_rules.expert_reader import read_form
from evolabel.words.names import SensorCorrection

words = st.sampled_from(["oil", "pressure", "is", "and", "then", "or", "not", "missing", "(bar)", "below", "50%", "if"])
odd = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
names = st.lists(words | odd, min_size=1, max_size=3).map(" ".join)
texts = names.filter(lambda text: text.lower() not in ("known", "any", "low", "high", "medium"))
corrections = st.sampled_from([None, SensorCorrection(-39.78, 1.0, 5254), SensorCorrection(1.5, 0.5, 0)])
ends = st.floats(-1e6, 1e6).map(lambda end: round(end, 3))


@st.composite
def conditions(draw, feature):
    missing = draw(st.sampled_from([NEVER_SEEN, NOT_ADMITTED]))
    if "=" not in feature and draw(st.booleans()):
        named = tuple(draw(st.lists(texts, min_size=1, max_size=3, unique_by=str.lower)))
        return ThresholdCondition(feature, -np.inf, np.inf, 0.0, 0.0, missing, named, draw(st.booleans()))
    low, high = sorted((draw(ends), draw(ends)))
    low, high = (draw(st.sampled_from([low, -np.inf])), draw(st.sampled_from([high, np.inf])))
    widths = draw(st.sampled_from([0.0, 0.02, 5.0])), draw(st.sampled_from([0.0, 0.02, 5.0]))
    return ThresholdCondition(feature, low, high, *widths, missing, correction=draw(corrections))


@st.composite
def rules(draw):
    features = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    share = draw(st.sampled_from([0.0, 1.0, 0.9999, 0.0001, 0.463, 0.004, 0.97]))
    found = tuple(draw(conditions(feature)) for feature in features)
    return ThresholdRule(draw(names), draw(st.none() | st.integers(0, 99)), found, share, draw(st.floats(0.0, 2000.0)))


def expected(condition):
    """The conditions that a person would write."""
    name = condition.feature
    if condition.texts:
        if condition.excluded:
            return [Condition(f"{name}={text}", NO) for text in condition.texts]
        single = len(condition.texts) == 1
        return [Condition(f"{name}={condition.texts[0]}", YES) if single else Condition(name, texts=condition.texts)]
    low, high = (
        float(edge_text(end, width)) if np.isfinite(end) else None
        for end, width in ((condition.low, condition.low_width), (condition.high, condition.high_width))
    )
    if low is None and high is None:
        return [Condition(name, KNOWN_VALUE)]
    if low is not None and high is not None and low >= high:
        low, high = float(f"{condition.low:.6g}"), float(f"{condition.high:.6g}")
    return [Condition(name, low=low, high=high)]


@given(rules())
@settings(max_examples=examples(300), deadline=None)
def test_print_and_read_give_the_same_conditions(rule):
    read = read_form(rule.text)
    assert list(read.conditions) == [found for each in rule.conditions for found in expected(each)]
    (said,) = read.expectations
    assert said.label == rule.label
    assert said.share == pytest.approx(rule.share, abs=0.006)


@given(rules(), st.sampled_from([ADMITTED_TOO, NOTHING_ELSE]))
@settings(max_examples=examples(50), deadline=None)
def test_missing_values_are_refused_by_name(rule, missing):
    first = rule.conditions[0]
    if missing == ADMITTED_TOO and first.texts and not first.excluded:
        return  # "is missing or M-01" may be texts: refused where the columns are known
    lacking = ThresholdCondition(
        first.feature, first.low, first.high, 0.0, 0.0, missing, first.texts, first.excluded, first.correction
    )
    rule = ThresholdRule(rule.label, rule.number, (lacking,), rule.share, rule.support)
    if missing == ADMITTED_TOO:
        part = f"{first.feature} is missing or"
        with pytest.raises(DataError, match=re.escape(f"{part!r} is about missing values")):
            read_form(rule.text)
    else:
        assert read_form(rule.text).conditions == (Condition(f"{first.feature}=missing", YES),)


@pytest.fixture(scope="module")
def plain_pump():
    X, Y = pump_rows(2500)
    return EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)


@pytest.mark.compiled
def test_every_printed_rule_holds_where_the_tree_does(plain_pump):
    book, rows = plain_pump.rulebook, pump_rows(400, seed=9)[0]
    model = plain_pump.inner.trained_model
    printed = plain_pump.rules_.threshold_rules[0].rules
    inside = []
    for rule in printed:
        book.add(rule.text)
        inside.append([model.written.holding(row)[-1] for row in rows])
        book.undo()
    assert (np.sum(inside, axis=0) == 1).mean() > 0.98  # both sides of a printed edge leave a rounding apart


@pytest.mark.compiled
def test_lists_of_texts_and_missing_values_of_a_model(pump):
    pump = copy.deepcopy(pump)
    book = pump.rulebook
    number = book.add("IF machine is M-01 or m-02 THEN leak (over 99.9 %, 12 samples, rule 7)")
    assert [str(c) for c in book.form(number).conditions] == ["machine IS NOT M-03"]
    holding = pump.inner.trained_model.written.holding
    assert [holding(np.array([0.0, 0.0, 0.0, *kind]))[-1] for kind in np.eye(3)] == [True, True, False]
    book.undo()
    for text, part in {
        "IF flow is missing THEN leak LIKELY": "flow is missing",
        "IF machine is missing THEN leak LIKELY": "machine is missing",
        "IF machine is missing or M-01 THEN leak LIKELY": "machine is missing or M-01",
        "IF pressure is missing or above 2 THEN leak (3 %, 9 samples)": "pressure is missing or",
    }.items():
        with pytest.raises(DataError, match=f"'{part}' is about missing values"):
            book.add(text)
    with pytest.raises(DataError, match="no text other than"):
        book.add("IF machine is M-01 or M-02 or M-03 THEN leak LIKELY")
    for text in ("IF flow BETWEEN 5 AND 5 THEN leak LIKELY", "IF pressure is known THEN leak LIKELY"):
        number = book.add(text)
        assert str(book.form(number)).upper().startswith(text.upper())
        book.undo()


@pytest.mark.compiled
def test_the_form_of_a_threshold_rule_says_that_missing_values_are_left_out(pump):
    admitted = 0
    for rule in pump.rules_.threshold_rules[0].rules:
        lacking = [condition.feature for condition in rule.conditions if condition.missing == ADMITTED_TOO]
        if lacking:
            admitted += 1
            with pytest.warns(DataWarning, match=f"rule {rule.number} also holds where {lacking[0]} is missing"):
                pump.rulebook.form(rule.number)
        elif any(condition.missing == NOTHING_ELSE for condition in rule.conditions):
            with pytest.raises(DataError, match="'pressure is missing' is about missing values"):
                pump.rulebook.form(rule.number)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                pump.rulebook.form(rule.number)
    assert admitted
