"""`EvolvingChain`: one evolving rule base per label; each also sees the labels before it."""

from collections.abc import Sequence

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.baselines.base import StreamLearner
from evolabel.baselines.engine import ask, check_base, count_rules, new_engine, taught_engine, thresholds
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError
from evolabel.typing import BoolArray, FloatArray


class EvolvingChain(StreamLearner):
    """A chain of evolving classifiers: each gets the features and 0/1 indicators of all labels before it.

    The paper's second rival. Indicators are the truth in training and thresholded predictions in inference (cut at
    `threshold`, also where the base learns thresholds); where the truth was not annotated, training takes the
    prediction of the link in question. A row without an annotation of a label teaches that link nothing. Labels that
    appear mid-stream are appended and start with a `warm_up`.

    Parameters
    ----------
    base : EvolvingFuzzyClassifier or None
        Whose parameters every link gets; None for the defaults. The paper's rival updates by recursive least squares
        alone: `EvolvingFuzzyClassifier.paper(alpha=0.0, beta=0.0, prox_steps=0)`.
    order : None, "random" or sequence of int
        Columns of y from the first link to the last: as they come, shuffled by `seed`, or as given.
    seed : int
        See `order`.

    Attributes
    ----------
    order_ : list of int
    n_rules_ : int
        Rules of all links together.

    Examples
    --------
    >>> from evolabel.baselines import EvolvingChain
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

    @property
    def n_rules_(self) -> int:
        """Rules of all links together."""
        self._check_fitted()
        return count_rules(list(self._links.values()))

    def _check_parameters(self) -> None:
        check_base(self.base)
        check_number("seed", self.seed, 0, whole=True)

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        self.order_ = self._first_order(labels.shape[1])
        self._links: dict[int, EvolvingFuzzyClassifier] = {}
        for k in self.order_:
            link = self._links[k] = taught_engine(self.base, rows, labels[:, [k]])
            answers = ask(link, rows) if np.isnan(labels[:, k]).any() else np.empty((0, 0))
            rows = self._with_truth(rows, labels[:, [k]], answers)

    def _grow(self, n_labels: int) -> None:
        new = range(len(self.order_), n_labels)
        self.order_ = [*self.order_, *new]
        self._links |= {k: new_engine(self.base) for k in new}

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        for k in self.order_:
            rows = self._with_truth(rows, labels[:, [k]], self._links[k].test_then_train(rows, labels[:, [k]]))

    def _thresholds(self) -> FloatArray:
        return thresholds(self._links[k] for k in range(len(self._links)))

    def _answer(self, rows: FloatArray) -> FloatArray:
        scores = np.empty((len(rows), len(self.order_)))
        for k in self.order_:
            scores[:, [k]] = ask(self._links[k], rows)
            rows = np.hstack([rows, scores[:, [k]] >= self._threshold()])
        return scores

    def _answer_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Link by link instead of row by row, with the same results: what one link knows fits into a cache, all do not.

        A link answers rows as they are told to it, with predictions of earlier labels, and learns them as they are.
        """
        scores, told, known = np.empty(labels.shape), rows, rows
        right = np.ones(len(rows), bool)  # rows of which all predictions so far were true
        for k in self.order_:
            column = labels[:, [k]]
            scores[:, [k]], answers = _told_and_taught(self._links[k], told, known, right, column)
            told = np.hstack([told, scores[:, [k]] >= self._threshold()])
            known = self._with_truth(known, column, answers)
            right &= told[:, -1] == known[:, -1]
        return scores

    def _with_truth(self, rows: FloatArray, column: FloatArray, answers: FloatArray) -> FloatArray:
        """Inputs of the next link in training: one more indicator, the label or (not annotated) its prediction."""
        unknown = np.isnan(column)
        return np.hstack([rows, np.where(unknown, answers >= self._threshold(), column) if unknown.any() else column])

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


def _told_and_taught(
    link: EvolvingFuzzyClassifier, told: FloatArray, known: FloatArray, right: BoolArray, column: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scores of the rows as told, each from before it was learned, and of the rows as known, which the link learns.

    Where the two are the same they are answered once, and as many at a time as follow each other.
    """
    scores, answers = np.empty(column.shape), np.empty(column.shape)
    same = right & link.__sklearn_is_fitted__()  # who has learned nothing is asked and taught row by row
    starts = [0, *np.flatnonzero(~(same[1:] & same[:-1])) + 1]
    for start, end in zip(starts, [*starts[1:], len(same)], strict=True):
        piece = slice(start, end)
        if not same[start]:
            scores[piece] = ask(link, told[piece])
        answers[piece] = link.test_then_train(known[piece], column[piece])
    return np.where(same[:, None], answers, scores), answers
