"""Outputs of rows, by weights of all rules that are computed once.

Learning never computes W_i = P_i (G_i + gamma D W_0), because it would be needed for every sample
(`loops.consequents`). Weights that were computed once can be used for any number of rows, with the same outputs up to
rounding.
"""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.rows import check_rows, misfit
from evolabel.core.schema import Schema, array
from evolabel.engine.symmetric import mirrored
from evolabel.stages.rules.rule_state import RuleState
from evolabel.typing import FloatArray, IntArray

# Rows from which on forming the weights first is faster: 24 to 64 were measured with 72 to 260 features and 6 to 101
# labels. Fewer features need more rows, but then either way takes less than a millisecond.
MANY_ROWS = 64

SOME_ROWS = 16  # rows from which on a block is faster than row by row, with formed weights
TOGETHER = 1024  # rows of a block, at most, so that they stay in the processor's cache while all rules answer them

NO_WEIGHTS = np.empty((0, 0, 0))
NO_TERMS = np.empty((0, 0))


class Moments(NamedTuple):
    """Second moments of slots 0..C, as `stages.rules.loops.answer` takes them."""

    M: Annotated[FloatArray, array("slot", "regressor", "regressor")]
    """Sums of psi r r' over the rows of the stream, lower triangle, without those that are pending."""
    pending_M: Annotated[FloatArray, array("slot", "block", "regressor")]
    """Rows h = sqrt(psi) r whose h h' is not yet added to M."""
    n_pending: Annotated[IntArray, array("slot")]
    """How many rows are pending."""

    def matrix(self, slot: int) -> FloatArray:
        """Return M of `slot` as a full symmetric matrix, pending rows included."""
        rows = self.pending_M[slot, : self.n_pending[slot]]
        return np.asarray(mirrored(self.M[slot]) + rows.T @ rows)


MOMENTS = Schema(Moments)
NO_MOMENTS = MOMENTS.allocate({"slot": 0, "regressor": 0, "block": 0})


class VarianceTerms(NamedTuple):
    """Quadratic forms r'P r, r'P P r and r'P M P r of rows and rules, (rows, C); see `stages.rules.loops.answer`."""

    q: FloatArray
    s: FloatArray
    t: FloatArray


NO_VARIANCES = VarianceTerms(NO_TERMS, NO_TERMS, NO_TERMS)


class Answers(NamedTuple):
    """Outputs of scaled rows, (rows, K), with their memberships and mean squared distances, (rows, C)."""

    outputs: FloatArray
    psi: FloatArray
    D: FloatArray


def weights_of_all(base: RuleState) -> FloatArray:
    """Return W of the global model and of all rules of `base`, at least (1 + C, K, q); further slots are not in use."""
    return base.all_weights


def answers(
    base: RuleState,
    Z: FloatArray,
    W: FloatArray = NO_WEIGHTS,
    moments: Moments = NO_MOMENTS,
    terms: VarianceTerms = NO_VARIANCES,
) -> Answers:
    """Return eq. (2) for the scaled rows `Z`, by the weights `W`, or from the state of `base` if `W` is empty.

    `terms`, if it has rows, must be zeros, and receives the quadratic forms, with `moments` for its t.
    """
    check_rows(Z, base.n_features)
    n, rules = len(Z), base.n_rules
    if len(W) and (len(W) <= rules or W.shape[1:] != base.arrays.G.shape[1:]):
        raise misfit({"W": W}, f"{rules} rules and {base.arrays.G.shape[1:]} weights")
    out = np.empty((n, base.n_labels))
    if n < SOME_ROWS or not len(W):
        psi, D = np.empty((2, n, rules))
        base.loops.answer_rows(Z, W, moments, (out, psi, D), terms)
        return Answers(out, psi, D)
    psi, D = base.memberships(Z)
    size, (_, K, q) = min(n, TOGETHER), W.shape
    scratch = np.empty((size, q)), np.empty((size, K)), np.empty(size, np.int64)
    loops = base.loops
    for start in range(0, n, TOGETHER):
        part = slice(start, start + TOGETHER)
        loops.answer_block(Z[part], psi[part], W, scratch, out[part])
    return Answers(out, psi, D)
