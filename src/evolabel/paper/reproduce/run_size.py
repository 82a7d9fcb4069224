"""The size of a reproduction: how many rows, parameter values and folds are used."""

from dataclasses import dataclass, replace
from typing import Literal

from evolabel.paper.reproduce.data import ordered
from evolabel.paper.reproduce.methods import ParameterValues, Profile
from evolabel.paper.tuning.grid import PAPER_GRID
from evolabel.streams import Dataset

GridName = Literal["small", "full"]


@dataclass(frozen=True)
class RunSize:
    """How many rows, parameter values and folds a reproduction uses.

    Parameters
    ----------
    name : str
        Shown in the report: "full", "small" or "quick".
    grids : dict of str to dict
        The values of every tuned parameter, by profile.
    folds : int
        Folds of the cross-validation.
    max_initial, max_streamed : int or None
        Most rows of the initial batch and of the stream that are used; None for all.
    max_search_labels : int
        Most labels (rows x labels) of an initial batch that a search uses. Only mediamill has more: there the search
        uses 594 rows, drawn at random.
    max_rows_of_seeds : int
        Sets with more rows are run with the first seed only: mediamill.
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
    max_rows_of_seeds: int = 20_000
    timed_rows: int = 100
    max_rows_before_timing: int = 1500

    def cut(self, dataset: Dataset, seed: int) -> Dataset:
        """`dataset` in the order of `seed`, its first `max_initial` initial and `max_streamed` streamed rows.

        Without an official split the first third of the rows is the initial batch.
        """
        split = dataset.split if dataset.split is not None else round(len(dataset) / 3)
        rows = ordered(replace(dataset, split=split), seed)
        start = split if self.max_initial is None else min(split, self.max_initial)
        end = len(dataset) if self.max_streamed is None else min(len(dataset), split + self.max_streamed)
        kept = [*range(start), *range(split, end)]
        return replace(rows, X=rows.X[kept], Y=rows.Y[kept], split=start, starts_at=0, lines=None)

    def seeds(self, dataset: Dataset, n_seeds: int) -> range:
        """The seeds of `dataset` in a run of `n_seeds`: all, or the first alone where it is large."""
        return range(1 if len(dataset) > self.max_rows_of_seeds else n_seeds)


_DEFAULT_GRID: ParameterValues = {"vigilance": (0.25, 0.5, 1.0), "local_ridge": (0.1, 0.2, 0.5)}

# The paper's grid: 17 x 10 x 8 points.
FULL = RunSize("full", {"paper": dict(PAPER_GRID), "default": _DEFAULT_GRID}, folds=3)
# Values of the paper's grid, spread over its range: 64 points.
SMALL_GRID = replace(
    FULL,
    name="small",
    grids={
        "paper": {"vigilance": (0.35, 0.45, 0.6, 0.8), "alpha": (0.0, 0.01, 0.1, 1.0), "beta": (0.0, 1.0, 10.0, 100.0)},
        "default": _DEFAULT_GRID,
    },
)
QUICK = RunSize(
    "quick",
    {
        "paper": {"vigilance": (0.4, 0.8), "alpha": (0.0, 0.1, 1.0), "beta": (0.0, 1.0, 10.0)},
        "default": {"vigilance": (0.5, 1.0)},
    },
    folds=2,
    max_initial=80,
    max_streamed=40,
    timed_rows=20,
)
GRIDS: dict[GridName, RunSize] = {"small": SMALL_GRID, "full": FULL}

LEFT_OUT = {
    "quick": "A quick run leaves out all but 80 initial and 40 streamed rows of each set, all but 18 of the 1,360 "
    "points of the paper's grid, one of 3 folds, and runs at every vigilance.",
    "small": "This run leaves out all but 64 of the 1,360 points of the paper's grid.",
}
"""What a run of this name leaves out, in words."""
