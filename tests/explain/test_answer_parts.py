"""What is printed of rules is what the model answers: parts of the answers, claims of rules, usual shares, fidelity."""

import json

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.answer_parts import AnswerParts, answer_parts, recent_shares
from evolabel.explain.outcomes import distinct_outcomes, left_out, rule_outcomes
from evolabel.explain.shortening import reference_rows
from evolabel.stages.drift.arrays import LINEAR
from evolabel.stages.rules.weights import answers, weights_of_all

pytestmark = pytest.mark.compiled

ROWS, CHANGE = 3000, 1500
FEWEST = 15  # fresh rows of a rule whose claims are compared
ROUNDING = 0.1  # by which a majority may be missed, of few rows
REQUEST = "Regions on request: clf.rules_.regions, `evolabel rules --regions`.\n"


def line_that_turns(seed):
    """Two labels by a line each; it turns in the middle of the stream."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS + 600, 4))
    early, late = rng.normal(size=(2, 4, 2))
    Y = np.where(np.arange(len(X))[:, None] < CHANGE, X @ early, X @ late) > 0.0
    return X, Y.astype(float)


def islands(seed):
    """Two labels by the nearest of eight centres: no line helps."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(8, 4))
    at = rng.integers(0, 8, ROWS + 600)
    on = np.column_stack([np.arange(8) % 2, np.arange(8) // 2 % 2])
    return centres[at] + 0.4 * rng.normal(size=(len(at), 4)), on[at].astype(float)


def mixed(seed):
    """The first label by islands, the second by a line that turns."""
    (X, Y), rng = islands(seed), np.random.default_rng(seed)
    further = rng.normal(size=(len(X), 4))
    early, late = rng.normal(size=(2, 4))
    lines = np.where(np.arange(len(X)) < CHANGE, further @ early, further @ late) > 0.0
    return np.hstack([X, further]), np.column_stack([Y[:, 0], lines]).astype(float)


def learned(X, Y, **parameters):
    return EvolvingFuzzyClassifier(**parameters).partial_fit(X[:ROWS], Y[:ROWS])


def claims_that_fail(clf, X):
    """Claims that were compared with the predictions for fresh rows of the rule, and those that disagree."""
    rules, on, winner = clf.rules_, clf.predict(X), clf.memberships(X).argmax(axis=1)
    compared, wrong = 0, []
    for i, rule in enumerate(rules):
        here = winner == i
        if here.sum() < FEWEST:
            continue
        for outcome in rule.claims:
            predicted = on[here, rules[0].label_names.index(outcome.label)].mean()
            compared += 1
            likely = outcome.judgement == "likely"
            if predicted < 0.5 - ROUNDING if likely else predicted > 0.5 + ROUNDING:
                wrong.append((rule.identity, outcome.label, outcome.judgement, predicted))
    return compared, wrong


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stream", [line_that_turns, islands, mixed])
def test_claims_of_rules_are_what_the_model_answers(stream, seed):
    X, Y = stream(seed)
    clf = learned(X, Y)
    compared, wrong = claims_that_fail(clf, X[ROWS:])
    assert not wrong
    assert compared > 5 or stream is not islands
    for rule in clf.rules_:
        assert all(clf.parts_[outcome.label].rules > 0.5 for outcome in rule.claims)
        for outcome in rule.outcomes:
            assert outcome.claimed or outcome.label in left_out(rule.outcomes, rule.parts)


def test_labels_of_the_linear_part_are_claimed_by_no_rule():
    X, Y = line_that_turns(0)
    clf = learned(X, Y)
    weights = clf.inner.trained_model.drift.mixer_weights[LINEAR]
    assert weights.min() > 0.9
    assert [parts.linear for parts in clf.parts_.values()] == pytest.approx(weights.tolist())
    rules = clf.rules_
    assert rules.text.endswith("(under 1 % of any label) and the linear part (label0, label1 100 %). " + REQUEST)
    assert not any(rule.claims for rule in rules)
    regions = rules.regions.text
    assert "\n  THEN " not in regions
    assert f"{len(rules)} regions not printed" in regions
    assert "Linear part, which holds everywhere\n  label0 (100% of its answers) is " in regions
    assert "THEN nothing: no label is out of the ordinary, or other parts answer" in rules[0].text
    assert "Left out: " in rules[0].text
    assert "(linear part 100 %, rules 0 %)" in rules[0].text


def test_rules_that_answer_are_printed_with_their_labels():
    clf = learned(*islands(1))
    assert clf.rules_.text.endswith(f"by {len(clf.rules_)} learned regions (label0, label1 100 %). {REQUEST}")
    assert sum(len(rule.claims) > 0 for rule in clf.rules_) > 0.8 * len(clf.rules_)
    assert "(linear part" not in clf.rules_.regions.text
    assert "(threshold rules" not in clf.rules_.regions.text


def test_labels_are_left_out_one_by_one():
    clf = learned(*mixed(0))
    first, second = clf.parts_.values()
    assert first.by_rules
    assert not second.by_rules
    printed = {outcome.label for rule in clf.rules_ for outcome in rule.claims}
    assert printed == {"label0"}
    assert f"Left out: label1 ({second})." in clf.rules_.regions.text


def test_shares_of_threshold_rules_and_written_rules(pump):
    parts = pump.parts_["leak"]
    assert parts.threshold_rules == pytest.approx(pump.rules_.threshold_rules[0].weight)
    assert sum(parts.to_dict().values()) == pytest.approx(1.0)
    clf = EvolvingFuzzyClassifier().partial_fit(*pump_rows(1000)).name_columns(FEATURES, LABELS)
    clf.rulebook.add("IF flow ABOVE -100 THEN idle LIKELY")
    flow = clf.inner.trained_model.trees.arrays.X[:1000, FEATURES.index("flow")]
    assert clf.parts_["idle"].written == pytest.approx(np.mean(~np.isnan(flow)), abs=1e-3)
    assert clf.parts_["leak"].written == 0.0


@pytest.mark.parametrize("rows", [5, 30])
def test_parts_during_the_warm_up(rows):
    X, Y = islands(0)
    clf = EvolvingFuzzyClassifier().partial_fit(X[:rows], Y[:rows])
    found = clf.parts_["label0"]
    assert sum(found.to_dict().values()) == pytest.approx(float(rows >= 10))
    assert ("no rules yet" in str(found)) == (rows < 10)


def test_both_classes_share_the_tree():
    X, Y = pump_rows(2000)
    clf = EvolvingFuzzyClassifier().partial_fit(X, np.where(Y[:, 0] > 0.5, "leak", "fine"))
    fine, leak = clf.parts_["fine"], clf.parts_["leak"]
    assert fine.threshold_rules == leak.threshold_rules > 0.5


def test_parts_in_words_and_as_values():
    some = AnswerParts(0.25, 0.75, 0.0, 0.0)
    assert str(some) == "linear part 75 %, rules 25 %"
    assert str(AnswerParts(0.0, 0.0, 1.0, 0.0)) == "threshold rules 100 %, rules 0 %"
    clf = learned(*mixed(0))
    document = json.loads(json.dumps(clf.rules_.to_dict(), allow_nan=False))
    assert document["parts"] == {label: parts.to_dict() for label, parts in clf.parts_.items()}
    assert answer_parts(None, 2) == [AnswerParts(), AnswerParts()]


@pytest.mark.parametrize(
    ("share", "usual", "predicted", "claimed", "judgement"),
    [
        (0.97, 0.24, 0.03, False, "more likely than usual"),  # the model answers otherwise
        (0.02, 0.24, 0.90, False, "likely"),
        (0.45, 0.10, 0.90, True, "likely"),  # of many classes the largest
        (0.30, 0.10, 0.00, True, "more likely than usual"),
        (0.97, 0.24, 0.95, True, "likely"),
    ],
)
def test_what_the_model_contradicts_is_not_claimed(share, usual, predicted, claimed, judgement):
    (outcome,) = rule_outcomes(["a"], np.array([share]), np.array([usual]), [()], predicted=np.array([predicted]))
    assert (outcome.claimed, outcome.judgement) == (claimed, judgement)
    assert (distinct_outcomes([outcome]) == (outcome,)) == claimed
    assert (f"; predicted for {predicted:.0%}" in outcome.shares) == (judgement != "likely" or share < 0.5)
    assert (left_out([outcome], {}) == "a (the whole model predicts otherwise here)") == (not claimed)


def test_usual_shares_are_counted_also_after_rules_were_renewed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    Y = (X[:, :1] > 0.8).astype(float)
    Y[2500:] = 1.0 - Y[2500:]
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    assert any("renewed" in str(event) for event in clf.events_)
    for rule in clf.rules_:
        assert rule.n_usual == 2000
        assert rule.outcomes[0].usual == Y[-2000:].mean()
    assert clf.rules_[0].text.endswith("Usual shares are those of the last 2,000 samples.")


def test_fidelity_is_measured_against_the_answers_of_the_model():
    X, Y = line_that_turns(0)
    clf = learned(X, Y)
    model, rules = clf.inner.trained_model, clf.inner.trained_model.rules
    given = clf.describe(X[ROWS:], fidelity=1.0)
    kept = {len(rule.conditions) for rule in given}
    assert kept == {4}
    own = answers(rules, model.scale(X[ROWS:]), rules.beside.mixed(weights_of_all)).outputs >= 0.5
    assert given.fidelity.labels == pytest.approx((own == clf.predict(X[ROWS:])).mean())
    assert given.fidelity.labels < 0.99
    assert "of the labels as the whole model does, on 600 given rows.\n" in given.regions.text
    assert given.to_dict()["fidelity"]["given_rows"] == 600
    drawn = reference_rows(model, seed=1)
    on = model.outputs(model.scaler.inverse(drawn)) >= 0.5
    own = answers(rules, drawn, rules.beside.mixed(weights_of_all)).outputs >= 0.5
    assert clf.describe(fidelity=1.0).fidelity.labels == pytest.approx((own == on).mean())
    assert "of the labels as the whole model does, on rows drawn from the rules.\n" in clf.rules_.regions.text
    assert clf.rules_.to_dict()["fidelity"]["given_rows"] == 0


def test_usual_shares_of_classes_add_up_although_one_was_seen_later():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.repeat([1, 0, 1], 100)
    clf = EvolvingFuzzyClassifier()
    for row in range(0, 300, 20):
        clf.partial_fit(X[row : row + 20], y[row : row + 20])
    shares, n_rows = recent_shares(clf.inner.any_model)
    assert n_rows == 300
    assert dict(zip(clf.inner.label_names, shares.round(9).tolist(), strict=True)) == {
        "0": 0.333333333,
        "1": 0.666666667,
    }
