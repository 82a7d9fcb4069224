"""Parameters of every method from the initial batch alone: one search for all, the same folds, score and values."""

from typing import Any

import numpy as np

from evolabel.reproduce.methods import METHODS, Profile, classifier_of, grid_of
from evolabel.reproduce.run_size import Effort
from evolabel.tuning import GridSearch
from evolabel.typing import FloatArray, IntArray

SCORE = "pa"
INSIDE = "base__"  # how a rival calls the parameters of the classifiers it is made of


def tuned(profile: Profile, method: str, X: FloatArray, Y: FloatArray, effort: Effort, seed: int) -> dict[str, Any]:
    """The best parameters of a method, by cross-validation; of a large batch on some of its rows, the same for all."""
    learner: Any = METHODS[method].learner(classifier_of(profile, method, {}), profile, seed)
    prefix = "" if method in ("ours", "rfwls") else INSIDE
    grid = {f"{prefix}{name}": values for name, values in grid_of(profile, method, effort.grids).items()}
    rows = searched(len(X), effort.searched // Y.shape[1], seed)
    search = GridSearch(learner, grid, cv=effort.folds, score=SCORE, seed=seed, refit=False).fit(X[rows], Y[rows])
    return {name.removeprefix(prefix): value for name, value in search.best_params_.items()}


def searched(rows: int, most: int, seed: int) -> IntArray:
    """Which rows a search sees, in their order: all, or `most` of them drawn at random.

    Examples
    --------
    >>> searched(3, 5, seed=0).tolist()
    [0, 1, 2]
    """
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
