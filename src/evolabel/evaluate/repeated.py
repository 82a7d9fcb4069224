"""The same comparison on several seeds: means, standard deviations, and differences seed by seed."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from evolabel._utils.files import as_path, write_atomically
from evolabel.core.events import Event
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate.formats import nan_to_none
from evolabel.evaluate.label_statistics import LabelScores, LabelStatistics, pooled_scores
from evolabel.evaluate.metrics import METRICS
from evolabel.evaluate.metrics.ranking import ONE_LABEL, AveragePrecision, Coverage, OneError, RankingLoss
from evolabel.evaluate.results import Results, remove_results
from evolabel.evaluate.trend import Questions

FEWEST_POSITIVES = 5  # of a label that should have been predicted at least once
_OF_RANKINGS = (AveragePrecision, RankingLoss, OneError, Coverage)
_MOST_NAMED = 5  # labels


class Spread(NamedTuple):
    """Mean and standard deviation over the seeds (0 for a single seed)."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Return mean and standard deviation of `values`."""
        series = np.array(list(values), np.float64)
        return cls(float(series.mean()), float(series.std(ddof=1)) if len(series) > 1 else 0.0)

    def __format__(self, form: str) -> str:
        """The mean, followed by the deviation if it is not 0."""
        mean = format(self.mean, form)
        return f"{mean} ± {format(self.deviation, form)}" if self.deviation > 0.0 else mean


@dataclass(frozen=True)
class RankingRow:
    """Results of one learner over all seeds.

    `ahead` is the advantage of the first learner of the run over this one, compared seed by seed. `questions` is None
    for a learner that does not query labels.
    """

    learner: str
    metrics: dict[str, Spread]
    ahead: dict[str, Spread]
    rules: Spread
    ms_per_sample: Spread
    questions: Questions | None = None


@dataclass(frozen=True, eq=False)
class Repeated:
    """Results of the same learners on the same stream with several seeds.

    Parameters
    ----------
    runs : dict of int to Results
        Results by seed, at least one.
    """

    runs: Mapping[int, Results]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ParameterError("there is no run to summarise; use at least one seed")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the run with the first seed."""
        return next(iter(self.runs.values())).settings

    @property
    def learners(self) -> list[str]:
        """Names of the learners; the others are compared with the first."""
        return list(next(iter(self.runs.values())).summary)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return list(self.settings["metrics"])

    def ranking(self) -> list[RankingRow]:
        """Return one row per learner, in the order of the learners."""
        return [self._ranking_row(learner) for learner in self.learners]

    def trend(self, learner: str, metric: str, form: str) -> tuple[list[int], list[list[float]]]:
        """Return the sample numbers at which `metric` of `learner` was recorded, and for each the values of all seeds.

        Parameters
        ----------
        learner : str
            Name of the learner.
        metric : str
            Name of a metric of the run, "rules" or "ms_per_sample".
        form : {"cumulative", "sliding", "current"}
            "current" for "rules" and "ms_per_sample", one of the others for metrics.
        """
        points: dict[int, list[float]] = {}
        for run in self.runs.values():
            for point in run.trend:
                if (point.learner, point.metric, point.form) == (learner, metric, form):
                    points.setdefault(point.sample, []).append(point.value)
        return list(points), list(points.values())

    def shifts(self, learner: str) -> dict[int, tuple[Event, ...]]:
        """Return the shifts of the stream that `learner` has reported, by seed; empty if there are none."""
        found = {seed: run.summary[learner].events for seed, run in self.runs.items()}
        return {seed: events for seed, events in found.items() if events}

    def labels(self, learner: str) -> list[LabelScores]:
        """Return the results of each label of `learner`: sums of samples over the seeds, means of the measures."""
        return pooled_scores([run.summary[learner].labels for run in self.runs.values()])

    def label_counts(self, learner: str) -> LabelStatistics | None:
        """Return the counts of each label of `learner` over all seeds; None in results read from a file."""
        found = [run.label_counts[learner] for run in self.runs.values() if learner in run.label_counts]
        if not found:
            return None
        total = LabelStatistics(found[0].names)
        for counts in found:
            total.add(counts)
        return total

    def document(self) -> dict[str, Any]:
        """Return settings, ranking ("standings") and the summaries of all seeds as plain values."""
        return {
            "settings": self.settings,
            "seeds": list(self.runs),
            "standings": [_plain_values(row) for row in self.ranking()],
            "runs": {
                str(seed): [summary.document() for summary in run.summary.values()] for seed, run in self.runs.items()
            },
        }

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write `summary.json` and one folder `seed-N` per seed into `folder`; results of other seeds are removed.

        Parameters
        ----------
        folder : str or path
            Created if it does not exist.

        Raises
        ------
        FileFormatError
            If `folder` is a file.
        """
        target = as_path(folder)
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

    def _ranking_row(self, learner: str) -> RankingRow:
        own = [run.summary[learner] for run in self.runs.values()]
        first = [run.summary[self.learners[0]] for run in self.runs.values()]
        return RankingRow(
            learner,
            {name: Spread.of(one.metrics[name] for one in own) for name in self.metrics},
            {
                name: Spread.of(
                    _sign(name) * (other.metrics[name] - one.metrics[name])
                    for other, one in zip(first, own, strict=True)
                )
                for name in self.metrics
            },
            Spread.of(one.rules for one in own),
            Spread.of(one.ms_per_sample for one in own),
            Questions.pooled(asked) if (asked := [one.questions for one in own if one.questions]) else None,
        )


def repeat(run: Callable[[int], Results], seeds: Iterable[int]) -> Repeated:
    """Run the same comparison once per seed.

    Parameters
    ----------
    run : callable
        Takes a seed and returns the `Results` of `prequential`.
    seeds : iterable of int
        At least one seed.

    Returns
    -------
    Repeated
        All results, with means and standard deviations over the seeds.

    Examples
    --------
    >>> from evolabel.baselines import RunningPrior
    >>> from evolabel.evaluate import prequential, repeat
    >>> from evolabel.streams import DriftingStream
    >>> repeated = repeat(lambda seed: prequential(RunningPrior(), DriftingStream(seed=seed), samples=200), range(3))
    >>> print(f"PA {repeated.ranking()[0].metrics['pa']:.2f}")
    PA 0.57 ± 0.04
    """
    return Repeated({seed: run(seed) for seed in seeds})


def best_value(ranking: list[RankingRow], metric: str) -> float:
    """Return the best mean of `metric` in `ranking`: the largest, or the smallest of a loss."""
    return _sign(metric) * max(_sign(metric) * row.metrics[metric].mean for row in ranking)


def run_notes(repeated: Repeated) -> list[str]:
    """Return the notes on `repeated`, one line each: about the metrics, what chosen answers are worth, the labels."""
    rows = repeated.labels(repeated.learners[0])
    rankings = [METRICS[name].name for name in repeated.metrics if METRICS.get(name) in _OF_RANKINGS]
    notes = []
    if repeated.settings.get("labels") == 1 and rankings:
        notes.append(f"{', '.join(rankings)}: the same whatever the scores, because {ONE_LABEL}")
    asking = {row.learner: row.questions.met for row in repeated.ranking() if row.questions is not None}
    notes += [f"{learner}: {met}" for learner, met in asking.items() if 0 < met.drawn < met.answered]
    if never := [row for row in rows if row.support >= FEWEST_POSITIVES and row.predicted == 0]:
        notes.append(_never_predicted(never))
    return notes


def _never_predicted(rows: list[LabelScores]) -> str:
    """The note on labels that occurred but were never predicted, `rows`."""
    named = ", ".join(f"{row.label} ({row.support} of {row.known} samples)" for row in rows[:_MOST_NAMED])
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    advice = 'optimise="macro_f1" or "balanced" predicts rare labels, too (--against macro-f1 shows what it costs)'
    return f"never predicted: {named}{more}; {advice}"


def _sign(metric: str) -> float:
    return 1.0 if metric not in METRICS or METRICS[metric].bigger_is_better else -1.0


def _plain_values(row: RankingRow) -> dict[str, Any]:
    def plain(spread: Spread) -> dict[str, float]:
        return dict(nan_to_none(spread._asdict()))

    return {
        "learner": row.learner,
        "metrics": {name: plain(spread) for name, spread in row.metrics.items()},
        "ahead": {name: plain(spread) for name, spread in row.ahead.items()},
        "rules": plain(row.rules),
        "ms_per_sample": plain(row.ms_per_sample),
        "questions": None if row.questions is None else asdict(row.questions),
    }
