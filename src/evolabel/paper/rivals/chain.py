"""`EvolvingChain`: one evolving rule base per label; each also takes the labels before it as features."""

from collections.abc import Sequence

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.paper.rivals.one_vs_rest import LabelByLabel, engine_scores
from evolabel.typing import BoolArray, FloatArray


class EvolvingChain(LabelByLabel):
    """A chain of evolving classifiers: each takes the features and 0/1 indicators of all labels before it.

    The paper's second rival. Indicators are the true labels in training and predictions in inference (by the parameter
    `threshold`, also where `base` learns thresholds); where a label is not annotated, training takes the prediction of
    its link. A row without an annotation of a label does not train that link. Labels that appear mid-stream are
    appended and start with a `warm_up`.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier or None
        Parameters of every link; None for the defaults. The paper's rival updates by recursive least squares alone:
        `PaperClassifier(alpha=0.0, beta=0.0, prox_steps=0)`.
    order : None, "random" or sequence of int
        Columns of y from the first link to the last: in their order (None), shuffled, or as given.
    seed : int
        Seed of the "random" order.

    Attributes
    ----------
    order_ : list of int
        Columns of y from the first link to the last.
    n_rules_ : int
        Number of rules of all links together.

    Examples
    --------
    >>> from evolabel.paper import EvolvingChain
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = EvolvingChain(order="random", seed=1).fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.81
    """

    def __init__(
        self, base: EvolvingFuzzyClassifier | None = None, *, order: str | Sequence[int] | None = None, seed: int = 0
    ) -> None:
        self.base = base
        self.order = order
        self.seed = seed

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("seed", self.seed, 0, whole=True)

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self.order_ = self._first_order(labels.shape[1])
        links: dict[int, EvolvingFuzzyClassifier] = {}
        for k in self.order_:
            link = links[k] = self._fitted_engine(rows, labels[:, [k]])
            scores = engine_scores(link, rows) if np.isnan(labels[:, k]).any() else np.empty((0, 0))
            rows = self._with_label(rows, labels[:, [k]], scores)
        self._engines = [links[k] for k in range(len(links))]

    def _grow_labels(self, n_labels: int) -> None:
        self.order_ = [*self.order_, *range(len(self.order_), n_labels)]
        super()._grow_labels(n_labels)

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for k in self.order_:
            rows = self._with_label(rows, labels[:, [k]], self._engines[k].test_then_train(rows, labels[:, [k]]))

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        scores = np.empty((len(rows), len(self.order_)))
        for k in self.order_:
            scores[:, [k]] = engine_scores(self._engines[k], rows)
            rows = np.hstack([rows, scores[:, [k]] >= self._threshold()])
        return scores

    def _score_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Score and train link by link instead of row by row, with the same results: one link fits into the cache.

        A link scores rows with the predictions of earlier labels, and is trained on rows with the true labels.
        """
        scores, with_predictions, with_labels = np.empty(labels.shape), rows, rows
        same = np.ones(len(rows), bool)  # rows whose predictions so far were all correct
        for k in self.order_:
            column = labels[:, [k]]
            scores[:, [k]], trained = _score_and_train(self._engines[k], with_predictions, with_labels, same, column)
            with_predictions = np.hstack([with_predictions, scores[:, [k]] >= self._threshold()])
            with_labels = self._with_label(with_labels, column, trained)
            same &= with_predictions[:, -1] == with_labels[:, -1]
        return scores

    def _with_label(self, rows: FloatArray, column: FloatArray, scores: FloatArray) -> FloatArray:
        """Input of the next link in training: one more indicator, the label or (not annotated) its prediction."""
        unknown = np.isnan(column)
        return np.hstack([rows, np.where(unknown, scores >= self._threshold(), column) if unknown.any() else column])

    def _first_order(self, n_labels: int) -> list[int]:
        columns = list(range(n_labels))
        if self.order is None:
            return columns
        if isinstance(self.order, str):
            if self.order != "random":
                raise ParameterError(f'order={self.order!r} is unknown; use None, "random" or a list of columns')
            return [int(k) for k in np.random.default_rng(int(self.seed)).permutation(n_labels)]
        try:
            complete = sorted(self.order) == columns
        except TypeError:  # not a list, or not of numbers
            complete = False
        if not complete:
            raise ParameterError(f"order={self.order!r} must name each column of y once, 0 to {n_labels - 1}")
        return [int(k) for k in self.order]


def _score_and_train(
    link: EvolvingFuzzyClassifier,
    with_predictions: FloatArray,
    with_labels: FloatArray,
    same: BoolArray,
    column: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Scores of both kinds of rows, each from before it was learned; the link is trained on those `with_labels`.

    Consecutive rows that are the same in both are scored once, and all at a time.
    """
    scores, trained = np.empty(column.shape), np.empty(column.shape)
    same = same & link.__sklearn_is_fitted__()  # an untrained link is scored and trained row by row
    starts = [0, *np.flatnonzero(~(same[1:] & same[:-1])) + 1]
    for start, end in zip(starts, [*starts[1:], len(same)], strict=True):
        piece = slice(start, end)
        if not same[start]:
            scores[piece] = engine_scores(link, with_predictions[piece])
        trained[piece] = link.test_then_train(with_labels[piece], column[piece])
    return np.where(same[:, None], trained, scores), trained
