"""Words for values: very low, low, medium, high, very high, each a fifth of the stream as the model knows it.

The model keeps no samples, but its rules are a summary of the stream: supports, centres and spreads, feature by
feature a mixture of Gaussians in scores. Its quintiles are the borders of the terms. Place and width are corrected to
the moments of the whole stream (slot 0), which also follow where rules were pruned or the past fades. Nothing is stored
or learned for this, so terms follow the stream at no price, and survive saving, merging and new features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from evolabel.core.edits import expert_rules
from evolabel.core.model import StreamModel
from evolabel.errors import DataError
from evolabel.explain.text_columns import column_and_value, text_features
from evolabel.typing import FloatArray

TERMS = ("very low", "low", "medium", "high", "very high")
ANY = "any"  # a range as wide as all terms together
TO = " to "  # as in "low to medium"

# Ends of the terms as shares of the stream: quintiles, and nearly all of it at the outer ends.
SHARES = (0.01, 0.2, 0.4, 0.6, 0.8, 0.99)

NARROWEST = 0.05  # spread of a rule in units of the stream's: a rule of one sample is no needle
BISECTIONS = 40
REACH = 8.0  # standard deviations within which every quantile is looked for


@dataclass(frozen=True)
class Vocabulary:
    """Terms of every feature; `edges` (n_features, 6) are the ends of the five terms in original units.

    `texts` are the features that stand for values of columns of texts.

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

    def range_of(self, feature: str, term: str) -> tuple[float, float]:
        """Ends of a term, or of a span such as "low to medium", in the units of the feature.

        The outermost ends are the 1 % and 99 % quantiles of the stream; a rule "very high" has no upper end as such.
        """
        edges = self.edges[self.place(feature)]
        if term == ANY:
            return float(edges[0]), float(edges[-1])
        first, _, last = term.partition(TO)
        low, high = self._number(first), self._number(last or first)
        if low > high:
            raise DataError(f"{term!r} runs downwards; write it as {last}{TO}{first}")
        return float(edges[low]), float(edges[high + 1])

    def term_for(self, feature: str, low: float, high: float) -> str:
        """The term of a range in the units of the feature, a span of terms if it is wide, `ANY` if it covers all."""
        edges = self.edges[self.place(feature)]
        first = int(np.searchsorted(edges[1:-1], low, side="right"))
        last = max(int(np.searchsorted(edges[1:-1], high, side="left")), first)
        if (first, last) == (0, len(TERMS) - 1):
            return ANY
        return TERMS[first] if first == last else f"{TERMS[first]}{TO}{TERMS[last]}"

    def place(self, feature: str) -> int:
        """Column of a feature."""
        if feature not in self.feature_names:
            known = ", ".join(self.feature_names[:8]) + (", ..." if len(self.feature_names) > 8 else "")
            raise DataError(f"there is no feature {feature!r}; the model knows {known}")
        return self.feature_names.index(feature)

    def texts_like(self, feature: str) -> list[str]:
        """The features that stand for texts of the same column, in their order."""
        column = column_and_value(feature)[0]
        return [name for name in self.feature_names if name in self.texts and column_and_value(name)[0] == column]

    def _number(self, term: str) -> int:
        if term not in TERMS:
            raise DataError(f"there is no term {term!r}; use one of {', '.join(TERMS)}, or a span such as low to high")
        return TERMS.index(term)


def is_term(words: str) -> bool:
    """Is this a term, or a span of two?"""
    first, _, last = words.partition(TO)
    return words == ANY or {first, last or first} <= set(TERMS)


def stream_terms(model: StreamModel, feature_names: Sequence[str]) -> Vocabulary:
    """The terms of a trained model, from the stream as it is known now."""
    assert model.scaler is not None
    edges = model.scaler.inverse(stream_quantiles(model, SHARES)).T
    texts = text_features(feature_names, model.scaler.binary)
    return Vocabulary(list(feature_names), np.maximum.accumulate(edges, axis=1), texts)


def stream_quantiles(model: StreamModel, shares: Sequence[float]) -> FloatArray:
    """Quantiles of the scores of the stream, (shares, n_features)."""
    weight, centre, spread = _mixture(model)
    mean = (weight * centre).sum(axis=0)
    width = np.sqrt((weight * (spread**2 + (centre - mean) ** 2)).sum(axis=0))
    low = np.tile(mean - REACH * width, (len(shares), 1))
    high = np.tile(mean + REACH * width, (len(shares), 1))
    wanted = np.array(shares)[:, None]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        below = (weight * ndtr((middle[:, None] - centre) / spread)).sum(axis=1) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    true_mean, true_width = stream_moments(model)
    return np.asarray(true_mean + ((low + high) / 2.0 - mean) * (true_width / width))


def stream_moments(model: StreamModel) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the scores of the stream; the expected spread where nothing varied."""
    mean, variance = expert_rules.stream_moments(model.trained())
    return mean[: model.n_features], np.sqrt(variance[: model.n_features])


def _mixture(model: StreamModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, centres and spreads of the rules as they were seen, without prior, each (rules, n_features).

    Without rules there is one Gaussian, as wide as the scaling expects.
    """
    rules, p = model.trained(), model.n_features
    mean, width = stream_moments(model)
    if rules.n_rules == 0:
        return np.ones((1, p)), mean[None], width[None]
    used, a = slice(1, rules.n_rules + 1), rules.arrays
    seen = np.maximum(np.minimum(a.n[used, :p], a.k[used, None]), 1e-12)  # a claim may count for more in a feature
    spread = np.sqrt(a.M[used, :p] / seen + (NARROWEST * width) ** 2)
    return seen / seen.sum(axis=0), a.c[used, :p], spread
