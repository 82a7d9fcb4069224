"""All that is made of a row that comes alone, on its way to a question: scaled, answered and scored in one call.

Many rows go through numpy, criterion by criterion (`active.criteria`); for one row every step from Python would cost
more than its arithmetic. The formulas are the same, so are the outcomes, up to rounding.

| symbol  | array      | meaning                                                                        |
|---------|------------|--------------------------------------------------------------------------------|
| f       | (1, K)     | outputs, eq. (2)                                                               |
| scores  | (1, S)     | of each criterion in turn, K columns where it scores label by label, else one  |
| places  | (5, 1, C)  | psi, D, q, s, t of `kernels.information`                                       |
| W       | (1+C, K, q)| formed weights (`kernels.formed`); empty: the model has just learned           |
| N       |            | weight of all rows in M                                                        |
| trust   | (K,)       | what f is multiplied by; empty: nothing                                        |
| shift   | (1, K)     | what is added then; empty: nothing                                             |
| doubts  | (1, K)     | how far ambiguity draws f towards 0.5; empty: not at all                       |
| kinds   | (criteria,)| what each criterion is: AMBIGUITY, SOFT_COUNT, LEVERAGE or VARIANCE_REDUCTION  |
| widths  | (criteria,)| of soft counts; NaN for other criteria                                         |
| part    | (K,)       | product of the scores by which labels are chosen; (1,) for whole samples       |

How rows are scaled (x to high) is explained in `kernels.scaling`, how labels are chosen (tok to mask) in
`kernels.selection`.
"""

import numpy as np

from evolabel.kernels._compile import cold_kernel, hot_kernel, kernel
from evolabel.kernels.formed import answer_rows
from evolabel.kernels.information import inform_rows, leverage_rows, look_rows, variance_reduction_rows
from evolabel.kernels.parcel import opened
from evolabel.kernels.scaling import scale_rows
from evolabel.kernels.selection import choose_from_row
from evolabel.kernels.state import BoolArray, FloatArray, IntArray

AMBIGUITY, SOFT_COUNT, LEVERAGE, VARIANCE_REDUCTION = 0, 1, 2, 3

FLOOR = 0.01  # ambiguity of a sure label: other criteria can still tell such labels apart


@hot_kernel
def ambiguity(f: float, doubt: float) -> float:
    """Variance of an answer that is 1 with probability f, drawn towards 0.5 as far as it is doubted; and a floor."""
    v = min(max(f, 0.0), 1.0)
    v += doubt * (0.5 - v)
    return v * (1.0 - v) + FLOOR


@kernel
def ambiguity_rows(f: FloatArray, doubts: FloatArray, out: FloatArray) -> None:
    """Ambiguity of every label of every row; `doubts` may be empty."""
    for i in range(f.shape[0]):
        for j in range(f.shape[1]):
            out[i, j] = ambiguity(f[i, j], doubts[i, j] if doubts.size > 0 else 0.0)


@cold_kernel
def soft_count(f: FloatArray, width: float) -> float:
    """How many labels are ambiguous, softly."""
    total = 0.0
    for j in range(f.shape[0]):
        e = (f[j] - 0.5) / width
        total += np.exp(-0.5 * e * e)
    return total


@cold_kernel
def score_row(
    f: FloatArray,
    places: FloatArray,
    N: float,
    kinds: IntArray,
    widths: FloatArray,
    doubts: FloatArray,
    scores: FloatArray,
) -> None:
    """Scores of one row by all criteria."""
    psi, q, t, at = places[0], places[2], places[4], 0
    for c in range(kinds.shape[0]):
        if kinds[c] == AMBIGUITY:
            for j in range(f.shape[1]):
                scores[0, at + j] = ambiguity(f[0, j], doubts[0, j] if doubts.size > 0 else 0.0)
            at += f.shape[1]
            continue
        if kinds[c] == SOFT_COUNT:
            scores[0, at] = soft_count(f[0], widths[c])
        elif kinds[c] == LEVERAGE:
            leverage_rows(psi, q, scores[0, at : at + 1])
        else:
            variance_reduction_rows(psi, q, t, scores[0, at : at + 1])
            scores[0, at] /= N
        at += 1


@kernel
def glance(
    X: FloatArray,
    trust: FloatArray,
    shift: FloatArray,
    doubts: FloatArray,
    x: FloatArray,
    z: FloatArray,
    row: IntArray,
    used: IntArray,
    slope: FloatArray,
    low: float,
    high: float,
    parcel: FloatArray,
    W: FloatArray,
    flat_W: FloatArray,
    M: FloatArray,
    late_M: FloatArray,
    late: IntArray,
    N: float,
    informed: bool,
    kinds: IntArray,
    widths: FloatArray,
    Z: FloatArray,
    places: FloatArray,
    V: FloatArray,
    mean_W: FloatArray,
    flat_V: FloatArray,
    f: FloatArray,
    scores: FloatArray,
) -> None:
    """Outputs f and scores of the one raw row in X; `informed`: some criterion needs q, s or t.

    Z, places, V, mean_W and flat_V are scratch; flat_W and flat_V are W and mean_W, one row per slot.
    """
    scale_rows(X, x, z, row, used, slope, low, high, Z)
    rules, settings, work = opened(parcel)
    psi, D, q, s, t = places[0], places[1], places[2], places[3], places[4]
    q[:] = 0.0
    s[:] = 0.0
    t[:] = 0.0
    if W.shape[0] == 0:
        look_rows(Z, rules, settings, work, M, late_M, late, f, psi, D, q, s, t, V)
    else:
        answer_rows(Z, False, W, rules, settings, work, f, psi, D, mean_W, flat_W, flat_V)
        if informed:
            inform_rows(Z, psi, rules, settings, work, M, late_M, late, q, s, t)
    for j in range(shift.size):
        f[0, j] = trust[j] * f[0, j] + shift[0, j]
    score_row(f, places, N, kinds, widths, doubts, scores)


@hot_kernel
def power(v: float, exponent: float) -> float:
    """Take v to the exponent, which mostly is 1."""
    return v if exponent == 1.0 else v**exponent


@kernel
def choose(
    scores: FloatArray,
    worth: float,
    n_labels: int,
    by_label: BoolArray,
    powers: FloatArray,
    tok: float,
    free: int,
    tau: float,
    least: int,
    ring: FloatArray,
    tally: IntArray,
    part: FloatArray,
    mask: BoolArray,
) -> int:
    """`part`: `worth` times the scores, each to its power, label by label, or of the best labels where it is one wide.

    Returns how many entries of `mask` the quantile filter asks for.
    """
    width, at = part.shape[0], 0
    part[:] = worth
    for c in range(powers.shape[0]):
        columns = n_labels if by_label[c] else 1
        if columns == width:
            for j in range(width):
                part[j] *= power(scores[0, at + j], powers[c])
        else:
            best = 0.0
            for j in range(columns):
                best = max(best, scores[0, at + j])
            for j in range(width):
                part[j] *= power(best, powers[c])
        at += columns
    return choose_from_row(part, tok, free, tau, least, ring, tally, mask)
