"""`StreamLearner`: what all rivals share. Input is checked once; every row is answered before it is learned."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from evolabel import errors
from evolabel.adapters.samples import read_samples
from evolabel.adapters.targets import LabelMatrix, read_targets
from evolabel.errors import DataError
from evolabel.kernels.state import FloatArray, IntArray

ON = 0.5  # a label is predicted where its score is at least this


class StreamLearner(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A learner of label matrices that starts with an initial batch and goes on row by row.

    NaN in X is a missing feature, NaN in y a label nobody annotated. Labels may appear mid-stream (a wider y, or new
    column names). A subclass writes four short methods, which get checked float64 rows.
    """

    _targets: LabelMatrix

    def fit(self, X: object, y: object = None) -> Self:
        """Forget everything and learn an initial batch."""
        self._check_parameters()
        taught = copy.copy(self)  # takes over only if all goes well: bad input leaves no trace
        rows = read_samples(taught, X, reset=True)
        labels, taught._targets = self._read_labels(y, len(rows), None)
        if np.isnan(labels).all():
            raise DataError("no row of the initial batch has an annotated label; annotate some rows")
        taught._begin(rows, labels)
        self.__dict__ = taught.__dict__
        return self

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Learn rows one after the other."""
        rows, labels = self._prepare(X, y)
        self._learn(rows, labels)
        return self

    def test_then_train(self, X: object, y: object) -> FloatArray:
        """Scores of every row from before it was learned, (n_samples, n_labels); then it is learned."""
        rows, labels = self._prepare(X, y)
        return self._answer_and_learn(rows, labels)

    def decision_function(self, X: object) -> FloatArray:
        """Scores, (n_samples, n_labels): the larger, the likelier; 0.5 is where a label is predicted."""
        self._check_fitted()
        return self._answer(read_samples(self, X, reset=False))

    def predict(self, X: object) -> IntArray:
        """Labels as 0/1, (n_samples, n_labels)."""
        return (self.decision_function(X) >= ON).astype(np.int64)

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
        """Check everything about a batch, and only then grow."""
        self._check_fitted()
        rows = read_samples(self, X, reset=False)
        labels, targets = self._read_labels(y, len(rows), self._targets)
        if targets.size > self._targets.size:
            self._grow(targets.size)
        self._targets = targets
        return rows, labels

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
