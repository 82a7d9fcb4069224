"""How much work a reproduction is: the whole thing, or a quick look."""

from dataclasses import asdict, dataclass
from typing import Any

from evolabel.reproduce.methods import Profile, Values
from evolabel.streams import Dataset


@dataclass(frozen=True)
class Effort:
    """How many rows, grids and folds.

    Parameters
    ----------
    name : str
    grids : dict
        Values of every parameter, by profile.
    folds : int
    initial, streamed : int or None
        Most rows of the initial batch and of the stream that are used; None for all.
    searched : int
        Most labels (rows x labels) that a search sees. Only mediamill has more: 594 rows, drawn at random, stand for
        its initial batch then.
    timed : int
        Rows whose updates are timed.
    learned : int
        Most rows learned before that: the last ones of the initial batch.
    """

    name: str
    grids: dict[Profile, Values]
    folds: int
    initial: int | None = None
    streamed: int | None = None
    searched: int = 60_000
    timed: int = 100
    learned: int = 1500

    def settings(self) -> dict[str, Any]:
        """Plain values: what results depend on."""
        return {key: value for key, value in asdict(self).items() if key not in ("name", "timed", "learned")}

    def cut(self, dataset: Dataset) -> Dataset:
        """The rows in question; a set that is cut keeps its first initial and its first streamed rows."""
        split = dataset.split if dataset.split is not None else round(len(dataset) / 3)
        start = split if self.initial is None else min(split, self.initial)
        end = len(dataset) if self.streamed is None else min(len(dataset), split + self.streamed)
        kept = [*range(start), *range(split, end)]
        return Dataset(
            dataset.X[kept],
            dataset.Y[kept],
            dataset.feature_names,
            dataset.label_names,
            dataset.name,
            split=start,
        )


# Values of the paper's grid, spread over its range: 64 points instead of 1360.
FULL = Effort(
    "full",
    {
        "paper": {"vigilance": (0.35, 0.45, 0.6, 0.8), "alpha": (0.0, 0.01, 0.1, 1.0), "beta": (0.0, 1.0, 10.0, 100.0)},
        "default": {"vigilance": (0.25, 0.5, 1.0), "local_ridge": (0.1, 0.2, 0.5)},
    },
    folds=3,
)
QUICK = Effort(
    "quick",
    {
        "paper": {"vigilance": (0.4, 0.8), "alpha": (0.0, 0.1, 1.0), "beta": (0.0, 1.0, 10.0)},
        "default": {"vigilance": (0.5, 1.0)},
    },
    folds=2,
    initial=120,
    streamed=80,
    timed=30,
)
