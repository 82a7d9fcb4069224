"""One list of rules: threshold rules first, then regions that name what is relevant, then the linear rule."""

import json
import re

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.linear_rule import LinearLabel, LinearRule
from evolabel.explain.outcomes import distinct_outcomes
from evolabel.explain.rule_set import NO_THRESHOLD
from evolabel.explain.rules import summary
from evolabel.explain.shortening import measure_fidelity, reference_rows, shorten
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.stages.threshold_rules.read_trees import tree_reader
from evolabel.words.condition_words import RuleCondition, condition_words, driver_words

pytestmark = pytest.mark.compiled


def test_threshold_rules_come_first_in_every_form(pump):
    rules = pump.rules_
    assert [found.label for found in rules.threshold_rules] == ["leak"]
    first = rules.threshold_rules[0].rules[0].text
    assert rules.text.index(first) < rules.text.index("The rest is answered by ")
    for form in (rules.markdown(), rules.html()):
        assert form.index("Rules for leak") < form.index("The rest is answered by ")
    for form in (rules.text, rules.markdown(), rules.html()):
        assert "Linear part" not in form
        assert "Born at sample" not in form
    whole = json.loads(json.dumps(rules.to_dict(), allow_nan=False))
    assert whole["threshold_rules"][0]["rules"][0]["text"] == first
    assert NO_THRESHOLD not in rules.text


def test_top_rules_of_a_label_have_its_threshold_rules(pump):
    assert [found.label for found in pump.rules_.top(2, "leak").threshold_rules] == ["leak"]
    assert pump.rules_.top(2, "idle").threshold_rules == ()
    assert len(pump.rules_.top(2).threshold_rules) == 1


def test_regions_name_features_that_are_relevant_for_a_label_they_matter_to(pump):
    relevant = tree_reader(pump.inner.any_model, FEATURES, LABELS).relevant(0)
    allowed = {name for name, is_relevant in zip(FEATURES, relevant, strict=True) if is_relevant}
    restricted = 0
    for rule in pump.rules_:
        if {outcome.label for outcome in distinct_outcomes(rule.outcomes)} == {"leak"}:
            restricted += 1
            assert {condition.feature for condition in rule.conditions} <= allowed
        drivers = next(outcome.drivers for outcome in rule.outcomes if outcome.label == "leak")
        assert {driver.feature for driver in drivers} <= allowed
    assert restricted < len(pump.rules_)


@pytest.mark.parametrize(("rows", "says"), [(1000, True), (250, True), (150, False)])
def test_where_all_gates_are_closed_rules_are_as_without(rows, says):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(rows, 3)), (rng.random((rows, 2)) < 0.4).astype(float)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    assert not clf.inner.any_model.trees.arrays.gate[:, IS_OPEN].any()
    plain = EvolvingFuzzyClassifier(threshold_rules=False).partial_fit(X, Y)
    assert (NO_THRESHOLD in clf.rules_.text) == says
    assert NO_THRESHOLD not in plain.rules_.text
    for one, other in zip(clf.rules_, plain.rules_, strict=True):
        assert one.conditions == other.conditions


def test_the_fidelity_is_that_of_the_features_that_may_be_kept(pump):
    model = pump.inner.any_model
    allowed = np.zeros((model.trained().n_rules, 6), bool)
    allowed[:, :2], allowed[0, 3] = True, True
    short = shorten(model, 1.0, allowed=allowed)
    assert [set(kept.tolist()) for kept in short.kept[1:]] == [{0, 1}] * (len(allowed) - 1)
    assert set(short.kept[0].tolist()) == {0, 1, 3}
    assert 0.0 < measure_fidelity(short, reference_rows(model)).labels <= 1.0


def test_a_categorical_column_fills_one_place_in_a_short_rule(pump):
    columns = [[3, 4, 5]]
    for kept in shorten(pump.inner.any_model, 0.0, columns=columns).kept:
        assert len(kept) == 3
        assert sum(j in columns[0] for j in kept) <= 1


def test_a_categorical_column_is_one_condition_in_words():
    def words(features, **shares):
        conditions = [RuleCondition(f"mode={name}", "any", 0.0, 1.0) for name in features]
        return condition_words(conditions, {f"mode={name}": share for name, share in shares.items()})

    assert words("ab", a=0.9, b=0.1) == [("mode", "a", "90% of its samples")]
    assert words("b", a=0.9, b=0.1) == [("mode", "a", "90% of its samples")]
    assert words("ab", a=0.0, b=0.1, c=0.5, d=0.4) == [("mode", "neither a nor b", "90% of its samples")]
    assert words("ac", a=0.0, b=0.1, c=0.5, d=0.4) == [("mode", "sometimes c", "50% of its samples")]


def test_a_range_as_wide_as_the_stream_is_not_printed(pump):
    assert condition_words([RuleCondition("heat", "any", 0.0, 1.0)], {}) == []
    assert " is any " not in pump.rules_.regions.text


def test_two_classes_have_one_list():
    X, Y = pump_rows(2000)
    clf = EvolvingFuzzyClassifier().partial_fit(X, np.where(Y[:, 0] > 0.5, "leak", "fine"))
    found = clf.rules_.threshold_rules
    assert len(found) == 1
    tree = clf.classes_[1]  # both classes share the tree of the second
    assert found[0].label == tree
    assert {rule.label for rule in found[0].rules} == {"leak", "fine"}
    assert min(rule.share for rule in found[0].rules) >= 0.5
    assert not re.search(r"THEN \w+ in ", found[0].text)
    other = next(name for name in clf.classes_ if name != tree)
    assert f"otherwise: {other} " in found[0].text


def test_texts_that_drive_a_label_are_printed_as_conditions(pump):
    driven = "".join(outcome.driven(rule.text_shares) for rule in pump.rules_ for outcome in rule.outcomes)
    assert "machine is M-0" in driven
    assert "machine=M-0" not in driven
    for view in (pump.rules_, pump.rules_.regions):
        for form in (view.text, view.markdown(), view.html()):
            assert "machine=M-0" not in form
    texts = {"machine=M-01", "machine=M-02"}
    assert driver_words(["load", "machine=M-01", "noise", "machine=M-02"], texts) == (
        "with load and noise and where machine is M-01 or M-02"
    )
    assert driver_words(["machine=M-01"], texts, "with larger") == "where machine is M-01"
    linear = LinearRule((LinearLabel("leak", 0.5, (("load", 0.3), ("machine=M-01", -0.2))),), texts=frozenset(texts))
    assert linear.text.endswith("is more likely with larger load, less likely where machine is M-01")


def test_some_of_the_rules_say_of_how_many(pump):
    total, rules = len(pump.rules_), pump.rules_
    assert summary(rules.regions).startswith(f"{total} regions with ")
    assert summary(rules.top(2).regions).startswith(f"2 of {total} regions with ")
    assert summary(rules.top(5).top(1).regions).startswith(f"1 of {total} regions with ")
    assert summary(rules.top(total).regions).startswith(f"{total} regions with ")
    assert summary(rules.regions) in rules.regions.text
    assert f"{total} learned regions (" in rules.top(2).text
