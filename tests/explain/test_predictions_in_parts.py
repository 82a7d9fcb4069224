"""One prediction explained: parts that add up, novelty, ambiguity, and what would turn a label."""

import json

import numpy as np
import pytest
from callable_kernels import callable_kernel
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.counterfactuals import find_counterfactuals
from evolabel.explain.unfamiliar import check_novelty
from evolabel.stages.rules.loops import antecedents as structure
from evolabel.streams import DriftingStream

PROFILES = {"default": EvolvingFuzzyClassifier, "paper": EvolvingFuzzyClassifier.paper}

is_novel = callable_kernel(structure.is_novel)


def learned(profile, **changes):
    X, Y = DriftingStream(n_features=5, n_labels=4, n_regions=4, drift_every=0, seed=4).take(300)
    return PROFILES[profile](**{"max_rules": 8, **changes}).fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])


def drifted():
    """A default classifier whose labels have changed their meaning, and whose members all have a part in outputs."""
    X, Y = DriftingStream(n_features=5, n_labels=4, n_regions=4, drift_every=0, seed=4).take(1000)
    Y[700:, :2] = 1.0 - Y[700:, :2]
    clf = EvolvingFuzzyClassifier(max_rules=8).fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    clf.inner.any_model.drift.arrays.losses[:] = [[0.11], [0.1], [0.1]]  # the slow member has an advantage of 10 %
    np.testing.assert_allclose(clf.inner.any_model.drift.mixer_weights, 1.0 / 3.0)
    return clf


LEARNED = {}


def classifier(profile):
    """Made once, when first asked for."""
    if profile not in LEARNED:
        LEARNED[profile] = drifted() if profile == "drifted" else learned(profile)
    return LEARNED[profile]


values = st.floats(-4.0, 4.0) | st.just(np.nan)
rows = st.lists(values, min_size=5, max_size=5).map(np.array).filter(lambda x: not np.isnan(x).all())


@pytest.mark.parametrize("profile", [*PROFILES, "drifted"])
@given(x=rows)
@settings(max_examples=examples(60), deadline=None)
def test_parts_add_up_to_the_output(profile, x):
    clf = classifier(profile)
    why = clf.explain(x)
    outputs = clf.decision_function(x[None])[0]
    np.testing.assert_allclose(why.total, outputs, rtol=0.0, atol=1e-12)
    beside = 0.0 if why.linear is None else why.linear.sum(axis=0)
    np.testing.assert_allclose(why.by_rule.sum(axis=0) + beside, outputs, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(why.by_feature.sum(axis=0), outputs, rtol=0.0, atol=1e-12)
    assert why.predicted.tolist() == (why.total >= 0.5).tolist()
    assert why.ambiguous.tolist() == ((why.total > 0.4) & (why.total < 0.6)).tolist()


@pytest.mark.parametrize("profile", [*PROFILES, "drifted"])
@given(x=rows)
@settings(max_examples=examples(40), deadline=None)
def test_a_change_turns_the_label_and_a_missing_feature_is_left_alone(profile, x):
    clf = classifier(profile)
    for c, flip in enumerate(clf.explain(x).counterfactuals):
        if flip is None:
            continue
        j = int(flip.feature[1:])
        assert not np.isnan(x[j])
        assert flip.before == x[j]
        changed = x.copy()
        changed[j] = flip.after
        assert clf.predict(changed[None])[0, c] != clf.predict(x[None])[0, c]
        assert flip.turns_on == (clf.predict(x[None])[0, c] == 0)


def test_no_smaller_change_would_do_within_one_rule():
    X, Y = DriftingStream(n_features=3, n_labels=2, drift_every=0, seed=0).take(200)
    parameters = {"scaling": "standard", "follow_drift": False, "threshold_rules": False}
    clf = EvolvingFuzzyClassifier(max_rules=1, **parameters).fit(X, Y)
    model = clf.inner.any_model
    for x in X[:20]:
        for c, flip in enumerate(clf.explain(x).counterfactuals):
            z, w = model.scale(x[None])[0], model.trained().weights(1)
            reach = (0.5 - clf.decision_function(x[None])[0, c]) / w[:-1, c]
            reach = np.where(np.abs(z + reach) <= 4.0, np.abs(reach), np.inf)  # scores are cut at 4
            if flip is None:
                assert np.isinf(reach).all()
            else:
                assert flip.feature == f"x{np.argmin(reach)}"
                after = model.scale(np.where(np.arange(3) == np.argmin(reach), flip.after, x)[None])[0]
                assert np.abs(after - z).max() == pytest.approx(reach.min(), abs=1e-3)


def test_what_no_feature_moves_has_no_change(trained, stream):
    x = stream[0][0]
    model, names = trained.inner.any_model, ([f"x{j}" for j in range(4)], ["a", "b"])
    still = np.zeros((4, 2)), np.array([0.2, 0.7])

    def answer(rows):
        return np.repeat(still[1][None], len(rows), axis=0)

    found = find_counterfactuals(model, x, *still, names=names, threshold=0.5, answer=answer)
    assert found == [(), ()]


@pytest.mark.parametrize("profile", PROFILES)
def test_novelty_is_the_models_own_criterion(profile):
    clf = learned(profile, max_rules=60, vigilance=0.8 if profile == "default" else 0.3)
    rules = clf.inner.any_model.trained()
    rng = np.random.default_rng(0)
    novel = []
    for x in rng.normal(size=(60, 5)) * rng.uniform(0.1, 6.0, size=(60, 1)):
        why = clf.explain(x)
        D = rules.memberships(clf.inner.any_model.scale(x[None]))[1][0]
        assert why.novelty.distance == pytest.approx(np.sqrt(D.min()))
        assert why.novelty.novel == (why.novelty.distance > why.novelty.border)
        if profile == "default":
            slot = int(np.argmin(D)) + 1
            support = float(rules.arrays.k[slot])
            assert why.novelty.novel == is_novel(
                D.min(), support, rules.n_rules, rules.arrays.winner_stats, rules.settings
            )
        novel.append(why.novelty.novel)
    assert 0 < sum(novel) < 60


def test_a_full_rule_base_measures_by_what_it_is_used_to():
    clf = classifier("default")
    rules = clf.inner.any_model.trained()
    strange = rules.arrays.winner_stats
    border = np.sqrt(strange[1] + 6.0 * np.sqrt(strange[2]))
    assert check_novelty(clf.inner.any_model, np.full(rules.n_rules, 0.1)).border == pytest.approx(border)


def test_nothing_is_novel_before_enough_was_seen(stream):
    clf = EvolvingFuzzyClassifier(max_rules=2).fit(stream[0][:20], stream[1][:20])
    why = clf.explain(stream[0][0])
    assert why.novelty.border == np.inf
    assert not why.novelty.novel
    assert why.to_dict()["novelty"]["border"] is None
    assert "too early to call anything novel" in str(why)


def test_the_text_shows_every_label_with_its_parts_and_the_novelty():
    clf = classifier("default")
    x = np.array([0.5, np.nan, 1.0, -1.0, 0.0])
    why = clf.explain(x)
    text = str(why)
    for c, name in enumerate(why.label_names):
        (line,) = (line for line in text.splitlines() if line.startswith(f"{name}: "))
        assert f"output {why.total[c]:.3f}" in line
        total = sum(float(part.split()[0]) for part in line.split(" = ")[1].split(", ") if part[0] in "+-")
        assert total == pytest.approx(why.total[c], abs=0.004)
    assert "(missing)" in text
    assert f"Distance to rule {why.novelty.rule}: {why.novelty.distance:.2f} spreads" in text
    assert "Active rules: " in text
    assert "would turn" in text


def test_json_holds_every_contribution():
    clf = classifier("paper")
    x = np.array([0.5, np.nan, 1.0, -1.0, 0.0])
    why = clf.explain(x)
    again = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert again == why.to_dict()
    assert again["values"][1] is None
    for c, label in enumerate(again["labels"]):
        np.testing.assert_array_equal(label["contributions"], why.contributions[:, :, c])
    assert [rule["rule"] for rule in again["rules"]] == why.rules.tolist()


def test_markdown_and_html_show_the_same_labels():
    why = classifier("default").explain(np.zeros(5))
    for name in why.label_names:
        assert f"`{name}`" in why.markdown()
        assert f"<code>{name}</code>" in why.html()
    assert why.html().startswith("<!doctype html>")


def test_of_many_labels_the_strongest_are_shown():
    X, Y = DriftingStream(n_features=3, n_labels=14, drift_every=0, seed=0).take(150)
    why = EvolvingFuzzyClassifier(max_rules=3).fit(X, Y).explain(X[0])
    assert "4 labels with smaller outputs are not shown." in str(why)
    assert f"{why.label_names[int(np.argmax(why.total))]}: " in str(why)


def test_between_classes_the_strongest_rival_decides(blobs):
    X, y = blobs
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, np.array(["ash", "birch", "cedar"])[y])
    why = clf.explain(X[0])
    assert [why.label_names[c] for c in np.flatnonzero(why.predicted)] == [clf.predict(X[:1])[0]]
    changes = [flip for flip in why.counterfactuals if flip is not None]
    assert changes
    for flip in changes:
        changed = X[0].copy()
        changed[int(flip.feature[1:])] = flip.after
        assert (clf.predict(changed[None])[0] == flip.label) == flip.turns_on


@pytest.mark.parametrize(("n_features", "ending"), [(4, "from 1 other"), (5, "from 2 others")])
def test_what_is_left_out_is_counted_in_good_words(n_features, ending):
    X, Y = DriftingStream(n_features=n_features, n_labels=11, seed=4).take(100)
    lines = str(EvolvingFuzzyClassifier(max_rules=3).fit(X, Y).explain(X[0])).splitlines()
    assert any(line.endswith(ending) for line in lines)
    assert "1 label with a smaller output is not shown." in lines
