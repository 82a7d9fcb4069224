"""Terms of a stream: the ends of very low, low, medium, high, very high, each a fifth of the stream.

The model keeps no samples, but its rules summarise the stream: supports, centres and spreads are, feature by feature, a
mixture of Gaussians of the scaled values. The quintiles of the mixture are the borders of the terms. Its mean and width
are corrected to the moments of the whole stream (slot 0), which stay right where rules were pruned or old samples are
forgotten. Terms need no state of their own, so they follow the stream, and survive saving, merging and new features.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import Scaler
from evolabel.stages.sensors.stage import Sensors
from evolabel.streams.columns import FeatureNames
from evolabel.typing import FloatArray
from evolabel.words.terms import SHARES, Vocabulary
from evolabel.words.text_columns import flag_features, text_features

_MIN_SPREAD = 0.05  # of a rule, in spreads of the stream: a rule of one sample has a spread of 0
_BISECTIONS = 40
_SEARCH_WIDTH = 8.0  # standard deviations on both sides of the mean that contain every quantile


class RulesModel(Protocol):
    """A model as its terms and rules are read: sensors, scaling and rules."""

    n_features: int
    n_labels: int
    scaler: Scaler | None
    rules: RuleBase | None

    @property
    def sensors(self) -> Sensors:
        """The corrections of sensors that moved, of a model whose warm-up is over."""

    def trained(self) -> RuleBase:
        """Return the rules of a model whose warm-up is over."""

    def scale(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of `X`."""


def stream_moments(base: RuleBase) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the whole stream of `base` per dimension; the prior variance where nothing varied."""
    a, prior = base.arrays, base.settings.prior
    variance = a.M[0] / np.maximum(a.n[0], 1e-300)
    return a.c[0].copy(), np.where(variance > 1e-12 * prior, variance, prior)


def stream_terms(model: RulesModel, feature_names: Sequence[str]) -> Vocabulary:
    """Return the terms of the trained `model`, whose features are called `feature_names`, from the stream so far.

    They are in the units that the sensors read now.
    """
    assert model.scaler is not None
    edges = readings(model, _stream_quantiles(model, SHARES)).T
    texts = text_features(feature_names, model.scaler.binary)
    edges = np.maximum.accumulate(edges, axis=1)
    names = feature_names if isinstance(feature_names, FeatureNames) else list(feature_names)
    return Vocabulary(names, edges, texts, flag_features(feature_names))


def readings(model: RulesModel, Z: FloatArray) -> FloatArray:
    """Return the scaled rows `Z` in the units that the sensors of `model` read now."""
    assert model.scaler is not None
    return model.sensors.as_read_now(model.scaler.inverse(Z))


def _stream_quantiles(model: RulesModel, shares: Sequence[float]) -> FloatArray:
    """Return the quantiles at `shares` of the scaled features, (shares, n_features), by bisection of the mixture."""
    weight, centre, spread = _mixture(model)
    mean = (weight * centre).sum(axis=0)
    width = np.sqrt((weight * (spread**2 + (centre - mean) ** 2)).sum(axis=0))
    low = np.tile(mean - _SEARCH_WIDTH * width, (len(shares), 1))
    high = np.tile(mean + _SEARCH_WIDTH * width, (len(shares), 1))
    aims = np.array(shares)[:, None]
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        below = (weight * ndtr((middle[:, None] - centre) / spread)).sum(axis=1) < aims
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    true_mean, true_width = scaled_moments(model)
    return np.asarray(true_mean + ((low + high) / 2.0 - mean) * (true_width / width))


def scaled_moments(model: RulesModel) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the scaled features of `model` over the stream.

    A feature that never varied has the spread that the scaling expects.
    """
    mean, variance = stream_moments(model.trained())
    return mean[: model.n_features], np.sqrt(variance[: model.n_features])


def _mixture(model: RulesModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, centres and spreads of the rules without their prior, each (rules, n_features).

    Without rules there is one Gaussian, as wide as the scaling expects.
    """
    rules, p = model.trained(), model.n_features
    mean, width = scaled_moments(model)
    if rules.n_rules == 0:
        return np.ones((1, p)), mean[None], width[None]
    used, a = slice(1, rules.n_rules + 1), rules.arrays
    # An expert rule may count for more samples in one feature (n) than as a whole (k).
    seen = np.maximum(np.minimum(a.n[used, :p], a.k[used, None]), 1e-12)
    spread = np.sqrt(a.M[used, :p] / seen + (_MIN_SPREAD * width) ** 2)
    return seen / seen.sum(axis=0), a.c[used, :p], spread
