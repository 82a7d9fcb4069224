"""In the stream loop of scikit-activeml: our scores with its budget managers, our pacing with its strategies."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import BudgetError, ParameterError

pytest.importorskip("skactiveml")

from skactiveml.stream.budgetmanager import BalancedIncrementalQuantileFilter, FixedUncertaintyBudgetManager

from evolabel.active import Ambiguity
from evolabel.active.activeml import EvolvingQueryStrategy, TokenBudgetManager

MANAGERS = {
    "ours": {"budget": 0.2},
    "quantile": {"budget_manager": BalancedIncrementalQuantileFilter(budget=0.2)},
    "fixed": {"budget_manager": FixedUncertaintyBudgetManager([0, 1], budget=0.2), "criteria": "uncertainty"},
}


@pytest.fixture(scope="module")
def trained(stream):
    X, Y = stream
    return EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])


@pytest.mark.parametrize("name", MANAGERS)
@pytest.mark.parametrize("batch", [1, 7])
def test_the_stream_loop_runs_with_its_managers_and_ours(trained, stream, name, batch):
    X, Y = stream
    strategy, clf, queried, seen = EvolvingQueryStrategy(**MANAGERS[name]), copy.deepcopy(trained), 0, 0
    for start in range(60, len(X), batch):
        rows = X[start : start + batch]
        indices, utilities = strategy.query(rows, clf, return_utilities=True)
        given = {} if name == "fixed" else {"utilities": utilities}
        strategy.update(rows, indices, budget_manager_param_dict=given)
        if len(indices):
            clf.partial_fit(rows[indices], Y[start + indices])
        queried, seen = queried + len(indices), seen + len(rows)
        assert utilities.shape == (len(rows),)
        assert name != "ours" or queried <= 0.2 * seen
    assert 0.1 * seen < queried < 0.5 * seen  # theirs keep the budget in the long run only


@pytest.mark.parametrize("name", MANAGERS)
def test_query_changes_nothing(trained, stream, name):
    strategy, rows = EvolvingQueryStrategy(**MANAGERS[name]), stream[0][60:90]
    before = pickle.dumps((strategy, trained))
    first = strategy.query(rows, trained)
    assert pickle.dumps((strategy, trained)) == before
    np.testing.assert_array_equal(strategy.query(rows, trained), first)


def test_utilities_of_labels_are_reduced_as_wished(trained, stream):
    rows = stream[0][60:80]
    scores = Ambiguity().score(_Outputs(trained.decision_function(rows)))
    for reduce in ("max", "mean", "sum"):
        found = EvolvingQueryStrategy(criteria="ambiguity", reduce=reduce).utilities(rows, trained)
        np.testing.assert_allclose(found, getattr(np, reduce)(scores, axis=1))


class _Outputs:
    def __init__(self, outputs):
        self.outputs, self.doubts = outputs, None


@given(utilities=st.lists(st.floats(0.0, 10.0), max_size=80), budget=st.floats(0.01, 1.0), batch=st.integers(1, 9))
def test_our_manager_keeps_the_budget_at_every_moment_whoever_scores(utilities, budget, batch):
    manager, whole = TokenBudgetManager(budget), TokenBudgetManager(budget)
    queried = []
    for start in range(0, len(utilities), batch):
        part = np.array(utilities[start : start + batch])
        indices = manager.query_by_utility(part)
        manager.update(part[:, None], indices, part)
        queried += list(start + indices)
    asked = np.isin(np.arange(len(utilities)), queried)
    assert (np.cumsum(asked) <= budget * np.arange(1, len(utilities) + 1)).all()
    np.testing.assert_array_equal(whole.query_by_utility(np.array(utilities)), queried)


def test_what_cannot_be_done_is_said(trained, stream):
    rows = stream[0][60:63]
    with pytest.raises(ParameterError, match="utilities of the query are needed"):
        EvolvingQueryStrategy().update(rows, [])
    with pytest.raises(ParameterError, match="reduce='median'"):
        EvolvingQueryStrategy(reduce="median").query(rows, trained)
    with pytest.raises(ParameterError, match="one finite number per sample"):
        TokenBudgetManager().query_by_utility(np.ones((3, 2)))
    with pytest.raises(BudgetError, match="costs 1, but only 0"):
        TokenBudgetManager(0.1).update(rows, [0], np.ones(3))
