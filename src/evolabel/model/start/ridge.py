"""The ridge strength, from the initial batch: the one thing fitted to a data set by default.

Deviation: the paper's gamma only mends the condition of R'QR; a ridge that predicts well is orders of magnitude larger.
"""

from collections.abc import Iterator

import numpy as np

from evolabel.engine.one_thread import one_blas_thread
from evolabel.typing import FloatArray

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
