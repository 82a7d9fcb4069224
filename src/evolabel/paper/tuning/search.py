"""`PaperGridSearch`: parameters by cross-validation on an initial batch, one structure pass for all alpha and beta."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from os import PathLike
from typing import Any, Self

import numpy as np
from joblib import delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from evolabel._utils.text import call_of
from evolabel.errors import DivergenceError
from evolabel.evaluate.formats import Backend, to_frame
from evolabel.evaluate.learner import stable_repr
from evolabel.paper.tuning.batch import Tunable, check_values, read_batch, read_tunable
from evolabel.paper.tuning.folds import Score, check_scorable, folds, read_score, scored, scores_decisions
from evolabel.paper.tuning.grid import PAPER_GRID, Grid, Point
from evolabel.paper.tuning.parallel import run_all
from evolabel.paper.tuning.shared import shared_answers
from evolabel.tuning.checkpoint import SearchCheckpoint, Task, fingerprint
from evolabel.tuning.searches import check_search, surface_of
from evolabel.typing import BoolArray, FloatArray


@dataclass(eq=False, repr=False)
class PaperGridSearch:
    """Search a grid of parameters of the paper by cross-validation on an initial batch.

    alpha and beta never change the structure of a rule base, so one structure pass per fold serves all their values;
    the outputs are those of separate runs.

    Parameters
    ----------
    estimator : EvolvingFuzzyClassifier or other learner of label matrices, optional
        Gives all parameters outside the grid; the paper's profile if not given. Its own values of parameters in the
        grid are tried only if the grid has them. Rivals made of classifiers are searched in the same way.
    grid : dict of str to sequence, optional
        Values by parameter, any of the estimator (`base__vigilance` of the one inside a rival) except those without
        effect on the score (`warm_up`; `threshold` and `optimise`, unless the score is computed from predicted labels).
        The paper's grid (17 vigilance x 10 alpha x 8 beta) if not given.
    cv : int
        Number of folds.
    score : str or callable
        What to maximise: "pa", "ap", "macro_f1" or any other metric by name (losses are minimised), or a function of
        true labels and outputs. Metrics of predicted labels use the thresholds of the trained estimator.
    seed : int
        Random seed of the folds.
    n_jobs : int
        Number of processes; -1 for all cores.
    backend : str, optional
        Name of a joblib backend ("loky", "threading", "dask" once a `distributed.Client` is running, "ray" ...);
        joblib's own choice if not given.
    checkpoint : path, optional
        Checkpoint file: the same search continues from it after an interruption.
    refit : bool
        Train the best point on the whole batch at the end; without, there is no `best_estimator_`.
    progress : callable, optional
        Called with the number of finished tasks and the number of all tasks.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float, the mean over the folds
    best_estimator_ : the estimator, trained on the whole batch with the best parameters
    surface_ : list of dict, one per point: its parameters, mean and deviation of the score, the score of every fold

    See Also
    --------
    stream_score : the score with which scikit-learn's searches tune the default profile.
    TunedClassifier : the search as a learner; without an estimator it tunes the default profile, not the paper's.

    Examples
    --------
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(120)
    >>> grid = {"vigilance": [0.5, 1.0], "alpha": [0.0, 0.1, 1.0], "beta": [0.0, 1.0]}
    >>> search = PaperGridSearch(grid=grid, cv=3).fit(X, Y)
    >>> len(search.surface_), sorted(search.best_params_)
    (12, ['alpha', 'beta', 'vigilance'])
    """

    estimator: Tunable | None = None
    grid: Mapping[str, Sequence[Any]] | None = None
    _: KW_ONLY
    cv: int = 5
    score: str | Score = "pa"
    seed: int = 0
    n_jobs: int = 1
    backend: str | None = None
    checkpoint: str | PathLike[str] | None = None
    refit: bool = True
    progress: Callable[[int, int], object] | None = None
    best_params_: Point = field(init=False)
    best_score_: float = field(init=False)
    best_estimator_: Any = field(init=False)
    surface_: list[dict[str, Any]] = field(init=False)

    def fit(self, X: object, y: object) -> Self:
        """Search on the initial batch `X`, `y`, train the best point on all of it, and return the search.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array or frame of shape (n_samples, n_labels)

        Raises
        ------
        DataError
            If there are too few rows or annotated labels for the folds.
        CheckpointError
            If the checkpoint file belongs to another search.
        DivergenceError
            If no point of the grid gave finite outputs.
        """
        base, grid = read_tunable(self.estimator), Grid.of(PAPER_GRID if self.grid is None else self.grid)
        check_search(self.cv, self.seed, self.n_jobs)  # now, not in a worker, and before a checkpoint is created
        check_values(base, grid.values, decided=scores_decisions(self.score))
        rows, labels = read_batch(base, X, y)
        held_out = list(folds(len(rows), int(self.cv), self.seed))
        check_scorable(read_score(self.score), labels, held_out)
        checkpoint = SearchCheckpoint(self.checkpoint, self._settings(base, grid, rows, labels))
        self._run(_Search(base, grid, rows, labels, held_out, self.score), checkpoint)
        surface = _surface(grid, checkpoint.scores, len(held_out))
        best = max(surface, key=lambda point: (not np.isnan(point["score"]), point["score"]))
        if np.isnan(best["score"]):
            raise DivergenceError("no point of the grid gave finite outputs; use a safe coupling, or smaller values")
        params = {name: best[name] for name in grid.values}
        if self.refit:
            self.best_estimator_ = clone(base).set_params(**params).fit(X, y)
        self.surface_, self.best_params_, self.best_score_ = surface, params, best["score"]
        return self

    def frame(self, backend: Backend = "pandas") -> Any:
        """Return the whole surface as a frame of the library `backend`, one row per point."""
        points = [{name: value for name, value in point.items() if name != "folds"} for point in surface_of(self)]
        return to_frame({name: [point[name] for point in points] for name in points[0]}, backend)

    def _settings(self, base: Tunable, grid: Grid, rows: FloatArray, labels: FloatArray) -> dict[str, Any]:
        """Return everything the scores depend on, as plain values."""
        return {
            "estimator": _described(base),
            "grid": grid.values,
            "cv": self.cv,
            "score": self.score if isinstance(self.score, str) else stable_repr(self.score),
            "seed": self.seed,
            "data": fingerprint(rows, labels),
        }

    def _run(self, search: "_Search", checkpoint: SearchCheckpoint) -> None:
        """Score every structure on every fold that is not finished yet, the slow ones (small vigilance) first."""
        tasks = [(s, f) for s in range(len(search.grid.structures)) for f in range(len(search.held_out))]
        waiting = [task for task in tasks if task not in checkpoint.scores]
        done = len(tasks) - len(waiting)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\d+ tasks ", UserWarning)  # cancelled, because another task failed
            for task, scores in run_all((delayed(search.run)(task) for task in waiting), self.n_jobs, self.backend):
                checkpoint.add(task, scores)
                done += 1
                if self.progress is not None:
                    self.progress(done, len(tasks))

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True)
class _Search:
    """Everything a worker process needs to run a task."""

    base: Tunable
    grid: Grid
    rows: FloatArray
    labels: FloatArray
    held_out: list[BoolArray]
    score: str | Score

    def run(self, task: Task) -> tuple[Task, list[float]]:
        """Return `task`, a structure and a fold, with the scores of all its (alpha, beta)."""
        structure, out = clone(self.base).set_params(**self.grid.structures[task[0]]), self.held_out[task[1]]
        batch, decided = (self.rows[~out], self.labels[~out]), scores_decisions(self.score)
        with threadpool_limits(1):  # the matrices are small: more threads would only wait for each other
            answers = shared_answers(structure, self.grid.consequents, batch, self.rows[out], decided)
        return task, scored(read_score(self.score), self.labels[out], answers)


def _described(estimator: Tunable) -> dict[str, Any]:
    """Return kind and parameters of `estimator`; of an inner estimator its class name, its parameters are there too."""
    params = estimator.get_params().items()
    plain = {name: type(value).__name__ if isinstance(value, Tunable) else value for name, value in params}
    return {"kind": type(estimator).__name__, **plain}


def _surface(grid: Grid, scores: dict[Task, list[float]], n_folds: int) -> list[dict[str, Any]]:
    """Return every point of `grid` with the mean, the deviation and the list of its scores over the folds."""
    points = []
    for s, structure in enumerate(grid.structures):
        by_fold = np.array([scores[s, fold] for fold in range(n_folds)])
        for at, consequents in enumerate(grid.consequents):
            values = by_fold[:, at]
            found = {"score": float(values.mean()), "deviation": float(values.std(ddof=1)), "folds": values.tolist()}
            points.append({**structure, **consequents, **found})
    return points
