"""Parameters of every method from the initial batch alone: the same folds, the same score, the same values for all."""

from typing import Any

import numpy as np

from evolabel.errors import DivergenceError
from evolabel.kernels.state import FloatArray
from evolabel.reproduce.effort import Effort
from evolabel.reproduce.methods import METHODS, Profile, Values, classifier_of, grid_of
from evolabel.tuning import GridSearch
from evolabel.tuning.folds import folds, read_score, scored
from evolabel.tuning.grid import Grid

SCORE = "pa"


def tuned(profile: Profile, method: str, X: FloatArray, Y: FloatArray, effort: Effort, seed: int) -> dict[str, Any]:
    """The best parameters of a method, by cross-validation."""
    grid = grid_of(profile, method, effort.grids)
    if method in ("ours", "rfwls"):
        classifier = classifier_of(profile, method, {})
        return GridSearch(classifier, grid, cv=effort.folds, score=SCORE, seed=seed).fit(X, Y).best_params_
    return _tuned_team(profile, method, grid, X, Y, effort.folds, seed)


def _tuned_team(
    profile: Profile, method: str, grid: Values, X: FloatArray, Y: FloatArray, n_folds: int, seed: int
) -> dict[str, Any]:
    """`GridSearch` for rivals made of one classifier per label, all with the same parameters."""
    score, points = read_score(SCORE), _points(grid)
    values = np.full((len(points), n_folds), np.nan)
    for fold, held_out in enumerate(folds(len(X), n_folds, seed)):
        for place, point in enumerate(points):
            team = METHODS[method].learner(classifier_of(profile, method, point), profile, seed)
            team.fit(X[~held_out], Y[~held_out])
            values[place, fold] = scored(score, Y[held_out], team.decision_function(X[held_out])[None])[0]
    means = values.mean(axis=1)
    if np.isnan(means).all():
        raise DivergenceError("no point of the grid gave finite answers; use larger ridges")
    return points[int(np.nanargmax(means))]


def _points(grid: Values) -> list[dict[str, Any]]:
    checked = Grid.of(grid)
    return [{**structure, **consequents} for structure in checked.structures for consequents in checked.consequents]
