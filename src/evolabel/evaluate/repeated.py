"""The same comparison on several seeds: means, spreads, and differences seed by seed."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from evolabel._utils.atomic_files import write_atomically
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate.formats import without_nan
from evolabel.evaluate.metrics import METRICS
from evolabel.evaluate.questions import Questions
from evolabel.evaluate.results import Results, remove_results


class Spread(NamedTuple):
    """Mean and standard deviation over the seeds (0 for a single seed)."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Of these values."""
        series = np.array(list(values), np.float64)
        return cls(float(series.mean()), float(series.std(ddof=1)) if len(series) > 1 else 0.0)

    def __format__(self, form: str) -> str:
        """The mean, and the deviation where there is one."""
        mean = format(self.mean, form)
        return f"{mean} ± {format(self.deviation, form)}" if self.deviation > 0.0 else mean


@dataclass(frozen=True)
class Standing:
    """How one learner did over all seeds; `ahead` is by how much the first learner of the run beat it, seed by seed.

    `questions` is None for a learner that does not ask.
    """

    learner: str
    metrics: dict[str, Spread]
    ahead: dict[str, Spread]
    rules: Spread
    ms_per_sample: Spread
    questions: Questions | None = None


@dataclass(frozen=True, eq=False)
class Repeated:
    """Results of the same learners on the same stream, by seed."""

    runs: Mapping[int, Results]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ParameterError("there is no run to summarise; use at least one seed")

    @property
    def settings(self) -> dict[str, Any]:
        """What was run: the settings of the first seed."""
        return next(iter(self.runs.values())).settings

    @property
    def learners(self) -> list[str]:
        """Names of the learners, the one that the others are compared with first."""
        return list(next(iter(self.runs.values())).summary)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return list(self.settings["metrics"])

    def standings(self) -> list[Standing]:
        """One line per learner."""
        return [self._standing(learner) for learner in self.learners]

    def trend(self, learner: str, metric: str, form: str) -> tuple[list[int], list[list[float]]]:
        """Samples, and the values of all seeds at each of them."""
        points: dict[int, list[float]] = {}
        for run in self.runs.values():
            for point in run.trend:
                if (point.learner, point.metric, point.form) == (learner, metric, form):
                    points.setdefault(point.sample, []).append(point.value)
        return list(points), list(points.values())

    def document(self) -> dict[str, Any]:
        """Settings, standings and the summaries of all seeds, as plain values."""
        return {
            "settings": self.settings,
            "seeds": list(self.runs),
            "standings": [_plain(standing) for standing in self.standings()],
            "runs": {
                str(seed): [without_nan(asdict(summary)) for summary in run.summary.values()]
                for seed, run in self.runs.items()
            },
        }

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write `summary.json`, and a folder `seed-N` with the results of each seed; results of other seeds go."""
        target = Path(folder)
        if target.is_file():
            raise FileFormatError(f"{target} is a file; give a folder for the results")
        folders = {f"seed-{seed}": run for seed, run in self.runs.items()}
        for name, run in folders.items():
            run.write(target / name)
        text = json.dumps(self.document(), indent=1, allow_nan=False) + "\n"
        write_atomically(target / "summary.json", text.encode())
        for old in target.glob("seed-*/results.json"):
            if re.fullmatch(r"seed-\d+", old.parent.name) and old.parent.name not in folders:
                remove_results(old.parent)

    def _standing(self, learner: str) -> Standing:
        mine = [run.summary[learner] for run in self.runs.values()]
        first = [run.summary[self.learners[0]] for run in self.runs.values()]
        return Standing(
            learner,
            {name: Spread.of(one.metrics[name] for one in mine) for name in self.metrics},
            {
                name: Spread.of(
                    _sign(name) * (best.metrics[name] - one.metrics[name])
                    for best, one in zip(first, mine, strict=True)
                )
                for name in self.metrics
            },
            Spread.of(one.rules for one in mine),
            Spread.of(one.ms_per_sample for one in mine),
            Questions.over(asked) if (asked := [one.questions for one in mine if one.questions]) else None,
        )


def best_value(standings: list[Standing], metric: str) -> float:
    """The best mean of a metric: the largest, or the smallest of a loss."""
    return _sign(metric) * max(_sign(metric) * standing.metrics[metric].mean for standing in standings)


def _sign(metric: str) -> float:
    return 1.0 if metric not in METRICS or METRICS[metric].bigger_is_better else -1.0


def _plain(standing: Standing) -> dict[str, Any]:
    def told(spread: Spread) -> dict[str, float]:
        return dict(without_nan(spread._asdict()))

    return {
        "learner": standing.learner,
        "metrics": {name: told(spread) for name, spread in standing.metrics.items()},
        "ahead": {name: told(spread) for name, spread in standing.ahead.items()},
        "rules": told(standing.rules),
        "ms_per_sample": told(standing.ms_per_sample),
        "questions": None if standing.questions is None else asdict(standing.questions),
    }


def repeat(run: Callable[[int], Results], seeds: Iterable[int]) -> Repeated:
    """Run once per seed."""
    return Repeated({seed: run(seed) for seed in seeds})
