"""Rules as text, Markdown, HTML and JSON: what is said is what the model holds, in original units."""

import json
import re

import numpy as np
import pytest
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, ParameterError, StateError
from evolabel.explain.outcomes import rule_outcomes, strongest_drivers
from evolabel.explain.rules import RuleCondition
from evolabel.stages.rules.stream_terms import stream_terms

pd = pytest.importorskip("pandas")

FEATURES = ["heat", "flow", "load <b>", "age"]
LABELS = ["rain", "snow", "wind & sun"]


def named_classifier(stream, **parameters):
    X, Y = stream
    frames = pd.DataFrame(1000.0 + 50.0 * X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)
    return classifier_of(max_rules=5, **parameters).fit(*frames)


@pytest.fixture(scope="module")
def clf(stream):
    return named_classifier(stream)


def test_the_text_is_a_rule_with_conditions_and_outcomes(clf):
    for rule in clf.rules_:
        head, *lines = str(rule).splitlines()
        assert head.startswith(f"Rule {rule.identity} ({rule.support:.0f} samples, ")
        assert lines[0].startswith("  IF  ")
        assert sum(" is " in line and line.lstrip().startswith(("IF", "AND")) for line in lines) == len(rule.conditions)
        assert sum(line.startswith("  THEN ") for line in lines) == 1
        assert "usually" in str(rule)
        assert f"Born at sample {rule.born} of 120" in lines[-1]
        assert f"fidelity here {rule.fidelity:.0%}" in lines[-1]


@pytest.mark.parametrize("scaling", ["quantile", "standard", "minmax", "none"])
@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_conditions_are_shadows_in_original_units(stream, scaling, covariance):
    clf = named_classifier(stream, scaling=scaling, covariance=covariance)
    model = clf.inner.any_model
    words = stream_terms(model, FEATURES)
    rules, a = model.trained(), model.trained().arrays
    for slot, rule in enumerate(clf.rules_, start=1):
        if covariance == "full":
            F = np.tril(rules.own.F[slot])
            spread = np.sqrt(np.diag(F @ F.T) / (rules.settings.prior_count + max(a.k[slot] - 1.0, 0.0)))
        else:
            spread = 1.0 / np.sqrt(a.inv[slot])
        for condition in rule.conditions:
            j = FEATURES.index(condition.feature)
            ends = model.scale(np.full((2, 4), [[condition.low], [condition.high]]))[:, j]
            expected = np.clip(a.c[slot, j] + np.array([-1.0, 1.0]) * spread[j], model.scaler.low, model.scaler.high)
            np.testing.assert_allclose(ends, expected, atol=1e-8)
            assert 0.0 < condition.low < condition.high < 2000.0
            assert condition.term == words.term_for(condition.feature, condition.low, condition.high)


def test_outcomes_are_the_shares_of_the_rule_beside_the_usual_ones(clf, stream):
    usual = dict(zip(LABELS, stream[1].mean(axis=0), strict=True))
    for rule in clf.rules_:
        assert sorted(outcome.label for outcome in rule.outcomes) == sorted(LABELS)
        for outcome in rule.outcomes:
            assert outcome.share == rule.label_shares[LABELS.index(outcome.label)]
            assert outcome.usual == pytest.approx(usual[outcome.label])
            assert (outcome.judgement == "likely") == (outcome.predicted >= 0.5)
        assert [o.apart for o in rule.outcomes] == sorted((o.apart for o in rule.outcomes), reverse=True)


def test_drivers_are_the_strongest_local_weights_with_their_sign():
    effects = np.array([[0.3, 0.0], [-0.4, 0.005], [0.2, 0.0], [0.1, -0.02]])
    first, second = strongest_drivers(effects, ["a", "b", "c", "d"])
    assert [(driver.feature, driver.effect) for driver in first] == [("b", -0.4), ("a", 0.3), ("c", 0.2)]
    assert [driver.feature for driver in second] == ["d"]


@pytest.mark.parametrize(
    ("share", "usual", "judgement"),
    [
        (0.7, 0.9, "likely"),
        (0.3, 0.1, "more likely than usual"),
        (0.3, 0.29, "about as likely as usual"),
        (0.23, 0.18, "about as likely as usual"),
        (0.3, 0.49, "unlikely"),
        (0.02, 0.001, "unlikely"),
    ],
)
def test_labels_are_judged_by_their_share(share, usual, judgement):
    (outcome,) = rule_outcomes(["a"], np.array([share]), np.array([usual]), [()])
    assert outcome.judgement == judgement


def test_certainty_is_what_one_more_sample_would_leave(clf):
    rules = clf.inner.any_model.trained()
    for slot, rule in enumerate(clf.rules_, start=1):
        r = np.append(rules.arrays.c[slot], 1.0)
        assert rule.certainty == pytest.approx(1.0 / (1.0 + r @ rules.inverse(slot) @ r))
        assert 0.0 < rule.certainty < 1.0
    assert sum(rule.activity for rule in clf.rules_) == pytest.approx(1.0)


def test_rows_decide_about_reported_fidelity_and_activity(clf, stream):
    X = pd.DataFrame(1000.0 + 50.0 * stream[0][:40], columns=FEATURES)
    X.iloc[0, 0] = np.nan
    read = clf.describe(X, fidelity=0.8)
    complete = X.fillna({"heat": clf.inner.any_model.scaler.inverse(clf.inner.any_model.rules.arrays.c[:1])[0, 0]})
    np.testing.assert_allclose([rule.activity for rule in read], clf.memberships(complete).mean(axis=0), atol=1e-12)
    assert len(clf.describe(X, fidelity=1.0)[0].conditions) >= len(read[0].conditions)
    with pytest.raises(ParameterError, match="fidelity"):
        clf.describe(fidelity=1.5)


def test_json_holds_everything_and_survives_the_trip(clf):
    document = clf.rules_.to_dict()
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again == document
    assert [rule["rule"] for rule in again["rules"]] == [rule.identity for rule in clf.rules_]
    first = clf.rules_[0]
    assert tuple(RuleCondition(**condition) for condition in again["rules"][0]["if"]) == first.conditions
    assert {outcome["label"]: outcome["share"] for outcome in again["rules"][0]["then"]} == dict(
        zip(LABELS, first.label_shares, strict=True)
    )
    assert again["fidelity"]["labels"] == clf.rules_.fidelity.labels


def test_markdown_and_html_name_every_condition(clf):
    for rule in clf.rules_:
        for condition in rule.conditions:
            assert f"`{condition.feature}` is **{condition.term}**" in rule.markdown()
        assert "<b>" in rule.html()
    page = clf.rules_.regions.html()
    assert "load <b>" not in page
    assert "wind & sun" not in page
    assert not re.search(r"https?:", page)
    claiming = sum(len(rule.claims) > 0 for rule in clf.rules_)
    assert claiming
    assert page.count("<section") == claiming
    assert clf.rules_.regions.markdown().count("#### Rule ") == claiming


def test_the_best_rules_come_first(clf):
    supports = [rule.support for rule in clf.rules_.top(3)]
    assert supports == sorted((rule.support for rule in clf.rules_), reverse=True)[:3]
    shares = [rule.label_shares[1] for rule in clf.rules_.top(9, "snow")]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == len(clf.rules_)


def test_a_rule_can_be_shown_under_other_names(clf):
    rule = clf.rules_[0].renamed(["a1", "b2", "c3", "d4"], ["k", "l", "m"])
    assert {condition.feature for condition in rule.conditions} <= {"a1", "b2", "c3", "d4"}
    assert {outcome.label for outcome in rule.outcomes} == {"k", "l", "m"}
    assert not any(name in rule.text for name in FEATURES)


def test_rules_are_shown_the_same_after_loading(clf, tmp_path):
    clf.save(tmp_path / "model.safetensors")
    assert EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors").rules_.text == clf.rules_.text


def test_there_are_no_rules_to_show_while_the_warm_up_lasts(warming):
    assert warming.rules_ == []
    assert warming.rules_.text == "There are no rules yet.\n"


def test_an_empty_choice_of_rules_is_not_called_a_model_without_rules(clf):
    assert "No region is listed.\n" in clf.rules_.top(0).regions.text


def test_a_sibling_has_no_rules_yet_but_has_terms(clf, stream):
    twin = clf.sibling()
    assert twin.rules_ == []
    edges = stream_terms(twin.inner.any_model, FEATURES).edges
    assert (np.diff(edges, axis=1) > 0.0).all()
    with pytest.raises(StateError, match="no rules yet"):
        twin.explain(pd.DataFrame(stream[0][:1], columns=FEATURES))


def test_columns_that_came_without_names_can_be_named(trained):
    trained.name_columns(FEATURES, LABELS)
    assert any("heat" in rule.text for rule in trained.rules_)
    assert list(trained.label_names_) == LABELS


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (FEATURES[:3], LABELS, "3 names were given for 4 features"),
        (["heat"] * 4, LABELS, "all different"),
        (FEATURES, [*LABELS, "hail"], "4 names were given for 3 labels"),
    ],
)
def test_names_that_do_not_fit_are_refused(trained, features, labels, message):
    with pytest.raises(DataError, match=message):
        trained.name_columns(features, labels)
    assert list(trained.label_names_) == ["label0", "label1", "label2"]


def test_classes_have_names_already(blobs):
    with pytest.raises(DataError, match="have names already"):
        EvolvingFuzzyClassifier(max_rules=3).fit(*blobs).name_columns(["a", "b", "c"], ["x", "y", "z"])


def test_rules_by_an_unknown_label_are_refused(trained):
    with pytest.raises(DataError, match="no label 'zz'"):
        trained.rules_.top(3, "zz")


def test_one_sample_may_be_a_list_or_a_row_of_a_frame(stream):
    X, Y = stream
    frame = pd.DataFrame(X, columns=list("abcd"))
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    named = EvolvingFuzzyClassifier(max_rules=4).fit(frame, Y)
    expected = plain.explain(X[3]).total
    np.testing.assert_array_equal(plain.explain(X[3].tolist()).total, expected)
    np.testing.assert_array_equal(named.explain(frame.iloc[3]).total, expected)
