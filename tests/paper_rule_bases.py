"""Small rule bases of the paper's kind (rotated, product space, iterated) on scaled rows."""

import numpy as np
from small_rule_bases import make_stream

from evolabel.core.rows import Batch
from evolabel.engine.compile import interpreted
from evolabel.paper.options import PaperOptions
from evolabel.paper.rules.kind import PaperRuleKind, literal_settings, novelty_radius
from evolabel.paper.rules.loops.rotated import rotate
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.loops.antecedents import update_moments


def paper_base(p=4, K=3, ridge=1e-3, **changes):
    """A rule base of the paper's profile, single options changed, that has learned nothing."""
    options = PaperOptions(**changes).check()
    settings = PaperRuleKind().settings(options, p, K, np.ones(p), (ridge, options.first_local_ridge))
    return PaperRules(p, K, settings, literal_settings(options), input_radius=novelty_radius(options, p))


def new_rule(base, s):
    """Add a rule at the sample `s` of `base`, and return its slot."""
    slot = base.n_rules + 1
    base.contents.clear(slot)
    base.arrays.identity[slot] = base.new_number()
    base.arrays.counters[0] = slot
    learn_spread(base, slot, s, 1.0)
    return slot


def learn_spread(base, slot, s, weight):
    """Update centre and spread of `slot` of `base` by the sample `s`."""
    a = base.arrays
    if base.paper.rotated:
        rotate(s, weight, float(a.k[slot]), float(base.settings.prior_count), a.c[slot], base.own.F[slot])
    interpreted(update_moments)(slot, s, weight, a, base.settings)


def paper_learned(seed, rows=200, p=4, K=3, **changes):
    """A rule base that has learned a stream."""
    base = paper_base(p, K, **changes)
    base.learn(Batch(*make_stream(seed, rows, p, K)))
    return base


def random_factor(rng, d):
    """A lower Cholesky factor of a well conditioned matrix."""
    A = rng.normal(size=(d, d + 3))
    return np.linalg.cholesky(A @ A.T / d + 0.1 * np.eye(d))


def random_rules(rng, p, K, count, label_blocks=True, **changes):
    """A rule base of rotated rules with any centres, supports and covariances."""
    changes = {"space": "product" if label_blocks else "input", **changes}
    base = paper_base(p, K, **changes)
    base.reserve(count)
    a, d = base.arrays, base.arrays.c.shape[1]
    a.c[1 : count + 1] = rng.normal(size=(count, d))
    a.k[1 : count + 1] = rng.integers(1, 60, size=count)
    for slot in range(1, count + 1):
        base.own.F[slot] = np.sqrt(base.settings.prior_count + a.k[slot]) * random_factor(rng, d)
        a.inv[slot] = (base.settings.prior_count + a.k[slot] - 1.0) / np.diag(base.own.F[slot] @ base.own.F[slot].T)
    a.identity[1 : count + 1] = np.arange(count)
    a.counters[:] = count, 100, count
    return base


def with_missing(rng, s, share):
    """A copy with missing entries, never all of them."""
    s = s.copy()
    gone = rng.random(len(s)) < share
    gone[rng.integers(len(s))] = False
    s[gone] = np.nan
    return s
