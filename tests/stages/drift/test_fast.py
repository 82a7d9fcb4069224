"""The fading sums of the fast member: rows count by their age in blocks, and P is the inverse of H with its ridge."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_row import learn_row
from naive.members import NaiveFast
from small_members import small_members
from small_rule_bases import assert_close

from evolabel.engine.packed_state import pack
from evolabel.engine.symmetric import mirrored
from evolabel.stages.drift.loops import members as fast_module
from evolabel.stages.rules import fast_sums

fast = CallableKernels(fast_module)


def whole_sums(rules, slot):
    """H, G and P of a slot, pending rows included."""
    n = rules.n_pending[slot]
    rows_H, rows_P = rules.pending_H[slot, :n], rules.pending_P[slot, :n]
    return (
        mirrored(rules.H[slot]) + rows_H.T @ rows_H,
        rules.G[slot],
        mirrored(rules.P[slot]) - rows_P.T @ rows_P,
    )


def with_fast_arrays(members):
    """The rules of `members` as `fast_sums` takes them."""
    rules = members.fast.rules
    places = {own: getattr(rules, name) for name, own in fast_sums.FAST_ARRAYS.items()}
    return rules._replace(fast_block=members.fast_block, **places)


def run(seed, rows, *, p=3, K=2, memory=20, locked=0, jump=0, weights=False):
    """Learn rows that belong to rule 1, rule 2 or both; return the members and a twin of every slot."""
    rng = np.random.default_rng(seed)
    members = small_members(p, K, rng, memory=memory)
    rules, work, penalty = members.fast.rules, members.fast.work, members.fast.settings.penalty
    if locked:
        rules.locked[locked] = 1
    packed, state = pack(members), pack(members.fast)
    twins = [NaiveFast(penalty[min(slot, 1)]) for slot in range(3)]
    now = 0
    for i in range(rows):
        now += 1 + (jump if i == rows // 2 else 0)
        z, y, weight = (
            rng.normal(size=p),
            (rng.random(K) < 0.5).astype(float),
            rng.uniform(0.2, 3.0) if weights else 1.0,
        )
        active = [[1], [2], [1, 2]][rng.integers(3)] if (i // 40) % 2 else [1]  # rule 2 misses whole blocks
        m = len(active)
        psi = rng.dirichlet(np.ones(m))
        work.active[:m], work.psi[:m], work.r[:m] = active, psi, np.append(z, 1.0)
        work.active[m], work.confidence[:] = 0, 1.0
        block = fast.block_of(now, memory)
        fast.fade_active(m, block, packed)
        learn_row(m, z, y, weight, state)
        for slot, w in zip([*active, 0], [*psi, 1.0], strict=True):
            if not (locked and slot == locked):
                twins[slot].rows.append((block, weight * w, np.append(z, 1.0), y))
    return members, twins


@settings(max_examples=examples(25))
@given(st.integers(0, 10_000), st.integers(1, 130), st.booleans(), st.sampled_from([0, 7, 60]))
def test_sums_are_those_of_all_rows_weighted_by_their_age(seed, rows, weights, jump):
    members, twins = run(seed, rows, weights=weights, jump=jump)
    for slot, twin in enumerate(twins):
        if twin.rows:
            expected = twin.sums(int(members.fast_block[slot]))
            for got, wanted, name in zip(whole_sums(members.fast.rules, slot), expected, "HGP", strict=True):
                assert_close(got, wanted, 1e-9, f"{name} of slot {slot}")


def test_the_inverse_stays_exact_over_thousands_of_rows():
    members, _ = run(0, 4000, p=6, memory=500)
    for slot in range(3):
        H, _, P = whole_sums(members.fast.rules, slot)
        penalty = members.fast.settings.penalty[min(slot, 1)]
        np.testing.assert_allclose(P @ (H + np.diag(penalty)), np.eye(7), atol=1e-11)
    assert whole_sums(members.fast.rules, 0)[0][-1, -1] < 700.0  # rows: the memory is bounded


def test_a_locked_rule_neither_learns_nor_fades():
    members, _ = run(3, 60, locked=2)
    np.testing.assert_array_equal(members.fast.rules.H[2], 0.0)
    members, _ = run(3, 60)
    members.fast.rules.locked[2] = 1
    before = [part.copy() for part in whole_sums(members.fast.rules, 2)]
    members.fast.work.active[:2] = 2, 0
    assert fast.fade_active(1, 99, pack(members))  # the global model has faded
    for got, wanted in zip(whole_sums(members.fast.rules, 2), before, strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert members.fast_block[2] == 99
    assert not fast.fade_active(1, 99, pack(members))


@pytest.mark.parametrize(
    ("row", "memory", "block"), [(1, 20, 0), (10, 20, 0), (11, 20, 1), (500, 500, 1), (501, 500, 2)]
)
def test_two_blocks_are_one_memory(row, memory, block):
    assert fast.block_of(row, memory) == block


@settings(max_examples=examples(15))
@given(st.integers(0, 1000), st.integers(1, 90), st.sampled_from([0, 1, 2]))
def test_sums_of_reversed_labels_are_those_of_rows_with_the_opposite_labels(seed, rows, locked):
    members, twins = run(seed, rows)
    full = with_fast_arrays(members)
    full.locked[locked] = locked > 0
    fast_sums.reverse_labels(np.array([False, True]), full)
    for slot, twin in enumerate(twins):
        if twin.rows:
            turned = twin.rows if slot == locked > 0 else [(*row[:3], np.abs(row[3] - [0.0, 1.0])) for row in twin.rows]
            expected = NaiveFast(twin.penalty, turned).sums(int(members.fast_block[slot]))
            for got, wanted, name in zip(whole_sums(members.fast.rules, slot), expected, "HGP", strict=True):
                assert_close(got, wanted, 1e-9, f"{name} of slot {slot}")


@settings(max_examples=examples(15))
@given(st.integers(0, 1000), st.integers(0, 9))
def test_sums_of_merged_rules_fade_to_the_later_block(seed, blocks):
    members, twins = run(seed, 90)
    rules, full = members.fast.rules, with_fast_arrays(members)
    late = int(members.fast_block[1]) + blocks
    fast_sums.multiply(1, float(np.exp(-blocks / 2.0)), fast_sums.fast_arrays(full), members.fast.settings)
    members.fast_block[1] = late
    fast_sums.pool(1, 2, full, members.fast.settings)
    both = NaiveFast(twins[1].penalty, twins[1].rows + twins[2].rows)
    assert members.fast_block[1] == max(late, int(members.fast_block[2]))
    for got, wanted, name in zip(whole_sums(rules, 1), both.sums(int(members.fast_block[1])), "HGP", strict=True):
        assert_close(got, wanted, 1e-9, name)
