"""Texts and figures of a feature whose sensor moved are in the units it reads now, and name the correction once."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pump_stream
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.stages.sensors.arrays import CORRECTED_AT, FACTOR, NEW_FACTOR, NEW_OFFSET, OFFSET
from evolabel.stages.threshold_rules.words import ADMITTED_TOO, NOTHING_ELSE
from evolabel.words.names import SensorCorrection

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

FEATURES, LABELS = ["temp", "load", "flow"], ["fan", "pump", "door"]
MOVED = 1200
HIGHER = "(read 12 higher, corrected since row 6,255)"


@pytest.fixture(scope="module")
def learned():
    """A classifier that has learned 600 rows, and further rows."""
    X = np.random.default_rng(0).normal(size=(700, 3))
    Y = (X + 0.3 * X[:, [1, 2, 0]] > 0.0).astype(float)
    clf = EvolvingFuzzyClassifier(max_rules=6).fit(X[:600], Y[:600])
    return clf.name_columns(FEATURES, LABELS), X[600:]


@pytest.fixture
def corrected(learned):
    """The classifier whose sensor temp reads 12 higher."""
    clf = copy.deepcopy(learned[0])
    correct(clf, "temp", -12.0, 1.0)
    return clf


def correct(clf, feature, offset, factor):
    sensors, j = clf.inner.trained_model.sensors.arrays, FEATURES.index(feature)
    sensors.views[OFFSET, j], sensors.views[FACTOR, j] = offset, factor
    sensors.readings[CORRECTED_AT, j] = 6255


def shifted(X):
    return X + np.array([12.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("offset", "factor", "text"),
    [
        (-12.0, 1.0, "read 12 higher, corrected since row 6,255"),
        (0.25, 1.0, "read 0.25 lower, corrected since row 6,255"),
        (0.0, 0.1, "read 10 times as large, corrected since row 6,255"),
        (0.0, 4.0, "read 0.25 times as large, corrected since row 6,255"),
        (-2.0, 0.5, "read 2 times as large and 4 higher, corrected since row 6,255"),
    ],
)
def test_a_correction_in_words(offset, factor, text):
    assert str(SensorCorrection(offset, factor, 6255)) == text


def test_a_sensor_that_moves_is_corrected_in_all_texts():
    X = np.random.default_rng(0).normal(size=(MOVED + 700, 3))
    Y = (X > 0.0).astype(float)
    X[MOVED:, 0] += 6.0
    clf = EvolvingFuzzyClassifier(max_rules=6).partial_fit(X, Y)
    event = next(event for event in clf.events_ if event.kind == "sensor moved")
    rules = clf.inner.trained_model.rules
    found = rules.beside.sensors.corrections(["x0", "x1", "x2"])
    assert list(found) == ["x0"]
    assert abs(-found["x0"].offset / found["x0"].factor - 6.0) < 1.0
    assert MOVED < found["x0"].since <= event.sample
    assert f"x0 ({found['x0']})" in clf.rules_.regions.text + clf.rules_.linear.text
    assert f"x0 ({found['x0']})" in clf.explain(X[-1]).text


def test_nothing_is_said_without_a_correction(learned):
    clf, X = learned
    assert "since row" not in clf.rules_.text + clf.rules_.regions.text + clf.explain(X[0]).text
    assert clf.rules_.to_dict()["corrections"] == {}
    assert clf.explain(X[0]).to_dict()["corrections"] == {}
    assert (
        EvolvingFuzzyClassifier(follow_drift=False).fit(X, X > 0).inner.any_model.drift.sensors.corrections(FEATURES)
        == {}
    )


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_each_rule_says_it_once(corrected, form):
    found = [*(rule for rule in corrected.rules_ if rule.claims), corrected.rules_.linear]
    named = 0
    for rule in found:
        printed = rule.text if form == "text" else getattr(rule, form)()
        named += "temp" in printed
        assert printed.count(HIGHER) == ("temp" in printed)
        assert f"load {HIGHER}" not in printed
    assert named > 1


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_explanations_say_it_once(corrected, learned, form):
    why = corrected.explain(shifted(learned[1])[0])
    printed = why.text if form == "text" else getattr(why, form)()
    assert printed.count("temp") > printed.count(HIGHER) == 1


def test_stored_names_and_values_stay_as_they_are(corrected):
    assert corrected.feature_names_in_.tolist() == FEATURES
    rule = corrected.rules_[0]
    assert {condition.feature for condition in rule.conditions} <= set(FEATURES)
    document = json.loads(json.dumps(corrected.rules_.to_dict()))
    expected = {"temp": {"offset": -12.0, "factor": 1.0, "since": 6255, "text": HIGHER[1:-1]}}
    assert document["corrections"] == expected
    assert document["rules"][0]["corrections"] == expected
    assert HIGHER not in json.dumps(document["rules"][0]["if"])


def test_renamed_rules_keep_their_corrections(corrected):
    rule = corrected.rules_[0].renamed(["heat", "b", "c"], LABELS)
    assert list(rule.corrections) == ["heat"]
    assert HIGHER not in rule.text or f"heat {HIGHER}" in rule.text


def test_the_linear_rule_says_it_too(corrected):
    linear = corrected.rules_.linear
    assert linear.corrections == corrected.rules_[0].corrections
    heavy = replace(linear, labels=tuple(replace(label, weight=1.0) for label in linear.labels))
    assert heavy.text.count(f"temp {HIGHER}") == heavy.html().count(f"temp {HIGHER}") == 1


def test_conditions_are_in_the_units_that_the_sensor_reads_now(corrected, learned):
    before, after = learned[0].rules_, corrected.rules_
    for one, other in zip(before, after, strict=True):
        for name in ("centre", "low", "high"):
            np.testing.assert_allclose(getattr(other, name), shifted(getattr(one, name)))
        for early, late in zip(one.conditions, other.conditions, strict=True):
            assert early.term == late.term
            assert late.low - early.low == pytest.approx(12.0 * (early.feature == "temp"), abs=1e-9)


def test_an_explanation_has_readings_as_they_came_and_their_terms(corrected, learned):
    clf, X = learned
    plain, why = clf.explain(X[0]), corrected.explain(shifted(X)[0])
    np.testing.assert_allclose(why.total, plain.total, atol=1e-9)
    assert why.x[0] == X[0, 0] + 12.0
    term = plain.words.term_for("temp", X[0, 0], X[0, 0])
    assert f"temp ({X[0, 0] + 12.0:.4g}, {term})" in why.text


def test_changes_that_turn_a_label_are_readings(corrected, learned):
    clf, X = learned
    seen = 0
    for x in X[:20]:
        pairs = zip(clf.explain(x).counterfactuals, corrected.explain(shifted(x)).counterfactuals, strict=True)
        for plain, read in pairs:
            assert (plain is None) == (read is None)
            if plain is not None and plain.feature == "temp":
                seen += 1
                assert read.feature == "temp"
                assert (read.before, read.after) == pytest.approx((plain.before + 12.0, plain.after + 12.0), abs=0.01)
    assert seen > 0


def test_a_missing_reading_is_named_with_its_correction(corrected, learned):
    x = shifted(learned[1])[0].copy()
    x[0] = np.nan
    why = corrected.explain(x)
    assert "temp (missing)" in why.text or "temp" not in why.text


def test_rules_of_experts_are_in_the_units_that_the_sensor_reads_now(corrected, learned):
    written = "IF temp ABOVE 12.5 THEN fan LIKELY"
    rule = corrected.rulebook.add(written)
    inside = [np.array([[12.0 + value, 0.0, 0.0]]) for value in (1.5, -1.5)]
    high, low = (corrected.explain(row).deciding[0] for row in inside)
    assert (high.number, low) == (rule, None)
    assert str(corrected.rulebook.form(rule)).startswith(written)
    assert corrected.rules_.written[0].written == written
    assert corrected.rules_.written[0].ranges["temp"][0] == pytest.approx(12.5)


def test_a_rule_written_before_the_sensor_moved_is_worded_anew(learned):
    clf = copy.deepcopy(learned[0])
    rule = clf.rulebook.add("IF temp BETWEEN 0.5 AND 2 AND load BELOW 1 THEN fan LIKELY CALLED warm")
    correct(clf, "temp", -1.0, 0.5)  # reads 2 times as large and 2 higher
    now = "IF temp BETWEEN 3 AND 6 AND load BELOW 1 THEN fan LIKELY"
    assert clf.rules_.written[0].written.startswith(now)
    form = str(clf.rulebook.form(rule))
    assert form.startswith(now)
    before = clf.inner.trained_model.written.arrays.low.copy()
    clf.rulebook.edit(rule, form)
    np.testing.assert_allclose(clf.inner.trained_model.written.arrays.low, before)


def test_a_region_is_read_back_as_it_is_printed(corrected, learned):
    for number in [rule.identity for rule in corrected.rules_][:4]:
        early, late = (str(clf.rulebook.form(number)) for clf in (learned[0], corrected))
        assert ("temp" in early) == ("temp" in late)
        plain = [condition for condition in learned[0].rulebook.form(number).conditions if condition.feature == "temp"]
        moved = [condition for condition in corrected.rulebook.form(number).conditions if condition.feature == "temp"]
        for one, other in zip(plain, moved, strict=True):
            assert one.term == other.term
            if one.low is not None:
                assert other.low - one.low == pytest.approx(12.0, abs=0.01)


def test_figures_are_drawn_in_the_units_that_the_sensor_reads_now(corrected, learned):
    clf, X = learned
    for one, other in zip(
        figures.membership_functions(clf, "temp").get_lines(),
        figures.membership_functions(corrected, "temp").get_lines(),
        strict=True,
    ):
        np.testing.assert_allclose(one.get_xdata() + 12.0, other.get_xdata())
        np.testing.assert_allclose(one.get_ydata(), other.get_ydata(), atol=1e-9)
    star = figures.novelty_map(corrected, ("temp", "load"), at=shifted(X)[0]).get_lines()[-1]
    np.testing.assert_allclose(star.get_xydata()[0], shifted(X)[0, :2])


# ---------------------------------------------------------------------- rows learned


def test_an_explanation_ends_with_the_rows_learned(learned):
    why = learned[0].explain(learned[1][0])
    assert why.text.endswith("Learned from 600 rows.")
    assert "Learned from 600 rows." in why.markdown()
    assert "<p>Learned from 600 rows.</p>" in why.html()
    assert (why.to_dict()["learned_from"], why.to_dict()["warm_up"]) == (600, False)


@pytest.mark.parametrize("rows", [10, 23, 45])
def test_predictions_are_explained_during_the_warm_up(learned, rows):
    X = learned[1]
    clf = EvolvingFuzzyClassifier().partial_fit(X[:rows], (X[:rows] > 0.0).astype(float))
    why = clf.explain(X[-1])
    np.testing.assert_allclose(why.total, clf.decision_function(X[-1:])[0], atol=1e-12)
    assert why.text.endswith(
        f"Learned from {rows} rows; rules are formed anew when the warm-up ends, with other numbers."
    )
    assert why.to_dict()["warm_up"]
    assert clf.n_samples_seen_ == rows
    assert not list(clf.rules_)


# ---------------------------------------------------------------------- threshold rules


@pytest.fixture
def moved_pump(pump):
    """The pumping station of which the pressure reads 3 times as large and 12 higher, and its rows."""
    clf, j = copy.deepcopy(pump), pump_stream.FEATURES.index("pressure")
    sensors = clf.inner.trained_model.sensors.arrays
    sensors.views[[OFFSET, NEW_OFFSET], j], sensors.views[[FACTOR, NEW_FACTOR], j] = -4.0, 1.0 / 3.0
    sensors.readings[CORRECTED_AT, j] = 6255
    X = pump_stream.pump_rows(400, seed=9)[0]
    X[:, j] = 3.0 * X[:, j] + 12.0
    return clf, X


def edges_of(rules, feature):
    return [
        end
        for rule in rules.threshold_rules[0].rules
        for condition in rule.conditions
        for end in (condition.low, condition.high, condition.low_width, condition.high_width)
        if condition.feature == feature
    ]


@pytest.mark.compiled
def test_threshold_rules_are_in_the_units_that_the_sensor_reads_now(pump, moved_pump):
    clf, _ = moved_pump
    before, after = (np.array(edges_of(each.rules_, "pressure")).reshape(-1, 4) for each in (pump, clf))
    assert len(before)
    np.testing.assert_allclose(after[:, :2], 3.0 * before[:, :2] + 12.0)
    np.testing.assert_allclose(after[:, 2:], 3.0 * before[:, 2:])
    assert edges_of(pump.rules_, "flow") == edges_of(clf.rules_, "flow")
    rules = [
        (one.text, other.text)
        for one, other in zip(*(each.rules_.threshold_rules[0].rules for each in (pump, clf)), strict=True)
    ]
    assert any(now.count(" on today's gauge (") == 1 for _, now in rules)
    for before, now in rules:
        gauge = (
            r"(below|above|between) [\d.]+(?: and [\d.]+)? on today's gauge \((.*?) before the correction at row .*?\)"
        )
        assert re.sub(gauge, r"\1 \2", now) == before


@pytest.mark.compiled
def test_printed_threshold_rules_are_read_back_and_decide_the_same_rows(moved_pump):
    clf, rows = moved_pump
    decided = [clf.explain(row).paths[0] for row in rows[:60]]
    seen = 0
    for rule in clf.rules_.threshold_rules[0].rules:
        if any(condition.missing in (ADMITTED_TOO, NOTHING_ELSE) for condition in rule.conditions):
            continue
        number = clf.rulebook.add(rule.text)
        for row, path in zip(rows[:60], decided, strict=True):
            if path.share > 0.99 and path.rule.number == rule.number:
                seen += 1
                assert clf.explain(row).deciding[0].number == number
        clf.rulebook.undo()
    assert seen


@pytest.mark.compiled
def test_the_steps_of_a_path_have_the_value_of_the_sample(moved_pump):
    clf, rows = moved_pump
    steps = [step for row in rows[:40] for step in clf.explain(row).paths[0].steps if step.feature == "pressure"]
    values = {
        round(float(row[pump_stream.FEATURES.index("pressure")]), 6) for row in rows[:40] if np.isfinite(row).all()
    }
    known = [step for step in steps if step.value is not None]
    assert known
    for step in known:
        assert step.side == ("below" if step.value <= step.edge else "above")
    assert {round(step.value, 6) for step in known} & values
