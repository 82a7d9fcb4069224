"""Where a person has written a rule, threshold rules step back, by the membership of a row in that rule."""

import numpy as np

from evolabel.core.members.mixture import corrected
from evolabel.core.protocols import Model
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.rules.weights import answers
from evolabel.typing import BoolArray, FloatArray

ALL_PARTS = np.empty(0)  # no rule was written


def by_people(rules: RuleBase) -> BoolArray:
    """Return which of the `rules` a person has written, (C,)."""
    return np.isin(rules.arrays.identity[1 : rules.n_rules + 1], list(rules.rule_names.written))


def parts_to_refine(model: Model, X: FloatArray) -> FloatArray:
    """Return the part of each raw row of `X` outside the rules of people, (n,); empty if `model` has no such rules."""
    rules = model.trained()
    people = by_people(rules)
    if not people.any():
        return ALL_PARTS
    assert model.scaler is not None
    psi = answers(rules, model.scaler.transform(corrected(rules, X))).psi
    return np.asarray(1.0 - psi[:, people].sum(axis=1))
