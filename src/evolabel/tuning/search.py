"""`GridSearch`: parameters by cross-validation on an initial batch, one structure pass for all alpha and beta."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits

from evolabel._utils.text import call_of
from evolabel.errors import DivergenceError, NotTrainedError
from evolabel.evaluate.formats import Backend, to_frame
from evolabel.evaluate.learner import stable_repr
from evolabel.tuning.batch import Tunable, check_search, check_values, read_batch, read_tunable
from evolabel.tuning.checkpoint import Notes, Task, fingerprint
from evolabel.tuning.folds import Score, check_judgeable, folds, judges_decisions, read_score, scored
from evolabel.tuning.grid import PAPER_GRID, Grid, Point
from evolabel.tuning.parallel import run_all
from evolabel.tuning.shared import shared_answers
from evolabel.typing import BoolArray, FloatArray

Listener = Callable[[int, int], object]
"""Receives the tasks done and the tasks there are."""


class GridSearch:
    """Search a grid of parameters by cross-validation on an initial batch.

    alpha and beta never touch the structure of a rule base, so one structure pass per fold serves all their values:
    the answers are those of separate runs.

    Parameters
    ----------
    estimator : EvolvingFuzzyClassifier or other learner of label matrices, optional
        Where all parameters outside the grid come from; the paper's profile if not given. Its own values of parameters
        in the grid are tried only if the grid has them. Rivals made of classifiers are searched in the same way.
    grid : dict of str to sequence, optional
        Values by parameter, any of the estimator (`base__vigilance` of the one inside a rival) but those that the score
        cannot see (`warm_up`; `threshold` and `optimise`, unless it judges predicted labels); the paper's grid
        (17 vigilance x 10 alpha x 8 beta) if not given.
    cv : int
        Folds.
    score : str or callable
        What to maximise: "pa", "ap", "macro_f1" or any other metric by name (losses are minimised), or a function of
        true labels and outputs. Metrics of predicted labels judge them by the thresholds of the trained estimator.
    seed : int
        Of the folds.
    n_jobs : int
        Processes; -1 for all cores.
    backend : str, optional
        A joblib backend by name ("loky", "threading", "dask" once a `distributed.Client` is running, "ray" ...);
        joblib's own choice if not given.
    checkpoint : path, optional
        File of notes: the same search goes on where it was interrupted.
    refit : bool
        Train the best on the whole batch in the end; without, there is no `best_estimator_`.
    progress : callable, optional
        Receives the number of tasks done and of all tasks.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float, the mean over the folds
    best_estimator_ : the estimator, trained on the whole batch with the best parameters
    surface_ : list of dict, one per point: its parameters, mean and deviation of the score, the score of every fold

    See Also
    --------
    HalvingSearch : random points of the default, not the paper's profile, where no estimator is given.
    TunedClassifier : the search as a learner; it tunes the default, too, where no estimator is given.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(120)
    >>> grid = {"vigilance": [0.5, 1.0], "alpha": [0.0, 0.1, 1.0], "beta": [0.0, 1.0]}
    >>> search = GridSearch(EvolvingFuzzyClassifier(), grid, cv=3).fit(X, Y)
    >>> len(search.surface_), sorted(search.best_params_)
    (12, ['alpha', 'beta', 'vigilance'])
    """

    best_params_: Point
    best_score_: float
    best_estimator_: Any
    surface_: list[dict[str, Any]]

    def __init__(
        self,
        estimator: Tunable | None = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        cv: int = 5,
        score: str | Score = "pa",
        seed: int = 0,
        n_jobs: int = 1,
        backend: str | None = None,
        checkpoint: "str | PathLike[str] | None" = None,
        refit: bool = True,
        progress: Listener | None = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.cv = cv
        self.score = score
        self.seed = seed
        self.n_jobs = n_jobs
        self.backend = backend
        self.checkpoint = checkpoint
        self.refit = refit
        self.progress = progress

    def fit(self, X: object, y: object) -> Self:
        """Search on the initial batch X, y (a label matrix), then train the best on all of it."""
        from sklearn.base import clone

        base, grid = read_tunable(self.estimator), Grid.of(PAPER_GRID if self.grid is None else self.grid)
        check_search(self.cv, self.seed, self.n_jobs)  # now, not in a worker, and before notes are begun
        check_values(base, grid.values, decided=judges_decisions(self.score))
        rows, labels = read_batch(base, X, y)
        held_out = list(folds(len(rows), int(self.cv), self.seed))
        check_judgeable(read_score(self.score), labels, held_out)
        notes = Notes(self.checkpoint, self._facts(base, grid, rows, labels))
        self._run(base, grid, rows, labels, held_out, notes)
        surface = _surface(grid, notes, len(held_out))
        best = max(surface, key=lambda point: (not np.isnan(point["score"]), point["score"]))
        if np.isnan(best["score"]):
            raise DivergenceError("no point of the grid gave finite answers; use a safe coupling, or smaller values")
        params = {name: best[name] for name in grid.values}
        if self.refit:
            self.best_estimator_ = clone(base).set_params(**params).fit(X, y)
        self.surface_, self.best_params_, self.best_score_ = surface, params, best["score"]
        return self

    def frame(self, backend: Backend = "pandas") -> Any:
        """The whole surface as a frame, one row per point."""
        points = [{name: value for name, value in point.items() if name != "folds"} for point in self._found()]
        return to_frame({name: [point[name] for point in points] for name in points[0]}, backend)

    def _facts(self, base: Tunable, grid: Grid, rows: FloatArray, labels: FloatArray) -> dict[str, Any]:
        return {
            "estimator": _described(base),
            "grid": grid.values,
            "cv": self.cv,
            "score": self.score if isinstance(self.score, str) else stable_repr(self.score),
            "seed": self.seed,
            "data": fingerprint(rows, labels),
        }

    def _run(
        self,
        base: Tunable,
        grid: Grid,
        rows: FloatArray,
        labels: FloatArray,
        held_out: list[BoolArray],
        notes: Notes,
    ) -> None:
        """Every structure on every fold that is not done yet, the slow ones (small vigilance) first."""
        tasks = [(s, f) for s in range(len(grid.structures)) for f in range(len(held_out))]
        waiting = [task for task in tasks if task not in notes.scores]
        calls = (delayed(_scores)(task, base, grid, rows, labels, held_out[task[1]], self.score) for task in waiting)
        done = len(tasks) - len(waiting)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\d+ tasks ", UserWarning)  # given up, because an error is on its way
            for task, scores in run_all(calls, self.n_jobs, self.backend):
                notes.add(task, scores)
                done += 1
                if self.progress is not None:
                    self.progress(done, len(tasks))

    def _found(self) -> list[dict[str, Any]]:
        if not hasattr(self, "surface_"):
            raise NotTrainedError("this search has not run yet; call fit first")
        return self.surface_

    def __repr__(self) -> str:
        return call_of(self)


def _scores(
    task: Task,
    base: Tunable,
    grid: Grid,
    rows: FloatArray,
    labels: FloatArray,
    held_out: BoolArray,
    score: str | Score,
) -> tuple[Task, list[float]]:
    """All (alpha, beta) of one structure on one fold."""
    from sklearn.base import clone

    structure = clone(base).set_params(**grid.structures[task[0]])
    batch = rows[~held_out], labels[~held_out]
    with threadpool_limits(1):  # the matrices are small: threads would only wait for each other
        answers = shared_answers(structure, grid.consequents, batch, rows[held_out], judges_decisions(score))
    return task, scored(read_score(score), labels[held_out], answers)


def _described(estimator: Tunable) -> dict[str, Any]:
    """Plain values; an estimator inside another one is told by its name, its parameters are there anyway."""
    params = estimator.get_params().items()
    plain = {name: type(value).__name__ if isinstance(value, Tunable) else value for name, value in params}
    return {"kind": type(estimator).__name__, **plain}


def _surface(grid: Grid, notes: Notes, n_folds: int) -> list[dict[str, Any]]:
    points = []
    for s, structure in enumerate(grid.structures):
        by_fold = np.array([notes.scores[s, fold] for fold in range(n_folds)])
        for place, consequents in enumerate(grid.consequents):
            values = by_fold[:, place]
            spread = float(values.std(ddof=1))
            points.append({**structure, **consequents, "score": float(values.mean()), "deviation": spread})
            points[-1]["folds"] = values.tolist()
    return points
