"""The tree of the first rows: its loops against the plain twin, and its place in a model."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.first_tree import NaiveFirstTree

from evolabel import EvolvingFuzzyClassifier
from evolabel.checks import check_stage
from evolabel.core.rows import Rows
from evolabel.errors import DataError
from evolabel.model import pipeline
from evolabel.model.pipeline import refiners
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.stages.first_tree.arrays import ROWS_ANSWERED, ROWS_LEARNED, check_first_tree
from evolabel.stages.first_tree.stage import MOST_CELLS, FirstTree, first_tree_of

SEEDS = st.integers(0, 10_000)


def stream(rows, seed=0, p=5):
    """Rows whose two labels are a conjunction of two thresholds, and one threshold."""
    X = np.random.default_rng(seed).normal(size=(rows, p))
    return X, np.stack([(X[:, 0] > 0.2) & (X[:, 1] > -0.3), X[:, 2] > 0.5], axis=1).astype(float)


def uneven(seed, n, p=3, K=2, values=0):
    """Random rows with gaps, labels that follow two features, outputs, weights and confidences."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if values:
        X = np.round(X * values)
    Y = np.stack([X[:, k % p] + 0.5 * rng.normal(size=n) > 0.0 for k in range(K)], axis=1).astype(float)
    X[rng.random((n, p)) < 0.1] = np.nan
    Y[rng.random((n, K)) < 0.1] = np.nan
    f, w = rng.uniform(-0.5, 1.5, (n, K)), np.where(rng.random(n) < 0.05, 0.0, rng.uniform(0.1, 2.0, n))
    return X, Y, f, w, rng.uniform(0.1, 1.0, (n, K))


def learned(n, seed=0):
    """A first tree that has learned `n` rows of the stream."""
    X, Y = stream(n, seed)
    tree = FirstTree(X.shape[1], Y.shape[1])
    tree.learn(Rows(X, Y, outputs=np.full(Y.shape, 0.5)))
    return tree


def answers(tree, X, K=2):
    """What `tree` makes of outputs of one half."""
    rows = Rows(X, outputs=np.full((len(X), K), 0.5))
    tree.answer(rows)
    return rows.outputs


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(1, 260), st.sampled_from([0, 1, 3]), st.booleans(), st.sampled_from([0, 30]))
def test_the_loops_equal_their_twin(seed, n, values, plain, unknown):
    X, Y, f, w, sure = uneven(seed, n, values=values)
    Y[:unknown, 1] = np.nan
    tree, twin, out = FirstTree(3, 2), NaiveFirstTree(), f.copy()
    tree.learn(Rows(X, Y, *(() if plain else (w, sure)), outputs=out))
    W = np.isfinite(Y) * (1.0 if plain else np.minimum(w, 1.0)[:, None] * sure)
    expected = [twin.learn(*row) for row in zip(X, Y, W, f, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(tree.arrays.losses, [*twin.losses, twin.seen], atol=1e-9)
    assert tree.arrays.clock[ROWS_LEARNED] == len(twin.rows)
    assert tree.weight == pytest.approx(twin.weight, abs=1e-9)
    if not tree.is_over:
        np.testing.assert_allclose(answers(tree, X), [twin.answer(x, np.full(2, 0.5)) for x in X], atol=1e-9)


@settings(max_examples=examples(10), deadline=None)
@given(st.lists(st.integers(1, 280), max_size=4))
def test_files_and_cuts_between_rows_make_no_difference(cuts):
    X, Y, f, w, sure = uneven(3, 280)
    whole, parts, out, found = FirstTree(3, 2), FirstTree(3, 2), f.copy(), f.copy()
    whole.learn(Rows(X, Y, w, sure, outputs=out))
    for part in np.split(np.arange(280), sorted(cuts)):
        rows = slice(part[0], part[-1] + 1) if len(part) else slice(0, 0)
        parts.learn(Rows(X[rows], Y[rows], w[rows], sure[rows], outputs=found[rows]))
        check_first_tree(parts.stored(), 3, 2)
        again = FirstTree(3, 2)
        again.restore(parts.stored())
        np.testing.assert_array_equal(answers(again, X), answers(parts, X))
        parts = copy.deepcopy(again)
    np.testing.assert_array_equal(found, out)


def test_conjunctions_are_answered_from_the_first_rows_on(monkeypatch):
    def right(seed):
        X, Y = stream(232, seed)
        outputs = EvolvingFuzzyClassifier().test_then_train(X, Y)
        return ((outputs[20:150] > 0.5) == (Y[20:150] > 0.5)).mean()

    with_tree = np.mean([right(seed) for seed in range(3)])
    monkeypatch.setattr(pipeline, "first_tree_of", lambda *_, **__: None)
    assert with_tree > np.mean([right(seed) for seed in range(3)]) + 0.05


def test_the_stage_is_absent_once_it_is_over_and_leaves_the_others_as_they_were(monkeypatch):
    X, Y = stream(500)
    clf = EvolvingFuzzyClassifier(memory=None).partial_fit(X[:231], Y[:231])
    assert [stage.name for stage in refiners(clf.inner.any_model)] == ["threshold_rules", "first_tree"]
    outputs = clf.partial_fit(X[231:240], Y[231:240]).test_then_train(X[240:], Y[240:])
    assert [stage.name for stage in refiners(clf.inner.any_model)] == ["threshold_rules"]
    monkeypatch.setattr(pipeline, "first_tree_of", lambda *_, **__: None)
    without = EvolvingFuzzyClassifier(memory=None).partial_fit(X[:240], Y[:240])
    np.testing.assert_array_equal(without.test_then_train(X[240:], Y[240:]), outputs)


def test_a_label_without_an_answer_keeps_the_outputs_before_the_tree():
    X, Y = stream(100)
    clf = EvolvingFuzzyClassifier().fit(X, np.column_stack([Y, np.full(100, np.nan)]))
    assert clf.inner.any_model.first_tree.weight > 0.5
    assert clf.explain(X[0]).first_tree[2] == 0.0
    new = EvolvingFuzzyClassifier().fit(X, Y).partial_fit(X[:1], np.column_stack([Y[:1], [np.nan]]))
    for each in (clf, new):
        assert (each.decision_function(X)[:, 2] < 0.1).all()  # not one half, from which on it would be predicted


def test_a_label_that_appears_changes_others_only_while_the_tree_answers():
    X, Y = stream(400)
    narrow, wide = (EvolvingFuzzyClassifier(memory=None).fit(X[:60], Y[:60]) for _ in range(2))
    expected = narrow.test_then_train(X[60:], Y[60:])
    found = wide.test_then_train(X[60:], np.column_stack([Y[60:], X[60:, 3] > 0.0]))[:, :2]
    assert (found[:170] != expected[:170]).any()
    np.testing.assert_allclose(found[ROWS_ANSWERED - 60 :], expected[ROWS_ANSWERED - 60 :], rtol=1e-12)


def test_a_batch_of_many_rows_has_no_first_tree():
    X, Y = stream(ROWS_ANSWERED)
    assert EvolvingFuzzyClassifier().fit(X, Y).inner.any_model.first_tree is None
    few = EvolvingFuzzyClassifier().fit(X[:-1], Y[:-1])
    assert few.inner.any_model.first_tree.arrays.clock[ROWS_LEARNED] == ROWS_ANSWERED - 1
    assert EvolvingFuzzyClassifier(threshold_rules=False).fit(X[:50], Y[:50]).inner.any_model.first_tree is None
    assert first_tree_of(MOST_CELLS // 10, 11, exclusive=False) is None


def test_a_part_of_the_explanation_is_that_of_the_tree():
    X, Y = stream(60)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    why = clf.explain(X[0])
    assert np.abs(why.first_tree).max() > 0.01
    np.testing.assert_allclose(why.total, clf.decision_function(X[:1])[0], atol=1e-9)
    assert f"{why.first_tree[0]:+.3f} from the tree of the first rows" in why.text
    assert why.to_dict()["labels"][0]["first_tree"] == why.first_tree[0]
    parts = clf.parts_["label0"]
    assert sum(parts.to_dict().values()) == pytest.approx(1.0)
    assert f"tree of the first rows {100.0 * parts.first_tree:.0f} %" in str(parts)


# ---------------------------------------------------------------- other widths, merging, files


def test_new_labels_are_unknown_and_new_classes_are_not_carried():
    X, _ = stream(30, seed=1)
    tree = learned(60)
    before = answers(tree, X)
    tree.grow_labels(3)
    after = answers(tree, X, 3)
    np.testing.assert_array_equal(after[:, :2], before)
    np.testing.assert_array_equal(after[:, 2], 0.5)
    classes = FirstTree(5, 2, exclusive=True)
    Z, Y = stream(60)
    classes.learn(Rows(Z, np.eye(2)[Y[:, 0].astype(int)], outputs=np.full(Y.shape, 0.5)))
    classes.grow_labels(3)
    assert answers(classes, X, 3)[:, 2].max() < 0.5 - 0.4 * classes.weight


def test_a_feature_that_goes_is_asked_about_no_more_and_one_that_comes_is_missing():
    X, Y = stream(60)
    whole, part = learned(60), FirstTree(4, 2)
    part.learn(Rows(X[:, 1:].copy(), Y, outputs=np.full(Y.shape, 0.5)))
    whole.change_features(np.arange(1, 5), 5)
    whole.arrays.losses[:] = part.arrays.losses
    narrow = X[:, 1:].copy()
    np.testing.assert_array_equal(answers(whole, np.column_stack([narrow, np.zeros(60)])), answers(part, narrow))


def test_of_two_models_the_tree_of_the_one_that_has_learned_rows_is_kept():
    X, _ = stream(30, seed=1)
    taught, empty = learned(60), FirstTree(5, 2)
    before = answers(taught, X)
    taught.merge(empty, np.arange(2))
    np.testing.assert_array_equal(answers(taught, X), before)
    placed = FirstTree(5, 3)
    placed.merge(taught, np.array([2, 0]))
    found = answers(placed, X, 3)
    np.testing.assert_array_equal(found[:, [2, 0]], answers(taught, X))
    np.testing.assert_array_equal(found[:, 1], 0.5)
    taught.merge(learned(20), np.arange(2))
    assert taught.is_over


def test_merged_classifiers_have_the_tree_of_the_one_that_has_learned():
    X, Y = stream(120)
    clf = EvolvingFuzzyClassifier().fit(X, Y)
    sibling = clf.sibling()
    assert sibling.merge(clf).inner.any_model.first_tree is not None
    assert clf.merge(EvolvingFuzzyClassifier().fit(*stream(120, seed=2))).inner.any_model.first_tree is None


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("clock", np.array([30, 31]), "clock"),
        ("clock", np.array([29, 20]), "X"),
        ("Y", np.full((30, 2), 0.5), "Y"),
        ("weights", np.zeros((30, 2)), "weights"),
        ("losses", np.array([0.1, 1.5, 3.0]), "losses"),
        ("losses", np.array([0.1, np.nan, 3.0]), "losses"),
        ("X", np.zeros((30, 4)), "X"),
    ],
)
def test_damaged_arrays_are_refused(name, value, told):
    with pytest.raises(DataError, match=told):
        check_first_tree({**learned(30).stored(), name: value}, 5, 2)


def test_a_file_without_threshold_rules_has_no_first_tree():
    X, Y = stream(60)
    arrays, facts = model_to_arrays(EvolvingFuzzyClassifier().fit(X, Y).inner.any_model)
    others = {name: array for name, array in arrays.items() if not name.startswith("thresholds.")}
    facts["options"]["threshold_rules"] = False
    with pytest.raises(DataError, match="first tree"):
        model_from_arrays(others, facts)


@pytest.mark.parametrize("exclusive", [False, True])
def test_what_a_model_relies_on(exclusive):
    check_stage(FirstTree(4, 3, exclusive=exclusive))
