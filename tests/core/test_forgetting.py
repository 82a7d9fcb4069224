"""Leaky forgetting: what it equals, when it does nothing, and what it is good for."""

import copy
from collections import defaultdict

import numpy as np
import pytest
from small_rule_bases import assert_close, learned, make_settings, make_stream, slot_of

from evolabel.core.batch import Batch
from evolabel.core.model import StreamModel
from evolabel.core.options import Options
from evolabel.core.rules.rule_base import RuleBase
from evolabel.evaluate import partial_accuracy
from evolabel.streams import DriftingStream

WHOLE = -1
EVERY, FADE = 8, 0.97


def piecewise(entries):
    """What is left of each row of (row, evidence): after every `EVERY` entries all so far fades by FADE^(evidence)."""
    rows, w = np.array([row for row, _ in entries]), np.array([evidence for _, evidence in entries])
    left = np.ones(rows.max() + 1)
    for end in range(EVERY, len(rows) + 1, EVERY):
        left[: rows[end - 1] + 1] *= FADE ** w[end - EVERY : end].sum()
    return left


@pytest.mark.parametrize("seed", [1, 2])
def test_statistics_equal_the_piecewise_batch_formula(seed):
    base = RuleBase(4, 3, make_settings(4, max_rules=30, forgetting=FADE, upkeep_every=EVERY))
    Z, Y = make_stream(seed)
    weights = np.random.default_rng(seed).exponential(size=len(Z))
    told, won = defaultdict(list), defaultdict(list)  # per rule: (row, evidence), and rows
    for i in range(len(Z)):
        row = Z[i : i + 1], Y[i : i + 1], weights[i : i + 1]
        ahead = copy.deepcopy(base)
        ahead.learn(Batch(*row), consequents=False)
        state = ahead if len(ahead.events) > len(base.events) else base
        (psi,), (far,) = state.memberships(row[0])
        identities = state.arrays.identity[1 : state.n_rules + 1].tolist()
        for identity, share in zip([WHOLE, *identities], [1.0, *psi], strict=True):
            if share > 0.0:
                told[identity].append((i, share * weights[i]))
        won[identities[int(np.argmin(far))]].append(i)
        won[WHOLE].append(i)
        base.learn(Batch(*row))
    assert base.n_rules > 3
    R = np.column_stack([Z, np.ones(len(Z))])
    for slot in range(base.n_rules + 1):
        identity = int(base.arrays.identity[slot]) if slot else WHOLE
        left, got = piecewise(told[identity]), slot_of(base.arrays, slot)
        rows, evidence = np.array([i for i, _ in told[identity]]), np.array([w for _, w in told[identity]])
        r, y, w = R[rows], Y[rows], (evidence * left[rows])[:, None]
        assert_close(got.H, r.T @ (w * r), 1e-10, "H")
        assert_close(got.G, r.T @ (w * y), 1e-10, "G")
        z, w = Z[won[identity]], (weights * np.append(left, np.ones(len(Z) - len(left))))[won[identity]]
        mean = np.average(z, axis=0, weights=w)
        assert_close(got.k, w.sum(), 1e-10, "k")
        assert_close(got.n, np.full(4, w.sum()), 1e-10, "n")
        assert_close(got.c, mean, 1e-10, "c")
        np.testing.assert_allclose(got.M, w @ (z - mean) ** 2, rtol=1e-9, atol=1e-12, err_msg="M")
        expected = np.linalg.inv(got.H + np.diag(base.settings.penalty[min(slot, 1)]))
        assert_close(base.inverse(slot), expected, 1e-10, "P")


def test_a_factor_of_one_forgets_nothing():
    rare, often = learned(3), learned(3, upkeep_every=EVERY)
    assert list(rare.events) == list(often.events)
    assert often.arrays.k[0] == len(make_stream(3)[0])
    for slot in range(rare.n_rules + 1):
        for name in ("c", "M", "n", "k", "H", "G"):
            one, two = (getattr(slot_of(base.arrays, slot), name) for base in (rare, often))
            assert_close(one, two, 1e-12, name)
    Z, _ = make_stream(9)
    assert_close(often.outputs(Z), rare.outputs(Z), 1e-12)


def test_a_rule_that_rests_forgets_nothing():
    base = learned(3, forgetting=FADE, upkeep_every=EVERY)
    base.settings = base.settings._replace(radius=1e9, novel_z=1e9)
    Z, Y = make_stream(3)
    rest = int(np.argmin(base.arrays.last_won[1 : base.n_rules + 1])) + 1
    away = base.memberships(Z)[0][:, rest - 1] == 0.0
    before, whole = slot_of(base.arrays, rest), base.arrays.k[0]
    away[np.flatnonzero(away)[40:]] = False
    base.learn(Batch(Z[away], Y[away]))
    after = slot_of(base.arrays, rest)
    for name in ("c", "M", "n", "k", "H", "G"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), err_msg=name)
    assert base.arrays.k[0] < whole + away.sum() - 1.0


@pytest.mark.parametrize("seed", [0, 1])
def test_after_an_abrupt_change_of_the_labels_forgetting_answers_better(seed):
    X, Y = DriftingStream(n_features=4, n_labels=3, n_regions=2, drift_every=0, seed=seed).take(700)
    Y[400:] = 1.0 - Y[400:]
    scores = {}
    for forgetting in (1.0, 0.95):
        model = StreamModel(4, 3, Options(max_rules=4, forgetting=forgetting, follow_drift=False))
        model.fit(Batch(X[:100], Y[:100]))
        out = np.empty((600, 3))
        model.learn(Batch(X[100:], Y[100:], outputs=out))
        scores[forgetting] = partial_accuracy(Y[500:], out[400:])
    assert scores[0.95] > 0.75
    assert scores[0.95] > scores[1.0] + 0.3
