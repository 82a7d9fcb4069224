"""The tasks of a reproduction: search, run or time methods on one data set.

Arguments and results are plain values, so that a task can run in another process.
"""

import json
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from math import ceil, isnan
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evolabel.evaluate import Learner, Results, prequential
from evolabel.evaluate.learner import answer_and_learn
from evolabel.paper import PaperGridSearch
from evolabel.paper.reproduce.methods import CONTROLS, METHODS, ParameterValues, Profile, build_classifier, search_grid
from evolabel.paper.reproduce.results import Found, RunResult, Task
from evolabel.paper.reproduce.run_size import RunSize
from evolabel.streams import Dataset, DriftingStream
from evolabel.typing import IntArray

_TREND_POINTS = 50
_TIMED_BLOCK_ROWS = 5
_DECIMALS = 6
_TREND_FORMS = {"pa": "cumulative", "ap": "cumulative", "rules": "current"}
_TUNING_SCORE = "pa"
_WRAPPED = "base__"  # prefix of the parameters of the classifiers inside one-versus-rest and the chain

Params = dict[str, Any]


def search_task(task: Task, dataset: Dataset, run_size: RunSize) -> list[dict[str, Any]]:
    """The points of the search of `task` that have its vigilance, each with its parameters, scores and their mean.

    Cross-validation on the initial batch of `dataset`. All methods use the same folds, score and grids (`run_size`),
    and of a large batch the same rows, drawn by the seed.
    """
    X, Y = dataset.X[: dataset.split], dataset.Y[: dataset.split]
    prefix = _WRAPPED if task.method in ("ovr", "chain") else ""
    values = {**search_grid(task.profile, task.method, run_size.grids), "vigilance": (task.vigilance,)}
    grid = {f"{prefix}{name}": tried for name, tried in values.items()}
    rows = search_rows(len(X), run_size.max_search_labels // Y.shape[1], task.seed)
    learner: Any = build_learner(task.profile, task.method, {}, task.seed)
    search = PaperGridSearch(learner, grid, cv=run_size.folds, score=_TUNING_SCORE, seed=task.seed, refit=False)
    with threadpool_limits(1):
        search.fit(X[rows], Y[rows])
    return [
        {"params": {name: point[f"{prefix}{name}"] for name in values}, "score": point["score"]}
        for point in search.surface_
    ]


def best_point(points: list[dict[str, Any]], grid: ParameterValues) -> Found:
    """The best of the `points` of a `grid`, the first one where several are; points without finite outputs are last."""
    best = max(points, key=lambda point: -np.inf if np.isnan(point["score"]) else point["score"])
    params: Params = best["params"]
    edges = [name for name, tried in grid.items() if len(tried) > 1 and params[name] in _edges(tried)]
    return Found(params, round(best["score"], _DECIMALS), len(points), edges)


def _edges(tried: tuple[float, ...]) -> set[float]:
    """The values of a grid beyond which others could be tried: the ends, but not a penalty of 0."""
    return {min(tried), max(tried)} - {0.0}


def search_rows(n_rows: int, max_rows: int, seed: int) -> IntArray:
    """Indices of the rows a search uses, ascending: all `n_rows`, or `max_rows` of them drawn by `seed`.

    Examples
    --------
    >>> search_rows(3, 5, seed=0).tolist()
    [0, 1, 2]
    """
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_rows, replace=False))


def run_task(task: Task, dataset: Dataset, params: Params) -> dict[str, Any]:
    """Scores of `task` with the tuned `params`, test-then-train along `dataset`, as a dictionary of `RunResult`."""
    every = ceil((len(dataset) - (dataset.split or 0)) / _TREND_POINTS)
    learner = build_learner(task.profile, task.method, params, task.seed)
    with threadpool_limits(1):
        results = prequential(
            {task.method: learner},
            dataset,
            initial="split",
            metrics=("pa", "ap"),
            window=every,
            every=every,
            seed=task.seed,
        )
    return asdict(_run_result(results, task.method, params))


def time_task(task: Task, dataset: Dataset, params: dict[str, Params], run_size: RunSize) -> dict[str, float]:
    """Milliseconds of processor time per sample of `dataset`, by method.

    The methods are the keys of `params` (their tuned parameters) in the profile of `task`; they take turns, block by
    block. `run_size` sets how many rows are learned before and how many are timed.
    Processor time is measured, not wall time: on a busy machine long updates are interrupted more often.
    """
    learners = {method: build_learner(task.profile, method, found, task.seed) for method, found in params.items()}
    split = dataset.split or 0
    batch = slice(max(split - run_size.max_rows_before_timing, 0), split)
    end = min(split + run_size.timed_rows, len(dataset))
    blocks = [slice(row, row + _TIMED_BLOCK_ROWS) for row in range(split, end, _TIMED_BLOCK_ROWS)]
    seconds: dict[str, list[float]] = {method: [] for method in learners}
    with threadpool_limits(1):
        for learner in learners.values():
            learner.fit(dataset.X[batch], dataset.Y[batch])
        for (method, learner), block in ((pair, block) for block in blocks for pair in learners.items()):
            start = process_time()
            answer_and_learn(learner, dataset.X[block], dataset.Y[block], None)
            seconds[method].append((process_time() - start) / len(dataset.X[block]))
    return {method: round(1e3 * median(measured), _DECIMALS) for method, measured in seconds.items()}


def build_learner(profile: Profile, method: str, params: Params, seed: int) -> Learner:
    """An untrained learner for `method` in `profile` with the tuned `params`; `seed` is that of random selection."""
    kind = {**METHODS, **CONTROLS}[method]
    return kind.learner(build_classifier(profile, kind.tuned_as, params), profile, seed)


@lru_cache(1000)
def behaviour(profile: Profile, method: str, params: str) -> str:
    """Digest of the outputs of a learner on a small fixed stream; `params` is a JSON object of its tuned parameters.

    A cached result is of use as long as its learner behaves as when it was computed, whatever else changes.
    """
    rows = DriftingStream(n_features=3, n_labels=3, drift_every=40, seed=0).dataset(120, "probe")
    learner: Any = build_learner(profile, method, json.loads(params), 0).fit(rows.X[:60], rows.Y[:60])
    outputs = answer_and_learn(learner, rows.X[60:], rows.Y[60:], None).scores
    return sha256(np.round(outputs, 4).tobytes()).hexdigest()[:16]


def _run_result(results: Results, method: str, params: Params) -> RunResult:
    summary = results.summary[method]
    trend: dict[str, list[float | None]] = {"sample": [], **{metric: [] for metric in _TREND_FORMS}}
    for point in results.trend:
        if _TREND_FORMS.get(point.metric) == point.form:
            trend[point.metric].append(_rounded(point.value))
            if point.metric == "rules":
                trend["sample"].append(point.sample)
    share = getattr(results.learners[method], "share_", None)
    return RunResult(
        params,
        pa=_rounded(summary.metrics["pa"]),
        ap=_rounded(summary.metrics["ap"]),
        rules=summary.rules,
        asked=None if share is None else _rounded(float(share)),
        trend=trend,
    )


def _rounded(value: float) -> float | None:
    """`value` with 6 decimals; None for NaN, which JSON cannot hold (a score of rows without positive labels)."""
    return None if isnan(value) else round(value, _DECIMALS)
