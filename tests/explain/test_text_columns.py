"""Categorical columns are shown as texts; whatever might be a number is shown as a number."""

import re

import numpy as np
import pandas as pd
import pytest
from washing_machine import MODES, SCALINGS, frames, learned, machine, of_mode

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.scaling.stage import fit_scaler, shares_on
from evolabel.words.text_columns import text_features

SAYS = re.compile(r"mode is (not |sometimes )?(idle|spin|wash|very slow) \((\d+)% of its samples\)")


@pytest.fixture(scope="module")
def clf():
    """For reading only."""
    return learned()


@pytest.mark.parametrize(
    ("names", "binary"),
    [
        (["lag=1", "lag=2"], [True, True]),
        (["mode=idle", "heat"], [True, True]),
        (["mode=idle", "mode=wash"], [True, False]),
        (["=a", "=b", "x=", "y="], [True] * 4),
        (["a", "b"], [True, True]),
    ],
    ids=["numbers behind the equals sign", "alone", "other values than 0 and 1", "half a name", "no equals sign"],
)
def test_what_might_be_a_number_is_no_text(names, binary):
    assert text_features(names, np.array(binary)) == frozenset()


def test_a_column_may_have_numbers_among_its_texts():
    names = ["grade=1", "grade=unknown", "a=b=c", "a=b=d"]
    assert text_features(names, np.full(4, True)) == set(names)


@pytest.mark.parametrize("kind", SCALINGS)
def test_the_scaler_notes_what_was_only_0_or_1(kind):
    X = np.array(
        [[0.0, 1.0, 0.5, np.nan, 0.0, np.nan], [1.0, 1.0, 1.0, 1.0, 2.0, np.nan], [1.0, 1.0, 0.0, 0.0, 1.0, np.nan]]
    )
    assert fit_scaler(X, kind, 8).binary.tolist() == [True, True, False, True, False, False]


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("ones", [1, 7, 150, 299])
def test_a_mean_of_scores_gives_how_many_are_on(kind, ones):
    column = (np.arange(300) < ones).astype(float)[:, None]
    scaler = fit_scaler(column, kind, 32)
    centre = scaler.transform(column).mean(axis=0)
    np.testing.assert_allclose(shares_on(scaler, centre[None]), [[ones / 300]], atol=1e-12)


def test_a_constant_is_on_always_or_never_and_a_number_has_no_share():
    scaler = fit_scaler(np.column_stack([np.zeros(9), np.ones(9), np.arange(9.0)]), "quantile", 8)
    np.testing.assert_array_equal(shares_on(scaler, np.zeros((1, 3))), [[0.0, 1.0, np.nan]])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_rules_say_what_the_texts_of_their_samples_are(scaling):
    rules = learned(scaling=scaling).rules_.regions
    said = SAYS.findall(rules.text)
    assert said
    assert "mode=" not in re.sub("driven.*", "", rules.text)
    for rule in rules:
        for how, mode, percent in SAYS.findall(rule.text):
            share = rule.shares_on[rule.feature_names.index(f"mode={mode}")]
            assert {"not ": share <= 0.2, "sometimes ": 0.2 < share < 0.8, "": share >= 0.8}[how]
            assert percent == f"{100 * (1.0 - share if how == 'not ' else share):.0f}"


def test_lags_of_0_and_1_read_as_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (80, 3)).astype(float), columns=["lag=1", "lag=2", "lag=3"])
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, X[["lag=1"]].to_numpy())
    for rule in clf.rules_:
        assert rule.text_shares == {}
        assert all(f"{said.feature} is {said.term} (" in rule.text for said in rule.conditions)
    assert re.search(r"lag=1 \([01], (very )?(low|high)\)", clf.explain(X[:1]).text)


def test_the_share_is_that_of_the_samples_a_rule_has_won():
    table = machine(80)
    X, Y = frames(table)
    (rule,) = EvolvingFuzzyClassifier(max_rules=1).fit(X, Y).describe(fidelity=1.0)
    for mode in MODES:
        assert rule.text_shares[f"mode={mode}"] == pytest.approx((table["mode"] == mode).mean(), abs=1e-9)


def test_a_column_that_is_one_text_is_not_said_to_be_none_of_the_others(clf):
    said = [re.findall(r"mode is (not |sometimes )?(\w+)", rule.text) for rule in clf.rules_]
    assert any(not word for found in said for word, _ in found)
    for found in said:
        is_one, is_not = (any(word == kind for word, _ in found) for kind in ("", "not "))
        assert not (is_one and is_not)
    assert any(len(rule.conditions) > rule.text.count(" AND ") + 1 for rule in clf.rules_)


def test_markdown_and_html_say_the_same_and_json_is_for_machines(clf):
    rules = clf.rules_.regions
    count = len(SAYS.findall(rules.text))
    assert rules.markdown().count("% of its samples)") == rules.html().count("% of its samples)") == count
    assert re.search(r"`mode` is \*\*(not )?\w+\*\* \(\d+% of", rules.markdown())
    assert re.search(r"<code>mode</code> is <b>(not )?\w+</b> \(\d+% of", rules.html())
    assert any(said["feature"].startswith("mode=") for rule in rules.to_dict()["rules"] for said in rule["if"])


def test_rules_of_plain_arrays_show_texts_once_their_columns_are_named():
    X, Y = frames(machine())
    unnamed = EvolvingFuzzyClassifier(max_rules=6).fit(X.to_numpy(), Y.to_numpy())
    assert not SAYS.search(unnamed.rules_.regions.text)
    named = unnamed.rules_[0].renamed(list(X.columns), ["leak"])
    assert SAYS.search(named.text)
    assert SAYS.search(unnamed.name_columns(list(X.columns), ["leak"]).rules_.regions.text)


def test_an_explanation_says_what_the_text_is_and_is_not(clf):
    x = of_mode("very slow")[:1]
    text = clf.explain(x).text
    assert "mode is very slow" in text or "mode is not spin" in text
    assert not re.search(r"mode is (idle|spin|wash)|mode is not very slow|mode=\S+ \(", text)
    odd = x.assign(**{"mode=spin": 0.5})
    assert not re.search("mode is (not )?spin", clf.explain(odd).text)
    assert not re.search("mode is (not )?spin", clf.explain(x.assign(**{"mode=spin": np.nan})).text)


def test_a_label_turns_by_another_text_and_never_by_a_part_of_one(clf):
    turned = set()
    for mode in MODES:
        x = of_mode(mode)[:1]
        why = clf.explain(x)
        (flip,) = why.counterfactuals
        if flip is None or not flip.feature.startswith("mode="):
            continue
        assert (flip.before, flip.after) == (0.0, 1.0)
        other = x.assign(**{f"mode={name}": float(flip.feature == f"mode={name}") for name in MODES})
        assert clf.predict(other)[0, 0] != clf.predict(x)[0, 0]
        assert f"if mode were {flip.feature[5:]}\n" in why.text
        assert f"if `mode` were `{flip.feature[5:]}`\n" in why.markdown()
        turned.add(mode)
    assert turned


def test_words_survive_a_file(clf, tmp_path):
    clf.save(tmp_path / "model")
    assert EvolvingFuzzyClassifier.load(tmp_path / "model").rules_.text == clf.rules_.text
