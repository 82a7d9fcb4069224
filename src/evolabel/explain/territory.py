"""How far a sample is from what the rules know, and whether that is far enough to be novel (eq. 5, input space)."""

from dataclasses import dataclass, replace

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.settings import kernel_settings
from evolabel.kernels.state import FloatArray, Settings
from evolabel.kernels.structure import STRANGE_AFTER, is_novel


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
    border = _border(support, rules.n_rules, rules.arrays.strange, settings)
    novel = is_novel(float(distances[slot - 1]), support, rules.n_rules, rules.arrays.strange, settings)
    return Territory(
        int(rules.arrays.identity[slot]), float(np.sqrt(distances[slot - 1])), float(np.sqrt(border)), bool(novel)
    )


def _input_settings(model: StreamModel) -> Settings:
    """Settings whose radius counts features only: a sample to be explained has no labels yet."""
    settings = model.trained().settings
    if not settings.product:
        return settings
    assert model.scaler is not None
    options = replace(model.options, space="input")
    plain = kernel_settings(options, model.n_features, model.n_labels, model.scaler.prior, model.ridge)
    return settings._replace(radius=plain.radius)


def _border(support: float, C: int, strange: FloatArray, settings: Settings) -> float:
    """The mean squared distance at which `is_novel` changes its mind."""
    if settings.max_rules > C or (np.isnan(settings.novel_z) and C > 1):
        return float(settings.radius * (1.0 + 1.0 / support) ** settings.young)
    if settings.max_rules == 1 or strange[0] <= STRANGE_AFTER:
        return np.inf
    return float(strange[1] + settings.novel_z * np.sqrt(strange[2]))
