"""Small rule bases and streams on scaled rows, and their naive twins, for the tests of kernels and core."""

import numpy as np
from naive.slots import NaiveRules, Slot, empty_slot

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.engine.symmetric import mirrored
from evolabel.stages.rules.arrays import NEXT_IDENTITY
from evolabel.stages.rules.kind import rule_settings
from evolabel.stages.rules.stage import RuleBase
from evolabel.streams import DriftingStream

NOTHING, NO_ROWS = np.empty(0), np.empty((0, 0))  # weights and confidences that are not given


def make_settings(p, **changes):
    """The default options of rules without members beside them, with a ridge of 20 and room for five rules."""
    settings = rule_settings(Options(max_rules=5, follow_drift=False), p, np.ones(p), ridge=20.0)
    return settings._replace(**changes)


def make_stream(seed, rows=200, p=4, K=3, drift_every=60):
    """Scaled complete samples of a drifting stream with all labels."""
    X, Y = DriftingStream(n_features=p, n_labels=K, drift_every=drift_every, seed=seed).take(rows)
    return (X / 2.0).clip(-3.0, 3.0), Y


def with_gaps(Z, Y, seed, features=0.1, labels=0.1):
    """Copies with missing features (never a whole row) and labels nobody annotated."""
    rng = np.random.default_rng(seed)
    Z, Y = Z.copy(), Y.copy()
    Z[rng.random(Z.shape) < features] = np.nan
    Z[np.isnan(Z).all(axis=1)] = 0.0
    Y[rng.random(Y.shape) < labels] = np.nan
    return Z, Y


def learned(seed, rows=200, p=4, K=3, drift_every=60, **changes):
    """A rule base that has learned a stream."""
    base = RuleBase(p, K, make_settings(p, **changes))
    base.learn(Batch(*make_stream(seed, rows, p, K, drift_every)))
    return base


def slot_of(arrays, a):
    """The naive twin of one slot; rows still waiting are added."""
    rows = arrays.pending_H[a, : arrays.n_pending[a]]
    return Slot(
        c=arrays.c[a].copy(),
        M=arrays.M[a].copy(),
        n=arrays.n[a].copy(),
        k=float(arrays.k[a]),
        H=mirrored(arrays.H[a]) + rows.T @ rows,
        G=arrays.G[a].T.copy(),
        age=int(arrays.age[a]),
        identity=int(arrays.identity[a]),
        born=int(arrays.born[a]),
        last_won=int(arrays.last_won[a]),
    )


def naive_of(base):
    """The naive twin of a rule base, in the same state."""
    return NaiveRules(
        settings=base.settings,
        whole=slot_of(base.arrays, 0),
        rules=[slot_of(base.arrays, a) for a in range(1, base.n_rules + 1)],
        seen=base.n_seen,
        next_identity=int(base.arrays.counters[NEXT_IDENTITY]),
        winner_stats=base.arrays.winner_stats.copy(),
        events=[tuple(event) for event in base.events],
        antecedent_rate=base.antecedent_rate,
    )


def empty_twin(base):
    """The naive twin of a rule base that has learned nothing yet."""
    return NaiveRules(
        base.settings, empty_slot(base.arrays.c.shape[1], base.n_labels), antecedent_rate=base.antecedent_rate
    )


def assert_close(actual, expected, tolerance, what=""):
    """Equal up to `tolerance`, relative to the largest entry expected."""
    scale = np.max(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def assert_same_slot(actual, expected, tolerance):
    """Two naive slots carry the same statistics and dates."""
    for name in ("c", "M", "n", "k", "H", "G"):
        assert_close(getattr(actual, name), getattr(expected, name), tolerance, name)
    for name in ("age", "identity", "born", "last_won"):
        assert getattr(actual, name) == getattr(expected, name), name


def assert_same_rules(base, twin, tolerance):
    """A rule base and its naive twin are in the same state and tell the same story."""
    assert [event[:4] for event in base.events] == [event[:4] for event in twin.events]
    assert base.n_rules == len(twin.rules)
    assert base.n_seen == twin.seen
    assert_close(base.arrays.winner_stats, twin.winner_stats, tolerance, "winner_stats")
    for a, slot in enumerate([twin.whole, *twin.rules]):
        assert_same_slot(slot_of(base.arrays, a), slot, tolerance)
