"""The distance of a sample to the nearest rule, and whether it counts as novel (eq. 5, input space)."""

from dataclasses import dataclass

import numpy as np

from evolabel.model.protocols import Model
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class NoveltyCheck:
    """The `distance` of a sample to the nearest `rule`, and the `border` beyond which it is `novel` (inf: never).

    Distance and border are root mean squared distances in spreads of that rule: 1 is typical of its own samples.
    """

    rule: int
    distance: float
    border: float
    novel: bool


def check_novelty(model: Model, distances: FloatArray) -> NoveltyCheck:
    """Return the novelty of a sample for `model`, from its mean squared `distances` (rules,) to all rules."""
    rules = model.trained()
    slot = int(np.argmin(distances)) + 1
    distance, border = float(distances[slot - 1]), novelty_borders(model)[slot - 1]
    return NoveltyCheck(
        int(rules.arrays.identity[slot]), float(np.sqrt(distance)), float(np.sqrt(border)), bool(distance > border)
    )


def novelty_borders(model: Model) -> FloatArray:
    """Return the mean squared distance beyond which a sample is novel, for each rule of `model`; inf: never."""
    return model.trained().novelty_bounds
