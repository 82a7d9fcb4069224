"""The page of the reference about the arrays of a model file has every array that files have."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import SELECTORS, ActiveLearner
from evolabel.persistence.model_file import read_model_file
from evolabel.streams import DriftingStream

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
from array_reference import PARTS, arrays_page

_DESCRIBED_IN_WORDS = re.compile(r"change\.\d+\.")
_OF_A_QUESTION = re.compile(r"pending\.\d+\.(scores\.\w+)?")

_CELLS = re.compile(r"   \* - ``(.+)``\n" + r"     - (.*)\n" * 5)


@pytest.fixture(scope="module")
def rows():
    """The cells behind the names of arrays, by name; decisions have arrays of one name for each of their kinds."""
    found = {}
    for name, *cells in _CELLS.findall(arrays_page()):
        found.setdefault(name, []).append(cells)
    return found


def stored_arrays(learned, path):
    learned.save(path)
    return read_model_file(path)[0]


def answered(classifier, X, Y, **parameters):
    """A learner that has asked about the rows, and waits for the answers to every other question."""
    learner = ActiveLearner(classifier, 0.3, **parameters)
    for row, (x, y) in enumerate(zip(X, Y, strict=True)):
        query = learner.query(x)
        if query.asked and row % 2:
            learner.mark_pending(query)
        else:
            learner.update(query, y if query.asked else None)
    return learner


def require_rows(rows, arrays):
    """Each of the arrays is on the page with its type and number of axes."""
    for name, array in arrays.items():
        found = rows[_OF_A_QUESTION.sub(lambda m: "pending.N." + ("scores.criterion" if m[1] else ""), name)]
        sizes = [(len([axis for axis in axes.split(", ") if axis]), dtype) for axes, dtype, *_ in found]
        assert (array.ndim, np.dtype(array.dtype).name) in sizes, name


@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1", "subset_accuracy", "balanced"])
def test_every_array_of_a_learner_is_on_the_page_with_its_type_and_number_of_axes(rows, tmp_path, optimise):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=0).take(400)
    clf = EvolvingFuzzyClassifier(max_rules=6, optimise=optimise).fit(X[:200], Y[:200])
    clf.rulebook.add("IF x0 IS high THEN label0 LIKELY")
    learner = answered(clf, X[200:], Y[200:])
    clf.rulebook.rename(0, "first")  # an edit that can be undone
    arrays = stored_arrays(learner, tmp_path / "learner")
    named = {name: array for name, array in arrays.items() if not _DESCRIBED_IN_WORDS.match(name)}
    assert len(named) > 90
    require_rows(rows, named)


@pytest.mark.parametrize("per", ["samples", "labels"])
@pytest.mark.parametrize("selection", SELECTORS)
def test_every_array_of_a_selector_is_on_the_page(rows, tmp_path, selection, per):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=0).take(140)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])
    learner = answered(clf, X[60:], Y[60:], per=per, selection=selection, criteria="ambiguity")
    arrays = stored_arrays(learner, tmp_path / "learner")
    require_rows(rows, {name: array for name, array in arrays.items() if name.startswith("active.")})


def test_every_array_of_the_papers_rules_is_on_the_page(rows, tmp_path):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=0).take(100)
    arrays = stored_arrays(EvolvingFuzzyClassifier.paper().fit(X, Y), tmp_path / "classifier")
    assert {*arrays} - {*rows} == set()


def test_every_array_of_a_warm_up_is_on_the_page(rows, tmp_path):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=0).take(20)
    arrays = stored_arrays(EvolvingFuzzyClassifier().partial_fit(X, Y), tmp_path / "classifier")
    assert {*arrays} - {*rows} == set()


def test_every_array_has_a_kind_and_a_meaning(rows):
    assert {name.rpartition(".")[0] for name in rows} == {*PARTS}
    for *_, kind, meaning in [cells for each in rows.values() for cells in each]:
        assert kind in {"exact", "derived", "bound", "policy", "written"}
        assert meaning.endswith(".")
