"""scikit-activeml: our criteria as a query strategy, and our token bucket as a budget manager.

Both use one utility per sample, so each also works with the strategies and managers of scikit-activeml.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from evolabel._utils import optional
from evolabel.active.scoring.criteria import Ambiguity, Criterion, Scorer, read_criteria
from evolabel.active.selection import TokenSelector
from evolabel.active.selection.selector import by_label
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.inner import ClassifierInner
from evolabel.classifier.samples import note_empty, rows_without_features
from evolabel.errors import DataTypeError, ParameterError
from evolabel.typing import FloatArray

base = optional.load("skactiveml.base", "activeml", "a query strategy of scikit-activeml")
utils = optional.load("skactiveml.utils", "activeml", "a query strategy of scikit-activeml")

Reduction = Literal["max", "mean", "sum"]
Indices = npt.NDArray[np.int64]

_REDUCTIONS: dict[str, Callable[..., FloatArray]] = {"max": np.max, "mean": np.mean, "sum": np.sum}
_DEFAULT_BUDGET = 0.1


class TokenBudgetManager(base.BudgetManager):  # type: ignore[misc, name-defined]
    """Budget manager for any strategy of scikit-activeml that never exceeds its budget.

    A sample is queried if a token is available and its utility ranks high among the last ones. The managers of
    scikit-activeml keep the budget on average; this one at every moment: queried <= budget * seen. `update` needs the
    utilities, as that of `BalancedIncrementalQuantileFilter` does. A sample with a utility of NaN is never queried: it
    counts as seen, and others are not compared with it.

    Parameters
    ----------
    budget : float, optional
        Share of the samples that may be queried; 0.1 if not given.
    generosity : float
        As for `TokenSelector`.
    window : int
        As for `TokenSelector`.
    """

    _ahead: tuple[TokenBucket, TokenSelector] | None = None  # state after the single samples since the last update

    def __init__(self, budget: float | None = None, generosity: float = 2.0, window: int = 100) -> None:
        super().__init__(budget)
        self.generosity = generosity
        self.window = window

    def query_by_utility(self, utilities: FloatArray) -> Indices:
        """Indices of the samples to query, by their `utilities`. Nothing is counted before `update`.

        Some strategies pass the samples of a batch one at a time: until the next `update`, single samples are taken to
        follow each other, so that their queries together stay within the budget.
        """
        values = _numbers(utilities)
        ahead = self._ahead if len(values) == 1 else None
        bucket, selector = copy.deepcopy(ahead or self._state())
        queried = [_step(bucket, selector, utility) for utility in values]
        if len(values) == 1:
            self._ahead = bucket, selector
        return np.flatnonzero(queried)

    def update(self, candidates: object, queried_indices: Any, utilities: FloatArray) -> Self:
        """Count samples as seen, and some of them as queried.

        Parameters
        ----------
        candidates : object
            Not used.
        queried_indices : array of int
            Indices of the queried samples.
        utilities : array of shape (n_samples,)
            Those given to `query_by_utility`.

        Raises
        ------
        BudgetError
            If the budget does not allow these queries; nothing is counted then.
        """
        values, indices = _numbers(utilities), _indices(queried_indices)
        if ((indices < 0) | (indices >= len(values))).any():
            raise ParameterError(f"queried_indices={indices.tolist()} is not allowed; there are {len(values)} samples")
        bucket, selector = copy.deepcopy(self._state())  # copied, so that an error counts nothing
        queried = np.isin(np.arange(len(values)), indices)
        for utility, asked in zip(values, queried.tolist(), strict=True):
            _step(bucket, selector, utility, asked)
        self.bucket_, self.selector_ = bucket, selector
        self._ahead = None
        return self

    def _state(self) -> tuple[TokenBucket, TokenSelector]:
        if "bucket_" in self.__dict__:
            return self.bucket_, self.selector_
        bucket = TokenBucket(_DEFAULT_BUDGET if self.budget is None else self.budget)
        selector = TokenSelector(self.generosity, self.window)
        selector.reset([Ambiguity()], bucket.budget, 1, 1)  # one criterion stands for the utility
        return bucket, selector


class EvolvingQueryStrategy(base.SingleAnnotatorStreamQueryStrategy):  # type: ignore[misc, name-defined]
    """Our criteria as a query strategy for the stream loop of scikit-activeml.

    It queries all labels of a sample. The utility of a label is the product of the criteria's scores, each to the power
    of its weight; `reduce` makes one number per sample of them. For queries of single labels, which are far more
    accurate at the same cost, use `ActiveLearner`.

    Parameters
    ----------
    budget_manager : BudgetManager, optional
        Any of scikit-activeml; `TokenBudgetManager` if not given. Those that compare utilities with a fixed threshold
        expect uncertainties: use `criteria="uncertainty"`.
    budget : float, optional
        Share of the samples that may be queried; 0.1 if not given.
    criteria : str, Criterion or sequence of them, optional
        Those of `ActiveLearner`; by default its choice for labels, ambiguity and leverage.
    reduce : {"max", "mean", "sum"}
        How the utilities of the labels become one number: largest, mean, or sum.
    random_state : int, optional
        Not used: the same samples give the same queries.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.adapters.scikit_activeml import EvolvingQueryStrategy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
    >>> strategy, queried = EvolvingQueryStrategy(budget=0.1), 0
    >>> for x, y in zip(X[200:], Y[200:]):
    ...     indices, utilities = strategy.query([x], clf, return_utilities=True)
    ...     _ = strategy.update([x], indices, budget_manager_param_dict={"utilities": utilities})
    ...     if len(indices):
    ...         _ = clf.partial_fit([x], [y])
    ...         queried += 1
    >>> queried
    39
    """

    def __init__(
        self,
        budget_manager: Any = None,
        budget: float | None = None,
        criteria: str | Criterion | Sequence[str | Criterion] | None = None,
        reduce: Reduction = "max",
        random_state: int | None = None,
    ) -> None:
        super().__init__(budget=budget, random_state=random_state)
        self.budget_manager = budget_manager
        self.criteria = criteria
        self.reduce = reduce

    def query(self, candidates: object, clf: EvolvingFuzzyClassifier, *, return_utilities: bool = False) -> Any:
        """Indices of the samples to query. Changes nothing.

        Parameters
        ----------
        candidates : array of shape (n_samples, n_features)
        clf : EvolvingFuzzyClassifier
            Trained on a label matrix.
        return_utilities : bool
            Whether to return the utilities, too: (indices, utilities).
        """
        utilities = self.utilities(candidates, clf)
        queried = copy.deepcopy(self._manager()).query_by_utility(utilities)
        indices = np.asarray(queried, np.int64)
        return (indices, utilities) if return_utilities else indices

    def update(
        self, candidates: object, queried_indices: Any, *, budget_manager_param_dict: dict[str, Any] | None = None
    ) -> Self:
        """Count `candidates` as seen, and those at `queried_indices` as queried.

        `budget_manager_param_dict` holds further arguments of the budget manager's `update`: `TokenBudgetManager` and
        the incremental quantile filter need the `utilities` of the query.
        """
        if not isinstance(budget_manager_param_dict, Mapping | None):
            raise ParameterError(
                f"budget_manager_param_dict is a {type(budget_manager_param_dict).__name__}; "
                "pass a dictionary, {'utilities': utilities}"
            )
        manager, given = self._manager(), dict(budget_manager_param_dict or {})
        if isinstance(manager, TokenBudgetManager) and "utilities" not in given:
            raise ParameterError(
                "the utilities of the query are needed; pass budget_manager_param_dict={'utilities': utilities}"
            )
        utils.call_func(manager.update, candidates=candidates, queried_indices=_indices(queried_indices), **given)
        self.budget_manager_ = manager
        return self

    def utilities(self, candidates: object, clf: EvolvingFuzzyClassifier) -> FloatArray:
        """Utilities of the `candidates` for the classifier `clf`, one number each.

        A row without any feature has NaN, and is never asked about. Managers of scikit-activeml, which refuse NaN, get
        0 for it, the least there is.
        """
        if not isinstance(self.reduce, str) or self.reduce not in _REDUCTIONS:
            raise ParameterError(f"reduce={self.reduce!r} is unknown; use one of {', '.join(_REDUCTIONS)}")
        if not isinstance(clf, EvolvingFuzzyClassifier):
            raise DataTypeError(f"an EvolvingFuzzyClassifier is needed, got {type(clf).__name__}; pass one")
        inner, criteria = clf.inner, read_criteria(self.criteria, "labels")
        rows = inner.validate_rows(candidates)
        empty = rows_without_features(rows)
        note_empty(empty, "not asked about")
        never = np.nan if isinstance(self._manager(), TokenBudgetManager) else 0.0
        utilities = np.full(len(rows), never)
        filled = slice(None) if empty is None else ~empty
        if empty is None or not empty.all():
            utilities[filled] = self._scored(inner, rows[filled], criteria)
        return utilities

    def _scored(self, inner: ClassifierInner, rows: FloatArray, criteria: Sequence[Criterion]) -> FloatArray:
        """Utilities of checked `rows`, all of which have features, by `criteria`."""
        n_labels = inner.model.n_labels
        product = np.ones((len(rows), n_labels))
        for criterion, scores in zip(criteria, Scorer(criteria).score(inner.model, rows)[1], strict=True):
            product *= by_label(scores, n_labels) ** criterion.weight
        return np.asarray(_REDUCTIONS[self.reduce](product, axis=1))

    def _manager(self) -> Any:
        """The budget manager in use, or a new one."""
        if "budget_manager_" in self.__dict__:
            return self.budget_manager_
        seed = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, Integral | np.random.RandomState | None):
            raise ParameterError(f"random_state={seed!r} is not allowed; use a whole number or None")
        if not isinstance(self.budget_manager, base.BudgetManager | None):
            raise ParameterError(
                f"budget_manager={self.budget_manager!r} is no budget manager; pass one, such as TokenBudgetManager()"
            )
        return utils.check_budget_manager(self.budget, self.budget_manager, TokenBudgetManager)


def _step(bucket: TokenBucket, selector: TokenSelector, utility: float, asked: bool | None = None) -> bool:
    """Count one sample and return whether it is queried: `asked`, or by its utility where that is None."""
    value, allowance, never = np.array([[utility]]), bucket.allowance(1, 1), math.isnan(utility)
    if asked is None:
        asked = not never and selector.select(value, allowance, commit=False)[0] == 0
    bucket.count(1, int(asked))
    if not never:
        selector.record(value[0], int(allowance.limit[0]), cost=int(asked))
    return asked


def _numbers(utilities: object) -> list[float]:
    try:
        table = np.asarray(utilities, np.float64)
    except (TypeError, ValueError):
        raise ParameterError("the utilities cannot be read as numbers; pass one number per sample") from None
    if table.ndim != 1:
        raise ParameterError(f"utilities of shape {table.shape} are not allowed; pass one number per sample")
    if np.isinf(table).any():
        raise ParameterError(f"utility {int(np.isinf(table).argmax())} is infinite; pass finite numbers, NaN for never")
    return [float(value) for value in table]


def _indices(queried: object) -> Indices:
    """`queried` as an array of indices; boolean masks are refused."""
    try:
        places = np.asarray(queried)
        sound = places.ndim == 1 and (places.size == 0 or places.dtype.kind in "iu")
    except ValueError:  # rows of several lengths
        sound = False
    if not sound:
        raise ParameterError(f"queried_indices={queried!r} is not allowed; pass the indices of samples as integers")
    return places.astype(np.int64)
