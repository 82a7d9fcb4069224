"""What `score` of a classifier returns, in which labels and classes that are not known do not count."""

from typing import TYPE_CHECKING

import numpy as np

from evolabel.classifier.samples import read_sample_weight
from evolabel.classifier.targets import read_targets
from evolabel.errors import DataError

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier


def share_right(classifier: "EvolvingFuzzyClassifier", X: object, y: object, sample_weight: object = None) -> float:
    """Return the share of the samples that are predicted without an error.

    For full labels this is scikit-learn's `accuracy_score`: of a label matrix the subset accuracy.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        Is not changed.
    X : array or frame of shape (n_samples, n_features)
    y : array or frame of shape (n_samples, n_labels), or of shape (n_samples,)
        Labels of 0, 1 and NaN, or one class per sample. What is NaN does not count; a sample without any label or
        class is left out.
    sample_weight : array of shape (n_samples,), optional
        Weight of each sample.
    """
    predicted = classifier.predict(X)
    targets = classifier.inner.targets
    truth, _ = read_targets(y, len(predicted), targets)
    answers = np.zeros(truth.shape)  # a label or class that was never learned is not predicted
    answers[:, : targets.size] = targets.read(predicted)[0]
    known = ~np.isnan(truth)
    counted = known.any(axis=1)
    given = read_sample_weight(sample_weight, len(truth))
    weights = np.where(counted, given if len(given) else 1.0, 0.0)
    if not weights.any():
        raise DataError("no sample of y has a known label and a weight above 0; pass labels to compare with")
    right = ((answers == truth) | ~known).all(axis=1)
    return float(right @ weights / weights.sum())
