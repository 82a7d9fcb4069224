"""Every parameter refuses values outside its range, by name, when training starts."""

from typing import NamedTuple

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.paper import PaperClassifier
from evolabel.stages import OwnStage, Schema

CLASSES = (EvolvingFuzzyClassifier, PaperClassifier)
X, Y = np.arange(12.0).reshape(6, 2) % 5.0, np.array([[0, 1]] * 3 + [[1, 0]] * 3)


class Nothing(NamedTuple):
    """No arrays."""


class Silent(OwnStage):
    """Changes nothing."""

    name, schema = "silent", Schema(Nothing)

    def answer(self, rows):
        pass

    def learn_row(self, row, log):
        pass


NO_NUMBERS = ["many", None, np.nan, np.inf, -np.inf, [1.0], True]

BAD_VALUES = {
    "scaling": ["sigma", "", None, 1],
    "max_rules": [0, -3, 2.5, 100_001, 10**400, *NO_NUMBERS],
    "vigilance": [-0.1, *NO_NUMBERS],
    "novel_z": [0, -1.0, *NO_NUMBERS],
    "prior_count": [0.0, -1, 1e-300, "1e300p", *NO_NUMBERS],
    "temperature": [0, -1.0, "0p", "-1p", "p", "warm", "nanp", "infp", *NO_NUMBERS],
    "min_activation": [-0.01, 1.01, *NO_NUMBERS],
    "ridge": [0.0, -1.0, 1e-300, 1e300, "PRESS", *NO_NUMBERS],
    "global_ridge": [0.0, -1.0, 1e-300, 1e300, *NO_NUMBERS],
    "local_ridge": [0.0, -1.0, 1e-300, 1e300, "LOO", *NO_NUMBERS],
    "intercept_ridge": [0.0, -1.0, 1e-300, 1e300, *NO_NUMBERS],
    "alpha": [-0.1, *NO_NUMBERS],
    "beta": [-0.1, *NO_NUMBERS],
    "coupling": ["laplace", None, 1],
    "prox_steps": [-1, 1.5, 10_001, *NO_NUMBERS],
    "rls": [1, "yes", None],
    "follow_drift": [1, "yes", None],
    "threshold_rules": [1, "yes", None],
    "memory": [True, "all", 1],
    "lipschitz": ["exact", None],
    "parent": ["none of them", None],
    "covariance": ["round", None],
    "space": ["output", None],
    "label_weight": [0.0, -1.0, 1e-300, 1e300, *NO_NUMBERS],
    "novelty": ["chi2", None],
    "merging": ["never", None],
    "consistency": ["corner", None],
    "prune_after": [0, -1, 2.5, 10**30, 10**400, *[value for value in NO_NUMBERS if value is not None]],
    "min_support": [-1.0, *NO_NUMBERS],
    "warm_up": [1, 0, -1, 2.5, 1_000_001, *NO_NUMBERS],
    "optimise": ["f2", None, 1],
    "class_weight": ["even", 2.0, {}, {"label0": 0.0}, {"label0": "much"}, {"label0": np.nan}, {(1, 2): 1.0}, [1.0]],
    "threshold": [-0.1, 1.1, *NO_NUMBERS],
    "stages": [3, "mean", None, OwnStage(), [3], [OwnStage], [OwnStage()], (Silent(), Silent())],
}

GOOD_VALUES = {
    "scaling": ["quantile", "standard", "minmax", "none"],
    "max_rules": [1, 3.0, np.int32(2)],
    "vigilance": [0, 2.5],
    "novel_z": [0.1, 10],
    "prior_count": [0.5, 100, "2p"],
    "temperature": [1, 0.3, np.float32(0.5), "sqrt", "0.1p", "1p", "2.5p"],
    "min_activation": [0, 1, 0.5],
    "ridge": ["press", "condition", 1e-6, 10],
    "global_ridge": [1e-3, 10],
    "local_ridge": ["loo", 1e-3, 10],
    "intercept_ridge": [1e-3, 1],
    "alpha": [0, 0.5],
    "beta": [0, 0.5],
    "coupling": ["none", "ridge", "shifted", "signed_laplacian", "paper"],
    "prox_steps": [0, 1, 3.0, np.int64(2)],
    "rls": [True, False],
    "follow_drift": [True, False],
    "threshold_rules": [True, False],
    "memory": ["answers", None],
    "lipschitz": ["safe", "paper"],
    "parent": ["global", "nearest", "none"],
    "covariance": ["diag", "full"],
    "space": ["input", "product"],
    "label_weight": [0.1, 2],
    "novelty": ["deviation", "paper"],
    "merging": ["room", "touching"],
    "consistency": ["output", "angle"],
    "prune_after": [None, 1, 5.0, np.int64(4)],
    "min_support": [0, 2.5],
    "warm_up": [2, 4.0, np.int64(5)],
    "optimise": ["accuracy", "balanced", "macro_f1", "micro_f1", "subset_accuracy"],
    "class_weight": [None, "balanced", {"label0": 20}, {"label0": np.float32(0.5), "label1": 2}],
    "threshold": [0, 1, 0.25, np.float32(0.5)],
    "stages": [[], (), [Silent()], (Silent(),)],
}


def pairs(values):
    """Each class with each of the `values` of its parameters."""
    tried = [(cls, name, value) for cls in CLASSES for name in cls().get_params() for value in values[name]]
    return [pytest.param(cls, name, value, id=f"{cls.__name__}-{name}={value!r}") for cls, name, value in tried]


def test_every_parameter_is_tried():
    every = set().union(*(cls().get_params() for cls in CLASSES))
    assert BAD_VALUES.keys() == GOOD_VALUES.keys() == every


@pytest.mark.parametrize(("cls", "name", "value"), pairs(BAD_VALUES))
def test_a_bad_value_is_refused_by_name_and_nothing_is_learned(cls, name, value):
    clf = cls(**{name: value})
    before = dict(vars(clf))
    for method in ("fit", "partial_fit", "test_then_train"):
        with pytest.raises(ParameterError) as error:
            getattr(clf, method)(X, Y)
        assert isinstance(error.value, ValueError)
        assert str(error.value).startswith(f"{name}=")
        assert "\n" not in str(error.value)
        assert vars(clf).keys() == before.keys()


@pytest.mark.parametrize(("cls", "name", "value"), pairs(GOOD_VALUES))
def test_a_good_value_is_learned_with(cls, name, value):
    penalties = {"alpha": 0.0, "beta": 0.0} if cls is PaperClassifier else {}  # printed formulas diverge with them
    clf = cls(**{"warm_up": 4, **penalties, name: value}).partial_fit(X, Y)
    assert np.isfinite(clf.decision_function(X)).all()


def test_bad_parameters_leave_a_trained_model_as_it_was(trained, stream, state_of, assert_same_state):
    before = state_of(trained)
    trained.set_params(max_rules=0)
    with pytest.raises(ParameterError):
        trained.fit(*stream)
    assert_same_state(state_of(trained), before)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="n_trees"):
        EvolvingFuzzyClassifier().set_params(n_trees=3)


@pytest.mark.parametrize("threshold", [0.2, 0.8])
def test_the_threshold_cuts_the_outputs(trained, stream, threshold):
    trained.set_params(threshold=threshold)
    outputs = trained.decision_function(stream[0])
    assert np.array_equal(trained.predict(stream[0]), outputs >= threshold)
    assert ((outputs >= 0.5) != (outputs >= threshold)).any()
