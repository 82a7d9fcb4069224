"""The fast member: the sums of the rules with a memory of N rows of the stream, `Settings.memory`.

Sums fade in blocks of N / 2 rows: a slot that learns first applies the blocks that it has missed, H and G times
exp(-1/2) each, and derives P = (H + penalty)^-1 anew. Within a block P follows by rank-one steps. So P is exact for its
H, the ridge never fades, rounding does not add up, and a rule that does not fire costs nothing.
"""

from evolabel.engine.compile import inner
from evolabel.engine.inverse import positive_inverse
from evolabel.engine.lanes import exp_of_negative
from evolabel.engine.symmetric import add_outer_products
from evolabel.stages.drift.arrays import Members
from evolabel.stages.rules.arrays import BLOCKS, RuleArrays, Settings
from evolabel.typing import FloatArray

FADE = -0.5  # logarithm of the factor per block: 1 / BLOCKS


@inner
def block_of(row: int, memory: int) -> int:
    """Return the block of the `row` of a stream, counted from 1, for a `memory` of so many rows."""
    return (row - 1) // (memory // BLOCKS)


@inner
def multiply_sums(slot: int, factor: float, fast: RuleArrays) -> None:
    """Multiply H and G of `slot` by `factor`, pending rows included; P is not changed."""
    H, G = fast.H[slot], fast.G[slot]
    add_outer_products(H, fast.pending_H[slot], fast.n_pending[slot], 1.0)
    fast.n_pending[slot] = 0
    for i in range(H.shape[0]):
        for j in range(i + 1):
            H[i, j] *= factor
    for b in range(G.shape[0]):
        for j in range(G.shape[1]):
            G[b, j] *= factor


@inner
def derive_fast_inverse(
    slot: int, fast: RuleArrays, settings: Settings, A: FloatArray, L: FloatArray, V: FloatArray, column: FloatArray
) -> None:
    """Derive P of `slot` from its H; A, L, V and `column` are scratch."""
    H, penalty = fast.H[slot], settings.penalty[min(slot, 1)]
    for i in range(H.shape[0]):
        for j in range(i + 1):
            A[i, j] = H[i, j]
        A[i, i] += penalty[i]
    positive_inverse(A, L, V, column, fast.P[slot])


@inner
def fade_active(m: int, now: int, members: Members) -> bool:
    """Apply the blocks that the m active rules and the global model have missed before the block `now`.

    Return whether there were any: P of some rule has then changed.
    """
    faded = False
    fast, settings, active = members.fast.rules, members.fast.settings, members.fast.work.active
    for b in range(m + 1):
        slot = active[b]
        missed = now - members.fast_block[slot]
        if missed > 0:
            members.fast_block[slot] = now
        if missed > 0 and fast.locked[slot] == 0:
            multiply_sums(slot, exp_of_negative(FADE * missed), fast)
            derive_fast_inverse(slot, fast, settings, members.A, members.L, members.V, members.column)
            faded = True
    return faded
