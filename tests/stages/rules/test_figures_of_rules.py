"""Membership functions, correlations, weights and lives are those of the model."""

from types import SimpleNamespace

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.events import Event
from evolabel.errors import DataError
from evolabel.explain import figures
from evolabel.explain.figures.correlations import LabelMoments, correlations, pooled
from evolabel.stages.rules.figures.lives import Life, lives
from evolabel.stages.rules.figures.memberships import gaussian
from evolabel.words.figures.canvas import MAX_SHOWN


def test_membership_functions_are_gaussians_in_scores(six_rules):
    axes = figures.membership_functions(six_rules, "x1")
    lines = [line for line in axes.get_lines() if line.get_label().startswith("rule ")]
    rules = {f"rule {rule.identity}": rule for rule in six_rules.rules_}
    for line in lines:
        rule, peak = rules[line.get_label()], line.get_xdata()[np.argmax(line.get_ydata())]
        assert abs(rule.centre[1] - peak) <= np.diff(line.get_xdata())[0]
        one_spread = gaussian(
            six_rules.figure_data(),
            six_rules.figure_data().slot(rule.identity),
            1,
            np.array([rule.low[1], rule.high[1]]),
        )
        np.testing.assert_allclose(one_spread, np.exp(-0.5), rtol=1e-9)
    assert len(lines) == six_rules.n_rules_


def test_terms_are_marked(six_rules):
    texts = [text.get_text().replace("\n", " ") for text in figures.membership_functions(six_rules).texts]
    assert "medium" in texts
    assert "very high" in texts


def test_correlations_on_samples_are_weighted_by_membership(six_rules, stream):
    X, Y = stream
    i = 2
    rule = int(six_rules.inner.any_model.rules.arrays.identity[i + 1])
    values = figures.label_correlations(six_rules, rule, X=X, Y=Y).images[0].get_array()
    local = np.cov(Y.T, aweights=six_rules.memberships(X)[:, i])
    local /= np.sqrt(np.outer(np.diag(local), np.diag(local)))
    whole = np.corrcoef(Y.T)
    np.testing.assert_allclose(values[np.tril_indices(3, -1)], local[np.tril_indices(3, -1)], atol=1e-9)
    np.testing.assert_allclose(values[np.triu_indices(3, 1)], whole[np.triu_indices(3, 1)], atol=1e-9)


def test_models_that_couple_labels_need_no_samples(rotated_rules):
    rules, used = rotated_rules.inner.any_model.rules, slice(1, rotated_rules.n_rules_ + 1)
    moments = LabelMoments(rules.own.Q[used], rules.own.ybar[used], rules.own.mass[used])
    axes = figures.label_correlations(rotated_rules, int(rules.arrays.identity[1]))
    values = axes.images[0].get_array()
    np.testing.assert_allclose(values[1, 0], correlations(moments)[0][1, 0])
    np.testing.assert_allclose(values[0, 1], correlations(pooled(moments))[0][0, 1])


def test_models_that_keep_no_correlations_say_what_they_need(six_rules):
    with pytest.raises(DataError, match="pass samples X with their labels Y"):
        figures.label_correlations(six_rules)


def test_the_heat_map_shows_the_weights(six_rules):
    axes = figures.consequent_map(six_rules, six_rules.rules_[1].identity)
    features = [text.get_text() for text in axes.get_xticklabels()]
    labels = [text.get_text() for text in axes.get_yticklabels()]
    rule = six_rules.rules_[1]
    expected = rule.weights[[rule.feature_names.index(name) for name in features]].T
    assert labels == rule.label_names
    np.testing.assert_array_equal(axes.images[0].get_array(), expected)


def test_of_many_features_the_strongest_are_shown_and_the_title_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    clf = EvolvingFuzzyClassifier(max_rules=3, scaling="standard").fit(X, (X[:, 5:8] > 0.0).astype(float))
    axes = figures.consequent_map(clf)
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert len(names) == MAX_SHOWN
    assert set(names[:3]) == {"x5", "x6", "x7"}
    assert "20 of 40 features, the strongest first" in axes.get_title(loc="left")


def test_a_rule_that_is_not_there_is_one_clear_error(six_rules):
    with pytest.raises(DataError, match="no rule 99; the rules are 0, 1"):
        figures.consequent_map(six_rules, 99)


def _data_with(events, rules=(), n_seen=100):
    arrays = SimpleNamespace(identity=np.array([0, *(r for r, _ in rules)]), born=np.array([0, *(b for _, b in rules)]))
    base = SimpleNamespace(events=events, n_rules=len(rules), n_seen=n_seen, arrays=arrays)
    return SimpleNamespace(rules=base)


def test_lives_follow_the_events():
    events = [
        Event(3, "birth", 0, None),
        Event(5, "birth", 1, 0),
        Event(8, "birth", 2, 1),
        Event(20, "merge", 0, 1),
        Event(30, "renamed", 2, None, "warm"),
        Event(40, "death", 2, None),
        Event(50, "added", 3, None),
    ]
    assert lives(_data_with(events, [(0, 3), (3, 50)])) == {
        0: Life(0, 3, 100),
        1: Life(1, 5, 20, alive=False, heir=0),
        2: Life(2, 8, 40, alive=False),
        3: Life(3, 50, 100),
    }


def test_rules_whose_birth_was_forgotten_have_a_life_as_well():
    found = lives(_data_with([Event(60, "merge", 1, 7)], [(1, 2), (4, 9)]))
    assert found[7] == Life(7, 60, 60, alive=False, heir=1)
    assert found[1] == Life(1, 2, 100)
    assert found[4] == Life(4, 9, 100)


def test_every_event_has_a_mark(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=4, vigilance=0.1).fit(X, Y)
    clf.rulebook.rename(clf.rules_[0].identity, "calm")
    clf.rulebook.delete(clf.rules_[1].identity)
    axes = figures.life_lines(clf, top=100)
    marks = {mark.get_label(): len(mark.get_offsets()) for mark in axes.collections}
    kinds = [event.kind for event in clf.events_]
    assert marks["born"] == kinds.count("birth")
    assert marks.get("merged into another", 0) == kinds.count("merge")
    assert (marks["changed by hand"], marks["deleted by hand"]) == (1, 1)
    assert "calm" in [text.get_text() for text in axes.get_yticklabels()]


def test_a_written_rule_has_a_life_with_a_name_and_what_the_data_did_to_it(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    number = clf.rulebook.add('IF x0 ABOVE 0 THEN label0 LIKELY CALLED "hot"')
    rules = clf.inner.any_model.trained()
    for kind in ("rule contradicted", "rule restored", "rule dropped"):
        rules.log(kind, number, None)
    assert not lives(clf.figure_data())[number].alive
    axes = figures.life_lines(clf, top=100)
    marks = {mark.get_label() for mark in axes.collections}
    assert {"written rule contradicted by the data", "written rule is used again"} <= marks
    assert "hot" in [text.get_text() for text in axes.get_yticklabels()]
