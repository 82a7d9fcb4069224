"""`Pupil`: the classifier as the active learner sees it. Rows are checked, answers are learned."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evolabel import errors
from evolabel._utils.validation import check_number
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.samples import as_array, as_matrix, as_one_row, checked_values, is_checked_shape
from evolabel.classifier.targets import LabelMatrix, read_targets
from evolabel.core.batch import Batch
from evolabel.core.model import StreamModel
from evolabel.errors import DataError, DataTypeError, StateError
from evolabel.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from evolabel.explain.prediction import Correct, Explanation


class TaughtModel(NamedTuple):
    """The model of a classifier at one moment, and what its features and labels were called then."""

    model: StreamModel
    n_features: int
    targets: LabelMatrix
    features: AnyArray | None
    """Names of the features; None where they have none."""

    def is_still(self, model: StreamModel, targets: object) -> bool:
        """Whether nothing has changed since: the same model, with the same features and labels."""
        return self.model is model and self.targets is targets and self.n_features == model.n_features

    def same_features(self, other: "TaughtModel") -> bool:
        """Do both have as many features, of the same names where both have names?"""
        if self.features is None or other.features is None:
            return self.n_features == other.n_features
        return bool(np.array_equal(self.features, other.features))

    def keeps_labels_of(self, other: "TaughtModel") -> bool:
        """Are the first labels those of `other`? Further labels may have appeared."""
        return self.model is other.model or self.targets.names[: other.targets.size] == other.targets.names


class Pupil:
    """Everything that active learning needs to know of a classifier, and the one way to teach it."""

    def __init__(self, classifier: EvolvingFuzzyClassifier, mobility: float = 1.0) -> None:
        check_number("mobility", mobility, 0, 1)
        if not isinstance(classifier, EvolvingFuzzyClassifier):
            raise DataTypeError(f"an EvolvingFuzzyClassifier is needed, got {type(classifier).__name__}; pass one")
        self.classifier = classifier
        self.mobility = float(mobility)
        self._by_order = False  # have rows come that are read by their order, whatever names the classifier knows?

    @property
    def model(self) -> StreamModel:
        """The model, once there are features and labels to speak of."""
        classifier = self.classifier
        known = classifier.__dict__
        if type(known.get("_targets")) is LabelMatrix and "_model" in known:  # every query asks several times
            return classifier._model
        if not classifier.__sklearn_is_fitted__():
            raise errors.NotTrainedError(
                "the classifier knows no labels yet; call its fit with an initial batch, or partial_fit with a few rows"
            )
        raise StateError("the classifier was trained on classes; train it on a label matrix (samples, labels)")

    @property
    def taught(self) -> TaughtModel:
        """The model as it is now, with the names of its features and labels."""
        model, targets = self.model, self.classifier._targets
        assert isinstance(targets, LabelMatrix)
        return TaughtModel(model, model.n_features, targets, self.classifier.__dict__.get("feature_names_in_"))

    @property
    def n_labels_by_now(self) -> int:
        """K, or 1 if the classifier knows no labels yet."""
        return self.classifier._model.n_labels if self.classifier.__sklearn_is_fitted__() else 1

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return self.model.n_labels

    @property
    def label_names(self) -> list[str]:
        """Names of the labels known by now."""
        self.model  # noqa: B018
        assert self.classifier._targets is not None
        return self.classifier._targets.names

    def rows(self, X: object) -> FloatArray:
        """Checked rows of a table; only the first without the names that the classifier knows is warned of."""
        width = self.model.n_features
        if self._by_order and type(X) is np.ndarray:
            array = X if is_checked_shape(X, width) else as_matrix(X, "X")
            if is_checked_shape(array, width):
                return checked_values(array)
        rows = self.classifier._read(X)
        self._by_order = self._by_order or type(X) is np.ndarray
        return rows

    def row(self, x: object) -> FloatArray:
        """One checked row, (1, p), from a flat array or a table of one row."""
        array = x if type(x) is np.ndarray or hasattr(x, "columns") else as_one_row(x)
        if not (isinstance(array, np.ndarray) or hasattr(array, "columns")):
            array = as_array(array, "x")
            if array.ndim == 0:
                raise DataError(f"x is {x!r}; pass one sample, a number per feature")
        rows = self.rows(array.reshape(1, -1) if isinstance(array, np.ndarray) and array.ndim == 1 else array)
        if len(rows) != 1:
            raise DataError(f"query takes one sample, got {len(rows)} rows; use watch for many")
        return rows

    def explain(self, x: object, correct: "Correct") -> "Explanation":
        """The explanation of one sample, its outputs corrected by `correct`."""
        self.model  # noqa: B018
        return self.classifier._explained(self.rows(as_one_row(x)), correct)

    def teach(self, x: FloatArray, y: FloatArray, confidence: FloatArray | None) -> FloatArray:
        """Learn one sample; labels that are NaN keep their weights. A wider y lets labels appear.

        Returns the outputs for it from before it was learned.
        """
        clf = self.classifier
        labels, clf._targets = read_targets(y[None], 1, clf._targets, streaming=True)
        rules, outputs = clf._model.rules, np.zeros(labels.shape)
        with nullcontext() if rules is None else rules.moving_by(self.mobility):
            batch = Batch(x[None], labels, outputs=outputs)
            clf._learn(batch if confidence is None else batch._replace(confidences=confidence[None]))
        return np.asarray(outputs[0])
