"""The kinds of classifiers: where their classes are, and which of them has a parameter."""

from collections.abc import Collection
from inspect import signature
from pkgutil import resolve_name
from typing import Any

CLASSIFIERS = {
    "EvolvingFuzzyClassifier": "evolabel:EvolvingFuzzyClassifier",
    "PaperClassifier": "evolabel.paper:PaperClassifier",
}
"""Where each class is, by its name in files."""


def kind_of(name: object) -> type[Any] | None:
    """Return the class of the classifiers that files call `name`; None if there is none."""
    path = CLASSIFIERS.get(name) if isinstance(name, str) else None
    found: type[Any] | None = None if path is None else resolve_name(path)
    return found


def refuse_parameters(made: type[Any], names: Collection[str]) -> None:
    """Raise TypeError for `names` that `made` does not have, and another kind of classifier has as parameters."""
    for path in CLASSIFIERS.values():
        other = resolve_name(path)
        if not issubclass(made, other) and (found := sorted(signature(other).parameters.keys() & names)):
            raise TypeError(f"{made.__name__} has no parameter {found[0]!r}; {path.replace(':', '.')} has it")
