"""Few rows, answered by one compiled call, have the bits of all stages one after the other."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Rows
from evolabel.stages.rules.weights import weights_of_all
from evolabel.streams import DriftingStream

X, Y = DriftingStream(seed=3).take(700)
X[::7, 0] = np.nan


@pytest.fixture(scope="module", params=["default", "without drift", "written", "paper", "paper, written"])
def model(request):
    made = {
        "default": EvolvingFuzzyClassifier,
        "without drift": lambda: EvolvingFuzzyClassifier(follow_drift=False),
        "written": EvolvingFuzzyClassifier,
        "paper": EvolvingFuzzyClassifier.paper,
        "paper, written": EvolvingFuzzyClassifier.paper,
    }[request.param]()
    clf = made.fit(X[:200], Y[:200]).partial_fit(X[200:650], Y[200:650])
    if "written" in request.param:
        clf.rulebook.add("IF x1 ABOVE 0 THEN label0 LIKELY")
    return clf.inner.any_model


@pytest.mark.parametrize("n", [1, 5])
def test_few_rows_have_the_bits_of_all_stages(model, n):
    rows = X[650 : 650 + n]
    expected = model.answer(Rows(rows))
    few = model.answer_few(rows)
    assert np.array_equal(few.outputs, expected.outputs)
    assert np.array_equal(model.outputs(rows), expected.outputs)
    assert np.array_equal(few.psi, expected.psi)
    assert np.array_equal(few.D, expected.D)


def test_few_rows_have_the_bits_of_all_stages_by_weights_that_were_formed_before(model):
    rows, W = X[650:655], model.drift.mixed(weights_of_all)
    assert np.array_equal(model.answer_few(rows, W).outputs, model.answer(Rows(rows, W=W)).outputs)


@pytest.mark.parametrize("n", [1, 3])
def test_outputs_with_and_without_the_last_answers_have_the_bits_of_all_stages(model, n):
    rows, follows = X[650 : 650 + n], np.arange(1, n + 1)
    expected = Rows(rows)
    expected.follows = follows
    few = model.answer_few(rows, follows=follows)
    assert np.array_equal(few.outputs, model.answer(expected).outputs)
    assert np.array_equal(few.plain, model.answer_few(rows).outputs)
    assert few.plain is not few.outputs
