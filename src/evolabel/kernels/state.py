"""The arrays a rule base consists of, and the settings its kernels read.

Slot 0 is the whole stream (the global model), slots 1..C are the rules; R is the capacity, p the number of features,
q = p + 1 the length of a regressor r = (z, 1), K the number of labels, B the length of a block.

| array    | shape         | symbol      | kind    | meaning                                                       |
|----------|---------------|-------------|---------|---------------------------------------------------------------|
| c        | (1+R, p)      | c_i         | exact   | centre: weighted mean of the samples the rule has won         |
| M        | (1+R, p)      |             | exact   | scatter: weighted sum of squared deviations from the centre   |
| n        | (1+R, p)      |             | exact   | weight of the samples that showed the feature                 |
| k        | (1+R,)        | k_i         | exact   | support: weight of the samples the rule has won               |
| inv      | (1+R, p)      | 1/Sigma_jj  | derived | inverse variance, prior included                              |
| H        | (1+R, q, q)   | R'QR        | exact   | sum of psi r r', lower triangle, without the rows in `late_H` |
| G        | (1+R, K, q)   | (R'QY)'     | exact   | sum of psi y r', one row per label                            |
| P        | (1+R, q, q)   | P_i         | derived | (H + penalty)^-1, lower triangle, without the rows in `late_P`|
| late_H   | (1+R, B, q)   |             | exact   | rows h = sqrt(psi) r: H still lacks their h h'                |
| late_P   | (1+R, B, q)   |             | derived | rows h = sqrt(psi / (1 + psi r'Pr)) P r: P still lacks -h h'  |
| late     | (1+R,)        |             | exact   | how many rows wait in both                                    |
| age      | (1+R,)        |             | policy  | samples learned since P was last derived from H               |
| fresh    | (1+R,)        |             | exact   | evidence (sum of psi) learned since then; what forgetting uses|
| identity | (1+R,)        |             | exact   | the rule's number for life (slots are re-used, numbers not)   |
| born     | (1+R,)        |             | exact   | sample at which the rule was born                             |
| won      | (1+R,)        |             | exact   | last sample the rule has won                                  |
| tally    | (3,)          | C, N        | exact   | rules, samples seen, identity of the next rule                |
| strange  | (3,)          |             | exact   | count, mean and variance of recent winner distances           |

"exact" arrays are sufficient statistics: they add up when rules are merged. "derived" ones follow from them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# Places in `tally`.
RULES, SEEN, NEXT_IDENTITY = 0, 1, 2

# Why `learn_rows` came back: all rows are done; the next row starts a rule; a rule has starved; a slot is due for
# upkeep (P derived anew, the past faded).
DONE, NOVEL, STARVED, DUE = 0, 1, 2, 3


class RuleArrays(NamedTuple):
    """State of a rule base as plain arrays; see the table on top of this module."""

    c: FloatArray
    M: FloatArray
    n: FloatArray
    k: FloatArray
    inv: FloatArray
    H: FloatArray
    G: FloatArray
    P: FloatArray
    late_H: FloatArray
    late_P: FloatArray
    late: IntArray
    age: IntArray
    fresh: FloatArray
    identity: IntArray
    born: IntArray
    won: IntArray
    tally: IntArray
    strange: FloatArray


class Settings(NamedTuple):
    """What the kernels must know beside the state.

    `penalty` has one row for the global model (lambda D) and one for the rules (gamma D); `prior` is the prior
    variance of each feature; `tau` the temperature per feature, T / p; `upkeep_every` the samples a slot learns
    between two derivations of P; `prune_after` = 0 switches pruning off.
    """

    penalty: FloatArray
    prior: FloatArray
    prior_count: float
    tau: float
    min_activation: float
    max_rules: int
    vigilance: float
    novel_z: float
    forgetting: float
    upkeep_every: int
    prune_after: int
    min_support: float


class Workspace(NamedTuple):
    """Scratch arrays of the learning loop, kept between calls: allocating them anew would cost more than a row.

    `r` and `u` hold the regressors of the active slots and P r, the global model's last; see `kernels.stream`.
    """

    D: FloatArray
    psi: FloatArray
    active: IntArray
    r: FloatArray
    u: FloatArray
    v: FloatArray
    t: FloatArray
    confidence: FloatArray


def workspace(slots: int, n_features: int, n_labels: int) -> Workspace:
    """Scratch arrays for so many slots, features and labels."""
    q = n_features + 1
    return Workspace(
        D=np.empty(slots),
        psi=np.empty(slots),
        active=np.empty(slots, np.int64),
        r=np.empty((slots, q)),
        u=np.empty((slots, q)),
        v=np.empty(q),
        t=np.empty(q),
        confidence=np.empty(n_labels),
    )
