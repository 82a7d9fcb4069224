"""`StreamLearner`: what all rivals share. Input is checked once; every row is answered before it is learned."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from evolabel import errors
from evolabel.classifier.samples import read_samples
from evolabel.classifier.targets import LabelMatrix, read_targets
from evolabel.core.batch import Batch
from evolabel.core.initial.cold_start import WarmUp
from evolabel.errors import DataError
from evolabel.evaluate.learner import ON
from evolabel.typing import BoolArray, FloatArray, IntArray

WARM_UP = 80  # annotated rows that are the initial batch where none was given


class StreamLearner(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A learner of label matrices that starts with an initial batch and goes on row by row.

    Without `fit`, the first 80 annotated rows of the stream are the initial batch, as for the classifier itself; until
    then label priors answer. NaN in X is a missing feature, NaN in y a label nobody annotated. Labels may appear
    mid-stream (a wider y, or new column names). A subclass writes four short methods, which get checked float64 rows.
    """

    _targets: LabelMatrix
    _warm_up: WarmUp | None = None

    def fit(self, X: object, y: object = None) -> Self:
        """Forget everything and learn an initial batch."""
        self._check_parameters()
        taught = copy.copy(self)  # takes over only if all goes well: bad input leaves no trace
        rows = read_samples(taught, X, reset=True)
        labels, taught._targets = self._read_labels(y, len(rows), None)
        if np.isnan(labels).all():
            raise DataError("no row of the initial batch has an annotated label; annotate some rows")
        taught._warm_up = None
        taught._begin(rows, labels)
        self.__dict__ = taught.__dict__
        return self

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Learn rows one after the other. May be the very first call."""
        rows, labels = self._prepare(X, y)
        done = self._wait(rows, labels, np.empty((0, 0)))
        if done < len(rows):
            self._learn(rows[done:], labels[done:])
        return self

    def test_then_train(self, X: object, y: object) -> FloatArray:
        """Scores of every row from before it was learned, (n_samples, n_labels); then it is learned."""
        rows, labels = self._prepare(X, y)
        scores = np.empty(labels.shape)
        done = self._wait(rows, labels, scores)
        if done < len(rows):
            scores[done:] = self._answer_and_learn(rows[done:], labels[done:])
        return scores

    def decide_then_train(self, X: object, y: object) -> tuple[FloatArray, BoolArray]:
        """`test_then_train` with decisions: the scores, and where `predict` would have said 1, before each row."""
        if not self._learns_thresholds():
            scores = self.test_then_train(X, y)
            return scores, scores >= self.thresholds_
        rows, labels = self._prepare(X, y)
        scores, limits = np.empty(labels.shape), np.empty(labels.shape)
        for row in range(len(rows)):
            piece = slice(row, row + 1)
            limits[row] = self.thresholds_
            if not self._wait(rows[piece], labels[piece], scores[piece]):
                scores[piece] = self._answer_and_learn(rows[piece], labels[piece])
        return scores, scores >= limits

    def decision_function(self, X: object) -> FloatArray:
        """Scores, (n_samples, n_labels): the larger, the likelier; `thresholds_` tell where a label is predicted."""
        self._check_fitted()
        rows = read_samples(self, X, reset=False)
        return np.tile(self._warm_up.priors(), (len(rows), 1)) if self._warm_up is not None else self._answer(rows)

    def predict(self, X: object) -> IntArray:
        """Labels as 0/1, (n_samples, n_labels)."""
        return (self.decision_function(X) >= self.thresholds_).astype(np.int64)

    @property
    def thresholds_(self) -> FloatArray:
        """Scores of at least this much are predicted as 1, label by label: those of the base, where there is one."""
        self._check_fitted()
        return self._thresholds() if self._warm_up is None else np.full(self._targets.size, self._threshold())

    # ------------------------------------------------------------------ what a rival is made of

    @abstractmethod
    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        """Learn the initial batch; nothing of an earlier one may remain."""

    @abstractmethod
    def _grow(self, n_labels: int) -> None:
        """Make room for labels that appear mid-stream."""

    @abstractmethod
    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        """Learn rows, in their order."""

    @abstractmethod
    def _answer(self, rows: FloatArray) -> FloatArray:
        """Scores of rows; changes nothing."""

    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its range."""

    def _threshold(self) -> float:
        """Score from which on a label is predicted: that of the base, where there is one."""
        return float(getattr(getattr(self, "base", None), "threshold", ON))

    def _thresholds(self) -> FloatArray:
        """Thresholds by label once the initial batch is learned."""
        return np.full(self._targets.size, self._threshold())

    def _learns_thresholds(self) -> bool:
        """Does the base learn its thresholds along the stream?"""
        return str(getattr(getattr(self, "base", None), "optimise", "accuracy")) != "accuracy"

    def _rows_until_change(self) -> int:
        """How many rows can be answered at once because learning them changes no answer."""
        return 1

    def _answer_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        scores, done = np.empty(labels.shape), 0
        while done < len(rows):
            piece = slice(done, done + self._rows_until_change())
            scores[piece] = self._answer(rows[piece])
            self._learn(rows[piece], labels[piece])
            done = piece.stop
        return scores

    # ------------------------------------------------------------------ input

    def _prepare(self, X: object, y: object) -> tuple[FloatArray, FloatArray]:
        """Check everything about a batch, and only then start or grow."""
        if not self.__sklearn_is_fitted__():
            return self._prepare_first(X, y)
        rows = read_samples(self, X, reset=False)
        labels, targets = self._read_labels(y, len(rows), self._targets)
        if targets.size > self._targets.size:
            if self._warm_up is not None:
                self._warm_up.grow_labels(targets.size, absent=False)
            else:
                self._grow(targets.size)
        self._targets = targets
        return rows, labels

    def _prepare_first(self, X: object, y: object) -> tuple[FloatArray, FloatArray]:
        """The stream begins without an initial batch: wait for one."""
        self._check_parameters()
        started = copy.copy(self)
        rows = read_samples(started, X, reset=True)
        labels, started._targets = self._read_labels(y, len(rows), None)
        started._warm_up = WarmUp(rows.shape[1], labels.shape[1], WARM_UP)
        self.__dict__ = started.__dict__
        return rows, labels

    def _wait(self, rows: FloatArray, labels: FloatArray, scores: FloatArray) -> int:
        """Collect the initial batch, and begin when it is complete; returns how many rows were used up."""
        if self._warm_up is None:
            return 0
        done = self._warm_up.take(Batch(rows, labels, outputs=scores))
        if self._warm_up.complete:
            batch = self._warm_up.batch()
            self._warm_up = None
            self._begin(batch.X, batch.Y)
        return done

    def _read_labels(self, y: object, rows: int, known: LabelMatrix | None) -> tuple[FloatArray, LabelMatrix]:
        labels, targets = read_targets(y, rows, known)
        if not isinstance(targets, LabelMatrix):
            raise DataError(
                f"y has one dimension, but {type(self).__name__} takes a label matrix (samples, labels); "
                "use y.reshape(-1, 1) for a single 0/1 label"
            )
        return labels, targets

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise errors.NotTrainedError(
                f"this {type(self).__name__} instance is not fitted yet; call fit with an initial batch first"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_targets" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
