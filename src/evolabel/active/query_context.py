"""`QueryContext`: what earlier answers add to the scores of the next rows, besides what the classifier learns.

They show how errors repeat (`ErrorFeedback`) and which labels are new (`NewLabelExploration`).
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from evolabel.active.query import Query
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.core.schema import Schema, array, new_entries
from evolabel.core.stored_checks import check_arrays, check_names, inside, part_of, prefixed, require, size_of
from evolabel.model.protocols import Model
from evolabel.stages.feedback.loops import PRIOR_ERRORS
from evolabel.stages.feedback.stage import Correction, ErrorFeedback, feedback_of
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

# Three drifting streams whose labels appear one by one (seeds 10-12), labels-based at 10 %, share of the gap, PA / AP:
# .31 / .49 with 100, .22 / .28 with 30, .18 / .06 without exploration. After larger initial batches nothing is left to
# explore.
_ENOUGH_ANSWERS = 100  # answers after which a label is not explored any more
_NO_ANSWER_PENALTY = 0.5  # exploration that a question without an answer takes away for a while
_PENALTY_KEPT = 0.98  # share of that penalty that is left one sample later


class NoAnswers(NamedTuple):
    """What questions without an answer have shown."""

    penalty: Annotated[FloatArray, array("label", low=0.0, high=1.0)]
    """Penalty of each label after questions without an answer, as of sample `at`."""
    at: Annotated[IntArray, array(1)]
    """Number of the sample at which `penalty` was last changed."""


class ContextArrays(NamedTuple):
    """What belongs to the context of questions in a file, besides error feedback and penalties."""

    answered: Annotated[BoolArray, array(1)]
    """Whether an answer has come since the model was fitted."""


NO_ANSWERS, CONTEXT_ARRAYS = Schema(NoAnswers), Schema(ContextArrays)


class NewLabelExploration:
    """Exploration weight of each label: 1 without any answer, 0 from 100 answers on.

    A model that has never seen a label outputs 0 for it without any ambiguity, so no criterion would ever ask for it.
    Where questions stay without an answer, because the label does not exist yet, they become rare.

    Parameters
    ----------
    model : Model
        Model that counts the answers to each label.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state = NO_ANSWERS.allocate({"label": model.n_labels})
        self.changes = 0
        """How often the weights have changed other than with time and with what the model has learned."""
        self._finished: tuple[FloatArray, bool] | None = None  # with the counts of answers it is about

    @property
    def finished(self) -> bool:
        """Whether every label has enough answers; it depends on the model alone, so that a file gives the same."""
        n_answers = self.model.n_answers  # learning replaces the array
        if self._finished is None or self._finished[0] is not n_answers:
            self._finished = n_answers, bool((n_answers >= _ENOUGH_ANSWERS).all())
        return self._finished[1]

    def __getstate__(self) -> dict[str, Any]:
        """The attributes but for what only saves time, so that reads change no copy."""
        return {**vars(self), "_finished": None}

    def weights(self, numbers: IntArray) -> FloatArray | None:
        """Exploration weights of the samples of these `numbers`, (n, K); None where every label is known."""
        if self.finished:
            return None
        penalty, at = self._penalty_and_place()
        kept = _PENALTY_KEPT ** np.maximum(numbers[:, None] - at, 0.0)
        return np.maximum(1.0 - self.model.n_answers / _ENOUGH_ANSWERS - penalty * kept, 0.0)

    def record_answer(self, number: int, asked: BoolArray, answered: BoolArray) -> None:
        """Update the penalties after a question.

        `number` samples have been counted; labels `asked` for, (at most K,), and those `answered`, (at least K,).
        """
        K = self.model.n_labels
        questioned, known = np.pad(asked, (0, K - len(asked))), answered[:K]  # new labels get no penalty
        self.changes += bool((self.model.n_answers < _ENOUGH_ANSWERS)[questioned | known].any())
        penalty, at = self._penalty_and_place()
        penalty = penalty * _PENALTY_KEPT ** (number - at)
        penalty = np.where(known, 0.0, np.minimum(penalty + _NO_ANSWER_PENALTY * questioned, 1.0))
        self.state = NoAnswers(penalty, np.array([number]))

    def _penalty_and_place(self) -> tuple[FloatArray, int]:
        """The penalty, which starts anew for labels that have appeared since, and the sample that it is as of."""
        (penalty, at), K = self.state, self.model.n_labels
        if len(penalty) < K:
            penalty = NO_ANSWERS.rearranged(self.state, {"label": new_entries(len(penalty), K)}).penalty
        return penalty, int(at[0])

    def arrays(self) -> Arrays:
        """The state, by name."""
        return NO_ANSWERS.arrays_of(self.state)

    @classmethod
    def from_arrays(cls, arrays: Arrays, model: Model, seen: int) -> "NewLabelExploration":
        """The object whose state is in `arrays`, for `model`, after `seen` counted samples."""
        size = size_of(arrays, "penalty")
        table = NO_ANSWERS.expected({"label": size})
        check_arrays(arrays, {**table, "at": table["at"]._replace(high=seen)})
        require(size <= model.n_labels, "penalty", f"at most {model.n_labels} labels")
        made = cls(model)
        made.state = NO_ANSWERS.from_arrays(arrays)
        return made


# Water quality in 35 other orders of its rows, 10 % of the answers, points of PA / AP gained over no urgency
# (throw-away code, gains not yet shrunk): labels +.21 / +.07, samples +.03 / +.26. With 20, labels lose where order
# ends.
_URGENCY_PER_GAIN = 10.0


class RowContext(NamedTuple):
    """What earlier answers add to the scores of some rows."""

    correction: Correction | None
    """Correction of their outputs by recent errors."""
    exploration: FloatArray | None
    """Exploration weights of their labels, (n, K), see `NewLabelExploration`."""
    novelty_weight: FloatArray | None
    """Factor of their selector values, (n,): smaller where recent answers already cover the row."""


NO_CONTEXT = RowContext(None, None, None)


class ModelContext(NamedTuple):
    """What answers have shown about one model: how its errors repeat, and which of its labels are new."""

    model: Model
    feedback: ErrorFeedback
    new_labels: NewLabelExploration


class QueryContext:
    """Error feedback and exploration of new labels for the model of one learner.

    It belongs to one trained model and starts anew with a model that was fitted anew. Reading changes nothing.

    Parameters
    ----------
    bucket : TokenBucket
        Counts the samples; the next row has the number `bucket.seen + 1`.
    error_feedback : bool
        Whether recent errors correct outputs and raise the urgency of questions.
    """

    def __init__(self, bucket: TokenBucket, *, error_feedback: bool) -> None:
        self.bucket = bucket
        self.error_feedback = error_feedback
        self._known: ModelContext | None = None
        self._initial: tuple[ModelContext, tuple[int, int]] | None = None  # before any answer; only saves time

    def of_model(self, model: Model) -> ModelContext:
        """Return the context of `model` as it is."""
        if self._known is not None and self._known.model is model:
            return self._known
        if model.warm_up is not None:  # it ends within the same model, also by an edit
            return _initial_context(model)
        sizes = model.n_features, model.n_labels
        if self._initial is None or self._initial[0].model is not model or self._initial[1] != sizes:
            self._initial = _initial_context(model), sizes
        return self._initial[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_initial": None}

    def changes(self, model: Model) -> int:
        """Return how often exploration weights for `model` have changed other than with time and learning."""
        return self.of_model(model).new_labels.changes

    def urgency(self, model: Model) -> float:
        """Return the factor >= 1 of the budget: where errors of `model` repeat, an early answer corrects more rows."""
        return 1.0 + _URGENCY_PER_GAIN * self.of_model(model).feedback.mean_gain if self.error_feedback else 1.0

    def of_next(self, model: Model, rows: FloatArray) -> RowContext:
        """Return the context of the next raw `rows` of the stream, for `model`."""
        _, feedback, new_labels = self.of_model(model)
        if new_labels.finished and (feedback.mean_gain == 0.0 or not self.error_feedback):
            return NO_CONTEXT
        first = self.bucket.seen + 1
        return self.of(model, rows, np.arange(first, first + len(rows), dtype=np.int64))

    def of(self, model: Model, rows: FloatArray, numbers: IntArray) -> RowContext:
        """Return the context of raw `rows` that have these `numbers` in the stream, for `model`."""
        _, feedback, new_labels = self.of_model(model)
        if model.warm_up is not None:
            return NO_CONTEXT
        exploration = new_labels.weights(numbers)
        if not self.error_feedback or feedback.mean_gain == 0.0:
            return RowContext(None, exploration, None)
        correction = feedback.correction(model.standardise(rows), numbers, model.n_labels)
        novelty = (
            PRIOR_ERRORS / (feedback.shrinkage * correction.n_effective + PRIOR_ERRORS)
            if self.bucket.per == "samples"
            else None
        )
        return RowContext(correction, exploration, novelty)

    def record_answer(self, model: Model, query: Query, answered: BoolArray | None) -> None:
        """Record which labels of `query` were `answered` (None: none), before `model` learns the answer."""
        known = self.of_model(model)
        if model.warm_up is None and not known.new_labels.finished:
            given = np.zeros(model.n_labels, np.bool_) if answered is None else answered
            known.new_labels.record_answer(self.bucket.seen, query.labels, given)
            self._known = known

    def record_error(
        self, model: Model, query: Query, y: FloatArray, f: FloatArray, confidence: FloatArray | None
    ) -> None:
        """Record the answer `y` to a counted `query`; before learning, `model` gave the plain outputs `f`.

        `confidence` of every label in [0, 1]; None stands for 1.
        """
        assert query.number is not None
        known = self.of_model(model)
        x = model.standardise(query.x[None])[0]
        known.feedback.record_error(x, query.number, y, f, confidence=confidence)
        self._known = known

    def arrays(self, model: Model) -> Arrays:
        """Return the state for `model`, by name."""
        known = self.of_model(model)
        feedback = prefixed("feedback", known.feedback.arrays())
        new_labels = prefixed("new_labels", known.new_labels.arrays())
        own = CONTEXT_ARRAYS.arrays_of(ContextArrays(np.array([known is self._known])))
        return {**feedback, **new_labels, **own}

    def restore(self, arrays: Arrays, model: Model) -> None:
        """Take over the state in `arrays`; DataError if it does not fit `model`."""
        parts = {name: part_of(arrays, name) for name in ("feedback", "new_labels")}
        expected = CONTEXT_ARRAYS.expected({})
        check_names(arrays, [*expected, *(f"{part}.{name}" for part, group in parts.items() for name in group)])
        check_arrays({name: arrays[name] for name in expected}, expected)
        with inside("feedback"):
            feedback = ErrorFeedback.from_arrays(parts["feedback"], model.n_labels, self.bucket.seen)
        with inside("new_labels"):
            new_labels = NewLabelExploration.from_arrays(parts["new_labels"], model, self.bucket.seen)
        if model.warm_up is None and arrays["answered"].all():
            self._known = ModelContext(model, feedback, new_labels)


def _initial_context(model: Model) -> ModelContext:
    """Return the context of `model` before any answer: what its initial batch has shown."""
    return ModelContext(model, feedback_of(model), NewLabelExploration(model))
