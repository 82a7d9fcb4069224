"""No printed claim is contradicted by most of the rows that meet the printed conditions, however few they are."""

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.answer_parts import recent_rows
from evolabel.explain.outcomes import rule_outcomes, without_contradicted
from evolabel.words.condition_words import RuleCondition, printed_box
from evolabel.words.terms import ANY, TERMS

pytestmark = pytest.mark.compiled


def slow_walk(seed, rows=250, n_features=4):
    """Readings that trail behind a state, which lasts for about 40 rows, and one that jumps with it."""
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(rows) < 1 / 40) % 2
    X, value = np.empty((rows, n_features)), rng.normal(size=n_features)
    for row, on in enumerate(state):
        value = 0.97 * value + 0.09 * on * np.arange(1, n_features + 1) / n_features + 0.1 * rng.normal(size=n_features)
        X[row] = value
    X[:, 0] = state * rng.gamma(2.0, 1.0, rows) + (rng.random(rows) < 0.3) * rng.gamma(2.0, 1.0, rows)
    return X, state[:, None].astype(float)


def kept_rows(clf):
    """The recent rows that the model keeps, in the units that sensors read now."""
    model = clf.inner.trained_model
    return model.drift.sensors.as_read(recent_rows(model))


def in_the_printed_conditions(rule, X):
    """Which rows meet the printed conditions of a rule on numbers."""
    inside = np.ones(len(X), bool)
    for condition in rule.conditions:
        if condition.term != ANY:
            x = X[:, rule.feature_names.index(condition.feature)]
            inside &= (x >= condition.low) | condition.term.startswith(TERMS[0])
            inside &= (x <= condition.high) | condition.term.endswith(TERMS[-1])
    return inside


def contradicted(clf, rules, X):
    """Claims with which the predictions for X do not agree, and the numbers of rows that were compared."""
    on, found, compared = clf.predict(X), [], []
    for rule in rules:
        inside = in_the_printed_conditions(rule, X)
        for outcome in rule.claims if inside.any() else ():
            predicted = on[inside, rule.label_names.index(outcome.label)].mean()
            compared.append(int(inside.sum()))
            if predicted <= 0.5 if outcome.judgement == "likely" else predicted >= 0.5:
                found.append((rule.identity, outcome.label, outcome.judgement, predicted, compared[-1]))
    return found, compared


def test_claims_agree_with_the_predictions_for_the_rows_that_meet_them():
    n_few = 0
    for seed in range(4):
        X, Y = slow_walk(seed)
        clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
        for rules, rows in [(clf.rules_, kept_rows(clf)), (clf.describe(X), X)]:
            found, compared = contradicted(clf, rules, rows)
            assert not found
            n_few += np.sum(np.array(compared) < 10)
    assert n_few > 0


def test_one_given_row_is_enough():
    X, Y = slow_walk(1)
    clf, n_met = EvolvingFuzzyClassifier().partial_fit(X, Y), 0
    for row in X[::10, None]:
        rules = clf.describe(row)
        n_met += sum(in_the_printed_conditions(rule, row)[0] for rule in rules)
        assert not contradicted(clf, rules, row)[0]
        assert not contradicted(clf, rules, kept_rows(clf))[0]  # these count as well
    assert n_met > 10


def places_that_are_left(seed):
    """Two labels by the nearest of eight centres; the last 2,000 rows are nowhere near the first 1,000."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(8, 4))
    centres = centres[np.argsort(centres[:, 0])]
    at = np.concatenate([rng.integers(0, 3, 1000), rng.integers(3, 8, 2000)])
    on = np.column_stack([np.arange(8) % 2, np.arange(8) // 2 % 2])
    return centres[at] + 0.4 * rng.normal(size=(len(at), 4)), on[at].astype(float)


def test_drawn_rows_are_compared_where_there_are_no_others():
    rng, n_met = np.random.default_rng(0), 0
    for seed in range(2):
        X, Y = places_that_are_left(seed)
        clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
        for rule in clf.rules_:
            low, high = printed_box(rule.conditions, rule.text_shares, rule.feature_names)
            if not in_the_printed_conditions(rule, kept_rows(clf)).any():
                on = clf.predict(np.clip(rule.centre + rule.spread * rng.normal(size=(500, X.shape[1])), low, high))
                for outcome in rule.claims:
                    share = on[:, rule.label_names.index(outcome.label)].mean()
                    assert share > 0.3 if outcome.judgement == "likely" else share < 0.7  # 20 other rows decided
                    n_met += 1
    assert n_met > 10


@pytest.mark.parametrize(("share", "likely"), [(0.97, True), (0.02, False)])
def test_a_claim_stands_where_the_model_agrees_for_most_rows(share, likely):
    outcomes = rule_outcomes(["a"], np.array([share]), np.array([0.4]), [()])
    stands = [without_contradicted(outcomes, {"a": predicted})[0].claimed for predicted in (0.0, 0.49, 0.5, 0.51, 1.0)]
    assert stands == ([False, False, False, True, True] if likely else [True, True, False, False, False])


def test_conditions_on_text_columns_have_ends_as_well():
    names = ["heat", "mode=idle", "mode=run", "site=A", "site=B", "door=open", "door=shut"]
    shares = dict(zip(names[1:], (0.95, 0.05, 0.4, 0.1, 0.05, 0.05), strict=True))
    conditions = [RuleCondition("heat", "high to very high", 3.0, 9.0)]
    conditions += [RuleCondition(name, "high", 0.0, 1.0) for name in ("mode=run", "site=A", "door=open", "door=shut")]
    low, high = printed_box(conditions, shares, names)
    nothing = np.inf
    assert low.tolist() == [3.0, 1.0, -nothing, -nothing, -nothing, 0.0, 0.0]
    assert high.tolist() == [nothing, 1.0, nothing, nothing, nothing, 0.0, 0.0]
    some = printed_box([RuleCondition("heat", ANY, 0.0, 9.0), RuleCondition("heat", "low", 0.0, 1.0)][:1], {}, names)
    assert np.isinf(some).all()


def test_claims_of_rules_with_text_columns_agree_with_the_model():
    rng, (X, Y) = np.random.default_rng(3), slow_walk(2)
    mode = np.where(rng.random(len(X)) < 0.8, Y[:, 0], 1.0 - Y[:, 0]).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(mode=np.array(["idle", "run"])[mode])
    clf = EvolvingFuzzyClassifier().partial_fit(frame, pd.DataFrame(Y, columns=["busy"]))
    rows, n_met = kept_rows(clf), 0
    on = clf.inner.trained_model.outputs(rows) >= 0.5
    for rule in clf.rules_:
        low, high = printed_box(rule.conditions, rule.text_shares, rule.feature_names)
        inside = np.all((low <= rows) & (rows <= high), axis=1)
        for outcome in rule.claims if inside.any() else ():
            predicted = on[inside].mean()
            assert predicted > 0.5 if outcome.judgement == "likely" else predicted < 0.5
            n_met += bool(rule.text_shares)
    assert n_met > 5
