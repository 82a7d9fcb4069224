"""`check_learner`: what `evolabel.evaluate` relies on, checked on a small stream."""

import copy
from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from evolabel.checks.comparison import (
    N_INITIAL,
    ROUNDING,
    expected_to_work,
    require,
    require_methods,
    require_same,
    require_scores,
    small_stream,
    with_gaps,
)
from evolabel.evaluate.learner import Learner
from evolabel.typing import FloatArray


class _Case(NamedTuple):
    """A learner under test and the rows it is tested on."""

    learner: Any
    name: str
    X: FloatArray
    Y: FloatArray
    rtol: float

    def fitted(self) -> Any:
        """Return a copy of the learner, fitted on the initial batch."""
        return copy.deepcopy(self.learner).fit(self.X[:N_INITIAL].copy(), self.Y[:N_INITIAL].copy())

    def later(self) -> tuple[FloatArray, FloatArray]:
        """Return copies of the rows and labels behind the initial batch."""
        return self.X[N_INITIAL:].copy(), self.Y[N_INITIAL:].copy()


def check_learner(learner: Learner, *, n_features: int = 4, n_labels: int = 3, rtol: float = ROUNDING) -> None:
    """Raise AssertionError if `learner` does not keep what `evolabel.evaluate` relies on.

    Checked are: shape of the scores, finite scores, no look-ahead (labels of a row and of later rows do not change its
    scores), rows at once like row by row, the same run twice gives the same scores, arrays passed are neither changed
    nor kept, missing values and labels (NaN) are accepted, `fit` discards what was learned before, and training may
    begin with `partial_fit`. A learner with a `memory` is asked row by row with `follows=1`.

    Parameters
    ----------
    learner : Learner
        An object with `fit`, `partial_fit` and `decision_function`, not trained yet; `test_then_train`,
        `decide_then_train` and `answer_then_train` are checked where it has them.
    n_features, n_labels : int
        Columns of the rows and labels of the test stream.
    rtol : float
        Relative difference allowed between rows at once and row by row.

    Examples
    --------
    >>> from evolabel.baselines import RunningPrior
    >>> from evolabel.checks import check_learner
    >>> check_learner(RunningPrior())
    >>> class Constant:
    ...     def fit(self, X, Y):
    ...         return self
    ...     partial_fit = fit
    ...     def decision_function(self, X):
    ...         return [0.5] * len(X)
    >>> check_learner(Constant())
    Traceback (most recent call last):
        ...
    AssertionError: Constant.decision_function returned shape (120,); expected (120, 3), a row per sample ...
    """
    name = type(learner).__name__
    require_methods(learner, "evolabel.evaluate.learner.Learner", ("fit", "partial_fit", "decision_function"))
    case = _Case(learner, name, *small_stream(n_features, n_labels), rtol)
    for check in _LEARNER_CHECKS:
        check(case)
    gaps = case._replace(X=with_gaps(case.X), Y=with_gaps(case.Y, empty_rows=True))
    with expected_to_work(f"{name} with NaN in X and Y", "NaN is a missing value in X and an unknown label in Y"):
        _check_scores(gaps)
        _check_rows_at_once(gaps)
        _check_answers(gaps)


def _check_scores(case: _Case) -> None:
    scores = case.fitted().decision_function(case.X)
    require_scores(scores, case.Y.shape, f"{case.name}.decision_function")


def _check_untrained(case: _Case) -> None:
    try:
        copy.deepcopy(case.learner).decision_function(case.X)
    except NotFittedError:
        return
    except Exception as error:
        raised = f"raised {type(error).__name__}"
    else:
        raised = "returned scores"
    raise AssertionError(
        f"{case.name}.decision_function {raised} before any training; expected evolabel.errors.NotTrainedError (or "
        "scikit-learn's NotFittedError); raise it, and pass an untrained learner to check_learner"
    )


def _check_first_call(case: _Case) -> None:
    learner, what = copy.deepcopy(case.learner), f"{case.name}.partial_fit as the very first call"
    with expected_to_work(what, "a stream may have no initial batch; begin to learn there"):
        learner.partial_fit(case.X.copy(), case.Y.copy())
        require_scores(learner.decision_function(case.X), case.Y.shape, f"{case.name}.decision_function")
    if hasattr(case.learner, "test_then_train"):
        first = copy.deepcopy(case.learner).test_then_train(case.X.copy(), case.Y.copy())[:1]
        what = f"{case.name}.test_then_train of an untrained learner: wrong scores of the first row"
        require_same(first, np.zeros((1, case.Y.shape[1])), what, "return 0 for rows that no training preceded")


def _check_pure(case: _Case) -> None:
    asked, other = case.fitted(), case.fitted()
    what, todo = f"{case.name}.decision_function changes the learner", "only fit and partial_fit may change it"
    require_same(asked.decision_function(case.X), asked.decision_function(case.X), what, todo)
    asked.partial_fit(*case.later())
    other.partial_fit(*case.later())
    require_same(asked.decision_function(case.X), other.decision_function(case.X), what, todo)


def _check_inputs(case: _Case) -> None:
    (X, Y), learner = case.later(), case.fitted()
    for call in ("decision_function", "partial_fit", "test_then_train", "answer_then_train", "fit"):
        if hasattr(learner, call):
            getattr(learner, call)(*((X,) if call == "decision_function" else (X, Y)))
        for array, before in zip((X, Y), case.later(), strict=True):
            require_same(array, before, f"{case.name}.{call} writes into its input", "work on a copy")
    before = learner.decision_function(case.X)
    X[:], Y[:] = 0.0, 0.0
    what = f"{case.name} keeps the arrays it was given: writing into them changes its scores"
    require_same(learner.decision_function(case.X), before, what, "store copies")


def _check_no_look_ahead(case: _Case) -> None:
    X, Y = case.later()
    scores = _walk(case.fitted(), X, Y)
    for row in (0, len(X) // 2, len(X) - 1):
        labels, rows = Y.copy(), X.copy()
        labels[row:], rows[row + 1 :] = 1.0 - labels[row:], 7.0 - 3.0 * rows[row + 1 :]
        what = f"{case.name}.test_then_train looks ahead: scores up to row {row} change with later rows or their labels"
        found = _walk(case.fitted(), rows, labels)[: row + 1]
        require_same(found, scores[: row + 1], what, "predict each row before training on it")


def _check_rows_at_once(case: _Case) -> None:
    X, Y = case.later()
    at_once, by_row = case.fitted(), case.fitted()
    scores = np.concatenate([_walk_by_row(by_row, X[[row]], Y[[row]]) for row in range(len(X))])
    todo = "train on the rows one after the other"
    at_once.partial_fit(X, Y)
    what = f"{case.name}.partial_fit of many rows differs from row by row"
    require_same(at_once.decision_function(X), by_row.decision_function(X), what, todo, case.rtol)
    if hasattr(case.learner, "test_then_train"):
        what = f"{case.name}.test_then_train differs from decision_function and partial_fit row by row"
        require_same(case.fitted().test_then_train(X, Y), scores, what, todo, case.rtol)
    if hasattr(case.learner, "decide_then_train"):
        what = f"{case.name}.decide_then_train returns other scores than test_then_train"
        require_same(case.fitted().decide_then_train(X, Y)[0], scores, what, "return the same scores", case.rtol)


def _check_answers(case: _Case) -> None:
    """Check `answer_then_train`: scores, probabilities and decisions as of single steps, the same state afterwards."""
    if not hasattr(case.learner, "answer_then_train"):
        return
    (X, Y), by_row, answering = case.later(), case.fitted(), case.fitted()
    found = answering.answer_then_train(X, Y)
    name, todo = f"{case.name}.answer_then_train", "answer each row before training on it"
    for what in ("outputs", "probabilities", "decisions"):
        require(hasattr(found, what), f"{name} returned no {what}; return outputs, probabilities and decisions")
        require_scores(np.asarray(getattr(found, what), np.float64), Y.shape, f"{name}: {what}")
    P = np.asarray(found.probabilities)
    inside = bool(((P >= 0.0) & (P <= 1.0)).all())
    require(inside, f"{name} returned probabilities from {P.min():g} to {P.max():g}; expected 0 to 1")
    methods = {"predict": found.decisions, "predict_proba": found.probabilities, "decision_function": found.outputs}
    for method in [name for name in methods if hasattr(by_row, name)]:
        by_row, rows = case.fitted(), []
        for x, y in zip(X[:, None], Y[:, None], strict=True):
            rows.append(np.asarray(getattr(by_row, method)(x, **_in_order(by_row)), np.float64)[0])
            by_row.partial_fit(x, y)
        expected = np.asarray(methods[method], np.float64)
        require_same(expected, np.array(rows), f"{name} differs from {method} row by row", todo, case.rtol)
    what = f"{name} leaves another state than partial_fit row by row"
    after, expected = answering.decision_function(X), by_row.decision_function(X)
    require_same(after, expected, what, "train on the rows one after the other", case.rtol)


def _check_repeatable(case: _Case) -> None:
    one, two = (_walk(case.fitted(), *case.later()) for _ in range(2))
    require_same(one, two, f"{case.name}: the same run twice gives other scores", "use a random state with a seed")


def _check_fit_starts_anew(case: _Case) -> None:
    X, Y = case.later()
    again, todo = copy.deepcopy(case.learner), "discard everything learned before, sizes too"
    with expected_to_work(f"{case.name}.fit on other features and labels than before", todo):
        again.fit(X[:, 1:], Y[:, 1:]).fit(case.X[:N_INITIAL], case.Y[:N_INITIAL])
    what = f"{case.name}.fit of a trained learner differs from fit of a new one"
    require_same(again.decision_function(X), case.fitted().decision_function(X), what, todo)


_LEARNER_CHECKS: tuple[Callable[[_Case], None], ...] = (
    _check_scores,
    _check_untrained,
    _check_first_call,
    _check_pure,
    _check_inputs,
    _check_no_look_ahead,
    _check_rows_at_once,
    _check_answers,
    _check_repeatable,
    _check_fit_starts_anew,
)


def _walk(learner: Any, X: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the scores of each row before it is learned, in one call if the learner has `test_then_train`."""
    if hasattr(learner, "test_then_train"):
        return np.asarray(learner.test_then_train(X, Y))
    return np.concatenate([_walk_by_row(learner, X[[row]], Y[[row]]) for row in range(len(X))])


def _walk_by_row(learner: Any, x: FloatArray, y: FloatArray) -> FloatArray:
    scores = np.array(learner.decision_function(x, **_in_order(learner)))
    learner.partial_fit(x, y)
    return scores


def _in_order(learner: Any) -> dict[str, int]:
    """Return what states in a call of `learner` that a row comes right after the last learned one, if it uses that."""
    takes = "follows" in signature(learner.decision_function).parameters
    return {"follows": 1} if takes and getattr(learner, "memory", None) is not None else {}
