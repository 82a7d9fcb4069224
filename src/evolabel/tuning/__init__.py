"""Search for parameters on an initial batch."""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.tuning.grid import PAPER_GRID
    from evolabel.tuning.heat_map import heat_map
    from evolabel.tuning.search import GridSearch
    from evolabel.tuning.tuned import SMALL_PAPER_GRID, TunedClassifier

__all__ = ["PAPER_GRID", "SMALL_PAPER_GRID", "GridSearch", "TunedClassifier", "heat_map"]

_HOMES = {
    "PAPER_GRID": "evolabel.tuning.grid",
    "SMALL_PAPER_GRID": "evolabel.tuning.tuned",
    "GridSearch": "evolabel.tuning.search",
    "TunedClassifier": "evolabel.tuning.tuned",
    "heat_map": "evolabel.tuning.heat_map",
}


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
