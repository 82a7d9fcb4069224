"""Every accumulator is the batch formula of the samples it has taken in, whatever the rules went through."""

import copy
from collections import defaultdict

import numpy as np
import pytest
from naive.learn import output_rows, solved_weights
from naive.paper.rule_distances import fill_regressor
from small_rule_bases import assert_close, learned, make_settings, make_stream, naive_of, slot_of, with_gaps

from evolabel.core.rows import Batch
from evolabel.stages.rules.inverses import ridge_inverse
from evolabel.stages.rules.stage import RuleBase

WHOLE = -1  # key of the whole stream among the rules' identities


class Diary:
    """A rule base that learns row by row, and all that each rule was logged: its evidence and the samples it won."""

    def __init__(self, base):
        self.base = base
        self.evidence = defaultdict(list)  # (weight, r, y) per identity
        self.won = defaultdict(list)  # (weight, z) per identity

    def learn(self, Z, Y, weights):
        for z, y, weight in zip(Z, Y, weights, strict=True):
            self._note(z, y, weight)
            self.base.learn(Batch(z[None], y[None], weights=np.array([weight])))

    def _note(self, z, y, weight):
        ahead = copy.deepcopy(self.base)
        ahead.learn(Batch(z[None], y[None], weights=np.array([weight])), consequents=False)
        events = list(ahead.events)[len(self.base.events) :]
        for event in events:
            if event.kind == "merge":
                self.merge(event.rule, event.other)
        state = ahead if events else self.base  # after a birth, but before the winner moves
        identities = [*state.arrays.identity[1 : state.n_rules + 1]]
        (psi,), (far,) = state.memberships(z[None])
        self.won[identities[np.argmin(far)]].append((weight, z))
        self.won[WHOLE].append((weight, z))
        for share, identity, centre in zip([1.0, *psi], [WHOLE, *identities], state.arrays.c, strict=False):
            if share > 0.0:
                self.evidence[identity].append((weight * share, fill_regressor(z, centre), y))

    def merge(self, kept, gone):
        for book in (self.evidence, self.won):
            book[kept] += book.pop(gone)

    def slots(self):
        """(slot, identity) of the whole stream and of every rule."""
        return [(0, WHOLE), *((a, int(self.base.arrays.identity[a])) for a in range(1, self.base.n_rules + 1))]

    def check(self, tolerance):
        for slot, identity in self.slots():
            got = slot_of(self.base.arrays, slot)
            w, r, y = (np.array(column) for column in zip(*self.evidence[identity], strict=True))
            assert_close(got.H, r.T @ (w[:, None] * r), tolerance, "H")
            assert_close(got.G, r.T @ (w[:, None] * y), tolerance, "G")
            w, z = (np.array(column) for column in zip(*self.won[identity], strict=True))
            mass = w[:, None] * ~np.isnan(z)
            z = np.nan_to_num(z)
            n = mass.sum(axis=0)
            assert (n > 0.0).all()
            c = (mass * z).sum(axis=0) / n
            assert_close(got.k, w.sum(), tolerance, "k")
            assert_close(got.n, n, tolerance, "n")
            assert_close(got.c, c, tolerance, "c")
            assert_close(got.M, (mass * (z - c) ** 2).sum(axis=0), tolerance, "M")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_incremental_equals_batch_through_births_and_merges(seed, missing):
    diary = Diary(RuleBase(4, 3, make_settings(4, novel_z=2.5, upkeep_every=64)))
    Z, Y = with_gaps(*make_stream(seed, rows=240), seed, features=missing, labels=0.0)
    diary.learn(Z, Y, np.random.default_rng(seed).exponential(size=len(Z)))
    assert {event.kind for event in diary.base.events} == {"birth", "merge"}
    diary.check(1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_merged_rule_is_the_rule_of_both_sets_of_samples(seed):
    diary = Diary(RuleBase(4, 3, make_settings(4, max_rules=8)))
    Z, Y = make_stream(seed)
    diary.learn(Z, Y, np.ones(len(Z)))
    base = diary.base
    while base.n_rules > 1:
        base.shrink_to(base.n_rules - 1)
        diary.merge(base.events[-1].rule, base.events[-1].other)
        diary.check(1e-9)
        for slot in range(1, base.n_rules + 1):
            expected = np.linalg.inv(base.hessian(slot) + np.diag(base.settings.penalty[1]))
            assert_close(base.inverse(slot), expected, 1e-9, "P")
    assert_close(base.arrays.c[1], base.arrays.c[0], 1e-9)
    assert base.arrays.k[1] == pytest.approx(len(Z))


def test_a_merged_rule_keeps_the_better_supported_identity_and_the_older_dates():
    base = learned(3, max_rules=8)
    before = {int(i): slot_of(base.arrays, a) for a, i in enumerate(base.arrays.identity[1:], start=1)}
    base.shrink_to(base.n_rules - 1)
    event = base.events[-1]
    kept, gone = before[event.rule], before[event.other]
    slot = 1 + base.arrays.identity[1 : base.n_rules + 1].tolist().index(event.rule)
    assert kept.k >= gone.k
    assert base.arrays.born[slot] == min(kept.born, gone.born)
    assert base.arrays.last_won[slot] == max(kept.last_won, gone.last_won)


def test_answers_without_weights_equal_a_direct_solve_while_the_global_model_moves():
    base = learned(1, rows=150)
    rest = int(np.argmin(base.arrays.last_won[1 : base.n_rules + 1])) + 1
    Z, _ = make_stream(1, rows=260)
    far = Z[base.memberships(Z)[0][:, rest - 1] == 0.0]  # samples that leave this rule alone
    H, G, W, W_0 = base.hessian(rest), base.arrays.G[rest].copy(), base.weights(rest), base.weights(0)
    base.settings = base.settings._replace(radius=1e9, novel_z=1e9)  # nobody is born meanwhile
    for z in far[:60]:
        base.learn(Batch(z[None], np.ones((1, 3))))
        twin = naive_of(base)
        assert_close(base.outputs(Z[:10]), output_rows(Z[:10], twin), 1e-10)
        assert_close(base.weights(rest), solved_weights(twin.rules[rest - 1], twin), 1e-10)
    np.testing.assert_array_equal(base.hessian(rest), H)
    np.testing.assert_array_equal(base.arrays.G[rest], G)
    assert np.abs(base.weights(0) - W_0).max() > 0.01
    assert np.abs(base.weights(rest) - W).max() > 1e-4  # its weights follow W_0 although it has learned nothing


def relative_error(base, slot):
    """Of P against the inverse of H + penalty."""
    expected = ridge_inverse(base.hessian(slot), base.settings.penalty[min(slot, 1)])
    return np.linalg.norm(base.inverse(slot) - expected) / np.linalg.norm(expected)


@pytest.mark.compiled
@pytest.mark.parametrize(("upkeep_every", "bound"), [(2048, 1e-8), (10**9, 1e-6)], ids=["with upkeep", "without"])
def test_the_inverse_stays_exact_over_a_hundred_thousand_updates(upkeep_every, bound):
    base = RuleBase(6, 2, make_settings(6, upkeep_every=upkeep_every))
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 6))
    for _ in range(10):
        Z = (centres[rng.integers(4, size=10_000)] + 0.5 * rng.normal(size=(10_000, 6))).clip(-3.0, 3.0)
        base.learn(Batch(Z, (Z[:, :2] > 0.0).astype(float)))
    errors = [relative_error(base, slot) for slot in range(base.n_rules + 1)]
    assert base.n_rules > 1
    assert base.n_seen == 100_000
    assert base.arrays.k[0] == pytest.approx(100_000)
    assert max(errors) < bound


@pytest.mark.parametrize("upkeep_every", [16, 10**9])
def test_the_inverse_stays_exact_over_a_few_hundred_updates(upkeep_every):
    base = learned(0, rows=300, upkeep_every=upkeep_every)
    assert max(relative_error(base, slot) for slot in range(base.n_rules + 1)) < 1e-12
