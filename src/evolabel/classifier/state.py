"""`ClassifierState`: what a classifier has learned, and its lock. The estimator and its `inner` share one."""

import os
from collections.abc import Callable
from functools import partial
from threading import RLock
from typing import Any, TypedDict
from weakref import WeakSet

import numpy as np

from evolabel import errors
from evolabel._utils.rollback import put_back_on_error
from evolabel._utils.validation import check_number, whole_number
from evolabel.classifier.silent_labels import SilentLabels
from evolabel.classifier.targets import ClassCodes, Targets, named_weights
from evolabel.core.rows import Batch
from evolabel.core.stage import check_unused, in_use
from evolabel.errors import ParameterError, StateError
from evolabel.model.stream_model import StreamModel
from evolabel.stages.decisions.stage import decide_weighted, weighted_thresholds
from evolabel.stages.last_answers.stage import near_rows
from evolabel.typing import BoolArray, FloatArray, IntArray

_RECEIVING = ("outputs", "decisions", "probabilities", "set_limits", "plain")  # arrays of a `Batch` that learning fills
_BY_LABEL = ("Y", "confidences", *_RECEIVING)  # those with a column per label


class RowDecisions(TypedDict):
    """The `threshold` of each label of a row, infinite where labels are decided `together`, by sets or by weights."""

    threshold: FloatArray | None
    together: str


class ClassifierState:
    """The model of a classifier and the coding of its labels, both unset before the first rows, and its lock.

    Every copy has a lock of its own.
    """

    model: StreamModel
    targets: Targets

    def __init__(self) -> None:
        self.lock: Any = RLock()
        self.silent = SilentLabels()
        _STATES.add(self)

    def __reduce__(self) -> Any:
        """All attributes but the lock, to copy and to pickle."""
        return type(self), (), {name: value for name, value in vars(self).items() if name != "lock"}

    @property
    def is_fitted(self) -> bool:
        """Whether any rows were seen."""
        return "model" in self.__dict__

    def replace(self, model: StreamModel, targets: Targets) -> None:
        """Set the `model` and its `targets` in one step."""
        self.__dict__.update(model=model, targets=targets)

    def fitted_model(self) -> StreamModel:
        """Return the model; NotTrainedError before the first rows."""
        model: StreamModel | None = self.__dict__.get("model")
        if model is None:
            raise errors.NotTrainedError(
                "this EvolvingFuzzyClassifier instance is not fitted yet; call fit or partial_fit first"
            )
        return model

    def trained_model(self) -> StreamModel:
        """Return the model; StateError during its warm-up."""
        model = self.fitted_model()
        if model.warm_up is not None:
            raise StateError(
                f"the warm-up is not over ({model.warm_up.filled} of {len(model.warm_up.X)} annotated samples); "
                "call fit, or partial_fit with more samples first"
            )
        return model

    # ------------------------------------------------------------------ learning

    def check_unused(self) -> None:
        """Raise StageError inside of a stage of a user that is called for this classifier, which is to change."""
        check_unused(self, self.__dict__.get("model"))

    def learn(self, batch: Batch) -> None:
        """Learn a checked `batch`; where new labels come in, the model grows first.

        With stages of a user, any error leaves the model as it was, or none again, and so does Ctrl-C.
        """
        if not self.model.users_stages:
            self._learn(batch)
            return
        targets, known = self.targets, self.model.n_labels
        try:
            with in_use(self), put_back_on_error(self.model):
                self._learn(batch)
        except BaseException:
            if self.model.n_seen or self.model.warm_up is None:  # else this call has made it
                self.targets = targets.first(known)
            else:
                del self.model, self.targets
            raise

    def _learn(self, batch: Batch) -> None:
        """Do as `learn`; an error leaves the rows that were learned before it."""
        if self.targets.size == self.model.n_labels:
            self.model.learn(batch)
            return
        try:
            _learn_growing(self.model, self.targets, batch)
        except BaseException:
            self.targets = self.targets.first(self.model.n_labels)  # those after them have not come yet
            raise

    # ------------------------------------------------------------------ deciding

    def thresholds(self, threshold: float) -> FloatArray:
        """Return the outputs from which on labels are on; `threshold` is that of labels without a learned one."""
        model = self.fitted_model()
        if model.decisions is not None:
            return model.decisions.thresholds(model.calibrator())
        weights = named_weights(model.options.class_weight, self.targets.names[: model.n_labels])
        if weights is not None:
            return weighted_thresholds(weights, model.calibrator())
        check_number("threshold", threshold, 0, 1)
        return np.full(self.targets.size, float(threshold))

    def own_thresholds(self, threshold: float) -> FloatArray | None:
        """Return `thresholds`, label by label; None where the largest output decides."""
        return None if isinstance(self.targets, ClassCodes) else self.thresholds(threshold)

    def decide(self, outputs: FloatArray, threshold: float, P: FloatArray | None = None) -> BoolArray:
        """Return the labels that are on by `outputs`, (n, K); of classes one is.

        `threshold` is that of labels without a learned one, `P` the probabilities, if known.
        """
        model, is_classes = self.fitted_model(), isinstance(self.targets, ClassCodes)
        if model.decisions is not None:
            return model.decisions.decide(outputs, model.calibrator())
        weights = named_weights(model.options.class_weight, self.targets.names[: outputs.shape[1]])
        if weights is not None:
            P = model.calibrator().probabilities(outputs) if P is None else P
            return decide_weighted(P, weights, exclusive=is_classes)
        if is_classes:
            return np.asarray(outputs.argmax(axis=1)[:, None] == np.arange(outputs.shape[1]))
        return np.asarray(outputs >= check_number("threshold", threshold, 0, 1))

    def probabilities_after(self, outputs: FloatArray, plain: FloatArray) -> FloatArray:
        """Return the probabilities of `outputs` that follow the last answers, (n, K), which are `plain` without."""
        P, following = self.model.calibrator().probabilities(plain), self.model.following
        return P if following is None or outputs is plain else following.probabilities(outputs, plain, P)

    def decide_all(self, outputs: FloatArray, plain: FloatArray, threshold: float) -> BoolArray:
        """Return the labels that are on by `outputs`, (n, K), which may follow the last answers; `plain` do not.

        `threshold` is as in `decide`.
        """
        weighs = self.fitted_model().options.class_weight is not None
        P = self.probabilities_after(outputs, plain) if weighs else None
        return self.decide_after(outputs, plain, self.decide(outputs, threshold, P))

    def decide_after(self, outputs: FloatArray, plain: FloatArray, decided: BoolArray) -> BoolArray:
        """Return `decided`, labels that are on by `outputs`, where nothing is learned for decisions; else anew.

        Rows whose outputs are the `plain` ones are left alone.
        """
        following = self.model.following
        if following is None or following.decisions is None:
            return decided
        found = following.decisions.decide(outputs, following.calibration)
        return np.where(following.replaced(outputs, plain).any(axis=1, keepdims=True), found, decided)

    def ages(self, follows: int) -> IntArray:
        """Return how many rows after the last learned one rows come, the first `follows` rows after it.

        Only those near enough are in it; ParameterError where there is no memory of the last answers.
        """
        first = whole_number("follows", follows, 1)
        if self.fitted_model().options.memory is None:
            raise ParameterError(
                f'follows={follows} needs memory="answers", and this classifier has none; leave follows out, or train '
                "a classifier that has it"
            )
        return near_rows(first)

    def note_silent_labels(self, threshold: float, due: int | None = None) -> None:
        """Warn of labels that are never predicted with this `threshold`, if `due` rows have come, or those due next."""
        model = self.model
        if model.n_seen >= (self.silent.due if due is None else due) and model.warm_up is None:
            self.silent.look(model, self.targets.names, self.decider(threshold))

    def decider(self, threshold: float) -> Callable[[FloatArray], BoolArray]:
        """Return `decide` with this `threshold`, as a function of outputs."""
        return partial(self.decide, threshold=threshold)

    def row_decisions(self, outputs: FloatArray, threshold: float, plain: FloatArray | None = None) -> RowDecisions:
        """Return how the labels of a row with `outputs`, (1, K), are decided: by thresholds, or together.

        `plain` outputs are given where `outputs` follow the last answers.
        """
        from evolabel.explain.prediction import BY_SETS, BY_WEIGHTS

        model = self.fitted_model()
        after = plain is not None and model.following is not None and bool((outputs != plain).any())
        weighted = model.options.optimise == "balanced" or model.options.class_weight is not None
        by_sets = model.decisions is not None and model.decisions.by_sets
        if not (by_sets or (weighted and isinstance(self.targets, ClassCodes))):
            found = self.own_thresholds(threshold)
            return {"threshold": found if found is None or not after else self._thresholds_after(found), "together": ""}
        together = BY_SETS if by_sets else BY_WEIGHTS
        P = None if plain is None else self.probabilities_after(outputs, plain)
        decided = self.decide(outputs, threshold, P)[0]
        if plain is not None:
            decided = self.decide_after(outputs, plain, decided[None])[0]
        return {"threshold": np.where(decided, -np.inf, np.inf), "together": together}

    def _thresholds_after(self, thresholds: FloatArray) -> FloatArray:
        """Return the `thresholds` of outputs that follow the last answers, where they are learned for these."""
        following = self.model.following
        assert following is not None
        if following.decisions is not None:
            return following.decisions.thresholds(following.calibration)
        weights = named_weights(self.model.options.class_weight, self.targets.names[: self.model.n_labels])
        return thresholds if weights is None else weighted_thresholds(weights, following.calibration)


_STATES: WeakSet[ClassifierState] = WeakSet()


def _renew_locks() -> None:
    """Give all classifiers new locks: in a forked process the threads that held the old ones do not exist."""
    for state in _STATES:
        state.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def _learn_growing(model: StreamModel, targets: Targets, batch: Batch) -> None:
    """Train `model` on a checked `batch` piece by piece, and add the labels of `targets` that appear with each piece.

    Outputs and decisions of labels that were not known yet stay as they are in `batch`; so do those of a new class in
    the first row that has it.
    """
    steps = targets.steps(batch.Y, model.n_labels)
    ends = [start for start, _ in steps[1:]] + [len(batch.X)]
    for (start, size), end in zip(steps, ends, strict=True):
        known, is_classes = model.n_labels, isinstance(targets, ClassCodes)
        if size > known:
            model.grow_labels(size, absent=is_classes)
        part = batch.rows(slice(start, end))
        piece = part._replace(**{name: np.ascontiguousarray(getattr(part, name)[:, :size]) for name in _BY_LABEL})
        unseen = {name: getattr(part, name)[: int(is_classes), known:size].copy() for name in _RECEIVING}
        model.learn(piece)
        for name in _RECEIVING:
            getattr(part, name)[:, :size] = getattr(piece, name)
            getattr(part, name)[: int(is_classes), known:size] = unseen[name]
