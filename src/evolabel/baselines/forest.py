"""`RefittedForest`: a random forest that is trained anew now and then, on everything seen so far."""

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from evolabel._utils.validation import check_number
from evolabel.baselines.base import StreamLearner
from evolabel.baselines.label_counts import LabelCounts
from evolabel.evaluate.learner import ON
from evolabel.typing import FloatArray

LARGEST = 1e38  # trees compare in single precision


class RefittedForest(StreamLearner):
    """A multi-output random forest, refitted from scratch along the stream; no stream learner, but a mark to reach.

    It keeps every row, so memory grows with the stream. A label not annotated is trained as the more common of its
    values so far; rows without any annotation are left out.

    Parameters
    ----------
    refit_every : float
        Rows between two refits, in units of the initial batch. 0.4 makes ten forests where that batch is a fifth of
        all rows: one on the initial batch, nine refits.
    n_trees : int
    seed : int

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

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        self._period = max(1, round(self.refit_every * len(rows)))
        self._X: list[FloatArray] = []
        self._Y: list[FloatArray] = []
        self._keep(rows, labels)
        self._refit()

    def _grow(self, n_labels: int) -> None:
        pass  # labels kept so far are widened when the forest is refitted

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        done = 0
        while done < len(rows):
            piece = slice(done, done + self._waiting)
            self._keep(rows[piece], labels[piece])
            self._waiting -= len(rows[piece])
            if self._waiting == 0:
                self._refit()
            done = piece.stop

    def _answer(self, rows: FloatArray) -> FloatArray:
        shares = _per_label(self._forest.predict_proba(np.clip(rows, -LARGEST, LARGEST)))
        scores = np.zeros((len(rows), self._targets.size))
        for k, classes in enumerate(_per_label(self._forest.classes_)):
            scores[:, k] = shares[k] @ (classes == 1.0)
        return scores

    def _rows_until_change(self) -> int:
        return self._waiting

    def _keep(self, rows: FloatArray, labels: FloatArray) -> None:
        taught = ~np.isnan(labels).all(axis=1)
        self._X.append(np.clip(rows[taught], -LARGEST, LARGEST))
        self._Y.append(labels[taught])

    def _refit(self) -> None:
        X, Y = np.vstack(self._X), self._widened()
        counts = LabelCounts(Y.shape[1])
        counts.add(Y)
        forest = RandomForestClassifier(n_estimators=int(self.n_trees), random_state=int(self.seed))
        targets = np.where(np.isnan(Y), counts.shares >= ON, Y)
        self._forest = forest.fit(X, targets if targets.shape[1] > 1 else targets[:, 0])
        self._X, self._Y, self._waiting = [X], [Y], self._period

    def _widened(self) -> FloatArray:
        """All labels kept; those of rows from before a label appeared are not annotated."""
        width = self._targets.size
        return np.vstack([np.pad(Y, ((0, 0), (0, width - Y.shape[1])), constant_values=np.nan) for Y in self._Y])


def _per_label(found: Any) -> list[Any]:
    """A list, one entry per label: scikit-learn gives a bare entry for a single label."""
    return found if isinstance(found, list) else [found]
