"""`AnnotatorPool`: weights of annotators, set or estimated from agreements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evolabel._utils.text import counted, one_line
from evolabel._utils.validation import check_number
from evolabel.classifier.samples import as_matrix
from evolabel.classifier.targets import checked_labels
from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.model.storage.fact_checks import StoredFacts
from evolabel.typing import FloatArray

_PRIOR_AGREEMENTS = 10.0  # agreements that every annotator starts with


class AnnotatorPool:
    """Weights in [0, 1] by annotator, set by hand or estimated from how often annotators agree with each other.

    Where several annotators have answered the same label, each is compared with the weighted vote of the others. The
    share of agreements a has mean (10 + agreed) / (10 + compared), that of a Beta distribution that starts at ten
    agreements; the weight is 2a - 1, so who agrees as often as a coin counts for nothing.

    Parameters
    ----------
    weights : dict of str to float, optional
        Weights set by hand; they are never estimated.

    Examples
    --------
    >>> from evolabel.active import AnnotatorPool
    >>> pool = AnnotatorPool({"anna": 1.0})
    >>> y, confidence = pool.vote([[1, 0], [1, 1]], ["anna", "bob"])
    >>> print(y, confidence, round(pool.weight("bob"), 2))
    [ 1. nan] [1. 0.] 0.83
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.fixed: dict[str, float] = {}
        self.agreed: dict[str, int] = {}
        self.compared: dict[str, int] = {}
        if not isinstance(weights, Mapping | None):
            raise DataTypeError(
                f"weights are a dictionary of names to numbers, got {type(weights).__name__}; pass {{'anna': 1.0}}"
            )
        for name, weight in (weights or {}).items():
            self.set_weight(name, weight)

    def set_weight(self, annotator: str, weight: float | None) -> None:
        """Set the `weight` of `annotator` by hand; None: it is estimated from agreements again."""
        read_names(annotator)
        if weight is None:
            self.fixed.pop(annotator, None)
            return
        check_number(f"weight of {annotator!r}", weight, 0, 1)
        self.fixed[annotator] = float(weight)

    def weight(self, annotator: str) -> float:
        """The weight of `annotator` in [0, 1]; 1 for one who was never compared."""
        if annotator in self.fixed:
            return self.fixed[annotator]
        share = (_PRIOR_AGREEMENTS + self.agreed.get(annotator, 0)) / (
            _PRIOR_AGREEMENTS + self.compared.get(annotator, 0)
        )
        return max(2.0 * share - 1.0, 0.0)

    def vote(self, answers: object, annotators: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """One answer and its confidence per label, from a row of `answers` for each of the `annotators`.

        The pool counts their agreements.

        The confidence is the weight by which the winning side is ahead, at most 1; a draw counts as not answered.
        """
        names, table = read_names(annotators), checked_labels(as_matrix(answers, "answers"))
        if len(set(names)) < len(names):
            raise ParameterError(f"annotators={list(names)} names one twice; pass one row of answers for each")
        if len(table) != len(names):
            raise DataError(f"answers has {len(table)} rows for {len(names)} annotators; pass one row for each")
        sides = np.nan_to_num(2.0 * table - 1.0)  # -1, 1, and 0 for no answer
        votes = sides * np.array([self.weight(name) for name in names])[:, None]
        total = votes.sum(axis=0)
        self._compare(sides, votes, names)
        answered = (sides != 0.0).any(axis=0)
        return np.where(answered & (total != 0.0), total > 0.0, np.nan), np.minimum(np.abs(total), 1.0)

    def _compare(self, sides: FloatArray, votes: FloatArray, annotators: Sequence[str]) -> None:
        """Count each annotator's agreements with the vote of the others."""
        for i, annotator in enumerate(annotators):
            own, others = sides[i], np.sign(np.delete(votes, i, axis=0).sum(axis=0))
            judged = (own != 0.0) & (others != 0.0)
            self.agreed[annotator] = self.agreed.get(annotator, 0) + int((own[judged] == others[judged]).sum())
            self.compared[annotator] = self.compared.get(annotator, 0) + int(judged.sum())

    def facts(self) -> dict[str, Any]:
        """The pool as values that JSON can hold."""
        return {"fixed": self.fixed, "agreed": self.agreed, "compared": self.compared}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "AnnotatorPool":
        """The pool whose values are in `facts`; DataError if they are not those of a pool."""
        facts.only("fixed", "agreed", "compared")
        pool = cls(facts.value("fixed"))
        pool.agreed, pool.compared = facts.counts("agreed"), facts.counts("compared")
        if any(count > pool.compared.get(name, 0) for name, count in pool.agreed.items()):
            raise facts.refuse("agreed", "no more agreements than comparisons")
        return pool

    def __repr__(self) -> str:
        names = sorted({*self.fixed, *self.compared})
        return f"AnnotatorPool({'; '.join(map(self._described, names))})"

    def _described(self, annotator: str) -> str:
        """The weight of `annotator` in a few words, and where it comes from."""
        agreed, compared = self.agreed.get(annotator, 0), self.compared.get(annotator, 0)
        why = "set by hand" if annotator in self.fixed else f"agreed on {agreed} of {counted(compared, 'label')}"
        return f"{one_line(annotator)}: weight {self.weight(annotator):.2f}, {why}"


def read_names(annotators: object) -> tuple[str, ...]:
    """Names of one annotator or several in `annotators`; text only, because files keep them as text."""
    alone = isinstance(annotators, str) or not isinstance(annotators, Iterable)
    names = (annotators,) if alone else tuple(annotators)  # type: ignore[arg-type]
    for name in names:
        if not isinstance(name, str):
            raise DataTypeError(f"an annotator is called {name!r}; use text as names")
    return names  # type: ignore[return-value]
