"""How much work a reproduction is: the whole thing, or a quick look."""

from dataclasses import asdict, dataclass
from typing import Any

from evolabel.reproduce.methods import Profile, Values
from evolabel.streams import Dataset


@dataclass(frozen=True)
class Effort:
    """Rows, grids and folds; `initial` and `streamed` are the most rows used, None for all."""

    name: str
    grids: dict[Profile, Values]
    folds: int
    initial: int | None = None
    streamed: int | None = None
    timed: int = 100

    def settings(self) -> dict[str, Any]:
        """Plain values: what results depend on."""
        return {key: value for key, value in asdict(self).items() if key not in ("name", "timed")}

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
