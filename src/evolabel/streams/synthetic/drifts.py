"""The five kinds of drift: which concepts follow each other, and how one gives way to the next.

A stream of concepts holds one concept per sample and never ends. Concepts are drawn when they are needed, not before,
so that all kinds share the samples before their first drift.
"""

from collections.abc import Iterator
from itertools import cycle, islice, repeat

import numpy as np

from evolabel.streams.synthetic.concepts import Concept

DRIFT_KINDS = ("abrupt", "gradual", "incremental", "recurring", "new_label")
RECURRING_CONCEPTS = 3


def concept_per_sample(
    drift: str, start: Concept, rng: np.random.Generator, every: int, width: int
) -> Iterator[Concept]:
    """The concept behind each sample, from `start` on; a drift begins every `every` samples, never if that is 0."""
    if drift == "none" or not every:
        return repeat(start)
    match drift:
        case "abrupt":
            return at_once(moving(start, rng), every)
        case "gradual":
            return mixed(moving(start, rng), rng, every, width)
        case "incremental":
            return gliding(moving(start, rng), every)
        case "recurring":
            return at_once(cycle(islice(moving(start, rng), RECURRING_CONCEPTS)), every)
        case _:
            return at_once(growing(start), every)


def labels_at_start(n_labels: int) -> int:
    """Labels that exist before any is born: half of them, rounded up."""
    return (n_labels + 1) // 2


def moving(concept: Concept, rng: np.random.Generator) -> Iterator[Concept]:
    """Concepts that differ from the one before in one region."""
    while True:
        yield concept
        concept = concept.moved(rng)


def growing(concept: Concept) -> Iterator[Concept]:
    """One label more each time, until all are there."""
    for n_known in range(labels_at_start(concept.n_known), concept.n_known):
        yield concept.knowing(n_known)
    yield from repeat(concept)


def at_once(concepts: Iterator[Concept], every: int) -> Iterator[Concept]:
    """Each concept lasts `every` samples."""
    for concept in concepts:
        yield from repeat(concept, every)


def mixed(concepts: Iterator[Concept], rng: np.random.Generator, every: int, width: int) -> Iterator[Concept]:
    """For `width` samples old and new concept take turns at random, the new one more and more often."""
    old = next(concepts)
    yield from repeat(old, every)
    for new in concepts:
        for step in range(1, width + 1):
            yield new if rng.random() < step / (width + 1) else old
        yield from repeat(new, every - width)
        old = new


def gliding(concepts: Iterator[Concept], every: int) -> Iterator[Concept]:
    """After the first `every` samples the concept moves with each sample, and arrives at the next after `every`."""
    old = next(concepts)
    yield from repeat(old, every)
    for new in concepts:
        for step in range(1, every):
            yield old.towards(new, step / every)
        yield new
        old = new
