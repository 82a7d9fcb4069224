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
from evolabel.paper.reproduce.experiments import PAPER_SETS, Experiment
from evolabel.paper.reproduce.methods import METHODS, PROFILES
from evolabel.paper.reproduce.results import ReproductionResults, RunResult, Size, Stage, Task, TaskStage, as_json
from evolabel.paper.reproduce.run_size import FULL, RunSize
from evolabel.paper.reproduce.tasks import Params, run_task, time_task, tune_task
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
    seed: int = 0,
    jobs: int = 1,
    progress: TaskProgress | None = None,
) -> ReproductionResults:
    """Run the tasks that `folder` does not hold yet, write all results there as JSON, and return them.

    Parameters
    ----------
    experiments : iterable of Experiment
    datasets : dict of str to Dataset
        By the paper's names; a data set that is not the paper's is added to its four small ones. The first `split` rows
        (or the first third) are the initial batch. A data set of the paper that is absent is left out.
    folder : Path
        Holds a cache of finished tasks: the same call continues an interrupted run.
    run_size : RunSize
        `FULL` or `QUICK`.
    seed : int
        Seed of folds and random selection. The same seed gives the same `results.json`, byte by byte.
    jobs : int
        Processes for tuning and running; times are always measured in one process, one task at a time.
    progress : callable, optional
        Called after each task with its name, the number of finished tasks and the number of all tasks.
    """
    cut = {name: run_size.cut(dataset) for name, dataset in datasets.items()}
    runner = _Runner(list(experiments), cut, folder / "cache", run_size, seed, jobs, progress)
    params = runner.tune()
    results = ReproductionResults(
        {"version": __version__, "run_size": run_size.name, "seed": seed},
        {name: _size(dataset) for name, dataset in cut.items()},
        runner.run(params),
        runner.time(params),
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
    datasets: dict[str, Dataset]
    cache: Path
    run_size: RunSize
    seed: int
    jobs: int
    progress: TaskProgress | None
    cpu_seconds: dict[TaskStage, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._data = {
            name: {"name": dataset.name, "split": dataset.split, "values": fingerprint(dataset.X, dataset.Y)}
            for name, dataset in self.datasets.items()
        }
        self._runs, self._timed = self._tasks("trend lines"), self._tasks("times")
        self._searches = list(dict.fromkeys(_search_of(task) for task in (*self._runs, *self._timed)))
        self._timed_together = list(dict.fromkeys(map(_together, self._timed)))

    def tune(self) -> dict[Task, Params]:
        """The parameters of all methods that have a search of their own."""
        calls = {task: (self.datasets[task.dataset], self.run_size, self.seed) for task in self._searches}
        return self._stage("tuned", tune_task, calls, {})

    def run(self, params: dict[Task, Params]) -> dict[Task, RunResult]:
        """Scores and trend lines of all methods with the tuned `params`."""
        tuned = {task: params[_search_of(task)] for task in self._runs}
        calls = {task: (self.datasets[task.dataset], tuned[task], self.seed) for task in self._runs}
        runs = self._stage("run", run_task, calls, {task: {"params": tuned[task]} for task in self._runs})
        return {task: RunResult(**runs[task]) for task in self._runs}

    def time(self, params: dict[Task, Params]) -> dict[Task, float]:
        """Update times with the tuned `params`, one data set and profile after the other, in this process."""
        tuned: dict[Task, dict[str, Params]] = {task: {} for task in self._timed_together}
        for task in self._timed:
            tuned[_together(task)][task.method] = params[_search_of(task)]
        timing = {"learned": self.run_size.max_rows_before_timing, "timed": self.run_size.timed_rows}
        calls = {task: (self.datasets[task.dataset], tuned[task], self.run_size, self.seed) for task in tuned}
        settings = {task: {"params": tuned[task], **timing, "clock": "processor"} for task in tuned}
        found = self._stage("timed", time_task, calls, settings)
        return {task: found[_together(task)][task.method] for task in self._timed}

    def _stage(
        self,
        stage: Stage,
        function: Callable[..., Any],
        calls: dict[Task, tuple[Any, ...]],
        settings: dict[Task, dict[str, Any]],
    ) -> dict[Task, Any]:
        """What `function` returns for each of `calls`, from the cache where it is there."""
        common = {"version": __version__, "seed": self.seed, "run_size": self.run_size.settings()}
        all_settings = {task: {**common, "data": self._data[task.dataset], **settings.get(task, {})} for task in calls}
        files = {task: self.cache / stage / f"{'-'.join(task)}.json" for task in calls}
        found = {}
        for task in calls:
            if (finished := load_task(files[task], all_settings[task])) is not None:
                found[task] = self._report(stage, task, finished)
        missing = [(function, task, calls[task]) for task in calls if task not in found]
        parallel = run_all((delayed(_measured)(*call) for call in missing), self.jobs)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped")  # joblib replaces it and repeats its task
            for task, finished in starmap(_measured, missing) if stage == "timed" else parallel:
                _save_task(files[task], all_settings[task], finished)
                found[task] = self._report(stage, task, finished)
        return found

    def _tasks(self, kind: str) -> list[Task]:
        """A task for every data set, profile and method of the experiments of `kind`; each once, in a fixed order."""
        extra = [name for name in self.datasets if name not in PAPER_SETS]
        tasks = {
            Task(panel.dataset, profile, method)
            for experiment in self.experiments
            if experiment.kind == kind
            for panel in experiment.panels_for(extra)
            if panel.dataset in self.datasets
            for method in experiment.methods
            for profile in METHODS[method].profiles
        }
        names, methods = list(self.datasets), list(METHODS)
        return sorted(tasks, key=lambda t: (names.index(t.dataset), PROFILES.index(t.profile), methods.index(t.method)))

    def _report(self, stage: Stage, task: Task, finished: FinishedTask) -> Any:
        """Record the time of a finished task, call `progress`, and return the value of the task."""
        self.cpu_seconds[TaskStage(*task, stage)] = finished.seconds
        if self.progress is not None:
            total = len(self._searches) + len(self._runs) + len(self._timed_together)
            self.progress(f"{stage} {' '.join(task)}", len(self.cpu_seconds), total)
        return finished.value


def _measured(function: Callable[..., Any], task: Task, arguments: tuple[Any, ...]) -> tuple[Task, FinishedTask]:
    """Call `function` and return its task with the result, because results of several processes come in any order."""
    start = process_time()
    value = function(task, *arguments)
    return task, FinishedTask(value, round(process_time() - start, 1))


def _search_of(task: Task) -> Task:
    return task._replace(method=METHODS[task.method].tuned_as)


def _together(task: Task) -> Task:
    return task._replace(method="all")


def _size(dataset: Dataset) -> Size:
    split = dataset.split or 0
    return Size(dataset.name, dataset.n_features, dataset.n_labels, split, len(dataset) - split)
