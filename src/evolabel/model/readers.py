"""`Following`: calibration and decisions of outputs that follow the last answers, beside those of the plain ones."""

import copy

import numpy as np

from evolabel.core.rows import Batch
from evolabel.core.stored_checks import check_names, inside, part_of, prefixed
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.stage import Decisions
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray


class Following:
    """What reads outputs that follow the last answers; it learns from those that differ from the plain ones.

    Parameters
    ----------
    calibration : Calibration
        That of the plain outputs, which is copied.
    decisions : Decisions, optional
        Those on the plain outputs, which are copied.
    """

    def __init__(self, calibration: Calibration, decisions: Decisions | None) -> None:
        self.calibration = copy.deepcopy(calibration)
        self.decisions = copy.deepcopy(decisions)

    def learn(self, batch: Batch, followed: FloatArray) -> None:
        """Learn `batch`, which has the plain outputs from before each row was learned; `followed` are the others.

        Its probabilities, which must be given where decisions are learned, and set limits have those of the plain
        outputs, and receive those of outputs that differ; so do its decisions, if given, of rows in which one differs.
        """
        self.calibration.learn_checked(batch, followed)
        if self.decisions is None:
            return
        own = batch._replace(outputs=followed, decisions=np.empty(batch.decisions.shape))
        self.decisions.update(own)
        if len(own.decisions):
            rows = self.replaced(followed, batch.outputs).any(axis=1)
            batch.decisions[rows] = own.decisions[rows]

    def replaced(self, outputs: FloatArray, plain: FloatArray) -> BoolArray:
        """Return where `outputs`, (n, K), are not the `plain` ones; of classes, all of a row if one is not."""
        found: BoolArray = np.not_equal(outputs, plain)
        if not self.calibration.exclusive:
            return found
        return np.repeat(found.any(axis=1, keepdims=True), found.shape[1], axis=1)

    def probabilities(self, outputs: FloatArray, plain: FloatArray, P: FloatArray) -> FloatArray:
        """Return the probabilities of `outputs`; P has those of the `plain` ones."""
        return np.where(self.replaced(outputs, plain), self.calibration.probabilities(outputs), P)

    def limits(self, outputs: FloatArray, plain: FloatArray, coverage: float, limits: FloatArray) -> FloatArray:
        """Return the limits of sets of this `coverage`, (n, K), for `outputs`; `limits`, (K,), are the `plain` ones."""
        return np.where(self.replaced(outputs, plain), self.calibration.limits(coverage), limits)

    # ------------------------------------------------------------------ files, other widths, merging

    def stored(self) -> Arrays:
        """Return the arrays by name, as files have them."""
        arrays = prefixed("calibration", self.calibration.stored())
        return arrays | ({} if self.decisions is None else prefixed("decisions", self.decisions.stored()))

    def restore(self, arrays: Arrays) -> None:
        """Set calibration and decisions to copies of stored `arrays`; DataError if they are not those of such."""
        parts = {name: part_of(arrays, name) for name in ("calibration", "decisions")}
        check_names(arrays, [f"{part}.{name}" for part, stored in parts.items() for name in stored])
        with inside("calibration"):
            self.calibration.restore(parts["calibration"])
        with inside("decisions"):
            if self.decisions is None:
                check_names(parts["decisions"], ())
            else:
                self.decisions.restore(parts["decisions"])

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`."""
        self.calibration.grow_labels(n_labels)
        if self.decisions is not None:
            self.decisions.grow_labels(n_labels)

    def merge(self, other: "Following", labels: IntArray) -> None:
        """Add what `other`, of a model trained apart, has learned; `labels` has the places of its labels."""
        self.calibration.merge(other.calibration, labels)
        if self.decisions is not None:
            self.decisions.merge(other.decisions, labels)
