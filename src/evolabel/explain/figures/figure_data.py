"""`FigureData`: the trained model that figures draw, with the names of its columns."""

from dataclasses import dataclass
from typing import Protocol

from evolabel.explain.shortening import Threshold
from evolabel.model.protocols import Model
from evolabel.stages.threshold_rules.figures.figure_data import TreeFigureData
from evolabel.typing import FloatArray


class Drawable(Protocol):
    """A classifier that figures can draw, such as `EvolvingFuzzyClassifier`."""

    def figure_data(self) -> "FigureData": ...  # noqa: D102


@dataclass(frozen=True)
class FigureData(TreeFigureData):
    """A trained `model` with at least one rule, the names of its features and labels, and its threshold.

    Outputs of at least `threshold` are on; None: the label of the largest output is predicted.
    """

    model: Model
    threshold: Threshold = 0.5

    def figure_data(self) -> "FigureData":
        """Return the data itself, so that figures draw it with the names that it has."""
        return self

    def weights(self, slot: int) -> FloatArray:
        """Return the consequents in `slot`, (q, K), of the members that have the rules."""
        return self.model.drift.weights(slot)
