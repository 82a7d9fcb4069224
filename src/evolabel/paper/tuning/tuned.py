"""`TunedClassifier`: a classifier whose `fit` searches its parameters on the initial batch."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin

from evolabel import errors
from evolabel.classifier.estimator import EvolvingFuzzyClassifier, StreamAnswers
from evolabel.paper.tuning.search import PaperGridSearch
from evolabel.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.inner import ClassifierInner
    from evolabel.explain.rule_set import RuleSet

# Small grids around each profile.
_DEFAULT_GRID: dict[str, tuple[Any, ...]] = {
    "vigilance": (0.25, 0.5, 1.0),
    "temperature": ("0.05p", "0.1p", "0.2p"),
    "local_ridge": (0.1, 0.2, 0.5),
}
SMALL_PAPER_GRID: dict[str, tuple[Any, ...]] = {
    "vigilance": (0.2, 0.4, 0.6, 0.8),
    "alpha": (0.0, 0.01, 0.1, 1.0),
    "beta": (0.0, 1.0, 10.0),
}


@dataclass(eq=False, repr=False)
class TunedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose `fit` searches a grid by cross-validation; the best point then learns the stream.

    Parameters
    ----------
    estimator : EvolvingFuzzyClassifier, optional
        Gives all parameters outside the grid; the default profile if not given.
    grid : dict of str to sequence, optional
        As in `PaperGridSearch`; 27 points around the default profile if not given.
    cv : int
        Number of folds.
    score : str
        Metric to maximise, as in `PaperGridSearch`.
    seed : int
        Random seed of the folds.

    Attributes
    ----------
    search_ : PaperGridSearch, after its run
    best_estimator_ : EvolvingFuzzyClassifier, which continues to learn

    See Also
    --------
    PaperGridSearch : the search alone; without an estimator it tunes the paper's profile, not the default.
    """

    estimator: EvolvingFuzzyClassifier | None = None
    grid: Mapping[str, Sequence[Any]] | None = None
    _: KW_ONLY
    cv: int = 3
    score: str = "pa"
    seed: int = 0
    search_: PaperGridSearch = field(init=False)
    best_estimator_: EvolvingFuzzyClassifier = field(init=False)

    def fit(self, X: object, y: object = None) -> Self:
        """Search on the initial batch `X`, `y` (a label matrix) and train the best point on it."""
        base = EvolvingFuzzyClassifier() if self.estimator is None else self.estimator
        grid = _DEFAULT_GRID if self.grid is None else self.grid
        search = PaperGridSearch(base, grid, cv=self.cv, score=self.score, seed=self.seed).fit(X, y)
        self.search_, self.best_estimator_ = search, search.best_estimator_
        return self

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Learn further rows `X`, `y` with the parameters found."""
        self._best().partial_fit(X, y)
        return self

    def test_then_train(self, X: object, y: object) -> FloatArray:
        """Return the outputs for every row of `X`, each computed before the row is learned with its labels `y`."""
        return self._best().test_then_train(X, y)

    def answer_then_train(self, X: object, y: object) -> StreamAnswers:
        """Return outputs, probabilities, sets and decisions for `X`, `y`, each computed before its row is learned."""
        return self._best().answer_then_train(X, y)

    def decision_function(self, X: object) -> FloatArray:
        """Return the outputs (n_samples, n_labels) for `X`."""
        return self._best().decision_function(X)

    def predict(self, X: object) -> AnyArray:
        """Return labels as 0 and 1, (n_samples, n_labels), for `X`."""
        return self._best().predict(X)

    @property
    def thresholds_(self) -> FloatArray:
        """Decision threshold of each label: outputs of at least this value are predicted as 1."""
        return self._best().thresholds_

    @property
    def n_rules_(self) -> int:
        """Number of rules."""
        return self._best().n_rules_

    @property
    def rules_(self) -> "RuleSet":
        """The rules as readable objects."""
        return self._best().rules_

    @property
    def inner(self) -> "ClassifierInner":
        """What other packages of the library use of the best classifier besides its public methods."""
        return self._best().inner

    def _best(self) -> EvolvingFuzzyClassifier:
        if not self.__sklearn_is_fitted__():
            raise errors.NotTrainedError("this TunedClassifier needs an initial batch to tune on; call fit first")
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return "best_estimator_" in self.__dict__
