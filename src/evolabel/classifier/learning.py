"""The learning half of `EvolvingFuzzyClassifier`: input is checked, read into a `Batch`, and learned.

Input that is refused leaves no trace.
"""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

import numpy as np

from evolabel._utils.interrupts import held
from evolabel._utils.validation import check_function, check_number
from evolabel.classifier.deciding import check_weighted_names
from evolabel.classifier.parameters import Parameters
from evolabel.classifier.properties import Properties
from evolabel.classifier.safe_calls import unchanged_on_error, uninterrupted
from evolabel.classifier.samples import (
    as_array,
    is_checked_shape,
    note_empty,
    read_confidence,
    read_encoded,
    read_sample_weight,
    rows_without_features,
    without_unsure,
)
from evolabel.classifier.targets import ClassCodes, LabelMatrix, Targets, announced, checked_labels, read_targets
from evolabel.core.events import Event
from evolabel.core.rows import NO_WEIGHTS, NOT_GIVEN, Batch
from evolabel.errors import DataError
from evolabel.model.pipeline import CHUNK
from evolabel.stages.calibration.loops.maps import LEAST_SHARE
from evolabel.stages.calibration.stage import DEFAULT_COVERAGE, check_coverage
from evolabel.stages.rules.memory_need import check_memory
from evolabel.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

T = TypeVar("T")
_SKIPPED = "not learned"  # what happens to rows without features
OnEvent = Callable[[Event], object]
"""Function that is called with each new event."""


class StreamAnswers(NamedTuple):
    """Outputs, probabilities, prediction sets and decisions of rows, each from before its row was learned."""

    outputs: FloatArray
    probabilities: FloatArray
    sets: BoolArray
    decisions: BoolArray


class Learning(Parameters, Properties):
    """`fit`, `partial_fit`, `test_then_train` and `answer_then_train`."""

    def fit(self, X: object, y: object = None, sample_weight: object = None, confidence: object = None) -> Self:
        """Learn an initial batch (batch phase); what was learned before is dropped.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Features; NaN: missing. Columns of texts or categories of a frame become one 0/1 feature per text that this
            call, the first one, has. Later frames are read by column names: other columns are ignored, and a text that
            is new is none of the known ones; a DataWarning reports both.
        y : array or frame of shape (n_samples, n_labels), or of shape (n_samples,)
            Labels of 0, 1, NaN (not annotated), or one class per sample, or one list of labels by name per sample.
        sample_weight : array of shape (n_samples,), optional
            Weight of each sample in the statistics of the rules. Samples of weight 0 are left out; the scaling and the
            ridges chosen by leave-one-out count all others alike. A sample of weight 2 is one event, not the same as
            the sample twice: the second one would meet rules that the first has changed.
        confidence : array in [0, 1] of shape (n_samples, n_labels) or (n_samples,), optional
            Confidence of the annotator; 0 counts as not annotated.

        Returns
        -------
        EvolvingFuzzyClassifier
            The classifier itself.
        """
        self.inner.options()
        fitted = copy.copy(self)
        batch, targets = _read_batch(fitted, X, y, None, (sample_weight, confidence), streaming=False)
        check_weighted_names(self.class_weight, targets)
        model = self.inner.new_model(batch.X.shape[1], targets.size, exclusive=isinstance(targets, ClassCodes))
        model.fit(batch)
        with self._state.lock, held():  # until here an error or Ctrl-C leaves what was learned before
            self._state.replace(model, targets)
            self.__dict__ = {**fitted.__dict__, "_state": self._state}
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: object = None,
        sample_weight: object = None,
        confidence: object = None,
        *,
        on_event: OnEvent | None = None,
    ) -> Self:
        """Learn rows one after the other, in a single pass (incremental phase). May be the very first call.

        A wider y, new column names or new classes make the model grow.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        classes : list, optional
            Classes of a 1-D target that are known ahead of time.
        on_event : function, optional
            Called with each new event of `events_` (births and merges of rules, labels that have drifted, sensors that
            have moved), in their order, after all rows were learned. It may use the classifier; what it raises is
            raised here, and the rows stay learned.

        Returns
        -------
        EvolvingFuzzyClassifier
            The classifier itself.
        """
        if on_event is not None:
            return self._learn_and_report(on_event, lambda: self.partial_fit(X, y, classes, sample_weight, confidence))
        if classes is None and sample_weight is None and confidence is None:
            state = self._state
            with state.lock:
                if self._is_quick(X, y):
                    state.model.learn_rows(Batch(X, checked_labels(y)))
                    return self
        return self._partial_fit(X, y, classes, sample_weight, confidence)

    @uninterrupted
    def _partial_fit(self, X: object, y: object, *others: object) -> Self:
        """`partial_fit` of anything: frames, weights, new labels, a warm-up."""
        self._state.learn(self._prepare(X, y, *others))
        return self

    def test_then_train(
        self,
        X: Any,
        y: Any,
        sample_weight: object = None,
        confidence: object = None,
        *,
        on_event: OnEvent | None = None,
    ) -> FloatArray:
        """Return the output for every row from before the row was learned, eq. (2), and learn all rows.

        The same as calling `decision_function` and `partial_fit` row by row, in one pass and at nearly the price of
        learning alone.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        on_event : function, optional
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For a 1-D target the columns are the classes; 0 for one that had not been seen yet.
        """
        if on_event is not None:
            return self._learn_and_report(on_event, lambda: self.test_then_train(X, y, sample_weight, confidence))
        if sample_weight is None and confidence is None:
            state = self._state
            with state.lock:
                if self._is_quick(X, y):
                    outputs = np.zeros(y.shape)
                    state.model.learn_rows(Batch(X, checked_labels(y), NO_WEIGHTS, NOT_GIVEN, outputs))
                    return outputs
        return self._test_then_train(X, y, sample_weight, confidence)

    @uninterrupted
    def _test_then_train(self, X: object, y: object, *weights: object) -> FloatArray:
        """`test_then_train` of anything: frames, weights, new labels, a warm-up."""
        batch = self._prepare(X, y, None, *weights)
        batch = batch._replace(outputs=np.zeros((len(batch.X), self._state.targets.size)))
        self._state.learn(batch)
        return batch.outputs

    def answer_then_train(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        confidence: object = None,
        *,
        coverage: float = DEFAULT_COVERAGE,
        on_event: OnEvent | None = None,
    ) -> StreamAnswers:
        """Return all answers for every row from before the row was learned, and learn all rows.

        The same as `decision_function`, `predict_proba`, `predict_set`, `predict` and `partial_fit` row by row.

        Parameters
        ----------
        X, y, sample_weight, confidence
            As in `fit`.
        coverage : float, default=0.9
            As in `predict_set`.
        on_event : function, optional
            As in `partial_fit`.

        Returns
        -------
        StreamAnswers
            Tuple of `outputs`, as `test_then_train` returns them, `probabilities`, `sets` and `decisions`, bool (n, K),
            for a 1-D target one class per row. A label that had not been seen yet has the probability 0.5 and both
            values in its set; a class, a probability of 1e-6, and no set has it.
        """
        level = check_coverage(coverage)
        if on_event is not None:
            weights = sample_weight, confidence
            return self._learn_and_report(on_event, lambda: self._answer_then_train(X, y, level, *weights))
        return self._answer_then_train(X, y, level, sample_weight, confidence)

    @uninterrupted
    def _answer_then_train(self, X: object, y: object, coverage: float, *weights: object) -> StreamAnswers:
        """`answer_then_train` after the check of its `coverage`."""
        check_number("threshold", self.threshold, 0, 1)
        batch = self._prepare(X, y, None, *weights)
        shape, is_classes = (len(batch.X), self._state.targets.size), isinstance(self._state.targets, ClassCodes)
        batch = batch._replace(
            outputs=np.zeros(shape),
            decisions=np.zeros(shape),
            probabilities=np.full(shape, LEAST_SHARE if is_classes else 0.5),
            coverages=np.full(len(batch.X), coverage),
            set_limits=np.full(shape, 0.0 if is_classes else 1.0),
        )
        self._state.learn(batch)
        P = batch.probabilities
        if is_classes:
            P /= P.sum(axis=1, keepdims=True)
        learned = self._state.model.decisions is not None
        decisions = batch.decisions > 0.0 if learned else self._state.decide(batch.outputs, self.threshold, P)
        return StreamAnswers(batch.outputs, P, self._state.model.calibration.sets(P, batch.set_limits), decisions)

    # ------------------------------------------------------------------ inner workings

    def _learn_and_report(self, on_event: OnEvent, learn: Callable[[], T]) -> T:
        """Return what `learn` returns, after `on_event` was called with every event that it has logged."""
        check_function("on_event", on_event)
        with self._state.lock:  # events of other threads do not come in between
            before = self._n_events()
            found = learn()
            events = self.inner.events_since(before)
        for event in events:
            on_event(event)
        return found

    def _prepare(self, X: object, y: object, classes: object, sample_weight: object, confidence: object) -> Batch:
        """Return a checked batch; only when all of it is checked, make the first model or add labels."""
        first = not self._state.is_fitted
        if classes is None and sample_weight is None and confidence is None and self._is_plain(X, y):
            note_empty(rows_without_features(X), _SKIPPED)  # type: ignore[arg-type]
            return Batch(X, checked_labels(y))  # type: ignore[arg-type]
        if first:
            self.inner.options()
        with unchanged_on_error(self):
            known: Targets | None = None if first else self._state.targets
            if classes is not None and as_array(y, "the target").ndim == 1:
                known = announced(known, classes)
            batch, targets = _read_batch(self, X, y, known, (sample_weight, confidence), streaming=True)
            if first:
                n_labels, exclusive = targets.steps(batch.Y, 0)[0][1], isinstance(targets, ClassCodes)
                self._state.model = self.inner.new_model(batch.X.shape[1], n_labels, exclusive=exclusive)
            elif targets.size > self._state.model.n_labels:
                check_memory(batch.X.shape[1], targets.size, self._state.model.options)
        self._state.targets = targets
        return batch

    def _is_quick(self, X: Any, y: Any) -> bool:
        """Whether the rows can be learned in steps that each leave a whole model, without holding Ctrl-C back.

        DataError if `X` has a value that cannot be used.
        """
        if not self._is_plain(X, y):
            return False
        model = self._state.model
        return model.is_plain and model.warm_up is None and len(X) <= CHUNK and rows_without_features(X) is None

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Whether these are arrays as the kernels need them, with the known labels; only values are left to check."""
        targets = self._state.__dict__.get("targets")
        return (
            type(targets) is LabelMatrix
            and "feature_names_in_" not in self.__dict__  # scikit-learn warns of arrays where names were known
            and is_checked_shape(X, self.n_features_in_)
            and is_checked_shape(y, len(targets.names))
            and len(X) == len(y)
        )


def _read_batch(
    estimator: Learning, X: object, y: object, known: Targets | None, weights: tuple[object, object], *, streaming: bool
) -> tuple[Batch, Targets]:
    """Return a checked batch, and the coding of its target; `known` is the coding so far.

    `weights` are the sample weights and the confidences, `streaming` is False for an initial batch. Names and number of
    features are set in `estimator` by its first batch.
    """
    reset = not streaming or not estimator.inner.is_fitted
    rows = read_encoded(cast("BaseEstimator", estimator), X, reset=reset).rows
    empty = rows_without_features(rows)
    labels, targets = read_targets(y, len(rows), known, streaming=streaming)
    if targets.size == 0:
        hint = "pass `classes`, or annotate some rows of y" if streaming else "annotate some rows of y"
        raise DataError(f"no sample has a class{' yet' if streaming else ''}; {hint}")
    sample_weight = read_sample_weight(weights[0], len(rows))
    confidences = read_confidence(weights[1], len(rows), targets.size)
    batch = Batch(rows, without_unsure(labels, confidences), sample_weight, confidences)
    note_empty(empty, _SKIPPED)
    if streaming or empty is None:
        return batch, targets
    if empty.all():
        raise DataError("no row of X has a feature (only NaN); pass some rows with values")
    return batch.rows(~empty), targets
