"""`Experience`: what answers tell of the samples that follow, besides what the classifier learns of them."""

from typing import Any, NamedTuple

import numpy as np

from evolabel.active.query import Query
from evolabel.active.scoring.new_labels import Newcomers
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.classifier.inner import Pupil
from evolabel.core.members.feedback.error_feedback import Correction, ErrorFeedback, feedback_of
from evolabel.core.model import StreamModel
from evolabel.core.stored.array_checks import check_arrays, check_names, flags, inside
from evolabel.core.stored.named_arrays import part_of, prefixed
from evolabel.kernels.feedback import DOUBT
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

# Water quality in 35 other orders of its rows, 10 % of the answers, points of PA / AP gained over no haste (throw-away
# code, gains not yet shrunk): labels +.21 / +.07, samples +.03 / +.26. With 20, labels lose where order ends.
HASTE = 10.0


class Known(NamedTuple):
    """What is known of one model: how its errors repeat, and which of its labels are new."""

    model: StreamModel
    echo: ErrorFeedback
    newcomers: Newcomers


class Expected(NamedTuple):
    """What the answers so far let expect of some samples."""

    correction: Correction | None
    """What is to be made of their outputs."""
    doubts: FloatArray | None
    """How much their labels are to be doubted, (n, K)."""
    worth: FloatArray | None
    """What a question is worth besides its scores, (n,): less where recent answers tell of the sample already."""


NOTHING_SPECIAL = Expected(None, None, None)


class Experience:
    """Corrects outputs by the echo of recent errors, if wished, and doubts labels that are little known.

    It belongs to one trained model, and begins anew with a model that was fitted anew. Asking changes nothing.
    """

    def __init__(self, pupil: Pupil, bucket: TokenBucket, *, echo: bool) -> None:
        self.pupil = pupil
        self.bucket = bucket
        self.echoes = echo
        self._known: Known | None = None
        self._fresh: tuple[Known, int] | None = None  # as long as nothing was heard, and the samples learned by then

    def known(self) -> Known:
        """What is known of the model as it is."""
        model = self.pupil.model
        if self._known is not None and self._known.model is model:
            return self._known
        if self._fresh is None or self._fresh[0].model is not model or self._fresh[1] != model.n_seen:
            self._fresh = Known(model, feedback_of(model), Newcomers(model)), model.n_seen
        return self._fresh[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_fresh": None}

    @property
    def changes(self) -> int:
        """How often doubts have changed, other than by time and by what the model has learned."""
        return self.known().newcomers.changes

    @property
    def haste(self) -> float:
        """How many times fuller the purse is to look: where errors repeat, an answer tells most of what comes next."""
        return 1.0 + HASTE * self.known().echo.mean_gain if self.echoes else 1.0

    def of_next(self, rows: FloatArray) -> Expected:
        """What is to be expected of the next samples, whose raw rows these are."""
        _, echo, newcomers = self.known()
        if newcomers.settled and (echo.mean_gain == 0.0 or not self.echoes):
            return NOTHING_SPECIAL
        return self.of(rows, self.next_numbers(len(rows)))

    def of(self, rows: FloatArray, numbers: IntArray) -> Expected:
        """What is to be expected of the samples of these numbers, whose raw rows these are."""
        model, echo, newcomers = self.known()
        if model.warm_up is not None:
            return NOTHING_SPECIAL
        doubts = newcomers.doubts(numbers)
        if not self.echoes or echo.mean_gain == 0.0:
            return Expected(None, doubts, None)
        correction = echo.correction(model.standardise(rows), numbers, model.n_labels)
        worth = DOUBT / (echo.belief * correction.n_effective + DOUBT) if self.bucket.per == "samples" else None
        return Expected(correction, doubts, worth)

    def next_numbers(self, rows: int) -> IntArray:
        """Numbers of the next samples."""
        first = self.bucket.seen + 1
        return np.arange(first, first + rows, dtype=np.int64)

    def met(self, query: Query, told: BoolArray | None) -> None:
        """The labels in question were answered as far as `told`; None: not at all. Before the answer is learned."""
        known = self.known()
        if known.model.warm_up is None and not known.newcomers.settled:
            nothing = np.zeros(known.model.n_labels, np.bool_)
            known.newcomers.hear(self.bucket.seen, query.labels, nothing if told is None else told)
            self._known = known

    def heard(self, query: Query, y: FloatArray, f: FloatArray, confidence: FloatArray | None) -> None:
        """The sample in question was answered by y; a trained model's plain outputs for it were f."""
        assert query.number is not None
        known = self.known()
        number = query.number if query.about is None else query.about
        known.echo.record_error(known.model.standardise(query.x[None])[0], number, y, f, confidence=confidence)
        self._known = known

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        known = self.known()
        echo, newcomers = prefixed("echo", known.echo.arrays()), prefixed("newcomers", known.newcomers.arrays())
        return {**echo, **newcomers, "heard": np.array([known is self._known])}

    def restore(self, arrays: Arrays) -> None:
        """Take over what was remembered; DataError if it does not fit the model."""
        model, seen = self.pupil.model, self.bucket.seen
        parts = {name: part_of(arrays, name) for name in ("echo", "newcomers")}
        check_names(arrays, ["heard", *(f"{part}.{name}" for part, held in parts.items() for name in held)])
        check_arrays({"heard": arrays["heard"]}, {"heard": flags(1)})
        with inside("echo"):
            echo = ErrorFeedback.from_arrays(parts["echo"], model.n_labels, seen)
        with inside("newcomers"):
            newcomers = Newcomers.from_arrays(parts["newcomers"], model, seen)
        if model.warm_up is None and arrays["heard"].all():
            self._known = Known(model, echo, newcomers)
