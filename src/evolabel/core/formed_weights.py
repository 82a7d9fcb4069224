"""The weights of all rules, formed: what makes answering much cheaper than learning while a model stays as it is.

Learning never forms W_i = P_i (G_i + gamma D W_0), because it would have to do so for every sample (`kernels.stream`).
Formed once, they serve any number of rows, to the same outputs up to rounding.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsymm

from evolabel.core.rule_state import RuleState
from evolabel.kernels._compile import direct
from evolabel.kernels.by_rule import answer_by_rule
from evolabel.kernels.formed import answer_rows
from evolabel.kernels.places import measure_rows, normalise_rows
from evolabel.kernels.state import FloatArray

# Rows from which on forming the weights first is faster: 24 to 64 were measured with 72 to 260 features and 6 to 101
# labels. Fewer features need more rows, but then either way takes less than a millisecond.
MANY_ROWS = 64

# Weights of a rule from which on its rows are better taken together than one by one; 238 were too few, 438 enough.
MANY_WEIGHTS = 400

SOME_ROWS = 16  # are worth being placed together, and being seen rule by rule
TOGETHER = 1024  # rows, at most, so that they stay near while all rules see them

_answer_rows, _answer_by_rule = direct(answer_rows), direct(answer_by_rule)
_measure_rows, _normalise_rows = direct(measure_rows), direct(normalise_rows)


def formed_weights(base: RuleState) -> FloatArray:
    """W of the global model and of all rules, (1 + C, K, q); iterated weights, and those of locked rules, are kept."""
    a = base.arrays
    if base.settings.iterated:
        return a.W
    W = np.empty((base.n_rules + 1, *a.G.shape[1:]))
    W[0] = _solution(base, 0, a.G[0])
    for slot in range(1, len(W)):
        W[slot] = a.W[slot] if a.locked[slot] else _solution(base, slot, a.G[slot] + base.settings.lean * W[0])
    return W


class Answers(NamedTuple):
    """Outputs of scaled rows, (rows, K), and where they stand: memberships and mean squared distances, (rows, C)."""

    outputs: FloatArray
    psi: FloatArray
    D: FloatArray


def formed_answers(base: RuleState, Z: FloatArray, W: FloatArray) -> Answers:
    """Eq. (2) for scaled rows by formed weights, and all that was found on the way."""
    together = len(Z) >= SOME_ROWS
    shape = len(Z), base.n_rules
    psi, D = placed(base, Z) if together else (np.empty(shape), np.empty(shape))
    out, V = np.empty((len(Z), base.n_labels)), np.empty((1, *W.shape[1:]))
    flat = W.reshape(len(W), -1), V.reshape(1, -1)
    for start in range(0, len(Z), TOGETHER):
        part = slice(start, start + TOGETHER)
        state = W, base.arrays, base.settings, base.scratch(), out[part]
        if together and W[0].size >= MANY_WEIGHTS:
            _answer_by_rule(Z[part], psi[part], *state)
        else:
            _answer_rows(Z[part], together, *state, psi[part], D[part], V, *flat)
    return Answers(out, psi, D)


def placed(base: RuleState, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Memberships and mean squared distances of scaled rows, (rows, C) each; as learning finds them, up to rounding."""
    psi, D = np.empty((len(Z), base.n_rules)), np.empty((len(Z), base.n_rules))
    _measure_rows(Z, base.arrays, base.settings, base.scratch(), psi, D)
    np.exp(psi, out=psi)
    _normalise_rows(psi, base.settings.min_activation)
    return psi, D


def _solution(base: RuleState, slot: int, evidence: FloatArray) -> FloatArray:
    """`evidence` P, (K, q), from the lower triangle of P and its waiting rows."""
    a = base.arrays
    rows = a.late_P[slot, : a.late[slot]]
    product: FloatArray = dsymm(1.0, a.P[slot].T, evidence.T).T  # BLAS counts columns first: the triangle is its upper
    return product - (evidence @ rows.T) @ rows
