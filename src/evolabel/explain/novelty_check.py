"""How far a sample is from what the rules know, and whether that is far enough to be novel (eq. 5, input space)."""

from dataclasses import dataclass, replace

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.settings import kernel_settings
from evolabel.kernels.state import Settings
from evolabel.kernels.structure import is_novel, novelty_bound
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Territory:
    """Distance to the nearest rule, and the `border` beyond which a sample counts as novel (inf: never).

    Both are root mean squared distances in spreads of that rule: 1 is typical of its own samples.
    """

    rule: int
    distance: float
    border: float
    novel: bool


def locate(model: StreamModel, distances: FloatArray) -> Territory:
    """Where a sample lies, by its mean squared distances to all rules."""
    rules = model.trained()
    slot = int(np.argmin(distances)) + 1
    support, settings = float(rules.arrays.k[slot]), _input_settings(model)
    border = borders(model)[slot - 1]
    novel = is_novel(float(distances[slot - 1]), support, rules.n_rules, rules.arrays.strange, settings)
    return Territory(
        int(rules.arrays.identity[slot]), float(np.sqrt(distances[slot - 1])), float(np.sqrt(border)), bool(novel)
    )


def borders(model: StreamModel) -> FloatArray:
    """The mean squared distance beyond which a sample is novel, rule by rule; inf: never."""
    rules, settings = model.trained(), _input_settings(model)
    supports = rules.arrays.k[1 : rules.n_rules + 1]
    return np.array([novelty_bound(float(k), rules.n_rules, rules.arrays.strange, settings) for k in supports])


def _input_settings(model: StreamModel) -> Settings:
    """Settings whose radius counts features only: a sample to be explained has no labels yet."""
    settings = model.trained().settings
    if not settings.product:
        return settings
    assert model.scaler is not None
    options = replace(model.options, space="input")
    plain = kernel_settings(options, model.n_features, model.n_labels, model.scaler.prior, model.ridge)
    return settings._replace(radius=plain.radius)
