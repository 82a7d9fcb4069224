"""Algorithm 2: what the iterated weights of a rule are, and where new rules get theirs from."""

import copy

import numpy as np
import pytest
from choices import only_quick
from naive.paper import rule_distances as naive
from paper_rule_bases import paper_base
from small_rule_bases import assert_close, make_stream, with_gaps

from evolabel.core.rows import Batch
from evolabel.paper.rules.kind import PaperRuleKind, objective
from evolabel.paper.rules.proximal import minimise

RLS_ONLY = {"alpha": 0.0, "beta": 0.0, "prox_steps": 0, "merging": "room"}


def rows_of(*arrays):
    """One row after the other, as arrays of one row."""
    return zip(*(np.split(array, len(array)) for array in arrays), strict=True)


def newborn(base, z, y):
    """The rule base with the rule this row starts, not yet taught; None if the row starts none."""
    ahead = copy.deepcopy(base)
    ahead.learn(Batch(z, y), consequents=False)
    return ahead if len(ahead.events) > len(base.events) else None


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("changes", [{}, {"space": "input", "covariance": "diag", "vigilance": 0.3}])
def test_recursive_least_squares_is_the_ridge_towards_the_start_weights(seed, changes):
    base = paper_base(ridge=0.5, **{**RLS_ONLY, **changes})
    starts = {}
    for z, y in rows_of(*make_stream(seed, 120)):
        if (ahead := newborn(base, z, y)) is not None:
            slot = ahead.n_rules
            starts[int(ahead.arrays.identity[slot])] = ahead.arrays.W[slot].copy()
        base.learn(Batch(z, y))
    assert base.n_rules > 2
    for slot in range(1, base.n_rules + 1):
        ridge = base.settings.penalty[1]
        start = starts[int(base.arrays.identity[slot])]
        A = base.hessian(slot) + np.diag(ridge)
        expected = np.linalg.solve(A, (base.arrays.G[slot] + ridge * start).T).T
        assert_close(base.arrays.W[slot], expected, 1e-8)


def test_one_rule_alone_is_batch_ridge_regression():
    base = paper_base(ridge=0.5, **{**RLS_ONLY, "vigilance": 1e6})
    Z, Y = make_stream(1, 100)
    base.learn(Batch(Z, Y))
    R = np.column_stack([Z, np.ones(len(Z))])
    assert base.n_rules == 1
    expected = np.linalg.solve(R.T @ R + np.diag(base.settings.penalty[1]), R.T @ Y)
    assert_close(base.weights(1), expected, 1e-9)


@pytest.mark.parametrize("space", ["input", "product"])
def test_a_new_rule_starts_with_the_weights_of_the_nearest_rule(space):
    base, births = paper_base(space=space, merging="room"), 0
    d = base.arrays.c.shape[1]
    for z, y in rows_of(*make_stream(3, 80)):
        if (ahead := newborn(base, z, y)) is not None and base.n_rules:
            _, J = naive.joint_distances(naive.join(z[0], y[0], 1.0, d), 4, base)
            parent = int(np.argmin(J)) + 1
            np.testing.assert_array_equal(ahead.arrays.W[ahead.n_rules], base.arrays.W[parent])
            assert ahead.events[-1].other == base.arrays.identity[parent]
            births += 1
        base.learn(Batch(z, y))
    assert births > 3


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_where_rules_lean_on_the_global_model_they_start_there(alpha):
    base, births = paper_base(parent="global", alpha=alpha, merging="room", local_ridge=100.0), 0
    for z, y in rows_of(*make_stream(3, 80)):
        if (ahead := newborn(base, z, y)) is not None and base.n_rules:
            np.testing.assert_array_equal(ahead.arrays.W[ahead.n_rules], base.arrays.W[0])
            births += 1
        base.learn(Batch(z, y))
    assert births > 3


def test_a_rule_without_parent_starts_from_zero():
    base, births = paper_base(parent="none", merging="room"), 0
    for z, y in rows_of(*make_stream(3, 80)):
        if (ahead := newborn(base, z, y)) is not None:
            assert not ahead.arrays.W[ahead.n_rules].any()
            births += 1
        base.learn(Batch(z, y))
    assert births > 3


MANY_STEPS = {
    "lasso": {"beta": 0.0, "alpha": 0.5},
    "coupled": {"alpha": 0.0, "coupling": "signed_laplacian"},
    "coupling none": {"coupling": "none"},
    "both": {},
    "without rls": {"rls": False},
    "weights and gaps": {"alpha": 0.3},
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", only_quick(MANY_STEPS, "weights and gaps"))
def test_many_steps_per_sample_reach_the_batch_optimum(name):
    base = paper_base(
        ridge=1.0, intercept_ridge=1.0, prox_steps=2000, merging="room", max_rules=200, **MANY_STEPS[name]
    )
    Z, Y = make_stream(6, 100)
    if name == "weights and gaps":
        Z, Y = with_gaps(Z, Y, seed=6)
        base.learn(Batch(Z, Y, weights=np.random.default_rng(6).exponential(size=len(Z))))
    else:
        base.learn(Batch(Z, Y))
    assert base.n_rules > 2
    for slot in range(1, base.n_rules + 1):
        best = minimise(objective(base, slot), np.zeros(base.arrays.W[slot].shape), tolerance=1e-13)
        np.testing.assert_allclose(base.arrays.W[slot], best, atol=1e-6)


def test_the_batch_phase_ends_at_the_optimum():
    base = paper_base(ridge=1.0, alpha=0.5, merging="room")
    Z, Y = make_stream(6, 60)
    base.learn(Batch(Z, Y), consequents=False)
    kind = PaperRuleKind()
    kind.fit_consequents(base, Batch(Z, Y))
    kind.finish(base)
    for slot in range(1, base.n_rules + 1):
        best = minimise(objective(base, slot), np.zeros(base.arrays.W[slot].shape), tolerance=1e-13)
        np.testing.assert_allclose(base.arrays.W[slot], best, atol=1e-6)


def test_lasso_leaves_exact_zeros_in_the_stream():
    base = paper_base(alpha=5.0, beta=0.0)
    base.learn(Batch(*make_stream(6, 150)))
    W = base.arrays.W[1 : base.n_rules + 1]
    assert (W[:, :, :-1] == 0.0).mean() > 0.1
    assert (W[:, :, -1] != 0.0).all()


@pytest.mark.parametrize("changes", [{"beta": 0.0}, {"coupling": "none"}, {"coupling": "ridge"}, {}])
@pytest.mark.parametrize("rubbish", [np.nan, 1e6])
def test_what_lies_in_the_scratch_arrays_makes_no_difference(changes, rubbish):
    clean, dirty = paper_base(**changes), paper_base(**changes)
    for base, value in ((clean, 0.0), (dirty, rubbish)):
        for array in base.workspace:
            array[:] = value if array.dtype == float else 0
        base.learn(Batch(*make_stream(6, 40)))
    np.testing.assert_array_equal(dirty.arrays.W, clean.arrays.W)


def test_a_coupling_of_nothing_is_no_coupling():
    none, zero = paper_base(coupling="none", beta=7.0), paper_base(beta=0.0)
    for base in (none, zero):
        base.learn(Batch(*make_stream(6, 60)))
    np.testing.assert_allclose(none.outputs(make_stream(7, 20)[0]), zero.outputs(make_stream(7, 20)[0]), atol=0.05)


@pytest.mark.parametrize("seed", [1, 4])
def test_the_global_model_is_exact_ridge_regression_beside_the_rules(seed):
    base = paper_base(ridge=0.5)
    Z, Y = make_stream(seed, 120)
    base.learn(Batch(Z, Y))
    R = np.column_stack([Z, np.ones(len(Z))])
    expected = np.linalg.solve(R.T @ R + np.diag(base.settings.penalty[0]), R.T @ Y)
    assert_close(base.arrays.W[0].T, expected, 1e-8)
