"""`reproduce`: whatever the chosen experiments need and nobody has done yet, then all of it as `Findings`."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from joblib import delayed

from evolabel import __version__
from evolabel.reproduce.cache import Part, Parts
from evolabel.reproduce.experiments import SETS, Experiment
from evolabel.reproduce.methods import METHODS, PROFILES
from evolabel.reproduce.results import Findings, Outcome, Size, Stage, Step, Task
from evolabel.reproduce.run_size import FULL, Effort
from evolabel.reproduce.tasks import Params, run_task, time_task, tune_task
from evolabel.streams import Dataset
from evolabel.tuning.checkpoint import fingerprint
from evolabel.tuning.parallel import run_all

Listener = Callable[[str, int, int], object]
"""Receives what was done last, how many tasks are done, and how many there are."""


def reproduce(
    experiments: Iterable[Experiment],
    datasets: Mapping[str, Dataset],
    folder: Path,
    *,
    effort: Effort = FULL,
    seed: int = 0,
    jobs: int = 1,
    progress: Listener | None = None,
) -> Findings:
    """Run what is missing in `folder`, and write `results.json` and `times.json` there.

    Parameters
    ----------
    experiments : iterable of Experiment
    datasets : dict of str to Dataset
        By the names the paper gives them; sets that are not the paper's join its four. The first `split` rows (or the
        first third) are the initial batch. A set of the paper that is absent is left out.
    folder : Path
        Where parts are kept: the same call goes on where it was interrupted.
    effort : Effort
        `FULL` or `QUICK`.
    seed : int
        Of folds and random selections. The same seed gives the same `results.json`, byte by byte.
    jobs : int
        Processes for tuning and running; times are always measured alone.
    progress : callable, optional
    """
    cut = {name: effort.cut(dataset) for name, dataset in datasets.items()}
    work = _Work(list(experiments), cut, Parts(folder / "parts"), effort, seed, jobs, progress)
    params = work.tune()
    findings = Findings(
        {"version": __version__, "effort": effort.name, "seed": seed},
        {name: _size(dataset) for name, dataset in cut.items()},
        work.run(params),
        work.time(params),
        work.seconds,
    )
    findings.write(folder)
    return findings


@dataclass
class _Work:
    """Three stages, each of which knows what it can skip."""

    experiments: list[Experiment]
    datasets: dict[str, Dataset]
    parts: Parts
    effort: Effort
    seed: int
    jobs: int
    progress: Listener | None
    seconds: dict[Step, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._facts = {name: _facts(dataset) for name, dataset in self.datasets.items()}

    def tune(self) -> dict[Task, Params]:
        """Parameters of all methods that have a search of their own."""
        tasks = list(dict.fromkeys(_search_of(task) for task in (*self._runs(), *self._timed())))
        calls = {task: (self.datasets[task.dataset], self.effort, self.seed) for task in tasks}
        return self._stage("tuned", tune_task, calls, {task: {} for task in tasks})

    def run(self, params: dict[Task, Params]) -> dict[Task, Outcome]:
        """All trend lines."""
        tasks = self._runs()
        found = {task: params[_search_of(task)] for task in tasks}
        calls = {task: (self.datasets[task.dataset], found[task], self.seed) for task in tasks}
        outcomes = self._stage("run", run_task, calls, {task: {"params": found[task]} for task in tasks})
        return {task: Outcome(**outcomes[task]) for task in tasks}

    def time(self, params: dict[Task, Params]) -> dict[Task, float]:
        """Times of the methods of the table, set by set; alone on the machine, as far as it is up to us."""
        times: dict[Task, float] = {}
        for dataset, profile in dict.fromkeys((task.dataset, task.profile) for task in self._timed()):
            tasks = [task for task in self._timed() if (task.dataset, task.profile) == (dataset, profile)]
            found = {task.method: params[_search_of(task)] for task in tasks}
            whole = Task(dataset, profile, "all")
            how = {"learned": self.effort.learned, "timed": self.effort.timed, "clock": "processor"}
            settings = {**self._settings(whole), "params": found, **how}
            part = self.parts.load("timed", whole, settings)
            if part is None:
                _, part = _made(time_task, whole, (self.datasets[dataset], found, self.effort, self.seed))
                self.parts.save("timed", whole, settings, part)
            self._done("timed", whole, part)
            times |= {task: part.found[task.method] for task in tasks}
        return times

    def _stage(
        self,
        stage: Stage,
        function: Callable[..., Any],
        calls: dict[Task, tuple[Any, ...]],
        settings: dict[Task, dict[str, Any]],
    ) -> dict[Task, Any]:
        """Results of all calls, from disk where they are there."""
        made_under = {task: {**self._settings(task), **settings[task]} for task in calls}
        found = {}
        for task in calls:
            if (part := self.parts.load(stage, task, made_under[task])) is not None:
                found[task] = self._done(stage, task, part)
        waiting = (delayed(_made)(function, task, calls[task]) for task in calls if task not in found)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A worker stopped")  # and was replaced: nothing is lost
            for task, part in run_all(waiting, self.jobs):
                self.parts.save(stage, task, made_under[task], part)
                found[task] = self._done(stage, task, part)
        return found

    def _settings(self, task: Task) -> dict[str, Any]:
        return {
            "version": __version__,
            "seed": self.seed,
            "data": self._facts[task.dataset],
            "effort": self.effort.settings(),
        }

    def _runs(self) -> list[Task]:
        return self._tasks("trend lines")

    def _timed(self) -> list[Task]:
        return self._tasks("times")

    def _tasks(self, kind: str) -> list[Task]:
        """One for every set at hand, profile and method of the experiments of a kind; each once, in a fixed order."""
        extra = [name for name in self.datasets if name not in SETS]
        wanted = {
            Task(panel.dataset, profile, method)
            for experiment in self.experiments
            if experiment.kind == kind
            for panel in experiment.panels_for(extra)
            if panel.dataset in self.datasets
            for method in experiment.methods
            for profile in METHODS[method].profiles
        }
        methods = list(METHODS)
        order = list(self.datasets)
        return sorted(
            wanted, key=lambda t: (order.index(t.dataset), PROFILES.index(t.profile), methods.index(t.method))
        )

    def _done(self, stage: Stage, task: Task, part: Part) -> Any:
        """Tell of it, and return what was found."""
        self.seconds[Step(*task, stage)] = part.seconds
        if self.progress is not None:
            pairs = {(task.dataset, task.profile) for task in self._timed()}
            searches = {_search_of(task) for task in (*self._runs(), *self._timed())}
            total = len(searches) + len(self._runs()) + len(pairs)
            self.progress(f"{stage} {' '.join(task)}", len(self.seconds), total)
        return part.found


def _made(function: Callable[..., Any], task: Task, arguments: tuple[Any, ...]) -> tuple[Task, Part]:
    """Results come in any order: each says whose it is."""
    start = process_time()
    found = function(task, *arguments)
    return task, Part(found, round(process_time() - start, 1))


def _search_of(task: Task) -> Task:
    return task._replace(method=METHODS[task.method].tuned_as)


def _facts(dataset: Dataset) -> dict[str, Any]:
    return {"name": dataset.name, "split": dataset.split, "values": fingerprint(dataset.X, dataset.Y)}


def _size(dataset: Dataset) -> Size:
    split = dataset.split or 0
    return Size(dataset.name, dataset.n_features, dataset.n_labels, split, len(dataset) - split)
