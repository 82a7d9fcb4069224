"""Labels learn from the answers of others: covariances and expected errors against their twins, and in a learner."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import relatives as naive
from small_members import small_members

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.stages.drift.arrays import FINAL
from evolabel.stages.drift.loops import relatives as relatives_module
from evolabel.stages.drift.relatives import covariances

kernels = CallableKernels(relatives_module)


def related_errors(seed, n, K, gaps):
    """Errors of labels that go together, some of them unknown; those of the last label are positive in few rows."""
    rng = np.random.default_rng(seed)
    errors = np.clip(0.3 * rng.normal(size=(n, 1)) + 0.2 * rng.normal(size=(n, K)), -1.0, 1.0)
    errors[:, -1] = -np.abs(errors[:, -1])
    errors[rng.random((n, K)) < gaps] = np.nan
    return errors


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 60), st.integers(1, 5), st.sampled_from([0.0, 0.3, 1.0]))
def test_covariances_equal_their_twin_and_can_be_inverted(seed, n, K, gaps):
    errors = related_errors(seed, n, K, gaps)
    S = covariances(errors)
    if n:
        np.testing.assert_allclose(S, naive.covariances(errors), rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(S)[0] > 0.0
    assert np.array_equal(S, S.T)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.0, 1.0))
def test_expected_errors_equal_their_twin(seed, K, unknown):
    rng = np.random.default_rng(seed)
    members = small_members(2, K, rng)
    S = covariances(related_errors(seed, 60, K, 0.1))
    members = members._replace(arrays=members.arrays._replace(relatives=S), root=np.empty((K, K)))
    y = np.where(rng.random(K) < unknown, np.nan, (rng.random(K) < 0.5).astype(float))
    members.F[FINAL] = rng.normal(0.5, 0.6, K)
    members.fast.work.confidence[:] = ~np.isnan(y)
    kernels.expect_errors(y, float(np.mean(~np.isnan(y))), members)
    found = np.where(np.isnan(y), members.fast.work.expected, 0.0)
    np.testing.assert_allclose(found, naive.expected_errors(S, y, members.F[FINAL]), rtol=1e-9, atol=1e-12)


def answered(options, rows=400):
    """A classifier that was asked about one of two labels, which are the same in most rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, 3))
    Y = (rng.normal(size=(rows, 1)) + 0.3 * rng.normal(size=(rows, 2)) + X[:, :1] > 0.5).astype(float)
    learner = ActiveLearner(EvolvingFuzzyClassifier(**options).fit(X[:200], Y[:200]), 0.4, "labels")
    for x, y in zip(X[200:], Y[200:], strict=True):
        query = learner.query(x)
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
    return learner


def test_an_answer_changes_the_labels_beside_it_and_files_keep_how(tmp_path):
    learner = answered({})
    model = learner.classifier.inner.any_model
    assert model.drift.arrays.relatives[0, 1] > 0.01
    x = np.zeros(3)
    learner.save(tmp_path / "learner.evl")
    loaded = ActiveLearner.load(tmp_path / "learner.evl")
    for each in (learner, loaded):
        before = each.decision_function(x[None])[0]
        each.classifier.partial_fit(x[None], [[1.0, np.nan]])
        after = each.decision_function(x[None])[0]
        assert (after > before).all()
    assert np.array_equal(learner.decision_function(x[None]), loaded.decision_function(x[None]))


def test_a_classifier_alone_has_no_covariances_and_labels_beside_an_answer_stay():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(200, 3)), (rng.random((200, 2)) < 0.4).astype(float)
    classifier = EvolvingFuzzyClassifier().fit(X, Y)
    assert classifier.inner.any_model.drift.arrays.relatives.shape == (2, 0)
    assert answered({"follow_drift": False}).classifier.inner.any_model.drift.packed is None


def test_only_positives_have_errors_above_0():
    learner = answered({})
    trees = learner.classifier.inner.any_model.trees
    trees.arrays.F[:] -= 2.0  # outputs of negatives below 0
    known = trees.arrays.rows[:2000] >= 0
    errors, Y = trees.errors(), trees.arrays.Y[:2000][known]
    assert not (errors[Y == 0.0] > 0.0).any()
    assert (errors[Y == 1.0] > 0.0).any()


def test_a_merged_model_learns_labels_beside_an_answer_if_one_of_both_has():
    learner = answered({})
    alone = learner.classifier.sibling()
    rng = np.random.default_rng(3)
    alone.partial_fit(rng.normal(size=(30, 3)), (rng.random((30, 2)) < 0.5).astype(float))
    merged = alone.merge(learner.classifier).inner.any_model
    assert merged.forest is not None
    assert merged.drift.arrays.relatives.shape == (2, 2)
