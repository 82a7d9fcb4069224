"""`UnlabelledRows`: second moments of all rows of the stream, labelled or not, taken in by blocks."""

import numpy as np

from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.core.array_checks import check_arrays, check_names, check_samples, floats, inside, require, size_of
from evolabel.model.storage.named_arrays import part_of, prefixed
from evolabel.stages.protocols import Model
from evolabel.typing import Arrays, FloatArray

# Rows per block of the second moments: an eighth of the rows before, within bounds. Within a block the scores of a row
# do not change. Of a block only each fourth row is taken in, with weight four. Shuffles 10-17 of three sets,
# samples-based, mean share of the gap over PA, AP and three budgets: .469; a quarter at a time .460; always 16, and
# every row, .464; always 256 .449. Blocks of more than 256 rows, which only long streams have, make no difference
# (mediamill-5k, shuffles 10-13, 10 and 30 %: within .003 points of PA and .03 of AP) except in speed.
_SHORTEST_BLOCK, _LONGEST_BLOCK, _BLOCK_SHARE = 16, 1024, 8
_EVERY = 4


class UnlabelledRows:
    """Collects the rows of the stream and adds them to the second moments, a block at a time.

    Parameters
    ----------
    moments : bool
        Whether a criterion needs second moments; without them nothing is collected.
    """

    def __init__(self, *, moments: bool) -> None:
        self.moments = SecondMoments(_EVERY) if moments else None
        self._waiting = np.zeros((0, 0))  # rows of the present block
        self._filled = 0  # number of them
        self._model: Model | None = None  # model whose moments these are

    def moments_of(self, model: Model) -> SecondMoments | None:
        """Second moments for `model`; empty ones for a model that was fitted anew, None where they are not needed."""
        if self.moments is None or self._model is None or self._model is model:
            return self.moments
        return SecondMoments(_EVERY)

    def begin(self, model: Model) -> None:
        """Drop what was collected for another model than `model`."""
        if self._model is not None and self._model is not model:
            self._filled, self.moments = 0, self.moments_of(model)
        self._model = model

    def rows_until_change(self) -> int:
        """Number of rows that can be added before the scores of a row may change."""
        return np.iinfo(np.int64).max if self.moments is None else self._block(self.moments) - self._filled

    def add(self, model: Model, rows: FloatArray) -> None:
        """Add counted `rows`, at most `rows_until_change` of them; ignored during the cold start of `model`."""
        if model.warm_up is not None:
            return
        self.begin(model)
        if self.moments is None:
            return
        self.moments.match_rules(model.trained())
        block = self._block(self.moments)
        self._wait(rows)
        if self._filled == block:
            self._filled = 0
            self.moments.update(model, self._waiting[:block])

    @staticmethod
    def _block(moments: SecondMoments) -> int:
        """Rows per block."""
        return min(max(_SHORTEST_BLOCK, moments.n_seen // _BLOCK_SHARE), _LONGEST_BLOCK)

    def _wait(self, rows: FloatArray) -> None:
        """Copy `rows` behind those that wait."""
        if self._waiting.shape[1] != rows.shape[1] or not len(self._waiting):
            self._waiting, self._filled = np.zeros((_LONGEST_BLOCK, rows.shape[1])), 0
        end = self._filled + len(rows)
        self._waiting[self._filled : end] = rows
        self._filled = end

    def arrays(self, n_features: int) -> Arrays:
        """The state for rows of `n_features` features, by name."""
        kept = {} if self.moments is None else prefixed("moments", self.moments.arrays())
        comparable = self._waiting.shape[1] == n_features  # else features were added or removed: `_wait` starts anew
        waiting = self._waiting[: self._filled] if comparable else np.zeros((0, n_features))
        return {"waiting": waiting, **kept}

    def restore(self, arrays: Arrays, n_features: int) -> None:
        """Take over the state in `arrays`, for rows of `n_features` features; DataError if it does not fit."""
        moments = part_of(arrays, "moments")
        check_names(arrays, ["waiting", *prefixed("moments", moments)])
        rows = size_of(arrays, "waiting")
        check_arrays({"waiting": arrays["waiting"]}, {"waiting": floats(rows, n_features, missing=True)})
        check_samples("waiting", arrays["waiting"])
        if self.moments is None:
            check_names(arrays, ["waiting"])
            require(rows == 0, "waiting", "no rows")
            return
        with inside("moments"):
            self.moments = SecondMoments.from_arrays(moments)
            require(self.moments.every == _EVERY, "counts", f"each {_EVERY}th sample")
        require(rows < self._block(self.moments), "waiting", f"fewer than {self._block(self.moments)} rows")
        if rows:
            self._wait(arrays["waiting"])
