"""`RefittedForest`: a random forest that is refitted at intervals on all rows so far."""

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from evolabel._utils.validation import check_number
from evolabel.baselines.base import LabelCounts, StreamLearner
from evolabel.evaluate.metrics.label_sets import DEFAULT_THRESHOLD
from evolabel.typing import FloatArray

_MAX_FEATURE = 1e38  # trees compare in single precision


class RefittedForest(StreamLearner):
    """A multi-output random forest, refitted from scratch along the stream: a batch learner for comparison.

    It stores every row, so memory grows with the stream. A label that is not annotated is trained as the more common of
    its values so far; rows without any annotation are left out.

    Parameters
    ----------
    refit_every : float
        Rows between two refits, in units of the initial batch. 0.4 makes ten forests where that batch is a fifth of
        all rows: one on the initial batch, nine refits.
    n_trees : int
        Number of trees of each forest.
    seed : int
        Seed of the forests.

    Examples
    --------
    >>> from evolabel.baselines import RefittedForest
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = RefittedForest(n_trees=20).fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.78
    """

    def __init__(self, *, refit_every: float = 0.4, n_trees: int = 100, seed: int = 0) -> None:
        self.refit_every = refit_every
        self.n_trees = n_trees
        self.seed = seed

    def _check_parameters(self) -> None:
        check_number("refit_every", self.refit_every, 0, open_low=True)
        check_number("n_trees", self.n_trees, 1, whole=True)
        check_number("seed", self.seed, 0, 2**32 - 1, whole=True)

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._period = max(1, round(self.refit_every * len(rows)))
        self._X: list[FloatArray] = []
        self._Y: list[FloatArray] = []
        self._store(rows, labels)
        self._refit()

    def _grow_labels(self, n_labels: int) -> None:
        pass  # stored labels are widened when the forest is refitted

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        done = 0
        while done < len(rows):
            piece = slice(done, done + self._waiting)
            self._store(rows[piece], labels[piece])
            self._waiting -= len(rows[piece])
            if self._waiting == 0:
                self._refit()
            done = piece.stop

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        shares = _per_label(self._forest.predict_proba(np.clip(rows, -_MAX_FEATURE, _MAX_FEATURE)))
        scores = np.zeros((len(rows), self._targets.size))
        for k, classes in enumerate(_per_label(self._forest.classes_)):
            scores[:, k] = shares[k] @ (classes == 1.0)
        return scores

    def _rows_until_change(self) -> int:
        return self._waiting

    def _store(self, rows: FloatArray, labels: FloatArray) -> None:
        labelled = ~np.isnan(labels).all(axis=1)
        self._X.append(np.clip(rows[labelled], -_MAX_FEATURE, _MAX_FEATURE))
        self._Y.append(labels[labelled])

    def _refit(self) -> None:
        width = self._targets.size  # NaN in rows from before a label appeared
        padded = [np.pad(Y, ((0, 0), (0, width - Y.shape[1])), constant_values=np.nan) for Y in self._Y]
        X, Y = np.vstack(self._X), np.vstack(padded)
        counts = LabelCounts(Y.shape[1])
        counts.add(Y)
        forest = RandomForestClassifier(n_estimators=int(self.n_trees), random_state=int(self.seed))
        targets = np.where(np.isnan(Y), counts.shares >= DEFAULT_THRESHOLD, Y)
        self._forest = forest.fit(X, targets if targets.shape[1] > 1 else targets[:, 0])
        self._X, self._Y, self._waiting = [X], [Y], self._period


def _per_label(found: Any) -> list[Any]:
    """A list with one entry per label; scikit-learn returns a bare entry for a single label."""
    return found if isinstance(found, list) else [found]
