"""What samples teach without their labels: where the stream is, and, if wished, how to scale and cover it."""

import numpy as np

from evolabel.core.batch import Batch
from evolabel.core.model import StreamModel
from evolabel.core.rules.scaling import fit_scaler
from evolabel.core.second_moments import SecondMoments
from evolabel.core.stored.array_checks import check_arrays, check_names, check_samples, floats, inside, require, size_of
from evolabel.core.stored.named_arrays import part_of, prefixed
from evolabel.errors import ParameterError
from evolabel.typing import Arrays, FloatArray

REFINEMENTS = ("none", "coverage", "scaling")

# Rows the second moments take in at once: an eighth of those before them, within bounds. Between, the model and all it
# says of a sample stay the same. Of these only each fourth is taken in, for four. Shuffles 10-17 of three sets,
# samples-based, mean share of the gap over PA, AP and three budgets: .469; a quarter at a time .460; always 16, and
# every row, .464; always 256 .449. Blocks of more than 256, which only long streams have, make no difference
# (mediamill-5k, shuffles 10-13, 10 and 30 %: within .003 points of PA and .03 of AP) but to the pace.
SHORTEST, LONGEST, SHARE, EVERY = 16, 1024, 8, 4
KEPT = 200  # rows the scaling is learned anew from, once as many have come
ROOM = max(LONGEST, KEPT)


class Unlabelled:
    """Takes in every sample of the stream, asked about or not.

    Second moments are kept where a criterion needs them. Everything else is off by default: consequents
    were learned under the old memberships and the old scaling.

    Parameters
    ----------
    refine : {"none", "coverage", "scaling"}
        "coverage" lets samples nobody asks about move rules and start new ones; "scaling" learns the scaling anew from
        the last 200 samples whenever as many have come.
    moments : bool
        Whether second moments are needed.
    """

    def __init__(self, refine: str, *, moments: bool) -> None:
        if refine not in REFINEMENTS:
            raise ParameterError(f"refine={refine!r} is unknown; use one of {', '.join(REFINEMENTS)}")
        self.refine = refine
        self.moments = SecondMoments(EVERY) if moments else None
        self._waiting = np.zeros((0, 0))  # rows, as many as a block has
        self._filled = 0  # of them
        self._model: StreamModel | None = None  # whose moments these are

    def moments_of(self, model: StreamModel) -> SecondMoments | None:
        """Second moments, where they are kept; anew for a model that was fitted anew. Changes nothing."""
        if self.moments is None or self._model is None or self._model is model:
            return self.moments
        return SecondMoments(EVERY)

    def begin(self, model: StreamModel) -> None:
        """Forget what was noted of the samples seen by another model."""
        if self._model is not None and self._model is not model:
            self._filled, self.moments = 0, self.moments_of(model)
        self._model = model

    def check(self, model: StreamModel) -> None:
        """ParameterError if the model cannot be refined so; to be called before anything is counted."""
        if self.refine == "coverage" and model.options.space != "input":
            raise ParameterError('refine="coverage" needs space="input": labels are part of the product space')

    def rows_until_change(self) -> int:
        """How many rows can pass before what the model says of a sample may change."""
        if self.refine == "coverage":
            return 1
        return self._block - self._filled if self._block else np.iinfo(np.int64).max

    @property
    def _block(self) -> int:
        """Rows that wait for each other; 0 if none do."""
        if self.refine == "scaling":
            return KEPT
        return 0 if self.moments is None else min(max(SHORTEST, self.moments.n_seen // SHARE), LONGEST)

    def take(self, model: StreamModel, rows: FloatArray, *, taught: bool) -> None:
        """Samples have been seen; `taught`: their labels are, or may still be, learned."""
        if model.warm_up is not None:
            return
        self.begin(model)
        if self.refine == "coverage" and not taught:
            self._cover(model, rows)
        if self.moments is not None:
            self.moments.follow(model.trained())
        if self._block:
            self._wait(rows)
            if self._filled == self._block:
                self._flush(model)

    def _wait(self, rows: FloatArray) -> None:
        """Keep rows, copied; no more than there is room for."""
        if self._waiting.shape != (ROOM, rows.shape[1]):
            self._waiting, self._filled = np.zeros((ROOM, rows.shape[1])), 0
        end = self._filled + len(rows)
        self._waiting[self._filled : end] = rows
        self._filled = end

    def _flush(self, model: StreamModel) -> None:
        rows, self._filled = self._waiting[: self._filled], 0
        if self.moments is not None:
            self.moments.update(model, rows)
        if self.refine == "scaling":
            assert model.scaler is not None
            model.scaler = fit_scaler(rows, model.options.scaling, int(model.options.n_knots))

    def _cover(self, model: StreamModel, rows: FloatArray) -> None:
        """Rules follow the samples, whose labels are unknown."""
        labels = np.zeros((len(rows), model.n_labels))
        model.trained().learn(Batch(model.scale(rows), labels), consequents=False)

    def arrays(self, n_features: int) -> Arrays:
        """All that is remembered, by name."""
        kept = {} if self.moments is None else prefixed("moments", self.moments.arrays())
        comparable = self._waiting.shape[1] == n_features  # else features have come or gone, and `_wait` begins anew
        waiting = self._waiting[: self._filled] if comparable else np.zeros((0, n_features))
        return {"waiting": waiting, **kept}

    def restore(self, arrays: Arrays, n_features: int) -> None:
        """Take over what was remembered; DataError if it does not fit."""
        moments = part_of(arrays, "moments")
        check_names(arrays, ["waiting", *prefixed("moments", moments)])
        if self.moments is not None:
            with inside("moments"):
                self.moments = SecondMoments.from_arrays(moments)
                require(self.moments.every == EVERY, "counts", f"each {EVERY}th sample")
        else:
            check_names(arrays, ["waiting"])
        rows = size_of(arrays, "waiting")
        check_arrays({"waiting": arrays["waiting"]}, {"waiting": floats(rows, n_features, missing=True)})
        check_samples("waiting", arrays["waiting"])
        require(rows < max(self._block, 1), "waiting", f"fewer than {self._block} rows")
        if rows:
            self._wait(arrays["waiting"])
