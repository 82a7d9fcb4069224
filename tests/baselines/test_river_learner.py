"""river's models give the same answers inside the harness as outside."""

import re
import sys

import numpy as np
import pytest
from river import dummy, linear_model, multioutput, preprocessing, stats, tree

from evolabel._utils.optional import install_command
from evolabel.baselines import RiverLearner, river_model
from evolabel.errors import MissingDependencyError, ParameterError

INITIAL = 60
MODELS = {
    ("per_output", "logistic"): lambda: (
        preprocessing.StandardScaler() | multioutput.PerOutputClassifier(linear_model.LogisticRegression())
    ),
    ("chain", "logistic"): lambda: (
        preprocessing.StandardScaler() | multioutput.ClassifierChain(linear_model.LogisticRegression())
    ),
    ("per_output", "hoeffding"): lambda: multioutput.PerOutputClassifier(tree.HoeffdingTreeClassifier()),
    ("chain", "hoeffding"): lambda: multioutput.ClassifierChain(tree.HoeffdingTreeClassifier()),
}


def by_hand(model, X, Y):
    """Scores of river's own loop on scaled rows, gaps left out."""
    low, high = np.nanmin(X[:INITIAL], axis=0), np.nanmax(X[:INITIAL], axis=0)
    scores = np.zeros(Y.shape)
    for i, (z, y) in enumerate(zip((X - low) / (high - low), Y, strict=True)):
        x = {f"x{j}": value for j, value in enumerate(z) if not np.isnan(value)}
        for label, chances in model.predict_proba_one(x).items():
            scores[i, int(label[1:])] = chances.get(True, 0.0)
        if not np.isnan(y).all():
            model.learn_one(x, {f"y{k}": bool(value) for k, value in enumerate(y) if not np.isnan(value)})
    return scores[INITIAL:]


@pytest.mark.parametrize("kind", MODELS, ids="-".join)
def test_equals_the_loop_of_river(kind, gappy_stream):
    X, Y = gappy_stream
    learner = RiverLearner(river_model(*kind)).fit(X[:INITIAL], Y[:INITIAL])
    scores = learner.test_then_train(X[INITIAL:], Y[INITIAL:])
    np.testing.assert_array_equal(scores, by_hand(MODELS[kind](), X, Y))


def test_models_without_probabilities_answer_by_their_predictions(stream):
    X, Y = stream
    learner = RiverLearner(multioutput.PerOutputRegressor(dummy.StatisticRegressor(stats.Mean()))).fit(X, Y)
    np.testing.assert_allclose(learner.decision_function(X), np.tile(Y.mean(axis=0), (len(X), 1)))


def test_the_model_itself_learns_nothing(stream):
    model = multioutput.PerOutputClassifier(linear_model.LogisticRegression())
    learner = RiverLearner(model).fit(*stream)
    assert learner.model is model
    assert len(model) == 0


def test_only_river_models_are_taken(stream):
    with pytest.raises(ParameterError, match="use a river model"):
        RiverLearner(42).fit(*stream)


@pytest.mark.parametrize("kind", [("stack", "logistic"), ("chain", "perceptron")])
def test_unknown_models_are_refused_with_the_known_ones(kind):
    with pytest.raises(ParameterError, match=r"is unknown; use one of (per_output, chain|logistic, hoeffding)"):
        river_model(*kind)


def test_without_river_the_command_that_installs_it_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.multioutput", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("river"))):
        river_model("chain", "logistic")
