"""What a change of the model does to predictions: those of two states for the same samples, compared."""

from collections.abc import Sequence
from typing import NamedTuple

from evolabel.server.project.state import ProjectState
from evolabel.typing import IntArray

COMPARED = 500
"""Samples whose predictions are compared, the last ones."""

Cells = list[float | str | None]
"""The values of a sample in the order of the features."""


class Changes(NamedTuple):
    """How many of the predictions for `of` samples `changed`, and per label how many became yes and no."""

    of: int
    changed: int
    labels: dict[str, dict[str, int]]


def compare(before: ProjectState, after: ProjectState, samples: Sequence[Cells]) -> Changes:
    """Return how the predictions for `samples` by the state `after` differ from those by the state `before`."""
    if not samples:
        return Changes(0, 0, {})
    old, new = decisions(before, after, samples)
    return Changes(len(samples), int((new != old).any(axis=1).sum()), changes_by_label(before.label_names, old, new))


def decisions(before: ProjectState, after: ProjectState, samples: Sequence[Cells]) -> tuple[IntArray, IntArray]:
    """Return what the states `before` and `after` decide for `samples`, for the labels that both have, (n, K) each."""
    old, new = before.decide(samples), after.decide(samples)
    return old, new[:, : old.shape[1]]


def changes_by_label(names: Sequence[str], old: IntArray, new: IntArray) -> dict[str, dict[str, int]]:
    """Return for each label of `names` how many decisions became yes and no, from those `old` to those `new`."""
    return {
        name: {"to_yes": int((new[:, c] > old[:, c]).sum()), "to_no": int((new[:, c] < old[:, c]).sum())}
        for c, name in enumerate(names)
    }
