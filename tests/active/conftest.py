"""A trained classifier, criteria whose scores a test can set, and ways to compare learners bit for bit."""

import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from choices import pairs

from active.ordered_streams import ordered_stream
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import Criterion, register


@register
@dataclass(frozen=True)
class FirstFeature(Criterion):
    """The score of a sample is the size of its first feature."""

    threshold: float = 0.5
    name: ClassVar[str] = "first_feature"

    def score(self, rows):
        return np.abs(np.nan_to_num(rows.X[:, 0]))


@register
@dataclass(frozen=True)
class EveryLabel(Criterion):
    """The same score for every label, a little more for the later ones."""

    threshold: float = 0.5
    name: ClassVar[str] = "every_label"
    whole: ClassVar[bool] = False

    def score(self, rows):
        return np.abs(np.nan_to_num(rows.X[:, :1])) + 0.01 * np.arange(rows.outputs.shape[1])


@pytest.fixture(scope="session")
def batch(stream):
    return stream[0][:60], stream[1][:60]


@pytest.fixture(scope="session")
def trained(batch):
    """The classifier itself; not to be changed."""
    return EvolvingFuzzyClassifier(max_rules=4).fit(*batch)


@pytest.fixture
def classifier(trained):
    """A trained classifier of 4 features and 3 labels."""
    return copy.deepcopy(trained)


@pytest.fixture(scope="session")
def frozen():
    """The state of a learner as bytes."""

    def freeze(learner):
        state = copy.deepcopy(vars(learner))
        state.pop("_stride"), state.pop("_patience")  # they only save time
        return pickle.dumps(state)

    return freeze


SELECTIONS = {
    "default": {},
    "quantile": {"criteria": "ambiguity", "selection": "quantile"},
    "tokens": {"criteria": ("leverage", "ambiguity"), "selection": "tokens"},
    "first_come": {"criteria": ("novelty", "ambiguity", "instability"), "selection": "first_come"},
    "variable": {"criteria": ("novelty", "ambiguity", "instability"), "selection": "variable"},
    "random": {"criteria": "ambiguity", "selection": "random"},
    "own": {"criteria": ("first_feature", "every_label"), "selection": "variable"},
}


@pytest.fixture(params=SELECTIONS)
def selection(request):
    """Each selection in turn."""
    return SELECTIONS[request.param]


@pytest.fixture(params=["samples", "labels"])
def per(request):
    return request.param


every_selection = pytest.mark.parametrize(("selection", "per"), pairs(SELECTIONS, ["samples", "labels"]), indirect=True)
"""Mark of tests of each selection, in `make test` with one of both kinds of questions."""


@pytest.fixture(scope="module")
def events():
    return ordered_stream()


@pytest.fixture(scope="module")
def shuffled(events):
    order = np.random.default_rng(1).permutation(len(events[0]))
    return events[0][order], events[1][order]
