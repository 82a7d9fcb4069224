"""Weights of labels and classes by name, and the thresholds of one explained row."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from evolabel._utils.text import counted
from evolabel.classifier.targets import Targets
from evolabel.errors import ParameterError
from evolabel.typing import BoolArray, FloatArray

_SHOWN_NAMES = 5  # labels in an error


class RowDecisions(TypedDict):
    """The `threshold` of each label of a row, infinite where labels are decided `together`, by sets or by weights."""

    threshold: FloatArray | None
    together: str


def named_weights(class_weight: dict[Any, float] | str | None, names: list[str]) -> FloatArray | None:
    """Return the weight of each label or class in `names`, 1 where `class_weight` has none; None if it is no dict."""
    if not isinstance(class_weight, dict):
        return None
    given = {str(name): float(weight) for name, weight in class_weight.items()}
    return np.array([given.get(name, 1.0) for name in names])


def renamed_weights(
    class_weight: dict[Any, float] | str | None, known: Sequence[str], names: Sequence[str]
) -> dict[Any, float] | str | None:
    """Return `class_weight` with those of `names` in place of the labels `known`; the same where it is no dict."""
    if not isinstance(class_weight, dict):
        return class_weight
    new = dict(zip(known, names, strict=True))
    return {new.get(str(name), name): weight for name, weight in class_weight.items()}


def check_weighted_names(class_weight: dict[Any, float] | str | None, targets: Targets) -> None:
    """Raise ParameterError if `class_weight` names a label or class that `targets` do not have."""
    unknown = [] if not isinstance(class_weight, dict) else [n for n in class_weight if str(n) not in targets.names]
    if unknown:
        first = ", ".join(targets.names[:_SHOWN_NAMES])
        more = "" if targets.size <= _SHOWN_NAMES else f", ... ({counted(targets.size, 'label')} in all)"
        raise ParameterError(f"class_weight has {unknown[0]!r}, which y does not have; use names of {first}{more}")


def as_thresholds(decided: BoolArray) -> FloatArray:
    """Return thresholds that every output reaches where `decided`, (K,), is True, and none where it is False."""
    return np.where(decided, -np.inf, np.inf)
