"""A model that does not fit into memory is refused before anything is allocated."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.errors import EvolabelError, OutOfMemoryError
from evolabel.paper.options import PaperOptions
from evolabel.stages.rules.arrays import allocate
from evolabel.stages.rules.kind import RuleKind, rule_settings
from evolabel.stages.rules.memory_need import memory_available

GIB = 2**30


@pytest.fixture
def small_computer(monkeypatch):
    """A computer with 2 GiB of memory."""
    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: 2 * GIB)


def wide(rows, features=5000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    return X, (X[:, :3] > 0).astype(float)


@pytest.mark.parametrize("options", [Options(), PaperOptions(space="input"), Options(max_rules=7)])
def test_the_need_is_what_is_allocated(options):
    settings = rule_settings(options, 12, np.ones(12), 1.0)
    arrays = allocate(7, 12, 3, settings)
    assert RuleKind().memory_need(12, 3, options, 7) == sum(array.nbytes for array in arrays)


@pytest.mark.usefixtures("small_computer")
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_too_many_features_are_refused_with_the_setting_that_helps(call):
    classifier = EvolvingFuzzyClassifier()
    with pytest.raises(OutOfMemoryError, match=r"5000 features and 3 labels need 23\.\d GiB for 30 rules") as error:
        getattr(classifier, call)(*wide(4))
    assert isinstance(error.value, MemoryError)
    assert isinstance(error.value, EvolabelError)
    assert "2 GiB are available; use max_rules=1 or fewer features" in str(error.value)
    assert "\n" not in str(error.value)
    assert not classifier.__sklearn_is_fitted__()


@pytest.mark.usefixtures("small_computer")
def test_a_refused_fit_leaves_the_model_as_it_was():
    X, Y = wide(40, 4)
    classifier = EvolvingFuzzyClassifier().fit(X, Y)
    before = classifier.decision_function(X)
    with pytest.raises(OutOfMemoryError):
        classifier.fit(*wide(4))
    np.testing.assert_array_equal(classifier.decision_function(X), before)


@pytest.mark.usefixtures("small_computer")
def test_without_any_number_of_rules_that_fits_fewer_features_are_advised():
    with pytest.raises(OutOfMemoryError, match="available; use fewer features"):
        EvolvingFuzzyClassifier(max_rules=1).fit(*wide(2, 7000))


def test_labels_that_do_not_fit_are_refused_and_nothing_changes(monkeypatch, state_of, assert_same_state):
    X, Y = wide(40, 4)
    classifier = EvolvingFuzzyClassifier().fit(X, Y)
    before = state_of(classifier)
    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: GIB)
    with pytest.raises(OutOfMemoryError, match="4 features and 2000000 labels need"):
        classifier.partial_fit(X[:1], np.zeros((1, 2_000_000)))
    assert_same_state(state_of(classifier), before)


def test_features_of_dictionaries_that_do_not_fit_are_refused_and_nothing_changes(monkeypatch):
    pytest.importorskip("river")
    from evolabel.adapters.river import RiverEvolvingFuzzyClassifier

    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: GIB // 3)
    many = {f"s{j}": float(j) for j in range(1000)}
    model = RiverEvolvingFuzzyClassifier(warm_up=4)
    with pytest.raises(OutOfMemoryError, match="1000 features and 1 labels need"):
        model.learn_one(many, {"leak": True})
    for i in range(20):
        model.learn_one({"heat": float(i)}, {"leak": i > 9})
    model.learn_one(many, {"leak": True})  # one value each: they wait
    before = pickle.dumps(model)
    with pytest.raises(OutOfMemoryError, match="1001 features and 2 labels need"):
        model.learn_one({name: -value for name, value in many.items()}, {"leak": True, "wear": True})
    assert pickle.dumps(model) == before


def test_nothing_is_refused_where_the_memory_is_unknown(monkeypatch):
    monkeypatch.setattr("evolabel.stages.rules.memory_need.memory_available", lambda: None)
    assert EvolvingFuzzyClassifier().partial_fit(*wide(2)).n_samples_seen_ == 2  # rows are collected, no rules yet


def test_the_memory_available_is_found_here_or_unknown():
    found = memory_available()
    assert found is None or found > 0


@pytest.mark.posix
def test_a_limit_of_the_process_counts():
    code = (
        "import json, resource; from evolabel.stages.rules.memory_need import memory_available as m; "
        f"resource.setrlimit(resource.RLIMIT_AS, ({GIB}, resource.RLIM_INFINITY)); print(json.dumps(m()))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert json.loads(found.stdout) <= GIB
