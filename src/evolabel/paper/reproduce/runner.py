"""`reproduce`: run the tasks that the chosen experiments need and the cache, a folder of JSON files, does not hold."""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from joblib import delayed

from evolabel import __version__
from evolabel._utils.files import write_atomically
from evolabel._utils.json_text import parse_json
from evolabel.errors import DataWarning
from evolabel.paper.reproduce.estimate import filled_seconds, run_seconds, sampled
from evolabel.paper.reproduce.experiments import PAPER_SETS, Experiment, ExperimentKind
from evolabel.paper.reproduce.methods import METHODS, PROFILES, search_grid
from evolabel.paper.reproduce.results import (
    Found,
    ReproductionResults,
    RunResult,
    Size,
    Stage,
    Task,
    TaskStage,
    as_json,
)
from evolabel.paper.reproduce.run_size import FULL, RunSize
from evolabel.paper.reproduce.tasks import Params, behaviour, best_point, run_task, search_task, time_task
from evolabel.paper.tuning.parallel import run_all
from evolabel.streams import Dataset
from evolabel.tuning.checkpoint import fingerprint

TaskProgress = Callable[[str, int, int], object]
"""Called after each task with its name, the number of finished tasks and the number of all tasks."""


def reproduce(
    experiments: Iterable[Experiment],
    datasets: Mapping[str, Dataset],
    folder: Path,
    *,
    run_size: RunSize = FULL,
    seeds: int = 1,
    jobs: int = 1,
    backend: str | None = None,
    progress: TaskProgress | None = None,
    announce: Callable[[float], object] | None = None,
) -> ReproductionResults:
    """Run the tasks that `folder` does not hold yet, write all results there as JSON, and return them.

    Parameters
    ----------
    experiments : iterable of Experiment
    datasets : dict of str to Dataset
        By the paper's names; a data set that is not the paper's is added to its four small ones. The first `split` rows
        (or the first third) are the initial batch. A data set of the paper that is absent is left out.
    folder : Path
        Holds a cache of finished tasks: the same call continues an interrupted run. A task is run again if its rows,
        its parameter values or the behaviour of its learner have changed.
    run_size : RunSize
        `FULL`, `SMALL_GRID` or `QUICK`.
    seeds : int
        Number of seeds, from 0 on. A seed sets the order of the rows, the folds and random selection; 0 keeps the
        paper's order. The same seeds give the same `results.json`, byte by byte.
    jobs : int
        Processes for searching and running; times are always measured in one process, one task at a time.
    backend : str, optional
        Name of a joblib backend for these processes, such as "dask" or "ray".
    progress : callable, optional
        Called after each task with its name, the number of finished tasks and the number of all tasks.
    announce : callable, optional
        Called once with the seconds of processor time that the unfinished tasks will take, estimated from a few of
        them. These are run first, and kept.
    """
    runner = _Runner(list(experiments), datasets, folder / "cache", run_size, seeds, jobs, backend, progress)
    if announce is not None:
        announce(runner.seconds_left())
    searches = runner.search()
    results = ReproductionResults(
        {"version": __version__, "run_size": run_size.name, "seeds": seeds},
        {name: _size(runner.rows[name, 0]) for name in datasets},
        searches,
        runner.run(searches),
        runner.time(searches),
        runner.cpu_seconds,
    )
    results.write(folder)
    return results


class FinishedTask(NamedTuple):
    """What a task returned (`value`, plain JSON values) and the processor time it took (`seconds`)."""

    value: Any
    seconds: float


def load_task(file: Path, settings: dict[str, Any]) -> FinishedTask | None:
    """The result of a task that `file` holds.

    None if there is no file, if it is damaged, or if it was computed with other `settings`.
    """
    try:
        stored = parse_json(file.read_bytes())
        same = stored["settings"] == json.loads(json.dumps(settings))
        return FinishedTask(stored["value"], stored["seconds"]) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save_task(file: Path, settings: dict[str, Any], finished: FinishedTask) -> None:
    """Write what a task returned, with the `settings` it was computed with."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, as_json({"settings": settings, **finished._asdict()}))


@dataclass
class _Runner:
    """The three stages of a reproduction; each skips the tasks that the cache holds."""

    experiments: list[Experiment]
    datasets: Mapping[str, Dataset]
    cache: Path
    run_size: RunSize
    n_seeds: int
    jobs: int
    backend: str | None
    progress: TaskProgress | None
    cpu_seconds: dict[TaskStage, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = {
            (name, seed): self.run_size.cut(dataset, seed)
            for name, dataset in self.datasets.items()
            for seed in self.run_size.seeds(dataset, self.n_seeds)
        }
        self._data = {
            key: {"name": rows.name, "split": rows.split, "values": fingerprint(rows.X, rows.Y)}
            for key, rows in self.rows.items()
        }
        self._runs, self._timed = self._tasks("trend lines"), self._tasks("times")
        self._by_vigilance = [
            task._replace(vigilance=value) for task in self._tasks("vigilances") for value in self._vigilances(task)
        ]
        searched = (*self._runs, *self._timed, *(task._replace(vigilance=None) for task in self._by_vigilance))
        self._searches = list(dict.fromkeys(map(_search_of, searched)))
        self._pieces = [task._replace(vigilance=value) for task in self._searches for value in self._vigilances(task)]
        self._timed_together = list(dict.fromkeys(map(_together, self._timed)))

    def seconds_left(self) -> float:
        """Estimated processor time of all unfinished tasks; runs a few parts of searches."""
        self._complete(self._searching(sampled(self._pieces)))
        self.cpu_seconds.clear()
        known = {task: finished.seconds for task, finished in self._searching(self._pieces).cached().items()}
        left = sum(seconds for task, seconds in filled_seconds(self._pieces, known).items() if task not in known)
        runs = [t for t in (*self._runs, *self._by_vigilance) if not (self.cache / "run" / _file_name(t)).exists()]
        return left + run_seconds(runs, self.rows)

    def search(self) -> dict[Task, Found]:
        """The best point of every search, and of every vigilance of those that are run by vigilance."""
        points = self._complete(self._searching(self._pieces))
        best = {}
        for task in self._searches:
            grid = search_grid(task.profile, task.method, self.run_size.grids)
            by_value = {value: points[task._replace(vigilance=value)] for value in grid["vigilance"]}
            best[task] = best_point([point for found in by_value.values() for point in found], grid)
            if task.profile == "paper" and task.method == "ours":
                best |= {task._replace(vigilance=v): best_point(found, grid) for v, found in by_value.items()}
        return best

    def run(self, searches: dict[Task, Found]) -> dict[Task, RunResult]:
        """Scores and trend lines of all methods with the parameters found."""
        tasks = [*self._runs, *self._by_vigilance]
        tuned = {task: searches[_search_of(task)].params for task in tasks}
        calls = {task: (self._rows(task), tuned[task]) for task in tasks}
        settings = {
            task: {"params": tuned[task], "behaviour": behaviour(task.profile, task.method, json.dumps(tuned[task]))}
            for task in tasks
        }
        runs = self._complete(self._stage("run", run_task, calls, settings))
        return {task: RunResult(**runs[task]) for task in tasks}

    def time(self, searches: dict[Task, Found]) -> dict[Task, float]:
        """Update times with the parameters found, one data set and profile after the other, in this process."""
        tuned: dict[Task, dict[str, Params]] = {task: {} for task in self._timed_together}
        for task in self._timed:
            tuned[_together(task)][task.method] = searches[_search_of(task)].params
        timing = {"learned": self.run_size.max_rows_before_timing, "timed": self.run_size.timed_rows}
        calls = {task: (self._rows(task), tuned[task], self.run_size) for task in tuned}
        settings = {task: {"params": tuned[task], **timing, "clock": "processor"} for task in tuned}
        found = self._complete(self._stage("timed", time_task, calls, settings))
        return {task: found[_together(task)][task.method] for task in self._timed}

    def _searching(self, pieces: list[Task]) -> "_StageTasks":
        """`pieces` of searches: each has all points of one vigilance."""
        size = self.run_size
        settings = {}
        for task in pieces:
            grid = search_grid(task.profile, task.method, size.grids)
            settings[task] = {
                "folds": size.folds,
                "labels": size.max_search_labels,
                "grid": {name: tried for name, tried in grid.items() if name != "vigilance"},
                "behaviour": behaviour(task.profile, task.method, json.dumps({"vigilance": task.vigilance})),
            }
        return self._stage("searched", search_task, {task: (self._rows(task), size) for task in pieces}, settings)

    def _stage(
        self,
        stage: Stage,
        function: Callable[..., Any],
        calls: dict[Task, tuple[Any, ...]],
        settings: dict[Task, dict[str, Any]],
    ) -> "_StageTasks":
        with_data = {task: {"data": self._data[task.dataset, task.seed], **settings[task]} for task in calls}
        return _StageTasks(stage, self.cache / stage, function, calls, with_data)

    def _complete(self, tasks: "_StageTasks") -> dict[Task, Any]:
        """What every one of `tasks` returns, from the cache where it is there."""
        cached = tasks.cached()
        found = {task: self._report(tasks.stage, task, finished) for task, finished in cached.items()}
        missing = [(tasks.function, task, arguments) for task, arguments in tasks.calls.items() if task not in cached]
        parallel = run_all((delayed(_measured)(*call) for call in missing), self.jobs, self.backend)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped")  # joblib replaces it and repeats its task
            for task, finished in starmap(_measured, missing) if tasks.stage == "timed" else parallel:
                tasks.save(task, finished)
                found[task] = self._report(tasks.stage, task, finished)
        return found

    def _rows(self, task: Task) -> Dataset:
        return self.rows[task.dataset, task.seed]

    def _vigilances(self, task: Task) -> tuple[float, ...]:
        """The vigilances that a search of `task` tries, the cheapest first: few rules."""
        return tuple(sorted(search_grid(task.profile, task.method, self.run_size.grids)["vigilance"], reverse=True))

    def _tasks(self, kind: ExperimentKind) -> list[Task]:
        """A task for every data set, profile, method and seed of the experiments of `kind`; each once, in order."""
        extra = [name for name in self.datasets if name not in PAPER_SETS]
        tasks = {
            Task(panel.dataset, profile, method, seed)
            for experiment in self.experiments
            if experiment.kind == kind
            for panel in experiment.panels_for(extra)
            for name, seed in self.rows
            if name == panel.dataset
            for method in experiment.methods
            for profile in experiment.profiles
            if profile in METHODS[method].profiles
        }
        names, methods = list(self.datasets), list(METHODS)
        return sorted(
            tasks, key=lambda t: (t.seed, names.index(t.dataset), PROFILES.index(t.profile), methods.index(t.method))
        )

    def _report(self, stage: Stage, task: Task, finished: FinishedTask) -> Any:
        """Record the time of a finished task, call `progress`, and return the value of the task."""
        self.cpu_seconds[TaskStage(*task, stage)] = finished.seconds
        if self.progress is not None:
            total = len(self._pieces) + len(self._runs) + len(self._by_vigilance) + len(self._timed_together)
            self.progress(_name_of(stage, task), len(self.cpu_seconds), total)
        return finished.value


@dataclass
class _StageTasks:
    """The `calls` of `function` in one stage, by task, with the `settings` on which their results depend."""

    stage: Stage
    folder: Path
    function: Callable[..., Any]
    calls: dict[Task, tuple[Any, ...]]
    settings: dict[Task, dict[str, Any]]

    def cached(self) -> dict[Task, FinishedTask]:
        """The results that the cache holds."""
        found = {task: load_task(self.folder / _file_name(task), self.settings[task]) for task in self.calls}
        return {task: finished for task, finished in found.items() if finished is not None}

    def save(self, task: Task, finished: FinishedTask) -> None:
        """Write the result of `task` into the cache."""
        _save_task(self.folder / _file_name(task), self.settings[task], finished)


def _file_name(task: Task) -> str:
    part = "" if task.vigilance is None else f"-vigilance-{task.vigilance:g}"
    return f"{task.dataset}-{task.profile}-{task.method}-seed-{task.seed}{part}.json"


def _name_of(stage: Stage, task: Task) -> str:
    part = "" if task.vigilance is None else f" vigilance {task.vigilance:g}"
    return f"{stage} {task.dataset} {task.profile} {task.method} seed {task.seed}{part}"


def _measured(function: Callable[..., Any], task: Task, arguments: tuple[Any, ...]) -> tuple[Task, FinishedTask]:
    """Call `function` and return its task with the result, because results of several processes come in any order."""
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # advice on labels that are never predicted
        value = function(task, *arguments)
    return task, FinishedTask(value, round(process_time() - start, 1))


def _search_of(task: Task) -> Task:
    return task._replace(method=METHODS[task.method].tuned_as)


def _together(task: Task) -> Task:
    return task._replace(method="all")


def _size(dataset: Dataset) -> Size:
    split = dataset.split or 0
    return Size(dataset.name, dataset.n_features, dataset.n_labels, split, len(dataset) - split)
