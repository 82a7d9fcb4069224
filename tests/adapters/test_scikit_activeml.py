"""In the stream loop of scikit-activeml: our scores with its budget managers, our pacing with its strategies."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import BudgetError, DataWarning, EvolabelError, ParameterError

pytest.importorskip("skactiveml")

from skactiveml.classifier import ParzenWindowClassifier
from skactiveml.stream import CognitiveDualQueryStrategy, StreamDensityBasedAL
from skactiveml.stream.budgetmanager import BalancedIncrementalQuantileFilter, FixedUncertaintyBudgetManager

from evolabel.active import Ambiguity
from evolabel.adapters.scikit_activeml import EvolvingQueryStrategy, TokenBudgetManager

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
def test_rows_without_features_stop_nothing_and_are_not_asked_about_by_ours(trained, stream, name):
    X = stream[0][60:90].copy()
    X[[0, 7]] = np.nan
    strategy = EvolvingQueryStrategy(**{**MANAGERS[name], **({"budget": 1.0} if name == "ours" else {})})
    with pytest.warns(DataWarning, match=r"2 rows of X have no feature at all \(the first is row 0\); not asked about"):
        indices, utilities = strategy.query(X, trained, return_utilities=True)
    given = {} if name == "fixed" else {"utilities": utilities}
    strategy.update(X, indices, budget_manager_param_dict=given)
    full = np.delete(np.arange(30), [0, 7])
    np.testing.assert_array_equal(utilities[full], strategy.utilities(X[full], trained))
    if name == "ours":
        np.testing.assert_array_equal(indices, full)
    with pytest.warns(DataWarning, match="1 row of X has no feature"):
        assert strategy.utilities(X[:1], trained).shape == (1,)


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
        self.outputs, self.exploration = outputs, None


@given(utilities=st.lists(st.floats(0.0, 10.0), max_size=80), budget=st.floats(0.01, 1.0), batch=st.integers(1, 9))
def test_our_manager_keeps_the_budget_at_every_moment_for_any_utilities(utilities, budget, batch):
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


@given(utilities=st.lists(st.floats(0.0, 10.0), min_size=2, max_size=40), budget=st.floats(0.01, 1.0))
def test_samples_asked_about_one_by_one_are_a_batch(utilities, budget):
    manager, values = TokenBudgetManager(budget), np.array(utilities)
    for _ in range(2):
        queried = manager.query_by_utility(values)
        one_by_one = [len(manager.query_by_utility(values[i : i + 1])) for i in range(len(values))]
        np.testing.assert_array_equal(np.flatnonzero(one_by_one), queried)
        np.testing.assert_array_equal(manager.query_by_utility(values), queried)
        manager.update(None, queried, values)


@given(utilities=st.lists(st.one_of(st.floats(0.0, 10.0), st.just(np.nan)), max_size=60), budget=st.floats(0.05, 1.0))
def test_utilities_that_are_nan_are_seen_but_never_queried_nor_compared_with(utilities, budget):
    manager, values = TokenBudgetManager(budget), np.array(utilities)
    queried = manager.query_by_utility(values)
    assert not np.isnan(values[queried]).any()
    manager.update(values[:, None], queried, values)
    assert (manager.bucket_.seen, manager.bucket_.asked) == (len(values), len(queried))
    assert manager.selector_.arrays()["counters"][0] == min(np.isfinite(values).sum(), manager.window)


def test_a_sample_of_utility_nan_that_was_queried_anyhow_is_paid():
    manager = TokenBudgetManager(0.5).update(None, [1], [0.3, np.nan])
    assert (manager.bucket_.seen, manager.bucket_.asked) == (2, 1)


@pytest.mark.parametrize("batch", [1, 15])
@pytest.mark.parametrize("strategy", [StreamDensityBasedAL, CognitiveDualQueryStrategy])
def test_strategies_that_pass_samples_over_run_with_our_manager(stream, strategy, batch):
    """They pass the samples of a batch one by one, and call `update` at its end."""
    X, y = stream[0][:80], stream[1][:80, 0].astype(int)
    forced = {"force_full_budget": True} if strategy is CognitiveDualQueryStrategy else {}
    chooser = strategy(budget_manager=TokenBudgetManager(0.2), random_state=0, **forced)
    clf, queried = ParzenWindowClassifier(classes=[0, 1]).fit(X[:20], y[:20]), 0
    for rows in X[20:].reshape(-1, batch, 4):
        indices, utilities = chooser.query(rows, clf, return_utilities=True)
        chooser.update(rows, indices, budget_manager_param_dict={"utilities": utilities})
        queried += len(indices)
    assert 0 < queried <= 0.2 * 60


def test_what_cannot_be_done_is_said(trained, stream):
    rows = stream[0][60:63]
    with pytest.raises(ParameterError, match="utilities of the query are needed"):
        EvolvingQueryStrategy().update(rows, [])
    with pytest.raises(ParameterError, match="reduce='median'"):
        EvolvingQueryStrategy(reduce="median").query(rows, trained)
    with pytest.raises(ParameterError, match=r"utilities of shape \(3, 2\)"):
        TokenBudgetManager().query_by_utility(np.ones((3, 2)))
    with pytest.raises(BudgetError, match="costs 1, but only 0"):
        TokenBudgetManager(0.1).update(rows, [0], np.ones(3))


@pytest.mark.parametrize("bad", [[True, False, True], [0.0], [1.5], None, ["a"], 0, [[0]], [[0], [1, 2]], [3], [-1]])
def test_queried_indices_are_whole_numbers_of_samples(bad):
    manager = TokenBudgetManager(1.0)
    with pytest.raises(ParameterError, match="queried_indices"):
        manager.update(None, bad, np.ones(3))
    assert "bucket_" not in vars(manager)


@pytest.mark.parametrize("empty", [[], (), np.zeros(0), np.zeros(0, np.int32)])
def test_nothing_may_be_queried(empty):
    assert TokenBudgetManager(1.0).update(None, empty, np.ones(3)).bucket_.asked == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["a"], "one number per sample"),
        (None, "one number per sample"),
        ([[1.0], [1.0, 2.0]], "one number per sample"),
        ([1.0, np.inf], "infinite"),
        (0.5, r"shape \(\)"),
    ],
)
def test_utilities_are_one_number_per_sample(bad, message):
    with pytest.raises(ParameterError, match=message) as refusal:
        TokenBudgetManager().query_by_utility(bad)
    assert "infinite" not in message or "shape" not in str(refusal.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget_manager": "x"}, "budget_manager='x'"),
        ({"budget_manager": TokenBudgetManager}, "budget_manager"),
        ({"reduce": ["max"]}, "reduce"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"random_state": True}, "random_state=True"),
    ],
)
def test_wrong_parameters_are_refused(trained, stream, parameters, message):
    with pytest.raises(ParameterError, match=message):
        EvolvingQueryStrategy(**parameters).query(stream[0][60:63], trained)


@pytest.mark.parametrize("manager", ["ours", "fixed"])
def test_what_update_cannot_read_is_refused(stream, manager):
    strategy, rows = EvolvingQueryStrategy(**MANAGERS[manager]), stream[0][60:63]
    with pytest.raises(ParameterError, match="budget_manager_param_dict"):
        strategy.update(rows, [], budget_manager_param_dict=[1.0])
    with pytest.raises(ParameterError, match="queried_indices"):
        strategy.update(rows, ["a"], budget_manager_param_dict={"utilities": np.ones(3)})


def test_a_window_beyond_memory_is_refused_not_allocated():
    with pytest.raises(EvolabelError, match="window=1000000000"):
        TokenBudgetManager(window=10**9).query_by_utility(np.ones(3))
