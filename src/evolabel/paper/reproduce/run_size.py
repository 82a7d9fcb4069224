"""The size of a reproduction: how many rows, parameter values and folds are used."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from evolabel.paper.reproduce.methods import ParameterValues, Profile
from evolabel.streams import Dataset


@dataclass(frozen=True)
class RunSize:
    """How many rows, parameter values and folds a reproduction uses.

    Parameters
    ----------
    name : str
        Shown in the report: "full" or "quick".
    grids : dict of str to dict
        The values of every tuned parameter, by profile.
    folds : int
        Folds of the cross-validation.
    max_initial, max_streamed : int or None
        Most rows of the initial batch and of the stream that are used; None for all.
    max_search_labels : int
        Most labels (rows x labels) of an initial batch that a search uses. Only mediamill has more: there the search
        uses 594 rows, drawn at random.
    timed_rows : int
        Rows whose updates are timed.
    max_rows_before_timing : int
        Most rows learned before the timed ones: the last rows of the initial batch.
    """

    name: str
    grids: dict[Profile, ParameterValues]
    folds: int
    max_initial: int | None = None
    max_streamed: int | None = None
    max_search_labels: int = 60_000
    timed_rows: int = 100
    max_rows_before_timing: int = 1500

    def settings(self) -> dict[str, Any]:
        """The values on which tuned parameters and scores depend; those that concern only the timing are left out."""
        timing = ("name", "timed_rows", "max_rows_before_timing")
        return {key: value for key, value in asdict(self).items() if key not in timing}

    def cut(self, dataset: Dataset) -> Dataset:
        """`dataset` with its first `max_initial` initial rows and its first `max_streamed` streamed rows.

        Without an official split the first third of the rows is the initial batch.
        """
        split = dataset.split if dataset.split is not None else round(len(dataset) / 3)
        start = split if self.max_initial is None else min(split, self.max_initial)
        end = len(dataset) if self.max_streamed is None else min(len(dataset), split + self.max_streamed)
        kept = [*range(start), *range(split, end)]
        return replace(dataset, X=dataset.X[kept], Y=dataset.Y[kept], split=start, starts_at=0, lines=None)


# Values of the paper's grid, spread over its range: 64 points instead of 1360.
FULL = RunSize(
    "full",
    {
        "paper": {"vigilance": (0.35, 0.45, 0.6, 0.8), "alpha": (0.0, 0.01, 0.1, 1.0), "beta": (0.0, 1.0, 10.0, 100.0)},
        "default": {"vigilance": (0.25, 0.5, 1.0), "local_ridge": (0.1, 0.2, 0.5)},
    },
    folds=3,
)
QUICK = RunSize(
    "quick",
    {
        "paper": {"vigilance": (0.4, 0.8), "alpha": (0.0, 0.1, 1.0), "beta": (0.0, 1.0, 10.0)},
        "default": {"vigilance": (0.5, 1.0)},
    },
    folds=2,
    max_initial=120,
    max_streamed=80,
    timed_rows=30,
)
