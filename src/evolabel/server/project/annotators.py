"""Weights of annotators: read from the model of a project, and set by hand."""

from evolabel.errors import DataError
from evolabel.server.project.desk import Desk, Origin
from evolabel.server.project.state import Facts


def weights_of(desk: Desk, names: list[str]) -> dict[str, Facts]:
    """Return by name the weight of each annotator in `names` on the `desk`, and whether it was set by hand."""
    pool = desk.state.learner.annotators
    return {name: {"weight": pool.weight(name), "fixed": name in pool.fixed} for name in names}


def weigh_annotator(desk: Desk, person: int, name: str, weight: float | None, origin: Origin) -> Facts:
    """Set the `weight` of a `person` called `name` on the `desk` for `origin`; None: by agreement with others again.

    The same weight again changes nothing.
    """
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise DataError(f"the weight is {weight!r}; it must be from 0 to 1, or null to take it from agreements")
    if desk.state.learner.annotators.fixed.get(name) != weight:
        desk.record("annotator.weighted", {"person": person, "annotator": name, "weight": weight}, origin)
    return weights_of(desk, [name])[name]
