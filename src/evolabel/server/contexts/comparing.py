"""What a change of the model does to predictions: those of two states for the same samples, compared."""

from collections.abc import Sequence
from typing import NamedTuple

from evolabel.server.contexts.state import ProjectState

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
    old, new = before.decide(samples), after.decide(samples)
    new = new[:, : old.shape[1]]
    labels = {
        name: {"to_yes": int((new[:, c] > old[:, c]).sum()), "to_no": int((new[:, c] < old[:, c]).sum())}
        for c, name in enumerate(before.label_names)
    }
    return Changes(len(samples), int((new != old).any(axis=1).sum()), labels)
