"""The work itself: tune, run, or time one method on one set. Plain values go in and come out, from any process."""

from dataclasses import asdict
from math import ceil
from statistics import median
from time import process_time
from typing import Any

from threadpoolctl import threadpool_limits

from evolabel.evaluate import Learner, Results, prequential
from evolabel.evaluate.learner import answer_and_learn
from evolabel.reproduce.methods import METHODS, Profile, classifier_of
from evolabel.reproduce.results import Outcome, Task
from evolabel.reproduce.run_size import Effort
from evolabel.reproduce.search import tuned
from evolabel.streams import Dataset

POINTS = 50  # on a trend line
BLOCK = 5  # samples timed at a time
DIGITS = 6
FOLLOWED = {"pa": "cumulative", "ap": "cumulative", "rules": "current"}

Params = dict[str, Any]


def tune_task(task: Task, dataset: Dataset, effort: Effort, seed: int) -> Params:
    """Parameters from the initial batch, which is all that is looked at."""
    with threadpool_limits(1):
        return tuned(task.profile, task.method, dataset.X[: dataset.split], dataset.Y[: dataset.split], effort, seed)


def run_task(task: Task, dataset: Dataset, params: Params, seed: int) -> dict[str, Any]:
    """Test, then train, along the stream."""
    every = ceil((len(dataset) - (dataset.split or 0)) / POINTS)
    learner = learner_of(task.profile, task.method, params, seed)
    with threadpool_limits(1):
        results = prequential(
            {task.method: learner}, dataset, initial="split", metrics=("pa", "ap"), window=every, every=every, seed=seed
        )
    return asdict(_outcome(results, task.method, params))


def time_task(task: Task, dataset: Dataset, params: dict[str, Params], effort: Effort, seed: int) -> dict[str, float]:
    """Milliseconds of processor time per sample of several methods, which take turns.

    Not on the clock: on a machine that does other work, too, what takes long is interrupted more often.
    """
    learners = {method: learner_of(task.profile, method, found, seed) for method, found in params.items()}
    split = dataset.split or 0
    batch = slice(max(split - effort.learned, 0), split)
    blocks = [slice(row, row + BLOCK) for row in range(split, min(split + effort.timed, len(dataset)), BLOCK)]
    seconds: dict[str, list[float]] = {method: [] for method in learners}
    with threadpool_limits(1):
        for learner in learners.values():
            learner.fit(dataset.X[batch], dataset.Y[batch])
        for (method, learner), block in ((pair, block) for block in blocks for pair in learners.items()):
            start = process_time()
            answer_and_learn(learner, dataset.X[block], dataset.Y[block], None)
            seconds[method].append((process_time() - start) / len(dataset.X[block]))
    return {method: round(1e3 * median(found), DIGITS) for method, found in seconds.items()}


def learner_of(profile: Profile, method: str, params: Params, seed: int) -> Learner:
    """A method with its parameters, ready for an initial batch."""
    kind = METHODS[method]
    return kind.learner(classifier_of(profile, kind.tuned_as, params), profile, seed)


def _outcome(results: Results, method: str, params: Params) -> Outcome:
    summary = results.summary[method]
    lines: dict[str, list[float]] = {metric: [] for metric in FOLLOWED}
    samples: list[float] = []
    for point in results.trend:
        if FOLLOWED.get(point.metric) == point.form:
            lines[point.metric].append(round(point.value, DIGITS))
            if point.metric == "rules":
                samples.append(point.sample)
    asked = getattr(results.learners[method], "share_", None)
    return Outcome(
        params,
        pa=round(summary.metrics["pa"], DIGITS),
        ap=round(summary.metrics["ap"], DIGITS),
        rules=summary.rules,
        asked=None if asked is None else round(float(asked), DIGITS),
        trend={"sample": samples, **lines},
    )
