"""The strength of the two ridges, from the initial batch: the only things fitted to a data set by default.

Deviation: the paper's gamma only mends the condition of R'QR; a ridge that predicts well is orders of magnitude larger.

The ridge of the rules towards the global model is chosen by the exact leave-one-out error of the whole rule base. With
regressors r_n, labels y_n, penalties lambda D (global model, W_0, P_0) and gamma D (rules, W_i, P_i), memberships
psi_in, and residuals e_n = y_n - W_0'r_n, the models that have never seen row n answer it by

    W_0'r_n - h_n e_n / (1 - h_n),                                 h_n = r_n'P_0 r_n
    (W_i'r_n - g_n y_n - c_n e_n / (1 - h_n)) / (1 - g_n),         g_n = psi_in r_n'P_i r_n
                                                                   c_n = gamma r_n'P_i D P_0 r_n

The first is leave-one-out of any ridge regression. In the second the rule loses the row's evidence (g_n), and the
global model that its ridge pulls to moves, too (c_n). Given the memberships this is exact. Rows are divided by the root
of D here, so that both penalties are multiples of I; one thin singular value decomposition per rule then serves all
gamma.

L1 and coupling come on top of these least squares and do not change the choice: what is shared by all alpha and beta of
a grid search stays shared. Without a ridge towards the global model there is nothing to choose.

Deviation: the paper has no such ridge. Where regions follow rules of their own, the unit of the ridges, which is what
the *linear* model needs, has little to do with what the rules need (docs/decisions/what-was-tried.md).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evolabel.core.options import STRONGEST_LOCAL_RIDGE
from evolabel.engine.symmetric import one_blas_thread
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray, IntArray

GRID = 10.0 ** np.arange(0.0, 4.01, 0.25)

# With too few rows, or labels that never vary, leave-one-out cannot choose; the best constant in our measurements.
FALLBACK = 100.0
FEWEST_ROWS = 4

# Where the errors of neighbouring rows agree so clearly, leave-one-out is too hopeful, and whole stretches of rows are
# left out instead. Shuffled rows: z < 3 on 20 shuffles of five sets; water quality and mediamill in their order: 6, 70.
# Where a batch is sorted by its labels a stretch leaves out a label altogether, so that the ridge may grow by so many
# steps of the grid at most (docs/decisions/what-was-tried.md).
CLEAR = 4.0
STRETCHES = 10
MOST_STEPS = 2

# R'R + ridge I has at most about this condition number; beyond it float64 leaves too few digits.
MOST_CONDITION = 1e8


def ridge_strength(kind: float | str, Z: FloatArray, Y: FloatArray, weights: FloatArray) -> float:
    """Return the unit of the ridges on the initial batch `Z`, `Y`: `kind` itself if a number, else chosen by it.

    `weights` of the rows, empty if all are 1, matter to the arithmetic only: leave-one-out counts all rows alike.
    """
    if kind == "press":
        return press_ridge(Z, Y)
    if kind == "condition":
        return condition_ridge(Z, weights)
    return float(kind)


@one_blas_thread()
def condition_ridge(Z: FloatArray, weights: FloatArray) -> float:
    """Return gamma of eq. (18) for rows `Z`: 2 lmax(R'QR) / kappa keeps the condition number below about kappa.

    Q holds the `weights`; those below 1 count as 1, because rows to come may weigh as much.
    """
    R = np.column_stack([filled(Z, 0.0), np.ones(len(Z))])
    if len(weights):
        R *= np.sqrt(np.maximum(weights, 1.0))[:, None]
    return float(2.0 * np.linalg.norm(R, 2) ** 2 / MOST_CONDITION)


def press_ridge(Z: FloatArray, Y: FloatArray) -> float:
    """Return the ridge with the least exact leave-one-out squared error (PRESS) of the linear model of `Y` on `Z`.

    One singular value decomposition serves the whole grid. Missing features count as average, missing labels as
    their label's mean. In an ordered stream a row's neighbours predict it better than earlier rows predict later ones,
    so that more ridge may be needed: the one with the least error of rows whose neighbours were left out, too.
    """
    annotated = ~np.isnan(Y)
    Z, Y = filled(Z, 0.0), filled(Y, np.nan)
    if cannot_choose(Z, Y):
        return FALLBACK
    A, B = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    best = int(np.argmin([(errors**2).mean() for errors in _left_out(U, s**2, B, GRID)]))
    if neighbours_agree(annotated * next(_left_out(U, s**2, B, GRID[[best]]))):
        best += int(np.argmin(stretches_left_out(Z, Y, GRID[best : best + 1 + MOST_STEPS])))
    return float(GRID[best])


def cannot_choose(Z: FloatArray, Y: FloatArray) -> bool:
    """Whether leave-one-out cannot choose: too few rows `Z`, or features or labels `Y` that never vary."""
    return len(Z) < FEWEST_ROWS or not (Z - Z.mean(axis=0)).any() or not (Y - Y.mean(axis=0)).any()


def _left_out(U: FloatArray, s2: FloatArray, B: FloatArray, ridges: FloatArray) -> Iterator[FloatArray]:
    """For each ridge, the errors of all rows without the row itself."""
    shrink = s2[:, None] / (s2[:, None] + ridges)
    leverage, target = U**2 @ shrink + 1.0 / len(U), U.T @ B
    for kept, h in zip(shrink.T, leverage.T, strict=True):
        yield (B - U @ (kept[:, None] * target)) / (1.0 - h)[:, None]


def neighbours_agree(errors: FloatArray) -> bool:
    """Whether `errors` of consecutive rows agree by more than `CLEAR` standard deviations."""
    agreement = (errors[1:] * errors[:-1]).sum(axis=1)
    return bool(agreement.sum() > CLEAR * np.sqrt((agreement**2).sum()))


def stretches_left_out(Z: FloatArray, Y: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return for each of `ridges` the squared error of rows `Z`, `Y` whose whole stretch was not learned."""
    total = np.zeros(len(ridges))
    for stretch in np.array_split(np.arange(len(Z)), STRETCHES):
        A, B = np.delete(Z, stretch, axis=0), np.delete(Y, stretch, axis=0)
        x, y = A.mean(axis=0), B.mean(axis=0)
        s2, V = np.linalg.eigh((A - x).T @ (A - x))
        rows, target = (Z[stretch] - x) @ V, V.T @ ((A - x).T @ (B - y))
        for place, ridge in enumerate(ridges):
            answer = y + rows @ (target / (np.maximum(s2, 0.0) + ridge)[:, None])
            total[place] += ((Y[stretch] - answer) ** 2).sum()
    return total


def filled(A: FloatArray, value: float) -> FloatArray:
    """Return `A` with NaN replaced by `value`, or by the column's mean where `value` is NaN."""
    missing = np.isnan(A)
    if not missing.any():
        return A
    counts = (~missing).sum(axis=0)
    means = np.where(missing, 0.0, A).sum(axis=0) / np.maximum(counts, 1)
    return np.where(missing, means if np.isnan(value) else value, A)


# Strongest first: it wins ties. Small batches may choose more, to the loss of the stream after them.
LOCAL_GRID = (STRONGEST_LOCAL_RIDGE, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)

_MOST_ROWS = 2000  # of a larger batch rows are taken at even steps; that many are enough to compare seven strengths


class LeftOut(NamedTuple):
    """The factor of the ridge that was chosen, and the outputs of `rows` by rules that have never seen the row."""

    factor: float
    rows: IntArray
    outputs: FloatArray


@one_blas_thread()
def choose_local_ridge(rules: RuleBase, Z: FloatArray, Y: FloatArray, ridge: float) -> LeftOut:
    """Return the factor of `ridge` with the least leave-one-out squared error of `rules` on scaled rows `Z`, `Y`.

    Without rows in the result it could not be chosen. The rules have their places, and have learned no consequents. As
    for the unit `ridge`, all rows count alike, and gaps as average.
    """
    rows = np.arange(len(Z))
    if len(Z) > _MOST_ROWS:
        rows = np.linspace(0, len(Z) - 1, _MOST_ROWS).astype(np.int64)
        Z, Y = Z[rows], Y[rows]
    memberships = rules.memberships(Z)[0]
    Z, Y = filled(Z, 0.0), filled(Y, np.nan)
    if cannot_choose(Z, Y):
        return LeftOut(STRONGEST_LOCAL_RIDGE, rows[:0], Y[:0])
    strength = rules.settings.penalty[0]  # lambda D; D is 1 for features
    R = np.column_stack([Z, np.ones(len(Z))]) / np.sqrt(strength / strength[0])
    with np.errstate(all="ignore"):  # hardly any ridge: leverages of 1
        outputs = leave_one_out(R, Y, memberships, float(strength[0]), ridge * np.array(LOCAL_GRID))
        errors = ((outputs - Y) ** 2).mean(axis=(1, 2))
    best = int(np.where(np.isfinite(errors), errors, np.inf).argmin())
    return LeftOut(LOCAL_GRID[best], rows, outputs[best])


def leave_one_out(
    R: FloatArray, Y: FloatArray, memberships: FloatArray, strength: float, gammas: FloatArray
) -> FloatArray:
    """Return outputs of all rows without the row itself, (gammas, rows, labels), for `Y` and regressors `R`.

    `memberships` are those in the rules; penalties are `strength` I of the global model and `gammas` times I of rules.
    """
    U_0, s, _ = np.linalg.svd(R, full_matrices=False)
    shrink = s**2 / (s**2 + strength)
    h = U_0**2 @ shrink
    fit = U_0 @ (shrink[:, None] * (U_0.T @ Y))
    residual = Y - fit
    moved = residual / (1.0 - h)[:, None]
    out = np.zeros((len(gammas), *Y.shape))
    for psi in memberships.T:
        on = np.flatnonzero(psi > 0.0)
        if not len(on):
            continue
        root = np.sqrt(psi[on])[:, None]
        U, s, _ = np.linalg.svd(root * R[on], full_matrices=False)
        evidence = U.T @ (root * residual[on])
        overlap = U * ((U_0[on] * shrink) @ (U_0[on].T @ (root * U))) / root
        for place, gamma in enumerate(gammas):
            share = s**2 / (s**2 + gamma)
            g, c = (U**2 @ share)[:, None], (h[on] - overlap @ share)[:, None]
            own = fit[on] + U @ (share[:, None] * evidence) / root
            out[place, on] += root**2 * (own - g * Y[on] - c * moved[on]) / (1.0 - g)
    return out
