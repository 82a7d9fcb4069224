"""The five kinds of drift: which concepts follow each other, and how one is replaced by the next.

Every function yields concepts without end. Concepts are drawn only when they are needed, so that the samples before the
first drift are the same for all kinds.
"""

from collections.abc import Iterator
from itertools import cycle, islice, repeat

import numpy as np

from evolabel.streams.synthetic.concepts import Concept

DRIFT_KINDS = ("abrupt", "gradual", "incremental", "recurring", "new_label")
_N_RECURRING = 3


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
