"""Explanations of a model that follows drift: rules, linear part and intercept add up to the output."""

import numpy as np
import pytest
from following import bent_stream, classifier_of, flipped

from evolabel.stages.drift.arrays import BORN, LINEAR, NEVER
from evolabel.stages.drift.part import linear_part
from evolabel.stages.sensors.arrays import IS_ON, OFFSET

pytestmark = pytest.mark.compiled

MOMENTS = {"before the fast member": 300, "calm": 1000, "drift": 1218, "trial": 1850, "corrected": 2100}
LEARNED = {}


def moved_stream():
    """A label turns round at row 1,200, a sensor moves at row 1,700."""
    X, Y = flipped(2600, 1200, seed=2)
    X[1700:, 1] += 5.0 * X[:1700, 1].std()
    return X, Y


def at(moment):
    """The classifier at a moment of that stream, made once."""
    if moment not in LEARNED:
        X, Y = moved_stream()
        clf = classifier_of(X, Y)
        clf.partial_fit(X[80 : MOMENTS[moment]], Y[80 : MOMENTS[moment]])
        m = clf.inner.any_model.drift.arrays
        assert (m.clock[BORN] == NEVER) == (moment == "before the fast member")
        assert moment != "trial" or clf.inner.any_model.sensors.arrays.trial[IS_ON]
        assert moment != "corrected" or clf.inner.any_model.sensors.arrays.views[OFFSET].any()
        LEARNED[moment] = clf
    return LEARNED[moment]


def rows_with_gaps():
    X = moved_stream()[0][[5, 40, 700, 1750, 1760, 2300, 2310]].copy()
    X[1, 0], X[2, [1, 3]], X[5, 1] = np.nan, np.nan, np.nan
    X[6] = 50.0  # all scores are cut
    return X


def assert_adds_up(clf, x):
    why = clf.explain(x)
    outputs = clf.decision_function(x[None])[0]
    np.testing.assert_allclose(why.total, outputs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(why.by_rule.sum(axis=0) + why.linear.sum(axis=0), outputs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(why.by_feature.sum(axis=0), outputs, rtol=0, atol=1e-12)
    return why


@pytest.mark.parametrize("moment", MOMENTS)
def test_parts_add_up_at_every_moment(moment):
    clf = at(moment)
    for x in rows_with_gaps():
        why = assert_adds_up(clf, x)
        assert (why.linear[:-1][np.isnan(x)] == 0.0).all()
        assert str(why)


def test_parts_add_up_where_rules_are_locked():
    X, Y = moved_stream()
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:1000], Y[80:1000])
    for rule in clf.rules_[:3]:
        clf.rulebook.lock(rule.identity)
    clf.partial_fit(X[1000:1218], Y[1000:1218])
    for x in rows_with_gaps():
        assert_adds_up(clf, x)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_linear_part_is_the_output_of_the_linear_member_times_its_weight(moment):
    model = at(moment).inner.any_model
    rules = model.trained()
    for x in rows_with_gaps():
        part, s = linear_part(model, x[None]), rules.beside.linear_scores(x[None])[0]
        weights = rules.beside.mixer_weights[LINEAR]
        output = 1.0 / (1.0 + np.exp(-rules.beside.arrays.W @ s))
        np.testing.assert_allclose(part.contributions.sum(axis=0), weights * output, rtol=0, atol=1e-13)
        np.testing.assert_allclose(part.rules_share, 1.0 - weights, rtol=0, atol=0)
        signs = np.sign(part.contributions[:-1]) * np.sign(rules.beside.arrays.W[:, :-1].T * s[:-1, None])
        assert (signs >= 0.0).all()  # a feature pushes the way its term of the logit does


def test_slopes_of_the_linear_part_are_those_of_the_output():
    clf = at("corrected")
    model = clf.inner.any_model
    rules = model.trained()
    x = moved_stream()[0][2310]
    part = linear_part(model, x[None])
    weights = rules.beside.mixer_weights[LINEAR]
    for j in range(4):
        rows = np.tile(x, (2, 1))
        rows[:, j] += np.array([-1e-5, 1e-5])
        outputs = weights / (1.0 + np.exp(-rules.beside.linear_scores(rows) @ rules.beside.arrays.W.T))
        scaled = model.scale(rows)[:, j]
        np.testing.assert_allclose(part.slopes[j], (outputs[1] - outputs[0]) / (scaled[1] - scaled[0]), rtol=1e-3)


def linear_stream():
    """Labels that a line separates: the linear member is better than the rules."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    Y = (X @ rng.normal(size=(6, 2)) > 0.0).astype(float)
    return X, Y


def test_the_linear_part_is_printed_where_it_has_a_weight():
    X, Y = linear_stream()
    clf = classifier_of(X, Y, max_rules=20)
    clf.partial_fit(X[80:], Y[80:])
    weights = clf.inner.any_model.drift.mixer_weights[LINEAR]
    assert (weights > 0.3).any()
    text = str(clf.rules_.regions)
    assert "Linear part" in text
    for c in range(2):
        assert (f"label{c} ({weights[c]:.0%} of its answers)" in text) == (weights[c] >= 0.01)
    slopes = clf.inner.any_model.drift.arrays.W[:, :-1]
    c = int(np.argmax(weights))
    strongest = f"x{np.argmax(np.abs(slopes[c]))}"
    line = next(line for line in text.splitlines() if f"label{c} (" in line)
    assert strongest in line
    assert "Linear part" in clf.rules_.regions.markdown()
    assert "Linear part" in clf.rules_.regions.html()
    why = assert_adds_up(clf, X[7])
    assert "The linear part, which holds everywhere, adds" in why.text


def test_the_linear_part_is_not_printed_where_it_has_none():
    X, Y = bent_stream(1500, seed=1)
    Y[:, :] = (np.abs(X[:, :1] / X[:, 0].std()) > 0.7).astype(float)  # no line helps
    clf = classifier_of(X, Y, max_rules=20)
    clf.partial_fit(X[80:], Y[80:])
    assert clf.inner.any_model.drift.mixer_weights[LINEAR].max() < 0.01
    assert "Linear part" not in str(clf.rules_.regions)
    plain = classifier_of(X, Y, follow_drift=False)
    assert "Linear part" not in str(plain.rules_.regions)
    assert plain.explain(X[0]).linear is None
