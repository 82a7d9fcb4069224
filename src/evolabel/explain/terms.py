"""Words for values: very low, low, medium, high, very high, each a fifth of the stream.

The model keeps no samples, but its rules summarise the stream: supports, centres and spreads are, feature by feature, a
mixture of Gaussians of the scaled values. The quintiles of the mixture are the borders of the terms. Its mean and width
are corrected to the moments of the whole stream (slot 0), which stay right where rules were pruned or old samples are
forgotten. Terms need no state of their own, so they follow the stream, and survive saving, merging and new features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from evolabel._utils.text import first_names
from evolabel.core.edits.expert_rules import stream_moments
from evolabel.core.members.sensor_corrections import as_read_now
from evolabel.core.protocols import Model
from evolabel.errors import DataError
from evolabel.explain.text_columns import column_and_value, flag_features, text_features
from evolabel.streams.column_kinds import FeatureNames
from evolabel.typing import FloatArray

TERMS = ("very low", "low", "medium", "high", "very high")
ANY = "any"  # a range as wide as all terms together
_TO = " to "  # as in "low to medium"

# Ends of the terms as shares of the stream: quintiles, and 1 % and 99 % at the outer ends.
SHARES = (0.01, 0.2, 0.4, 0.6, 0.8, 0.99)

_MIN_SPREAD = 0.05  # of a rule, in spreads of the stream: a rule of one sample has a spread of 0
_BISECTIONS = 40
_SEARCH_WIDTH = 8.0  # standard deviations on both sides of the mean that contain every quantile


@dataclass(frozen=True)
class Vocabulary:
    """The terms of every feature.

    Parameters
    ----------
    feature_names : list of str
    edges : array of shape (n_features, 6)
        Ends of the five terms in the units of the features, as sensors read now.
    texts : frozenset of str
        The features that stand for values of categorical columns.
    flags : frozenset of str
        The features that stand for true and false.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel.explain.terms import Vocabulary
    >>> words = Vocabulary(["heat"], np.array([[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]]))
    >>> words.range_of("heat", "high"), words.range_of("heat", "very low to low")
    ((60.0, 80.0), (0.0, 40.0))
    >>> words.term_for("heat", 55.0, 75.0), words.term_for("heat", 62.0, 75.0)
    ('medium to high', 'high')
    """

    feature_names: list[str]
    edges: FloatArray
    texts: frozenset[str] = field(default=frozenset(), repr=False)
    flags: frozenset[str] = field(default=frozenset(), repr=False)

    def range_of(self, feature: str, term: str) -> tuple[float, float]:
        """Return the ends of `term`, or of a span such as "low to medium", in the units of `feature`.

        The outermost ends are the 1 % and 99 % quantiles of the stream, although a rule "very high" has no upper end.
        """
        edges = self.edges[self.index_of(feature)]
        if term == ANY:
            return float(edges[0]), float(edges[-1])
        first, _, last = term.partition(_TO)
        low, high = _number(first), _number(last or first)
        if low > high:
            raise DataError(f"{term!r} runs downwards; write it as {last}{_TO}{first}")
        return float(edges[low]), float(edges[high + 1])

    def term_for(self, feature: str, low: float, high: float) -> str:
        """Return the term, or the span of terms, that holds the range `low` to `high` of `feature`; `ANY` for all."""
        edges = self.edges[self.index_of(feature)]
        first = int(np.searchsorted(edges[1:-1], low, side="right"))
        last = max(int(np.searchsorted(edges[1:-1], high, side="left")), first)
        if (first, last) == (0, len(TERMS) - 1):
            return ANY
        return TERMS[first] if first == last else f"{TERMS[first]}{_TO}{TERMS[last]}"

    @property
    def worded(self) -> frozenset[str]:
        """The features of 0 and 1 that are shown as words: texts and flags."""
        return self.texts | self.flags

    def index_of(self, feature: str) -> int:
        """Return the column number of `feature`; DataError if there is none of this name."""
        if feature not in self.feature_names:
            named = [column_and_value(name)[0] if name in self.texts else name for name in self.feature_names]
            raise DataError(
                f"there is no feature {feature!r}; the features are {first_names(list(dict.fromkeys(named)))}"
            )
        return self.feature_names.index(feature)

    def texts_like(self, feature: str) -> list[str]:
        """Return the features that stand for texts of the same column as `feature` (or of the column of this name)."""
        column = column_and_value(feature)[0]
        return [name for name in self.feature_names if name in self.texts and column_and_value(name)[0] == column]


def _number(term: str) -> int:
    if term not in TERMS:
        raise DataError(f"there is no term {term!r}; use one of {', '.join(TERMS)}, or a span such as low to high")
    return TERMS.index(term)


def is_term(words: str) -> bool:
    """Return whether `words` are a term, or a span of two."""
    first, _, last = words.partition(_TO)
    return words == ANY or {first, last or first} <= set(TERMS)


def stream_terms(model: Model, feature_names: Sequence[str]) -> Vocabulary:
    """Return the terms of the trained `model`, whose features are called `feature_names`, from the stream so far.

    They are in the units that the sensors read now.
    """
    assert model.scaler is not None
    edges = readings(model, _stream_quantiles(model, SHARES)).T
    texts = text_features(feature_names, model.scaler.binary)
    edges = np.maximum.accumulate(edges, axis=1)
    names = feature_names if isinstance(feature_names, FeatureNames) else list(feature_names)
    return Vocabulary(names, edges, texts, flag_features(feature_names))


def readings(model: Model, Z: FloatArray) -> FloatArray:
    """Return the scaled rows `Z` in the units that the sensors of `model` read now."""
    assert model.scaler is not None
    values = model.scaler.inverse(Z)
    return values if model.rules is None else as_read_now(model.rules, values)


def _stream_quantiles(model: Model, shares: Sequence[float]) -> FloatArray:
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


def scaled_moments(model: Model) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the scaled features of `model` over the stream.

    A feature that never varied has the spread that the scaling expects.
    """
    mean, variance = stream_moments(model.trained())
    return mean[: model.n_features], np.sqrt(variance[: model.n_features])


def _mixture(model: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
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
