"""Concepts, and the five kinds of drift: which concepts follow each other, how one is replaced by the next.

A kind of drift is a function that yields concepts without end. Concepts are drawn only when they are needed, so that
the samples before the first drift are the same for all kinds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice, repeat
from typing import Self

import numpy as np

from evolabel.typing import FloatArray

DRIFT_KINDS = ("abrupt", "gradual", "incremental", "recurring", "new_label")
_N_RECURRING = 3
_N_CAUSES = 2
_CENTRE_SCALE = 2.0  # standard deviation of the centres, in units of that of the samples around one


@dataclass(frozen=True, eq=False)
class Concept:
    """Gaussian regions of unit variance; in each, labels are linear threshold functions of the offset from its centre.

    All labels depend on two hidden causes, so they are correlated: of the `2**n_labels` label sets at most
    `2 * n_labels` ever occur. `causes @ mixing`, of shape (n_regions, n_features + 1, n_labels), are the weights
    of every label in every region.

    Parameters
    ----------
    centres : ndarray of shape (n_regions, n_features)
        Means of the regions.
    causes : ndarray of shape (n_regions, n_features + 1, 2)
        Weights of the hidden causes inside each region; the last row is the intercept.
    mixing : ndarray of shape (2, n_labels)
        Weight of each hidden cause in each label.
    n_known : int
        Number of labels that exist already, the first ones; the others are NaN.
    """

    centres: FloatArray
    causes: FloatArray
    mixing: FloatArray
    n_known: int

    @classmethod
    def draw(cls, rng: np.random.Generator, n_features: int, n_labels: int, n_regions: int) -> Self:
        """Return a random concept of these sizes in which all labels exist.

        `rng` draws the centres, then the causes, then the mixing. `n_features`, `n_labels` and `n_regions` are sizes.
        """
        return cls(
            centres=rng.normal(scale=_CENTRE_SCALE, size=(n_regions, n_features)),
            causes=rng.normal(size=(n_regions, n_features + 1, _N_CAUSES)),
            mixing=rng.normal(size=(_N_CAUSES, n_labels)),
            n_known=n_labels,
        )

    def moved(self, rng: np.random.Generator) -> Self:
        """Return a concept in which one region, chosen by `rng`, has another centre and other causes."""
        centres, causes = self.centres.copy(), self.causes.copy()
        region = rng.integers(len(centres))
        centres[region] = rng.normal(scale=_CENTRE_SCALE, size=centres.shape[1])
        causes[region] = rng.normal(size=causes.shape[1:])
        return replace(self, centres=centres, causes=causes)

    def towards(self, target: Self, share: float) -> Self:
        """Return the concept between this one (`share` 0) and `target` (`share` 1); equal numbers stay equal."""
        return replace(
            self,
            centres=self.centres + share * (target.centres - self.centres),
            causes=self.causes + share * (target.causes - self.causes),
        )

    def with_labels(self, n_known: int) -> Self:
        """Return a concept in which only the first `n_known` labels exist."""
        return replace(self, n_known=n_known)

    def labels(self, region: int, local: FloatArray) -> FloatArray:
        """Return the labels of the sample at `centres[region] + local`: 0, 1, NaN if they do not exist yet."""
        on = (np.append(local, 1.0) @ self.causes[region]) @ self.mixing > 0.0
        labels: FloatArray = on.astype(np.float64)
        labels[self.n_known :] = np.nan
        return labels


def concept_per_sample(
    drift: str, start: Concept, rng: np.random.Generator, every: int, width: int
) -> Iterator[Concept]:
    """Return an iterator over the concept of each sample, from `start` on, for the kind of `drift`.

    A drift begins every `every` samples, never if that is 0. `rng` draws the concepts. `width` is the number of samples
    that a gradual drift takes.
    """
    if drift == "none" or not every:
        return repeat(start)
    match drift:
        case "abrupt":
            return _abrupt(_moving(start, rng), every)
        case "gradual":
            return _gradual(_moving(start, rng), rng, every, width)
        case "incremental":
            return _incremental(_moving(start, rng), every)
        case "recurring":
            return _abrupt(cycle(islice(_moving(start, rng), _N_RECURRING)), every)
        case _:
            return _abrupt(_growing(start), every)


def labels_at_start(n_labels: int) -> int:
    """Return the number of labels at the start of a stream with new labels: half of `n_labels`, rounded up."""
    return (n_labels + 1) // 2


def _moving(concept: Concept, rng: np.random.Generator) -> Iterator[Concept]:
    """Yield `concept`, then concepts that differ from the one before in one region."""
    while True:
        yield concept
        concept = concept.moved(rng)


def _growing(concept: Concept) -> Iterator[Concept]:
    """Yield `concept` with one more label each time, until it has all labels."""
    for n_known in range(labels_at_start(concept.n_known), concept.n_known):
        yield concept.with_labels(n_known)
    yield from repeat(concept)


def _abrupt(concepts: Iterator[Concept], every: int) -> Iterator[Concept]:
    """Yield each of `concepts` for `every` samples."""
    for concept in concepts:
        yield from repeat(concept, every)


def _gradual(concepts: Iterator[Concept], rng: np.random.Generator, every: int, width: int) -> Iterator[Concept]:
    """Yield `concepts` for `every` samples each; for `width` samples the old and the new one alternate at random.

    The probability of the new one grows linearly.
    """
    old = next(concepts)
    yield from repeat(old, every)
    for new in concepts:
        for step in range(1, width + 1):
            yield new if rng.random() < step / (width + 1) else old
        yield from repeat(new, every - width)
        old = new


def _incremental(concepts: Iterator[Concept], every: int) -> Iterator[Concept]:
    """Yield the first of `concepts` for `every` samples, then move to each next one in `every` equal steps."""
    old = next(concepts)
    yield from repeat(old, every)
    for new in concepts:
        for step in range(1, every):
            yield old.towards(new, step / every)
        yield new
        old = new
