"""`FirstModel`: outputs from the tenth row of a warm-up on.

The batch phase runs on the first 10, 20 and 40 rows kept, and the rows in between are learned one by one. The model is
derived from the rows kept and dropped when the warm-up ends. The batch phase then runs on all of them, as without it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from evolabel.errors import DataError, StateError
from evolabel.model.protocols import Model
from evolabel.model.warm_up import WarmUp
from evolabel.typing import FloatArray, IntArray

STAGES = (10, 20, 40)  # rows after which the batch phase runs on all rows kept

# Rows with which an edit may end the warm-up. Share of right labels in rows 80 to 300 of yeast after a start with
# 2 / 10 / 80 rows: .723 / .784 / .789, of emotions .779 / .790 / .809.
FEWEST_ROWS = STAGES[0]

_CANNOT_LEARN = (DataError, StateError, LinAlgError)  # few rows may be constant, or their weights too different


class _Trained(NamedTuple):
    """A model, None where its rows cannot be learned, with the stage it started at and the numbers of its rows."""

    stage: int
    model: Model | None
    numbers: IntArray


class FirstModel:
    """A model of the rows in a warm-up buffer, trained at the last of `STAGES` that they have reached.

    It is computed from these rows alone, so it is neither stored nor merged. An interrupt drops it; it is then computed
    again.
    """

    def __init__(self) -> None:
        self._trained: _Trained | None = None

    def outputs(self, buffer: WarmUp, X: FloatArray, make: Callable[[], Model]) -> FloatArray:
        """Return outputs of the raw rows `X` by a model of all rows in `buffer`, or label shares before there is one.

        `make` returns an untrained model.
        """
        model = self.model_of(buffer, make)
        return np.tile(buffer.priors(), (len(X), 1)) if model is None else model.outputs(X)

    def model_of(self, buffer: WarmUp, make: Callable[[], Model]) -> Model | None:
        """Return the model of all rows in `buffer`; None below the first stage, or where they cannot be learned.

        `make` returns an untrained model.
        """
        stage = max((stage for stage in STAGES if stage <= buffer.filled), default=0)
        if stage == 0:
            return None
        trained, self._trained = self._trained, None
        if trained is None or trained.stage != stage or not _has_learned(trained, buffer):
            trained = _Trained(stage, _fitted(buffer, stage, make), buffer.numbers[:stage].copy())
        self._trained = _learned(trained, buffer)
        return self._trained.model


def _has_learned(trained: _Trained, buffer: WarmUp) -> bool:
    """Return whether the rows of `trained` are the first rows in `buffer`, with the same features and labels."""
    model, known = trained.model, trained.numbers
    if model is not None and (model.n_features, model.n_labels) != (buffer.X.shape[1], buffer.Y.shape[1]):
        return False
    return len(known) <= buffer.filled and np.array_equal(known, buffer.numbers[: len(known)])


def _fitted(buffer: WarmUp, stage: int, make: Callable[[], Model]) -> Model | None:
    """Return a model after the batch phase on the first `stage` rows in `buffer`; None if they cannot be learned."""
    model = make()
    try:
        model.fit(buffer.batch().rows(slice(0, stage)))
    except _CANNOT_LEARN:
        return None
    return model


def _learned(trained: _Trained, buffer: WarmUp) -> _Trained:
    """Return `trained` after it has learned the other rows in `buffer`: one by one, however they have come."""
    model, numbers = trained.model, buffer.numbers[: buffer.filled].copy()
    rest = buffer.batch().rows(slice(len(trained.numbers), None))
    if model is not None:
        try:
            for row in range(len(rest.X)):
                model.learn(rest.rows(slice(row, row + 1)))
        except _CANNOT_LEARN:
            model = None
    return _Trained(trained.stage, model, numbers)
