"""Words for values: very low, low, medium, high, very high, fifths of the stream (`stages.rules.stream_terms`)."""

from dataclasses import dataclass, field

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.typing import FloatArray
from evolabel.words.text_columns import column_and_value

TERMS = ("very low", "low", "medium", "high", "very high")
ANY = "any"  # a range as wide as all terms together
_TO = " to "  # as in "low to medium"

# Ends of the terms as shares of the stream: quintiles, and 1 % and 99 % at the outer ends.
SHARES = (0.01, 0.2, 0.4, 0.6, 0.8, 0.99)


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
    >>> from evolabel.words.terms import Vocabulary
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

    def width_of(self, feature: str) -> float:
        """Return the mean width of a term of `feature`, in its units."""
        edges = self.edges[self.index_of(feature)]
        return float(edges[-1] - edges[0]) / len(TERMS)

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
