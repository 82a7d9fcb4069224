"""How long a reproduction will take: the times of a few of its tasks, and what they say about the others."""

from collections.abc import Iterable, Mapping
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from evolabel.evaluate.learner import answer_and_learn
from evolabel.paper.reproduce.results import Task
from evolabel.paper.reproduce.tasks import build_learner
from evolabel.streams import Dataset

_FIT_ROWS, _STREAM_ROWS, _VIGILANCE = 40, 10, 0.5
_LONG_SEARCH = 9  # vigilances
_SLOW_METHODS = ("ovr", "chain")  # all others take about as long as ours


def sampled(pieces: Iterable[Task]) -> list[Task]:
    """The parts of searches that are timed, with the first seed: at most one of three vigilances, or the middle one.

    Of a long search these are the largest, the middle and the smallest vigilance.
    """
    chosen: list[Task] = []
    for parts in _by_search(task for task in pieces if task.seed == 0).values():
        middle = parts[len(parts) // 2]
        chosen += [parts[0], middle, parts[-1]] if len(parts) >= _LONG_SEARCH else [middle]
    return chosen


def filled_seconds(pieces: Iterable[Task], known: Mapping[Task, float]) -> dict[Task, float]:
    """The processor time of all `pieces`: `known`, or between those of the neighbouring vigilances, of any seed."""
    seconds = {}
    for parts in _by_search(pieces).values():
        measured = sorted((task.vigilance or 0.0, known[task]) for task in parts if task in known)
        for task in parts:
            at = np.interp(task.vigilance or 0.0, *np.array(measured).T) if measured else 0.0
            seconds[task] = known.get(task, float(at))
    return seconds


def run_seconds(runs: Iterable[Task], rows: Mapping[tuple[str, int], Dataset]) -> float:
    """The processor time of all `runs` on `rows`, from a few rows of each data set."""
    times: dict[Task, float] = {}
    total = 0.0
    for task in runs:
        like = Task(task.dataset, task.profile, task.method if task.method in _SLOW_METHODS else "ours")
        if like not in times:
            times[like] = _sample_of(like, rows[task.dataset, 0])
        total += times[like]
    return total


def _sample_of(task: Task, dataset: Dataset) -> float:
    """Seconds of a run of `task` on all of `dataset`, from its first rows."""
    split = dataset.split or 0
    fitted, streamed = min(split, _FIT_ROWS), min(len(dataset) - split, _STREAM_ROWS)
    learner = build_learner(task.profile, task.method, {"vigilance": _VIGILANCE}, 0)
    with threadpool_limits(1):
        start = process_time()
        learner.fit(dataset.X[:fitted], dataset.Y[:fitted])
        middle = process_time()
        answer_and_learn(learner, dataset.X[split : split + streamed], dataset.Y[split : split + streamed], None)
    end = process_time()
    return (middle - start) * split / fitted + (end - middle) * (len(dataset) - split) / streamed


def _by_search(pieces: Iterable[Task]) -> dict[tuple[str, str, str], list[Task]]:
    """`pieces` by data set, profile and method, the largest vigilance first."""
    found: dict[tuple[str, str, str], list[Task]] = {}
    for task in pieces:
        found.setdefault(task[:3], []).append(task)
    return {key: sorted(tasks, key=lambda task: -(task.vigilance or 0.0)) for key, tasks in found.items()}
