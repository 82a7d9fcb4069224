"""The forest of answered rows: its loops against the plain twin, and its place in a learner."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.answered_forest import NaiveForest, NaiveGate, weights

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.core.rows import Batch, Rows
from evolabel.errors import DataError, DataWarning
from evolabel.model.growth import keep_features
from evolabel.stages.answered_forest.arrays import HAS_TREES, N_ANSWERED, NEXT_FIT, NO_FIT
from evolabel.stages.answered_forest.loops.learn import PLENTY
from evolabel.stages.answered_forest.stage import MOST_FORESTS, AnsweredForest, forest_of
from evolabel.stages.threshold_rules.stage import ThresholdRules


def plant(rows, seed=0, p=6):
    """Rows with gaps, and two rare faults: two limits, and a sum beyond one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    Y = np.stack([(X[:, 0] > 1.0) & (X[:, 1] > 0.0), X[:, 2] + X[:, 3] > 2.0], axis=1).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, Y


def kept(X, Y, W=None):
    """Threshold rules that have learned rows X with labels Y of the weights W."""
    trees = ThresholdRules(X.shape[1], Y.shape[1])
    trees.learn(Rows(X, Y, confidences=np.ones(Y.shape) if W is None else W, outputs=np.full(Y.shape, 0.3)))
    return trees


def learner(rows=300, budget=0.2, **options):
    """A learner whose classifier has learned `rows` of the plant, and the rows that follow."""
    X, Y = plant(rows + 600)
    classifier = EvolvingFuzzyClassifier().fit(X[:rows], Y[:rows])
    return ActiveLearner(classifier, budget, "labels", **options), X[rows:], Y[rows:]


def ask(learner, X, Y):
    """Answer what `learner` asks about the rows X."""
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)


@settings(max_examples=examples(10), deadline=None)
@given(st.integers(0, 10_000), st.integers(40, 160), st.booleans())
def test_trees_and_calibration_equal_their_twin(seed, n, weighted):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 5)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y = np.stack([X[:, 0] + rng.normal(size=n) > 1.8, rng.random(n) < 0.07], axis=1).astype(float)
    W = np.where(rng.random((n, 2)) < 0.2, 0.0, rng.choice([0.5, 1.0], (n, 2)) if weighted else 1.0)
    trees = kept(X, Y, W)
    forest, t = AnsweredForest(trees), trees.arrays
    twins = {}
    for k in range(2):
        rows = np.flatnonzero((t.rows >= 0) & (np.arange(len(t.rows)) < 2000) & (t.weights[:, k] > 0.0))
        y = t.Y[rows, k].astype(float)
        if not 2 <= y.sum() < 0.15 * len(y):
            assert not forest.arrays.clock[k, HAS_TREES]
            continue
        twin, gate = NaiveForest(k, t.X[rows], y, t.weights[rows, k]), NaiveGate()
        np.testing.assert_allclose(forest.arrays.calibration[k], twin.calibration, rtol=1e-6, atol=1e-9)
        for i, share in enumerate(twin.shares):
            if share is not None:
                f = float(np.clip(t.F[rows[i], k], 0.0, 1.0))
                gate.learn(f, twin.calibrated(share), y[i], min(1.0, t.weights[rows[i], k]))
        np.testing.assert_allclose(forest.arrays.gate[k], gate.sums, atol=1e-6)
        twins[k] = twin, gate.sums
    expected = weights([twins[k][1] if k in twins else None for k in range(2)])
    np.testing.assert_allclose(forest.weights, expected, atol=1e-6)
    asked = np.random.default_rng(seed + 1).normal(size=(20, 5))
    rows = Rows(asked, outputs=np.full((20, 2), 0.3))
    forest.answer(rows)
    for k, (twin, _) in twins.items():
        answers = np.array([twin.answer(x) for x in asked])
        np.testing.assert_allclose(rows.outputs[:, k], 0.3 + expected[k] * (answers - 0.3), atol=1e-6)


SUMS = st.tuples(st.floats(-1.0, 9.0), st.floats(0.0, 9.0), st.floats(-2.0, 9.0), st.floats(0.0, 9.0))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.none() | SUMS, min_size=1, max_size=8))
def test_weights_are_those_of_the_twin(gates):
    X, Y = plant(60)
    forest = AnsweredForest(kept(X, np.tile(Y[:, :1], len(gates))))
    for k, sums in enumerate(gates):
        forest.arrays.clock[k, HAS_TREES] = sums is not None
        forest.arrays.gate[k] = 0.0 if sums is None else sums
    expected = weights([None if sums is None else np.array(sums) for sums in gates])
    np.testing.assert_allclose(forest.weights, expected, atol=1e-12)


def test_labels_with_little_proof_share_what_is_known_of_others():
    X, Y = plant(200)
    forest = AnsweredForest(kept(X, Y))
    forest.arrays.gate[:] = [[9.0, 9.0, 6.0, 4.0], [0.0, 0.0, 0.0, 0.0]]
    assert forest.weights[1] > 0.9  # no proof of its own
    forest.arrays.gate[1] = [-2.0, 2.0, -2.0, 1.0]
    assert forest.weights[1] == 0.0  # proof against it


def test_the_gate_counts_answers_from_before_they_are_learned():
    X, Y = plant(400)
    forest = AnsweredForest(kept(X[:200], Y[:200]))
    before, twin = forest.arrays.gate.copy(), NaiveGate()
    twin.product, twin.squares, twin.gain, twin.gain_squares = before[0]
    answers = Rows(X[200:206], outputs=np.full((6, 2), 0.1))
    forest.arrays.gate[:] = [50.0, 50.0, 50.0, 50.0]
    weight = forest.weights[0]
    assert weight > 0.9  # g alone, nearly
    forest.answer(answers)
    g = 0.1 + (answers.outputs[:, 0] - 0.1) / weight
    forest.arrays.gate[:] = before
    forest.learn(Rows(X[200:206], Y[200:206], outputs=np.full((6, 2), 0.1)))
    for each, y in zip(g, Y[200:206, 0], strict=True):
        twin.learn(0.1, each, y, 1.0)
    np.testing.assert_allclose(forest.arrays.gate[0], twin.sums, atol=1e-9)


def test_trees_are_fitted_anew_once_answers_bring_news():
    X, Y = plant(420)
    forest = AnsweredForest(kept(X[:200], Y[:200]))
    news, since, fits = np.zeros(2), np.zeros(2), np.zeros(2)
    for x, y in zip(X[200:], Y[200:], strict=True):
        gate, sure = forest.arrays.gate.copy(), Rows(x[None], outputs=np.full((1, 2), 0.1))
        forest.arrays.gate[:] = [1e5, 1e5, 1e5, 1e5]  # the outputs are those of the forests alone, nearly
        forest.answer(sure)
        forest.arrays.gate[:] = gate
        assert 1 <= forest.rows_at_once <= max(1, 3 - since.max())
        forest.learn(Rows(x[None], y[None], outputs=np.full((1, 2), 0.1)))
        news, since = news + (y - sure.outputs[0]) ** 2, since + 1
        most = np.maximum(20, (forest.arrays.clock[:, N_ANSWERED] - since) // 10)
        due = (since >= most) | ((news >= 0.5) & (since >= 3))
        news[due] = since[due] = 0.0
        np.testing.assert_allclose(forest.arrays.news, news, atol=1e-3)
        fits += due
    assert (fits >= 8).all()


def test_a_learner_has_a_forest_from_its_first_answer_on_and_a_classifier_alone_has_none():
    found, X, Y = learner()
    model = found.classifier.inner.any_model
    assert model.forest is None
    ask(found, X[:40], Y[:40])
    assert model.forest is not None
    X_all, Y_all = plant(300)
    assert EvolvingFuzzyClassifier().fit(X_all, Y_all).inner.any_model.forest is None
    everything = ActiveLearner(EvolvingFuzzyClassifier().fit(X_all, Y_all), 1.0, "labels")
    ask(everything, X[:10], Y[:10])
    assert everything.classifier.inner.any_model.forest is None
    without = ActiveLearner(EvolvingFuzzyClassifier(threshold_rules=False).fit(X_all, Y_all), 0.5, "labels")
    ask(without, X[:40], Y[:40])
    assert without.classifier.inner.any_model.forest is None


def test_a_learner_that_starts_with_nothing_gets_its_forest_after_the_warm_up():
    X, Y = plant(500)
    found = ActiveLearner.start([f"x{j}" for j in range(6)], ["a", "b"], budget=0.5)
    for x, y in zip(X, Y, strict=True):
        query = found.query({f"x{j}": value for j, value in enumerate(x)})
        found.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
    assert found.classifier.inner.any_model.forest is not None


def test_few_answers_of_rare_faults_are_predicted_better(monkeypatch):
    scores = []
    for forests in (True, False):
        if not forests:
            monkeypatch.setattr("evolabel.active.learner.start_forest", lambda model: None)
        found, X, Y = learner()
        outputs = []
        for x, y in zip(X, Y, strict=True):
            query = found.query(x)
            outputs.append(query.prediction)
            found.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
        scores.append(float(((np.array(outputs) - Y) ** 2).mean()))
    assert scores[0] < scores[1]


def test_files_copies_and_reads_make_no_difference(tmp_path):
    found, X, Y = learner()
    ask(found, X[:300], Y[:300])
    found.save(tmp_path / "learner.evl")
    loaded, copied = ActiveLearner.load(tmp_path / "learner.evl"), copy.deepcopy(found)
    found.classifier.explain(X[0])
    for each in (found, loaded, copied):
        ask(each, X[300:500], Y[300:500])
    expected = found.decision_function(X[500:])
    for each in (loaded, copied):
        np.testing.assert_array_equal(each.decision_function(X[500:]), expected)


def test_explanations_add_up_and_name_similar_answered_samples():
    found, X, Y = learner()
    ask(found, X[:300], Y[:300])
    classifier = found.classifier
    forest = classifier.inner.any_model.forest
    label = int(forest.weights.argmax())
    assert forest.weights[label] > 0.0
    on = X[np.flatnonzero(Y[:, label] > 0.5)[0]]
    why = classifier.explain(on)
    np.testing.assert_allclose(why.total, classifier.decision_function(on[None])[0], atol=1e-9)
    assert why.answered_forest[label] != 0.0
    assert len(why.similar[label]) == 3
    shares = [sample.share for sample in why.similar[label]]
    assert shares == sorted(shares, reverse=True)
    assert all(0.0 < share <= 1.0 for share in shares)
    assert "similar answered samples" in str(why)
    [facts] = [each for each in why.to_dict()["labels"] if each["label"] == why.label_names[label]]
    assert facts["similar"][0]["number"] == why.similar[label][0].number
    np.testing.assert_allclose(sum(classifier.parts_[why.label_names[label]].to_dict().values()), 1.0)


def test_labels_and_features_come_and_go():
    found, X, Y = learner()
    ask(found, X[:200], Y[:200])
    classifier = found.classifier
    forest = classifier.inner.any_model.forest
    before, counted = forest.arrays.feature.copy(), forest.arrays.clock[:, N_ANSWERED].copy()
    forest.change_features(np.array([0, 1, 2, 3, 5]), 5)
    asks_about_4 = (before == 4).any(axis=(1, 2))
    np.testing.assert_array_equal(forest.arrays.clock[:, HAS_TREES] > 0, ~asks_about_4)
    np.testing.assert_array_equal(forest.arrays.clock[:, N_ANSWERED], counted)
    found, X, Y = learner()
    ask(found, X[:40], Y[:40])
    query = found.query(X[0])
    with pytest.warns(DataWarning):
        found.update(query, {"label0": 1, "new": 1})
    forest = found.classifier.inner.any_model.forest
    assert forest.arrays.feature.shape[0] == 3
    assert forest.arrays.clock[2, HAS_TREES] == 0
    assert found.decision_function(X).shape == (600, 3)


def test_a_model_whose_features_change_answers_and_learns_on():
    found, X, Y = learner()
    ask(found, X[:200], Y[:200])
    model = found.classifier.inner.any_model
    kept = np.array([0, 1, 2, 3, 5])
    feature = model.forest.arrays.feature
    feature[0][feature[0] == 4] = 3  # the trees of the first label do not ask about the one that goes
    asked = (feature == 4).any(axis=(1, 2))
    assert asked.tolist() == [False, True]
    trees, rows = model.forest.arrays.feature[~asked].copy(), np.ascontiguousarray(X[200:260][:, kept])
    keep_features(model, kept)
    place = {feature: column for column, feature in enumerate(kept.tolist())} | {-1: -1}
    expected = np.vectorize(place.get, otypes=[np.int64])(trees)
    np.testing.assert_array_equal(model.forest.arrays.feature[~asked], expected)
    assert not model.forest.arrays.clock[1, HAS_TREES]
    assert np.isfinite(model.outputs(rows)).all()
    model.learn(Batch(rows, Y[200:260]))
    assert (model.forest.arrays.clock[:, HAS_TREES] > 0).all()


def test_merged_models_have_a_forest_of_the_rows_of_both():
    one, X, Y = learner()
    ask(one, X[:200], Y[:200])
    other = EvolvingFuzzyClassifier().fit(X[200:500], Y[200:500])
    model = one.classifier.inner.any_model
    before = model.forest.arrays.clock[0, N_ANSWERED]
    forest = one.classifier.merge(other).inner.any_model.forest
    assert forest.arrays.clock[0, N_ANSWERED] > before


def test_a_forest_that_does_not_help_is_dropped_once_answers_are_plenty():
    X, Y = plant(PLENTY + 100)
    trees = kept(X[:PLENTY], Y[:PLENTY])
    forest = AnsweredForest(trees)
    forest.arrays.gate[:] = 0.0
    right = Rows(X[PLENTY:], Y[PLENTY:], outputs=Y[PLENTY:].copy())
    forest.learn(right)
    assert (forest.arrays.clock[:, NEXT_FIT] == NO_FIT).all()
    assert not forest.weights.any()
    assert forest.rows_at_once > len(X)


def test_broken_files_end_in_one_error():
    X, Y = plant(200)
    trees = kept(X, Y)
    forest = AnsweredForest(trees)
    for name, place, value in (("feature", (0, 0, 0), 6), ("child", (0, 0, 0), 0), ("gate", (0, 0), np.nan)):
        arrays = {key: array.copy() for key, array in forest.stored().items()}
        arrays[name][place] = value
        with pytest.raises(DataError):
            AnsweredForest(trees).restore(arrays)
    with pytest.raises(DataError):
        AnsweredForest(trees).restore({name: array for name, array in forest.stored().items() if name != "edge"})


def test_labels_that_are_not_rare_have_no_forest():
    X, Y = plant(300)
    Y[:, 1] = X[:, 4] > 0.0
    forest = AnsweredForest(kept(X, Y))
    np.testing.assert_array_equal(forest.arrays.clock[:, HAS_TREES], [1, 0])
    assert forest.arrays.clock[1, NEXT_FIT] == NO_FIT


def test_many_labels_have_no_forest():
    assert forest_of(ThresholdRules(2, MOST_FORESTS + 1)) is None
    assert forest_of(None) is None
