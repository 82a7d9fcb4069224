"""The running step bound covers the Hessian at every moment of a stream."""

import numpy as np
import pytest
from choices import only_quick
from paper_rule_bases import paper_base
from small_rule_bases import make_stream, with_gaps

from evolabel.core.rows import Batch
from evolabel.paper.rules.kind import PaperRuleKind, objective

CASES = {
    "none": {"coupling": "none"},
    "ridge": {"coupling": "ridge"},
    "shifted": {},
    "signed laplacian": {"coupling": "signed_laplacian"},
    "towards the global model": {"parent": "global", "local_ridge": 500.0},
    "few rules": {"max_rules": 3},
}


def norm_of_hessian(base, slot):
    """Spectral norm of the Kronecker Hessian of a rule."""
    problem = objective(base, slot)
    K, q = problem.G.shape
    slopes = np.diag(np.append(np.ones(q - 1), 0.0))
    ridged = problem.H + np.diag(problem.penalty)
    return np.linalg.norm(np.kron(np.eye(K), ridged) + problem.beta * np.kron(problem.B, slopes), 2)


@pytest.mark.parametrize("name", only_quick(CASES, "shifted", "towards the global model"))
def test_the_bound_covers_the_hessian_after_every_sample(name):
    base = paper_base(**{"beta": 3.0, **CASES[name]})
    Z, Y = with_gaps(*make_stream(5, 120), seed=5)
    weights = np.random.default_rng(5).exponential(size=len(Z))
    for i in range(len(Z)):
        row = slice(i, i + 1)
        base.learn(Batch(Z[row], Y[row], weights=weights[row]))
        for slot in range(1, base.n_rules + 1):
            norm = norm_of_hessian(base, slot)
            assert base.own.top[slot, 0] + base.paper.beta >= norm * (1.0 - 1e-12)
            assert objective(base, slot).lipschitz() >= norm * (1.0 - 1e-12)
    assert base.n_rules > 1


def test_the_bound_is_not_much_too_large():
    base = paper_base(beta=3.0)
    base.learn(Batch(*make_stream(5, 200)))
    for slot in range(1, base.n_rules + 1):
        exact = np.linalg.eigvalsh(base.hessian(slot) + np.diag(base.settings.penalty[1])).max()
        assert base.own.top[slot, 0] <= 2.0 * exact


def test_the_batch_phase_leaves_exact_bounds():
    base = paper_base(beta=3.0)
    Z, Y = make_stream(5, 80)
    base.learn(Batch(Z, Y), consequents=False)
    kind = PaperRuleKind()
    kind.fit_consequents(base, Batch(Z, Y))
    kind.finish(base)
    for slot in range(1, base.n_rules + 1):
        exact = np.linalg.eigvalsh(base.hessian(slot) + np.diag(base.settings.penalty[1])).max()
        assert base.own.top[slot, 0] == pytest.approx(exact)
