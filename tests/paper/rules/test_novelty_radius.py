"""How many rules one Gaussian makes, and what the radius of the paper is."""

import numpy as np
import pytest
from callable_kernels import callable_kernel
from paper_rule_bases import paper_base
from profiles import options_of
from scipy.special import chdtri

from evolabel.core.rows import Batch
from evolabel.model.start.batch_phase import initialise
from evolabel.paper.model import PaperModel
from evolabel.paper.rules.loops.memberships import bound_of_paper

bound_of = callable_kernel(bound_of_paper)


def is_novel(d, k, C, base):
    """Whether a sample at mean squared distance `d` from a winner of support `k` is novel among `C` rules."""
    return d > bound_of(k, C, base.arrays, base.settings.radius, base.settings, base.paper.by_radius)


def rules_of_one_gaussian(spread=1.0, **changes):
    """Rules that 500 samples make, if a rule starts with `spread` times the variance of the features."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(500, 16)), rng.integers(0, 2, size=(500, 2)).astype(float)
    fac = np.sqrt(chdtri(16, 1e-3)) / 16 ** (1.0 / np.sqrt(2.0))  # one of a thousand samples of the cloud lies outside
    options = {"novelty": "paper", "vigilance": fac, "covariance": "full", "prior_count": "2p", "scaling": "standard"}
    model = PaperModel(16, 2, options_of(max_rules=200, **{**options, **changes}))
    initialise(model, Batch(X, Y))
    settings = model.settings()
    settings = settings._replace(metric=settings.metric * np.array([[spread], [1.0]]))
    rules = model.start_rules(model.scaler, settings)
    rules.learn(Batch(model.scale(X), Y), consequents=False)
    return rules.n_rules


@pytest.mark.compiled
def test_one_gaussian_cloud_makes_few_rules():
    assert rules_of_one_gaussian() <= 12


@pytest.mark.compiled
def test_the_literal_initialisation_makes_a_hundred():
    assert rules_of_one_gaussian(spread=0.01, prior_count=1) > 100


@pytest.mark.parametrize(("space", "d"), [("input", 4), ("product", 7)])
def test_the_radius_of_the_paper(space, d):
    base = paper_base(4, 3, vigilance=0.4, space=space)
    for k in (1.0, 2.0, 10.0):
        radius = 0.4 * d ** (1.0 / np.sqrt(2.0)) * (1.0 - 1.0 / (k + 1.0)) ** -4.0
        for share, novel in ((1.001, True), (0.999, False)):
            assert is_novel((share * radius) ** 2 / d, k, 3, base) == novel


def test_a_full_rule_base_keeps_to_the_radius_but_one_rule_alone_takes_all():
    base = paper_base(4, 3, max_rules=3)
    assert is_novel(1e9, 2.0, 3, base)
    assert not is_novel(0.0, 2.0, 3, base)
    assert not is_novel(1e9, 2.0, 1, paper_base(4, 3, max_rules=1))
