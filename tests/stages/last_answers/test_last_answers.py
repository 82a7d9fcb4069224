"""The stage of the last answers: its loops against their plain twin, and what it is for."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.last_answers import NaiveLastAnswers

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import NO_WEIGHTS, NOT_GIVEN, Batch, Rows
from evolabel.errors import DataError
from evolabel.stages.last_answers.arrays import LAST_ANSWER_ARRAYS
from evolabel.stages.last_answers.stage import LastAnswers, near_rows


def stream(rng, n, p, K, *, exclusive=False, run=8, gaps=0.0):
    """Rows, labels that persist for about `run` rows, outputs that guess, weights and confidences."""
    X, F = rng.normal(size=(n, p)), rng.uniform(-0.2, 1.2, (n, K))
    if exclusive:
        Y = np.eye(K)[np.repeat(rng.integers(0, K, n // run + 1), run)[:n]]
        Y[rng.random(n) < gaps] = np.nan
    else:
        Y = np.stack([np.repeat(rng.integers(0, 2, n // run + 1), run)[:n] for _ in range(K)], axis=1).astype(float)
        Y[rng.random((n, K)) < gaps] = np.nan
    X[rng.random((n, p)) < gaps] = np.nan
    return X, Y, F, rng.choice([0.0, 0.5, 1.0, 3.0], n), rng.uniform(0.2, 1.0, (n, K))


def learn(stage, X, Y, F, weights=NO_WEIGHTS, confidences=NOT_GIVEN):
    """Let the stage learn all rows; return the outputs that follow the last answers."""
    rows = Rows(X, Y, weights, confidences, outputs=F.copy())
    rows.followed = np.empty(F.shape)
    stage.learn(rows, None)
    np.testing.assert_array_equal(rows.outputs, F)
    return rows.followed


def answer(stage, X, F, first):
    """The outputs of rows of which the first comes `first` rows after the last learned one."""
    rows = Rows(X, outputs=F.copy())
    rows.follows = np.arange(first, first + len(X))
    stage.answer(rows)
    return rows.outputs


def trained(seed=0, n=300, p=2, K=2, **how):
    """A stage that has learned a stream of persisting labels."""
    stage = LastAnswers(p, K, exclusive=how.get("exclusive", False))
    X, Y, F, *_ = stream(np.random.default_rng(seed), n, p, K, **how)
    learn(stage, X, Y, F)
    return stage


@settings(max_examples=examples(25))
@given(
    st.integers(0, 10_000),
    st.integers(1, 3),
    st.sampled_from([(1, False), (3, False), (2, True), (3, True)]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
)
def test_answers_and_learning_are_those_of_the_twin(seed, p, labels, gaps, weighted):
    (K, exclusive), rng = labels, np.random.default_rng(seed)
    stage, twin = LastAnswers(p, K, exclusive=exclusive), NaiveLastAnswers(p, K, exclusive=exclusive)
    n = 160
    X, Y, F, weights, confidences = stream(rng, n, p, K, exclusive=exclusive, gaps=gaps)
    found = learn(stage, X, Y, F, *((weights, confidences) if weighted else ()))
    expected = np.empty(F.shape)
    for i in range(n):
        expected[i] = twin.answer(X[i], F[i])
        w = weights[i] if weighted else 1.0
        twin.learn(X[i], Y[i], min(w, 1.0) * (confidences[i] if weighted else np.ones(K)), F[i], w)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    later, outputs = rng.normal(size=(5, p)), rng.random((5, K))
    after = answer(stage, later, outputs, 1)
    for i in range(5):
        np.testing.assert_allclose(after[i], twin.answer(later[i], outputs[i], i + 1), rtol=1e-9, atol=1e-12)


def test_what_persists_is_answered_by_the_last_answers():
    rng = np.random.default_rng(1)
    X, Y, F, *_ = stream(rng, 1000, 2, 2, run=20)
    found = learn(LastAnswers(2, 2), X, Y, F)
    assert ((found >= 0.5) == Y)[200:].mean() > 0.93
    assert ((F >= 0.5) == Y)[200:].mean() < 0.6


def test_where_answers_come_at_random_outputs_stay_good():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(2000, 2)), (rng.random((2000, 2)) < 0.5).astype(float)
    F = np.clip(0.8 * Y + 0.1 + rng.normal(0.0, 0.2, Y.shape), 0.0, 1.0)
    found = learn(LastAnswers(2, 2), X, Y, F)
    assert ((found >= 0.5) == Y).mean() > ((F >= 0.5) == Y).mean() - 0.001


@pytest.mark.parametrize("first", [5, 6, 1000])
def test_rows_that_come_too_late_have_plain_outputs(first):
    X, F = np.zeros((3, 2)), np.full((3, 2), 0.4)
    np.testing.assert_array_equal(answer(trained(), X, F, first), F)


def test_rows_near_the_last_answer_have_other_outputs_and_older_ones_count_less():
    stage = trained(n=2000, run=8)
    X, F = np.zeros((6, 2)), np.full((6, 2), 0.4)
    changed = answer(stage, X, F, 1) != F
    assert changed[:4].all()
    assert not changed[4:].any()


def test_a_label_with_few_answers_keeps_its_output():
    rng = np.random.default_rng(3)
    X, Y, F, *_ = stream(rng, 400, 2, 2)
    Y[98:, 1] = np.nan
    Y[-2:, 1] = 1.0  # its answers 99 and 100
    stage = LastAnswers(2, 2)
    learn(stage, X[:-2], Y[:-2], F[:-2])
    for i, known in ((-2, False), (-1, True)):
        stage_before = copy.deepcopy(stage)
        learn(stage, X[[i]], Y[[i]], F[[i]])
        assert (answer(stage_before, X[:1], F[:1], 1)[0] != F[0]).tolist() == [True, False]
        assert (answer(stage, X[:1], F[:1], 1)[0] != F[0]).tolist() == [True, known]


@pytest.mark.parametrize("run", [1, 12])
def test_a_rare_label_follows_its_last_answers_only_where_its_positives_come_in_runs(run):
    rng = np.random.default_rng(4)
    X, starts = rng.normal(size=(2000, 2)), rng.random((2000 // run + 1, 2)) < 0.05
    Y = np.repeat(starts, run, axis=0)[:2000].astype(float)
    F = np.clip(0.6 * Y + 0.1 + rng.normal(0.0, 0.2, Y.shape), 0.0, 1.0)
    found = learn(LastAnswers(2, 2), X, Y, F)
    if run == 1:
        np.testing.assert_array_equal(found, F)
    else:
        assert ((found - Y) ** 2).mean() < 0.7 * ((F - Y) ** 2).mean()


def test_rows_without_an_answer_let_the_last_answers_grow_old():
    stage, X, F = trained(), np.zeros((4, 2)), np.full((4, 2), 0.4)
    expected = answer(stage, X, F, 1)
    learn(stage, X[:2], np.full((2, 2), np.nan), F[:2])
    np.testing.assert_array_equal(answer(stage, X[2:], F[2:], 1), expected[2:])
    stage.advance(2)
    np.testing.assert_array_equal(answer(stage, X, F, 1), F)
    stage.advance(-4)
    np.testing.assert_array_equal(answer(stage, X, F, 1), expected)


def test_answering_changes_nothing():
    stage = trained()
    before = copy.deepcopy(stage.arrays)
    answer(stage, np.ones((4, 2)), np.full((4, 2), 0.3), 1)
    for name, array in stage.arrays._asdict().items():
        np.testing.assert_array_equal(array, getattr(before, name), err_msg=name)


def test_three_classes_have_the_same_weights():
    stage = trained(n=400, K=3, exclusive=True)
    f = np.array([[0.7, 0.7, 0.1]])
    out = answer(stage, np.zeros((1, 2)), f, 1)
    assert out.min() >= 0.0
    assert out.max() <= 1.0
    np.testing.assert_array_equal(stage.arrays.n_losses, stage.arrays.n_losses[0])


def test_rows_alone_give_the_bits_of_rows_at_once():
    rng = np.random.default_rng(5)
    X, Y, F, weights, confidences = stream(rng, 200, 2, 3, gaps=0.2)
    whole, single = LastAnswers(2, 3), LastAnswers(2, 3)
    at_once = learn(whole, X, Y, F, weights, confidences)
    rows = [slice(i, i + 1) for i in range(200)]
    alone = [learn(single, X[i], Y[i], F[i], weights[i], confidences[i])[0] for i in rows]
    np.testing.assert_array_equal(at_once, alone)


# ---------------------------------------------------------------------- other widths, merging, files


def test_a_new_label_has_no_answers_and_changes_no_others():
    stage, X = trained(n=400), np.zeros((1, 2))
    before = answer(stage, X, np.full((1, 2), 0.4), 1)
    stage.grow_labels(3)
    after = answer(stage, X, np.full((1, 3), 0.4), 1)
    np.testing.assert_array_equal(after[:, :2], before)
    assert after[0, 2] == 0.4


def test_a_new_class_was_not_there_before():
    stage = trained(n=400, K=3, exclusive=True)
    stage.grow_labels(4)
    out = answer(stage, np.zeros((1, 2)), np.array([[0.3, 0.3, 0.3, 0.1]]), 1)
    assert out[0].argmax() != 3
    np.testing.assert_array_equal(stage.arrays.at[3], stage.arrays.at[0])
    np.testing.assert_array_equal(stage.arrays.answers[3], 0.0)


def test_features_come_and_go():
    stage = trained(n=400)
    before = answer(stage, np.ones((1, 2)), np.full((1, 2), 0.4), 1)
    stage.change_features(np.arange(2), 3)
    wider = answer(stage, np.array([[1.0, 1.0, np.nan]]), np.full((1, 2), 0.4), 1)
    np.testing.assert_allclose(wider, before, rtol=1e-14)
    stage.change_features(np.array([0]), 1)
    assert stage.arrays.W.shape == (2, 2)


def test_merging_with_one_that_has_learned_nothing_changes_nothing():
    stage = trained(n=400)
    before = copy.deepcopy(stage.arrays)
    stage.merge(LastAnswers(2, 2), np.arange(2))
    for name, array in stage.arrays._asdict().items():
        np.testing.assert_allclose(array, getattr(before, name), rtol=1e-12, atol=1e-12, err_msg=name)


def test_merged_counts_add_up_by_label_and_the_last_answers_are_those_of_the_first():
    mine, theirs = trained(0, n=60), trained(1, n=50)
    expected = mine.arrays.counts + theirs.arrays.counts[::-1]
    at = mine.arrays.at.copy()
    mine.merge(theirs, np.array([1, 0]))
    np.testing.assert_allclose(mine.arrays.counts, expected, rtol=1e-12)
    np.testing.assert_array_equal(mine.arrays.at, at)
    LastAnswers(2, 2).restore(LAST_ANSWER_ARRAYS.arrays_of(mine.arrays))


def test_what_was_merged_answers_as_both():
    halves = [trained(seed, n=600, run=20) for seed in (0, 1)]
    X, F = np.zeros((1, 2)), np.full((1, 2), 0.5)
    last = halves[0].arrays.answers[np.arange(2), halves[0].arrays.at.argmax(axis=1)]
    halves[0].merge(halves[1], np.arange(2))
    np.testing.assert_array_equal(answer(halves[0], X, F, 1)[0] > 0.5, last > 0.5)


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("at", lambda a: a + 10_000, "rows of the past"),
        ("at", lambda a: a - 1, "each row in its place"),
        ("answers", lambda a: a * 0.5 + 0.25, "0 or 1"),
        ("counts", lambda a: a[..., ::-1].copy(), "no more positives than answers"),
        ("residuals", lambda a: a + 2.0, "values from -1 to 1"),
        ("W", lambda a: a[:1], "shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change, expected):
    arrays = LAST_ANSWER_ARRAYS.arrays_of(trained().arrays)
    LastAnswers(2, 2).restore(arrays)
    with pytest.raises(DataError, match=expected):
        LastAnswers(2, 2).restore({**arrays, name: change(arrays[name])})


def test_a_copy_has_arrays_of_its_own():
    stage = trained()
    twin = copy.deepcopy(stage)
    learn(twin, np.ones((1, 2)), np.ones((1, 2)), np.full((1, 2), 0.5))
    assert twin.arrays.row[0] == stage.arrays.row[0] + 1


def test_only_the_first_rows_are_near():
    assert [near_rows(first).tolist() for first in (1, 3, 4, 5, 10**30)] == [[1, 2, 3, 4], [3, 4], [4], [], []]


@pytest.mark.parametrize("left_before", [0.0, 1e3])
def test_rows_that_the_memory_has_not_learned_are_calibrated_by_their_plain_outputs(left_before, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 2))
    Y = (X > 0.0).astype(float)
    model = EvolvingFuzzyClassifier(max_rules=3).fit(X[:300], Y[:300]).inner.any_model

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LastAnswers, "learn", stop)
    outputs, plain = np.full((30, 2), left_before), np.zeros((30, 2))
    with pytest.raises(KeyboardInterrupt):
        model.learn_rows(Batch(X[300:], Y[300:], outputs=outputs, plain=plain))
    np.testing.assert_array_equal(outputs, plain)
