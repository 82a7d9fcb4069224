"""How well threshold rules can be read: whether conditions name true features, and how far edges are from true ones."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from concept_streams import Edges, Stream

from evolabel import EvolvingFuzzyClassifier

RANGE = (0.01, 0.99)  # quantiles between which the values of a feature lie, for errors in % of it


class Bounds(NamedTuple):
    """A condition of a rule: `feature` is above `low` and at most `high`; infinite where there is no bound."""

    feature: str
    low: float
    high: float


Rules = list[list[Bounds]]
"""The conditions of every rule of a label."""


def conditions_of(classifier: EvolvingFuzzyClassifier) -> dict[str, Rules]:
    """Return the threshold rules of every label of `classifier` for which they are used, by name of the label."""
    return {
        found.label: [[Bounds(c.feature, c.low, c.high) for c in rule.conditions] for rule in found.rules]
        for found in classifier.rules_.threshold_rules
    }


def reading(stream: Stream, rules: Mapping[str, Rules]) -> dict[str, object]:
    """Return the number of `rules` and of conditions, of true conditions, and the error of every edge in percent.

    `rules` has the labels of the model. A binary problem has one truth for both classes.
    """
    if stream.truths is None:
        raise ValueError("nothing is known of the labels of this stream")
    truths = dict(zip(stream.labels, stream.truths, strict=True))
    named = [
        (condition, truths.get(label, stream.truths[0]))
        for label, of_label in rules.items()
        for rule in of_label
        for condition in rule
    ]
    true = [(condition, truth) for condition, truth in named if names_true(condition.feature, truth)]
    errors = [error for condition, truth in true for error in edge_errors(stream, condition, truth)]
    return {
        "rules": sum(map(len, rules.values())),
        "conditions": len(named),
        "true": len(true),
        "errors": [round(error, 4) for error in errors],
    }


def names_true(feature: str, truth: Edges) -> bool:
    """Return whether `feature`, a column or a category of several columns, is one of those that decide the label."""
    return feature in truth or any(name.startswith(f"{feature}=") for name in truth)


def edge_errors(stream: Stream, condition: Bounds, truth: Edges) -> Iterable[float]:
    """Yield how far each bound of `condition` is from the nearest true edge, in percent of the feature's range."""
    edges = truth.get(condition.feature)
    if not edges:  # a category has no edges
        return
    low, high = np.nanquantile(stream.X[:, stream.features.index(condition.feature)], RANGE)
    for bound in (condition.low, condition.high):
        if np.isfinite(bound):
            yield 100.0 * min(abs(bound - edge) for edge in edges) / float(high - low)
