"""What was found: the outcome of every run, and the times; as JSON, where equal numbers are equal bytes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from evolabel._utils.atomic_files import write_atomically
from evolabel.errors import EvolabelError, FileFormatError
from evolabel.reproduce.methods import Profile

T = TypeVar("T")
N = TypeVar("N", "Task", "Step")

Stage = Literal["tuned", "run", "timed"]

RESULTS, TIMES = "results.json", "times.json"


class Task(NamedTuple):
    """One method on one set."""

    dataset: str
    profile: Profile
    method: str


class Step(NamedTuple):
    """A piece of the work; `method` is "all" where several methods take turns."""

    dataset: str
    profile: Profile
    method: str
    stage: Stage


class AbsentError(EvolabelError, KeyError):
    """Something was not run, so that nothing can be said."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Size:
    """A set as it was run; `stream` is the name of the rows that were used, such as mediamill-5k for mediamill."""

    stream: str
    features: int
    labels: int
    initial: int
    streamed: int


@dataclass(frozen=True)
class Outcome:
    """What came out of one run.

    Parameters
    ----------
    params : dict
        Found on the initial batch.
    pa, ap : float
        Over the whole stream.
    rules : float
        At the end, of all classifiers together.
    asked : float or None
        Share of the labels (or samples) whose annotation was asked for; None where all were given.
    trend : dict of str to list
        "sample", "pa", "ap" and "rules" along the stream.
    """

    params: dict[str, Any]
    pa: float
    ap: float
    rules: float
    asked: float | None = None
    trend: dict[str, list[float]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Findings:
    """Everything the claims are held against.

    Parameters
    ----------
    settings : dict
    sizes : dict of str to Size
    outcomes : dict of Task to Outcome
    times : dict of Task to float
        Milliseconds per sample.
    work : dict of Step to float
        Processor seconds that each piece took.
    """

    settings: dict[str, Any]
    sizes: dict[str, Size]
    outcomes: dict[Task, Outcome]
    times: dict[Task, float]
    work: dict[Step, float]

    def outcome(self, dataset: str, profile: Profile, method: str) -> Outcome:
        """Of one run; AbsentError if it was not done."""
        return _found(self.outcomes, Task(dataset, profile, method))

    def milliseconds(self, dataset: str, profile: Profile, method: str) -> float:
        """To answer and learn a sample; AbsentError if it was not measured."""
        return _found(self.times, Task(dataset, profile, method))

    def size(self, dataset: str) -> Size:
        """Of one set; AbsentError if it was not at hand."""
        if dataset not in self.sizes:
            raise AbsentError(f"{dataset} was not run")
        return self.sizes[dataset]

    def write(self, folder: Path) -> None:
        """`results.json`, the same for the same seed, and `times.json`, which never is."""
        document = {
            "settings": self.settings,
            "sizes": {name: asdict(size) for name, size in self.sizes.items()},
            "outcomes": [{**task._asdict(), **asdict(outcome)} for task, outcome in self.outcomes.items()],
        }
        times = {
            "updates": [{**task._asdict(), "milliseconds": ms} for task, ms in self.times.items()],
            "work": [{**step._asdict(), "seconds": seconds} for step, seconds in self.work.items()],
        }
        write_atomically(folder / RESULTS, as_json(document))
        write_atomically(folder / TIMES, as_json(times))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `write` has written."""
        try:
            document = json.loads((folder / RESULTS).read_bytes())
            times = json.loads((folder / TIMES).read_bytes())
            return cls(
                document["settings"],
                {name: Size(**size) for name, size in document["sizes"].items()},
                {_of(Task, entry): Outcome(**entry) for entry in document["outcomes"]},
                {_of(Task, entry): entry["milliseconds"] for entry in times["updates"]},
                {_of(Step, entry): entry["seconds"] for entry in times["work"]},
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileFormatError(f"{folder} holds no results of evolabel reproduce ({error}); run it again") from None


def as_json(document: Any) -> bytes:
    """One line per entry of the outermost lists: small, and still fit for a diff."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return (text.replace('{"dataset"', '\n{"dataset"') + "\n").encode()


def _of(kind: type[N], entry: dict[str, Any]) -> N:
    """Takes the parts of a task or step out of the entry."""
    return kind(*(entry.pop(name) for name in kind._fields))


def _found(values: Mapping[Task, T], task: Task) -> T:
    if task not in values:
        raise AbsentError(f"{task.method} was not run on {task.dataset}")
    return values[task]
