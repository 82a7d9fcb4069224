"""Outputs of few rows by all stages that make outputs, in one call from Python.

| symbol | array  | meaning                                                                              |
|--------|--------|--------------------------------------------------------------------------------------|
| X      | (n, p) | raw rows                                                                             |
| read   | (n, p) | receives X with the readings of sensors that moved corrected; not without `members`  |
| f      | (n, K) | receives the outputs                                                                 |
| Z, fast, V |    | scratch: scaled rows, (n, p), outputs of the fast member, (n, K), and V of `answer_rows` |

The others are those of `stages.rules.loops.answer`.
"""

from evolabel.engine.compile import kernel
from evolabel.stages.drift.arrays import BORN, NEVER, Members
from evolabel.stages.drift.loops.mixer import mix_rows
from evolabel.stages.rules.arrays import State
from evolabel.stages.rules.loops.answer import answer_rows
from evolabel.stages.scaling.loops.scale import Knots, scale_rows
from evolabel.stages.sensors.loops.watch import correct_rows
from evolabel.stages.threshold_rules.arrays import Thresholds
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.typing import FloatArray, IntArray


@kernel
def answer_few(
    state: State,
    members: Members | None,
    thresholds: Thresholds | None,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray],
    X: FloatArray,
    read: FloatArray,
    f: FloatArray,
    psi: FloatArray,
    D: FloatArray,
) -> None:
    """Fill f, psi and D for few raw rows X, scaled by `knots`, and the `terms` q, s and t unless they are empty.

    `moments` are M, pending_M and n_pending, `scratch` Z, fast and V.
    """
    M, pending_M, n_pending = moments
    q, s, t = terms
    Z, fast, V = scratch
    rows = X
    if members is not None:
        correct_rows(members.sensors, X, read)
        rows = read
    scale_rows(knots, rows, Z)
    formed = W.shape[0] > 0
    if members is not None and not formed and members.arrays.clock[BORN] != NEVER:
        answer_rows(members.fast, Z, W, M, pending_M, n_pending, fast, psi, D, q[:0], s, t, V)
    answer_rows(state, Z, W, M, pending_M, n_pending, f, psi, D, q, s, t, V)
    if members is not None:
        mix_rows(members, rows, fast, formed, f)
    if thresholds is not None:
        refine_rows(thresholds, rows, f)
