"""`check_criterion` and `check_selector`: what `ActiveLearner` relies on, checked with small learners."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evolabel.active.learner import ActiveLearner
from evolabel.active.query import Query
from evolabel.active.scoring.criteria import CRITERIA, Criterion, Scorer, read_criteria
from evolabel.active.scoring.row_statistics import RowStatistics
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection import SELECTORS, Selector
from evolabel.active.selection.token_bucket import Allowance, TokenBucket
from evolabel.checks.comparison import N_INITIAL, ROUNDING, expected_to_work, require, require_same, small_stream
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.typing import FloatArray

_N_FEATURES, _N_LABELS = 4, 3
_BUDGETS = (0.1, 0.5, 1.0)  # shares of the stream that may be asked
_N_SAVED = 29  # rows before a learner is saved; a prime number, so that the state is not at the begin of a cycle

_MakeLearner = Callable[[float], ActiveLearner]
"""Returns a new learner of this budget."""


def check_criterion(criterion: Criterion, *, selection: str | Selector | None = None) -> None:
    """Raise AssertionError if `criterion` does not keep what `ActiveLearner` relies on.

    Checked are: the class is registered; scores have the right shape and are numbers >= 0; a row has the same scores
    alone and among others; scoring changes nothing. Then, in an active learner with each kind of budget: `query`
    changes nothing, the budget is kept at every moment, `next_query` finds the same questions, labels may appear, and
    a saved learner continues with the same questions.

    Parameters
    ----------
    criterion : Criterion
        An object of a registered class (`evolabel.active.register`).
    selection : str or Selector, optional
        The selector of the active learner, by default that of `ActiveLearner`.

    Examples
    --------
    >>> from evolabel.active import Leverage
    >>> from evolabel.checks import check_criterion
    >>> check_criterion(Leverage())
    """
    name = type(criterion).__name__
    require(isinstance(criterion, Criterion), f"{name} is no criterion; derive a frozen dataclass from Criterion")
    known = CRITERIA.get(criterion.name) is type(criterion)
    require(known, f"{name} is not registered as {criterion.name!r}; write @register above the class")
    classifier, X, _ = _trained()
    _check_scores(criterion, classifier, X)
    _check_active(f"criterion {name}", criteria=criterion, selection=selection)


def check_selector(
    selector: Selector, *, criteria: str | Criterion | Sequence[str | Criterion] | None = "ambiguity"
) -> None:
    """Raise AssertionError if `selector` does not keep what `ActiveLearner` relies on.

    Checked are: the class is listed in `SELECTORS`; values have the right shape; a choice costs no more than the row
    allows; without `commit` nothing changes, with it rows at once are like row by row. Then, in an active learner, all
    that `check_criterion` checks there.

    Parameters
    ----------
    selector : Selector
        An object of a class listed in `evolabel.active.SELECTORS`.
    criteria : str, Criterion or sequence of them, optional
        The criteria whose scores it receives; None: those that are the default of `ActiveLearner`.

    Examples
    --------
    >>> from evolabel.active import FirstCome
    >>> from evolabel.checks import check_selector
    >>> check_selector(FirstCome())
    """
    name = type(selector).__name__
    require(isinstance(selector, Selector), f"{name} is no selector; derive it from Selector")
    known = SELECTORS.get(selector.name) is type(selector)
    require(known, f"{name} is not listed as SELECTORS[{selector.name!r}]; add it, so that learners can be saved")
    with expected_to_work(f"{name} made anew from its parameters", "name all of them in `parameters`"):
        again = type(selector)(**{each: getattr(selector, each) for each in selector.parameters})
    require(repr(again) == repr(selector), f"{again!r} is made from the parameters of {selector!r}; name all of them")
    classifier, X, _ = _trained()
    for per, width in (("samples", 1), ("labels", _N_LABELS)):
        chosen = read_criteria(criteria, per)
        ready = copy.deepcopy(selector)
        ready.reset(chosen, 0.3, width, 1)
        _check_selecting(ready, name, Scorer(chosen).score(classifier.inner.model, X[N_INITIAL:])[1], per)
    _check_active(f"selector {name}", criteria=criteria, selection=selector)


# ---------------------------------------------------------------------- alone


def _check_scores(criterion: Criterion, classifier: EvolvingFuzzyClassifier, X: FloatArray) -> None:
    """Check the scores of a criterion by a trained classifier, all rows at once and row by row."""
    name, model, kept = type(criterion).__name__, classifier.inner.model, X.copy()
    before = classifier.decision_function(X)
    scores = np.asarray(criterion.score(RowStatistics(model, X)), np.float64)
    todo = "read the rows and the model only"
    require_same(X, kept, f"{name}.score writes into the rows", todo)
    shape = (len(X),) if criterion.whole else (len(X), _N_LABELS)
    found = f"{name}.score returned shape {scores.shape}"
    require(scores.shape == shape, f"{found}; expected {shape} as whole = {criterion.whole}; change score or whole")
    require(bool(np.all(scores >= 0.0)), f"{name}.score returned a negative score or NaN; scores are numbers >= 0")
    strength = np.asarray(criterion.strength(scores))
    fits = strength.shape == shape and not np.isnan(strength).any()
    require(fits, f"{name}.strength returned NaN or another shape than the scores; return one number per score")
    alone = np.concatenate([np.asarray(criterion.score(RowStatistics(model, x[None]))) for x in X])
    what = f"{name}.score of a row depends on the other rows"
    require_same(alone, scores, what, "score each row on its own", ROUNDING)
    require_same(classifier.decision_function(X), before, f"{name}.score changes the model", todo)


def _check_selecting(selector: Selector, name: str, scores: ScoreTable, per: str) -> None:
    """Check the choices of a selector that is reset, within the allowance of a bucket that is not spent."""
    values = selector.values(scores)
    shape = (len(scores), *selector.row_shape)
    require(values.shape == shape, f"{name}.values has shape {values.shape}; expected {shape}: (n, *row_shape)")
    allowance = TokenBucket(0.3, per).allowance(_N_LABELS, len(scores))
    by_row, before = copy.deepcopy(selector), copy.deepcopy(selector.arrays())
    for row in range(len(scores)):
        selector.select(*_one_row(values, allowance, row), commit=False)
    for array, kept in zip(selector.arrays().values(), before.values(), strict=True):
        require_same(array, kept, f"{name}.select changes its state without commit", "record rows only with commit")
    at, mask = selector.select(values, allowance, commit=True)
    require(0 <= at <= len(scores), f"{name}.select returned row {at}; expected 0 to {len(scores)} (no row)")
    fits = mask.shape == (selector.width,) and mask.dtype == np.bool_
    require(fits, f"{name}.select returned {mask!r}; expected a bool array of {selector.width} labels")
    if at < len(scores):
        cost, limit = int(mask.sum()), int(allowance.limit[at])
        fits = selector.least <= cost <= limit
        require(fits, f"{name}.select asks for {cost} labels at row {at}; expected {selector.least} to {limit}")
    row = 0
    while row < len(scores) and by_row.select(*_one_row(values, allowance, row), commit=False)[0] == 1:
        by_row.record(values[row], int(allowance.limit[row]), cost=0)
        row += 1
    what = f"{name}.select of many rows differs from row by row"
    require_same(at, row, what, "go through the rows in order and stop at the first to ask about")
    for array, other in zip(selector.arrays().values(), by_row.arrays().values(), strict=True):
        require_same(array, other, what, "with commit, record each row as `record` does", ROUNDING)


def _one_row(values: FloatArray, allowance: Allowance, row: int) -> tuple[FloatArray, Allowance]:
    part = slice(row, row + 1)
    return values[part], Allowance(allowance.paced[part], allowance.limit[part])


# ---------------------------------------------------------------------- in an active learner


def _check_active(name: str, **settings: Any) -> None:
    """Check criteria and a selector, given by `settings`, in an active learner with each kind of budget."""
    trained, X, Y = _trained()
    for per in ("samples", "labels"):

        def make(budget: float, per: str = per) -> ActiveLearner:
            return ActiveLearner(copy.deepcopy(trained), budget, per, **settings)

        for check in (_check_budget, _check_pure, _check_next_query, _check_labels, _check_file):
            with expected_to_work(f"{name} in an ActiveLearner with per={per!r}", "the traceback shows where"):
                check(make, name, X[N_INITIAL:], Y[N_INITIAL:])


def _check_budget(make: _MakeLearner, name: str, X: FloatArray, Y: FloatArray) -> None:
    for budget in _BUDGETS:
        learner = make(budget)
        bucket = learner.bucket
        for row, (x, y) in enumerate(zip(X, Y, strict=True)):
            query = learner.query(x)
            free = bucket.affordable(_N_LABELS)
            what = f"{name}: a question costs {query.cost} at row {row} with budget={budget}, {free} can be spent"
            require(query.cost <= free, f"{what}; ask for no more labels than allowance.limit")
            learner.update(query, y if query.asked else None)
            require(bucket.asked <= budget * bucket.earning, f"{name}: the budget is exceeded at row {row}")


def _check_pure(make: _MakeLearner, name: str, X: FloatArray, Y: FloatArray) -> None:
    plain, curious = make(0.3), make(0.3)
    expected = _questions(plain, X, Y)
    found = []
    for row, (x, y) in enumerate(zip(X, Y, strict=True)):
        for other in (x, X[-1 - row]):
            curious.query(other)
        found += _questions(curious, x[None], y[None])
    _require_same_questions(found, expected, f"{name}: query changes the learner", "change nothing in score and select")


def _check_next_query(make: _MakeLearner, name: str, X: FloatArray, Y: FloatArray) -> None:
    expected = [(row, each[0]) for row, each in enumerate(_questions(make(0.3), X, Y)) if any(each[0])]
    learner, found, row = make(0.3), [], 0
    while row < len(X):
        query, passed = learner.next_query(X[row:])
        row += passed
        if query is not None:
            found.append((row, query.labels.tolist()))
            learner.update(query, Y[row])
            row += 1
    what = f"{name}: next_query over many rows finds other questions than query row by row"
    _require_same_questions(found, expected, what, "score and select each row on its own")


def _check_labels(make: _MakeLearner, name: str, X: FloatArray, Y: FloatArray) -> None:
    learner = make(0.5)
    _questions(learner, X[:20], Y[:20])
    learner.update(learner.query(X[20]), np.append(Y[20], 1.0))
    query = learner.query(X[21])
    fits = len(query.labels) == _N_LABELS + 1 and all(
        score.shape in ((), (_N_LABELS + 1,)) for score in map(np.asarray, query.scores.values())
    )
    require(fits, f"{name}: a query has {len(query.labels)} labels after a fourth appeared; take sizes from the rows")
    _questions(learner, X[21:], np.column_stack([Y[21:], Y[21:, 0]]))


def _check_file(make: _MakeLearner, name: str, X: FloatArray, Y: FloatArray) -> None:
    learner = make(0.3)
    _questions(learner, X[:_N_SAVED], Y[:_N_SAVED])
    with TemporaryDirectory() as folder:
        learner.save(Path(folder) / "learner.safetensors")
        loaded = ActiveLearner.load(Path(folder) / "learner.safetensors")
    found, expected = (_questions(each, X[_N_SAVED:], Y[_N_SAVED:]) for each in (loaded, learner))
    what = f"{name}: a learner that was saved and loaded asks other questions"
    _require_same_questions(found, expected, what, "keep all state in `parameters` (or fields) and `arrays`")


_Question = tuple[list[bool], tuple[str, ...], list[float], list[list[float]]]


def _questions(learner: ActiveLearner, X: FloatArray, Y: FloatArray) -> list[_Question]:
    """Return the query of each row; those that ask are answered."""
    found = []
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        found.append(_shown(query))
        learner.update(query, y if query.asked else None)
    return found


def _shown(query: Query) -> _Question:
    scores = [np.ravel(score).tolist() for score in query.scores.values()]
    return query.labels.tolist(), query.reasons, query.prediction.tolist(), scores


def _require_same_questions(found: Sequence[object], expected: Sequence[object], broken: str, todo: str) -> None:
    """Raise AssertionError at the first query of `found` that differs from `expected`."""
    for row, (one, other) in enumerate(zip(found, expected, strict=False)):
        require(one == other, f"{broken}: query {row} is {one}, expected {other}; {todo}")
    require(len(found) == len(expected), f"{broken}: {len(found)} questions, expected {len(expected)}; {todo}")


def _trained() -> tuple[EvolvingFuzzyClassifier, FloatArray, FloatArray]:
    """Return a classifier trained on the initial batch of a stream, and the stream."""
    X, Y = small_stream(_N_FEATURES, _N_LABELS)
    return EvolvingFuzzyClassifier(max_rules=4).fit(X[:N_INITIAL], Y[:N_INITIAL]), X, Y
