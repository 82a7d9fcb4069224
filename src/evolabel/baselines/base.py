"""`StreamLearner`: base class of the rivals. Input is checked once; every row is scored before it is learned."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from evolabel._utils.interrupts import unchanged_on_error
from evolabel.classifier.samples import note_empty, read_unchecked, rows_without_features
from evolabel.classifier.targets import LabelMatrix, read_targets
from evolabel.core.rows import Batch
from evolabel.errors import DataError, NotTrainedError
from evolabel.evaluate.metrics.label_sets import DEFAULT_THRESHOLD
from evolabel.model.warm_up import WarmUp
from evolabel.typing import BoolArray, FloatArray, IntArray

_NO_SCORES = np.empty((0, 0))
WARM_UP_ROWS = 80  # annotated rows that form the initial batch where `fit` was not called


class LabelCounts:
    """Annotations and positives per label; rows can also be taken back."""

    def __init__(self, n_labels: int) -> None:
        self.positive = np.zeros(n_labels)
        self.annotated = np.zeros(n_labels)

    def add(self, labels: FloatArray, sign: float = 1.0) -> None:
        """Count rows of 0, 1 and NaN (not annotated); `sign` -1 takes them back."""
        self.positive += sign * (labels == 1.0).sum(axis=0)
        self.annotated += sign * (~np.isnan(labels)).sum(axis=0)

    def grow(self, n_labels: int) -> None:
        """New labels have no annotation yet."""
        extra = n_labels - len(self.positive)
        self.positive, self.annotated = np.pad(self.positive, (0, extra)), np.pad(self.annotated, (0, extra))

    @property
    def shares(self) -> FloatArray:
        """Share of each label among its annotations; 0 for a label without any."""
        return np.asarray(self.positive / np.maximum(self.annotated, 1.0))


class StreamLearner(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A learner of label matrices that is fitted on an initial batch and then trained row by row.

    Without `fit`, the first 80 annotated rows of the stream are the initial batch, as for `EvolvingFuzzyClassifier`;
    until then the scores are the label priors. NaN in `X` is a missing feature, NaN in `y` a label that is not
    annotated. A row without any feature is not learned; its scores are the shares of the labels so far, and a
    DataWarning counts such rows. Labels may appear mid-stream (a wider `y`, or new column names). A subclass implements
    four methods that receive checked float64 rows: `_fit_initial`, `_grow_labels`, `_learn_rows` and `_score_rows`.
    """

    _targets: LabelMatrix
    _shares: LabelCounts
    _warm_up: WarmUp | None = None

    def fit(self, X: object, y: object = None) -> Self:
        """Fit an initial batch; everything learned before is discarded.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Features, NaN where missing.
        y : array or data frame of shape (n_samples, n_labels)
            Labels: 0, 1 or NaN (not annotated).

        Returns
        -------
        StreamLearner
            The learner itself; unchanged if an error is raised.
        """
        self._check_parameters()
        with unchanged_on_error(self):
            rows, labels = self._with_features(*self._read_first(X, y))
            if np.isnan(labels).all():
                raise DataError("no row of the initial batch has an annotated label; annotate some rows")
            self._warm_up = None
            self._fit_initial(rows, labels)
            self._shares.add(labels)
        return self

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Train on the rows `X` with labels `y`, one after the other. May be the very first call."""
        rows, labels = self._prepare(X, y)
        for part in self._learned_parts(rows, labels, _NO_SCORES):
            done = part.start + self._collect_initial(rows[part], labels[part], _NO_SCORES)
            if done < part.stop:
                self._learn_rows(rows[done : part.stop], labels[done : part.stop])
        return self

    def test_then_train(self, X: object, y: object) -> FloatArray:
        """Return the scores (n_samples, n_labels) of each row of `X` from before it was trained on with `y`."""
        rows, labels = self._prepare(X, y)
        scores = np.empty(labels.shape)
        self._score_all(rows, labels, scores)
        return scores

    def decide_then_train(self, X: object, y: object) -> tuple[FloatArray, BoolArray]:
        """Return the scores of `test_then_train(X, y)`, and the labels `predict` would have returned at each row."""
        if not self._learns_thresholds():
            scores = self.test_then_train(X, y)
            return scores, scores >= self.thresholds_
        rows, labels = self._prepare(X, y)
        scores, thresholds = np.empty(labels.shape), np.empty(labels.shape)
        for row in range(len(rows)):
            piece = slice(row, row + 1)
            thresholds[row] = self.thresholds_
            self._score_all(rows[piece], labels[piece], scores[piece])
        return scores, scores >= thresholds

    def decision_function(self, X: object) -> FloatArray:
        """Return the scores (n_samples, n_labels) of the rows `X`; `predict` compares them with `thresholds_`."""
        self._check_fitted()
        rows = read_unchecked(self, X, reset=False)
        scores, empty = np.tile(self._shares.shares, (len(rows), 1)), rows_without_features(rows)
        note_empty(empty, "the scores are the shares of the labels")
        if self._warm_up is None and (empty is None or not empty.all()):
            filled = slice(None) if empty is None else ~empty
            scores[filled] = self._score_rows(rows[filled])
        return scores

    def predict(self, X: object) -> IntArray:
        """Return the predicted labels of the rows `X` as 0 and 1, (n_samples, n_labels)."""
        return (self.decision_function(X) >= self.thresholds_).astype(np.int64)

    @property
    def thresholds_(self) -> FloatArray:
        """Score from which on each label is predicted: the thresholds of `base`, where there is one."""
        self._check_fitted()
        return self._thresholds() if self._warm_up is None else np.full(self._targets.size, self._threshold())

    # ------------------------------------------------------------------ methods of subclasses

    @abstractmethod
    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        """Fit the initial batch; nothing of an earlier one may remain."""

    @abstractmethod
    def _grow_labels(self, n_labels: int) -> None:
        """Extend the state to `n_labels` labels when new ones appear mid-stream."""

    @abstractmethod
    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        """Train on rows in their order."""

    @abstractmethod
    def _score_rows(self, rows: FloatArray) -> FloatArray:
        """Return the scores of rows; changes nothing."""

    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its range."""

    def _threshold(self) -> float:
        """Score from which on a label is predicted: `threshold` of `base`, where there is one."""
        return float(getattr(getattr(self, "base", None), "threshold", DEFAULT_THRESHOLD))

    def _thresholds(self) -> FloatArray:
        """Thresholds by label, once the initial batch is learned."""
        return np.full(self._targets.size, self._threshold())

    def _learns_thresholds(self) -> bool:
        """Whether `base` learns its thresholds along the stream."""
        return str(getattr(getattr(self, "base", None), "optimise", "accuracy")) != "accuracy"

    def _rows_until_change(self) -> int:
        """Number of rows that can be scored at once because training on them changes no score."""
        return 1

    def _score_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        scores, done = np.empty(labels.shape), 0
        while done < len(rows):
            piece = slice(done, done + self._rows_until_change())
            scores[piece] = self._score_rows(rows[piece])
            self._learn_rows(rows[piece], labels[piece])
            done = piece.stop
        return scores

    # ------------------------------------------------------------------ input

    def _prepare(self, X: object, y: object) -> tuple[FloatArray, FloatArray]:
        """Return checked rows and labels; then start the warm-up or grow, only if everything is valid."""
        if not self.__sklearn_is_fitted__():
            self._check_parameters()
            with unchanged_on_error(self):
                rows, labels = self._read_first(X, y)
                self._warm_up = WarmUp(rows.shape[1], labels.shape[1], WARM_UP_ROWS)
            return rows, labels
        rows = read_unchecked(self, X, reset=False)
        empty = rows_without_features(rows)
        labels, targets = self._read_labels(y, len(rows), self._targets)
        note_empty(empty, "not learned")
        if targets.size > self._targets.size:
            if self._warm_up is not None:
                self._warm_up.grow_labels(targets.size, absent=False)
            else:
                self._grow_labels(targets.size)
        self._targets = targets
        self._shares.grow(targets.size)
        return rows, labels

    def _read_first(self, X: object, y: object) -> tuple[FloatArray, FloatArray]:
        """Return checked rows and labels that determine the features and labels of the learner."""
        rows = read_unchecked(self, X, reset=True)
        empty = rows_without_features(rows)
        labels, self._targets = self._read_labels(y, len(rows), None)
        self._shares = LabelCounts(labels.shape[1])
        note_empty(empty, "not learned")
        return rows, labels

    def _with_features(self, rows: FloatArray, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the `rows` of an initial batch that have a feature, and their `labels`; DataError if none has."""
        empty = rows_without_features(rows)
        if empty is None:
            return rows, labels
        if empty.all():
            raise DataError("no row of X has a feature (only NaN); pass some rows with values")
        return rows[~empty], labels[~empty]

    def _learned_parts(self, rows: FloatArray, labels: FloatArray, scores: FloatArray) -> Iterator[slice]:
        """Yield slices of `rows` with features, and count their `labels` once they are learned.

        The `scores` of the rows between them, if given, receive the shares of the labels so far.
        """
        empty = rows_without_features(rows)
        places = [] if empty is None else np.flatnonzero(empty).tolist()
        for start, end in pairwise([-1, *places, len(rows)]):
            if start >= 0 and len(scores):
                scores[start] = self._shares.shares
            if end - start > 1:
                yield slice(start + 1, end)
                self._shares.add(labels[start + 1 : end])

    def _score_all(self, rows: FloatArray, labels: FloatArray, scores: FloatArray) -> None:
        """Set `scores` to those of each row before it is trained on, and train on all rows that have features."""
        for part in self._learned_parts(rows, labels, scores):
            done = part.start + self._collect_initial(rows[part], labels[part], scores[part])
            if done < part.stop:
                rest = slice(done, part.stop)
                scores[rest] = self._score_and_learn(rows[rest], labels[rest])

    def _collect_initial(self, rows: FloatArray, labels: FloatArray, scores: FloatArray) -> int:
        """Add rows to the warm-up and fit it when it is complete; return the number of rows added."""
        if self._warm_up is None:
            return 0
        done = self._warm_up.take(Batch(rows, labels, outputs=scores))
        if self._warm_up.complete:
            batch = self._warm_up.batch()
            self._warm_up = None
            self._fit_initial(batch.X, batch.Y)
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
            raise NotTrainedError(
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
