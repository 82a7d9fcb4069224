"""`Calibration`: probabilities and prediction sets from the final outputs of a model, learned along the stream.

Nothing that a model answers or learns depends on it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.core.rows import NOT_GIVEN, Batch, check_outputs, misfit
from evolabel.core.schema import new_entries, places_of
from evolabel.core.stored_checks import check_arrays, is_nearly_definite, require
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.stages.calibration.arrays import (
    CALIBRATION_ARRAYS,
    LARGEST_COEFFICIENT,
    LEVELS,
    CalibrationArrays,
    Calibrations,
    allocate_calibration,
    calibration_sizes,
    first_maps,
    with_scratch_rows,
)
from evolabel.stages.calibration.loops import (
    LARGEST_FACTOR,
    LEAST_FACTOR,
    learn_calibration,
    limit_rows,
    probability_rows,
)
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

DEFAULT_COVERAGE = 0.9  # of prediction sets

_ROUNDING = 1e-6  # of stored arrays

_learn, _probability_rows, _limit_rows = direct(learn_calibration), direct(probability_rows), direct(limit_rows)


def check_coverage(coverage: float) -> float:
    """Return `coverage` as a float, or raise ParameterError if no thresholds are learned for it."""
    return float(check_number("coverage", coverage, float(LEVELS[0]), float(LEVELS[-1])))


class Calibration:
    """Maps from outputs to probabilities, and thresholds of sets, of one model.

    Parameters
    ----------
    n_labels : int
        Width of the outputs.
    exclusive : bool
        Whether the labels are classes, of which one is true.

    Attributes
    ----------
    arrays : CalibrationArrays
        Maps, counts of scores and their thresholds.
    """

    def __init__(self, n_labels: int, *, exclusive: bool = False) -> None:
        self.n_labels = n_labels
        self.exclusive = exclusive
        self.arrays = allocate_calibration(n_labels, exclusive)
        self._kept: tuple[CalibrationArrays, Calibrations, Any] | None = None

    @property
    def _state(self) -> tuple[CalibrationArrays, Calibrations, Any]:
        """The arrays, with scratch arrays, and that as loops take it; made again when arrays were replaced."""
        kept = self._kept
        if kept is None or kept[0] is not self.arrays:
            state = with_scratch_rows(self.arrays, self.n_labels, self.exclusive)
            kept = self._kept = self.arrays, state, pack(state)
        return kept

    # ------------------------------------------------------------------ answering

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return the probability of each label, (n, K), for the final `outputs`; of classes they sum to 1."""
        F = np.ascontiguousarray(outputs)
        if F.nbytes != 8 * len(F) * self.n_labels:
            raise misfit({"outputs": F}, f"{self.n_labels} labels")
        P = np.empty(F.shape)
        _probability_rows(self._state[2], F, P)
        return P

    def limits(self, coverage: float) -> FloatArray:
        """Return the largest score that belongs to a set at this `coverage`, for each label; classes share one."""
        limits = np.empty(self.n_labels)
        _limit_rows(self._state[2], coverage, limits)
        return limits

    def sets(self, probabilities: FloatArray, limits: FloatArray) -> BoolArray:
        """Return the sets for `probabilities`, (n, K), by `limits` of each label, or of each label in each row.

        Labels: (n, K, 2), whether the label may be off, may be on; at least one of them. Classes: (n, K), whether the
        class may be the true one; at least one of them.
        """
        p = probabilities
        if self.exclusive:
            return np.asarray((1.0 - p <= limits) | (p == p.max(axis=1, initial=0.0, keepdims=True)))
        return np.stack([(p <= limits) | (p < 0.5), (1.0 - p <= limits) | (p >= 0.5)], axis=-1)

    # ------------------------------------------------------------------ learning

    def learn(self, batch: Batch, followed: FloatArray | None = None, *, adapts: bool = True) -> None:
        """Learn the labels of `batch`, whose outputs were made before each row was learned.

        Its probabilities and set limits, if given, receive those from before each row. Where `followed` outputs are
        given, only those that differ from the ones of `batch` are learned, and only theirs are received. Thresholds
        change unless `adapts` is False, as for rows of an initial batch, whose outputs are formed without their labels.
        """
        check_outputs(batch if followed is None else batch._replace(plain=followed), self.n_labels)
        self.learn_checked(batch, followed, adapts=adapts)

    def learn_checked(self, batch: Batch, followed: FloatArray | None = None, *, adapts: bool = True) -> None:
        """Do as `learn` with a `batch` whose arrays, and those of `followed` outputs, were checked."""
        _, Y, weights, confidences, F, _, _, _, P, coverages, limits, _ = batch
        plain = NOT_GIVEN
        if followed is not None:
            F, plain = followed, F
        _learn(self._state[2], adapts, F, Y, weights, confidences, coverages, P, limits, plain)

    @contextmanager
    def counting(self, labels: BoolArray) -> Iterator[None]:
        """Let rows that are learned in the `with` block move only the thresholds of these `labels`, (K,) or fewer.

        The maps learn from all labels. Rows that were chosen for a question are harder than those sets are made for.
        """
        counted = self._state[1].counted
        counted[:] = 0.0
        counted[: len(labels)] = labels[: self.n_labels]
        try:
            yield
        finally:
            counted[:] = 1.0

    # ------------------------------------------------------------------ files

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them."""
        return CALIBRATION_ARRAYS.arrays_of(self.arrays)

    def restore(self, arrays: Arrays) -> None:
        """Set the state to copies of stored `arrays`; DataError if they are not those of such a calibration."""
        _check_stored(arrays, self.n_labels, self.exclusive)
        self.arrays = CALIBRATION_ARRAYS.from_arrays(arrays)

    # ------------------------------------------------------------------ other widths, merging, copies

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`: they have the shared map, and no counts; classes share all there is."""
        if not self.exclusive:
            source = new_entries(self.n_labels, n_labels)
            self.arrays = CALIBRATION_ARRAYS.rearranged(self.arrays, {"own": source, "score": source})
        self.n_labels = n_labels
        self._kept = None

    def merge(self, other: "Calibration", labels: IntArray) -> None:
        """Add what `other`, of a model trained apart, has learned; `labels` has the places of its labels among these.

        Curvatures and counts add up exactly. Maps are means of both by their curvatures, which is exact where a map is
        linear in its coefficients; errors alpha are means by the counts.
        """
        a, b, (theta, A, D) = self.arrays, other.arrays, first_maps(self.exclusive)
        if not self.exclusive:
            source = places_of(labels, self.n_labels)
            b = CALIBRATION_ARRAYS.rearranged(b, {"own": source, "score": source})
        both_A, both_D = a.A + b.A - A, a.D + b.D - D
        shared = np.linalg.solve(both_A, a.A @ a.theta + b.A @ b.theta - A @ theta)
        shared = np.clip(shared, *bounds_of_theta(self.exclusive))
        moved = _times(a.D, a.delta) + (a.D - D) @ (a.theta - shared)
        moved += _times(b.D, b.delta) + (b.D - D) @ (b.theta - shared)
        parts = np.divide(b.n, a.n + b.n, out=np.zeros(len(a.n)), where=a.n + b.n > 0.0)[:, None]
        self.arrays = CalibrationArrays(
            theta=shared,
            A=both_A,
            delta=np.clip(np.linalg.solve(both_D, moved[..., None])[..., 0], -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT),
            D=both_D,
            counts=a.counts + b.counts,
            n=a.n + b.n,
            alpha=(1.0 - parts) * a.alpha + parts * b.alpha,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        self.arrays = CALIBRATION_ARRAYS.writeable(self.arrays)


def bounds_of_theta(exclusive: bool) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest value that each entry of theta can have; `exclusive`: of classes."""
    if exclusive:
        return np.array([LEAST_FACTOR]), np.array([LARGEST_FACTOR])
    return np.array([0.0, 0.0, -LARGEST_COEFFICIENT]), np.full(3, LARGEST_COEFFICIENT)


def _times(D: FloatArray, delta: FloatArray) -> FloatArray:
    """Return D_k delta_k for every label k."""
    return np.asarray((D @ delta[..., None])[..., 0])


def _check_stored(arrays: Arrays, n_labels: int, exclusive: bool) -> None:
    """Check the stored `arrays` of a calibration: curvatures that can be solved, counts, and errors in range."""
    check_arrays(arrays, CALIBRATION_ARRAYS.expected(calibration_sizes(n_labels, exclusive)))
    _, A, D = first_maps(exclusive)
    _check_curvature("A", arrays["A"], A)
    for each in arrays["D"]:
        _check_curvature("D", each, D)
    low, high = bounds_of_theta(exclusive)
    require((arrays["theta"] >= low) & (arrays["theta"] <= high), "theta", "a map that rises, within its bounds")
    sums = arrays["counts"].sum(axis=1)
    require(np.abs(sums - arrays["n"]) <= _ROUNDING * (1.0 + sums), "n", "the sums of the counts")


def _check_curvature(name: str, A: FloatArray, first: FloatArray) -> None:
    """Check that the array `name`, A, is symmetric and at least its value before the `first` row, up to rounding."""
    scale = np.sqrt(np.outer(np.abs(np.diagonal(A)), np.abs(np.diagonal(A))))
    require(np.abs(A - A.T) <= _ROUNDING * scale, name, "a symmetric matrix")
    require(is_nearly_definite(A - first, np.diagonal(A)), name, "at least the curvature before the first row")
