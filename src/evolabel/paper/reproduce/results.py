"""The results of a reproduction: searches, scores of every run and update times of every seed, written as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, Self, TypeVar

from evolabel._utils.files import write_atomically
from evolabel._utils.json_text import parse_json
from evolabel.errors import EvolabelError, FileFormatError
from evolabel.paper.reproduce.methods import Profile

T = TypeVar("T")
N = TypeVar("N", "Task", "TaskStage")

Stage = Literal["searched", "run", "timed"]
ScoreName = Literal["pa", "ap"]

RESULTS_FILE, TIMES_FILE = "results.json", "times.json"


class Task(NamedTuple):
    """One method on one data set in one profile with one seed.

    `vigilance` is the value of a part of a search, or of a run at the best point of this vigilance; None otherwise.
    """

    dataset: str
    profile: Profile
    method: str
    seed: int = 0
    vigilance: float | None = None


class TaskStage(NamedTuple):
    """One stage of a task; `method` is "all" where several methods are timed together."""

    dataset: str
    profile: Profile
    method: str
    seed: int
    vigilance: float | None
    stage: Stage


@dataclass(frozen=True)
class Found:
    """The best point of a search: its `params`, its `score` (the mean over the folds), how many points were tried.

    `edges` names the parameters whose best value is the first or the last one of the grid, so that a better one may lie
    beyond; a penalty of 0 has nothing beyond it.
    """

    params: dict[str, Any]
    score: float
    points: int
    edges: list[str]


class NoResultError(EvolabelError, KeyError):
    """A number that a claim needs was not computed or is not defined."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Size:
    """The size of a data set as it was run; `stream` names the rows used, such as mediamill-5k for mediamill."""

    stream: str
    features: int
    labels: int
    initial: int
    streamed: int


@dataclass(frozen=True)
class RunResult:
    """Scores `pa` and `ap` of one run, with `params` that were tuned on the initial batch.

    A score is None where it is not defined (AP: no streamed row has a positive label), also in the `trend`, which has
    "sample", "pa", "ap" and "rules" along the stream. `rules` is their number at the end, of all classifiers together;
    `asked` the share of the labels (or samples) that were queried, None where all were given.
    """

    params: dict[str, Any]
    pa: float | None
    ap: float | None
    rules: float
    asked: float | None = None
    trend: dict[str, list[float | None]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ReproductionResults:
    """All results of a reproduction; the claims are checked against them.

    Parameters
    ----------
    settings : dict
        Version, name of the run size, and number of seeds.
    sizes : dict of str to Size
        By data set.
    searches : dict of Task to Found
        With a vigilance: the best point of this vigilance.
    runs : dict of Task to RunResult
        With a vigilance: the run with that point.
    times : dict of Task to float
        Milliseconds of processor time to answer and learn one sample.
    cpu_seconds : dict of TaskStage to float
        Processor time that each stage of each task took.
    """

    settings: dict[str, Any]
    sizes: dict[str, Size]
    searches: dict[Task, Found]
    runs: dict[Task, RunResult]
    times: dict[Task, float]
    cpu_seconds: dict[TaskStage, float]

    def write(self, folder: Path) -> None:
        """Write `results.json` (the same bytes for the same seeds) and `times.json` into `folder`."""
        document = {
            "settings": self.settings,
            "sizes": {name: asdict(size) for name, size in self.sizes.items()},
            "searches": [{**task._asdict(), **asdict(found)} for task, found in self.searches.items()],
            "runs": [{**task._asdict(), **asdict(run)} for task, run in self.runs.items()],
        }
        times = {
            "updates": [{**task._asdict(), "milliseconds": ms} for task, ms in self.times.items()],
            "tasks": [{**stage._asdict(), "seconds": seconds} for stage, seconds in self.cpu_seconds.items()],
        }
        write_atomically(folder / RESULTS_FILE, as_json(document))
        write_atomically(folder / TIMES_FILE, as_json(times))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The results that `write` has written into `folder`; raises FileFormatError if they cannot be read."""
        try:
            document = parse_json((folder / RESULTS_FILE).read_bytes())
            times = parse_json((folder / TIMES_FILE).read_bytes())
            return cls(
                document["settings"],
                {name: Size(**size) for name, size in document["sizes"].items()},
                {_pop_key(Task, entry): Found(**entry) for entry in document["searches"]},
                {_pop_key(Task, entry): RunResult(**entry) for entry in document["runs"]},
                {_pop_key(Task, entry): entry["milliseconds"] for entry in times["updates"]},
                {_pop_key(TaskStage, entry): entry["seconds"] for entry in times["tasks"]},
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileFormatError(f"{folder} holds no results of evolabel reproduce ({error}); run it again") from None


class ProfileResults(NamedTuple):
    """The part of `results` that belongs to one `profile`; its methods raise NoResultError for missing numbers.

    With a `seed` the numbers are those of this seed, without one the means over the seeds.
    """

    results: ReproductionResults
    profile: Profile
    seed: int | None = None

    def seeds(self, dataset: str, method: str = "ours") -> list[int]:
        """Seeds with which `method` was run on `dataset`, ascending."""
        tasks = self.results.runs.keys() | self.results.times.keys()
        plain = {t.seed for t in tasks if t[:3] == (dataset, self.profile, method) and t.vigilance is None}
        return sorted(plain if self.seed is None else plain & {self.seed})

    def of(self, seed: int) -> "ProfileResults":
        """The results of one `seed`."""
        return self._replace(seed=seed)

    def run(self, dataset: str, method: str) -> RunResult:
        """The run of `method` on `dataset` with the only or the first seed."""
        first = next(iter(self.seeds(dataset, method)), 0)
        return _required(self.results.runs, Task(dataset, self.profile, method, first))

    def mean(self, dataset: str, method: str, number: Callable[[RunResult], float | None], what: str) -> float:
        """The mean over the seeds of a `number` of the runs; `what` names it where it is not defined."""
        seeds = self.seeds(dataset, method) or [0]
        found = [number(_required(self.results.runs, Task(dataset, self.profile, method, seed))) for seed in seeds]
        defined = [value for value in found if value is not None]
        if len(defined) < len(found):
            raise NoResultError(f"{what} of {method} is not defined on {dataset}")
        return fmean(defined)

    def milliseconds(self, dataset: str, method: str) -> float:
        """Processor time of `method` to answer and learn one sample of `dataset`."""
        seeds = self.seeds(dataset, method) or [0]
        return fmean(_required(self.results.times, Task(dataset, self.profile, method, seed)) for seed in seeds)

    def size(self, dataset: str) -> Size:
        """Size of `dataset` as it was run."""
        if dataset not in self.results.sizes:
            raise NoResultError(f"{dataset} was not run")
        return self.results.sizes[dataset]

    def score(self, dataset: str, method: str, metric: ScoreName = "pa") -> float:
        """PA or AP (`metric`) of `method` over the whole stream of `dataset`."""
        return self.mean(dataset, method, lambda run: run.pa if metric == "pa" else run.ap, metric.upper())

    def rules(self, dataset: str, method: str) -> float:
        """Number of rules at the end of the stream of `dataset`, of all classifiers of `method` together."""
        return self.mean(dataset, method, lambda run: run.rules, "the number of rules")

    def asked(self, dataset: str, method: str) -> float:
        """Share of the labels, or samples, of `dataset` that `method` queried."""
        return self.mean(dataset, method, lambda run: run.asked or 0.0, "the share")

    def gain(self, dataset: str, method: str, other: str, metric: ScoreName = "pa") -> float:
        """Score (`metric`) of `method` minus that of `other` on `dataset`."""
        return self.score(dataset, method, metric) - self.score(dataset, other, metric)


def as_json(document: Any) -> bytes:
    """`document` as JSON bytes, each entry of its lists of tasks on a line of its own."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return (text.replace('{"dataset"', '\n{"dataset"') + "\n").encode()


def _pop_key(kind: type[N], entry: dict[str, Any]) -> N:
    """Remove the fields of a task or task stage from `entry` and return them."""
    return kind(*(entry.pop(name) for name in kind._fields))


def _required(values: Mapping[Task, T], task: Task) -> T:
    if task not in values:
        raise NoResultError(f"{task.method} was not run on {task.dataset}")
    return values[task]
