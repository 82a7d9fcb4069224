"""`stream_score`: the score of a classifier along a stream, for the searches of scikit-learn."""

import copy
from typing import TYPE_CHECKING

from evolabel.classifier.targets import read_targets
from evolabel.evaluate import metric_named

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

MEASURES = {
    "accuracy": "pa",
    "balanced": "balanced_accuracy",
    "macro_f1": "macro_f1",
    "micro_f1": "micro_f1",
    "subset_accuracy": "subset_accuracy",
}
"""The metric that each value of the parameter `optimise` is best at."""


def stream_score(estimator: "EvolvingFuzzyClassifier", X: object, y: object) -> float:
    """Return the measure of `estimator.optimise` on `X`, `y`, every row predicted before it is learned.

    To be used with splits that keep the order of the rows, such as scikit-learn's `TimeSeriesSplit`.

    Parameters
    ----------
    estimator : EvolvingFuzzyClassifier
        Trained on the rows before; is not changed.
    X : array or frame of shape (n_samples, n_features)
    y : array or frame of shape (n_samples, n_labels), or of shape (n_samples,)
        Labels of 0, 1 and NaN, which does not count, or one class per sample.

    Returns
    -------
    float
        PA, balanced accuracy, macro F1, micro F1 or subset accuracy; NaN if no label of `y` is known.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(120)
    >>> clf = EvolvingFuzzyClassifier(optimise="macro_f1")
    >>> cv = TimeSeriesSplit(3)
    >>> search = GridSearchCV(clf, {"vigilance": [0.5, 1.0]}, scoring=stream_score, cv=cv).fit(X, Y)
    >>> len(search.cv_results_["mean_test_score"])
    2
    """
    learner = copy.deepcopy(estimator)
    decided = learner.answer_then_train(X, y).decisions
    truth, _ = read_targets(y, len(decided), learner.inner.targets)
    return metric_named(MEASURES[learner.optimise]).update(truth, decided).get()
