"""What the features of a sample add to its outputs through the active rules."""

from collections.abc import Callable

import numpy as np

from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray, IntArray


def rule_part(
    rules: RuleBase, weights_of: Callable[[int], FloatArray], z: FloatArray, psi: FloatArray, active: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return what each feature of the scaled sample `z` adds through each of the `active` rules, and the slopes.

    `weights_of` returns the consequents in a slot of `rules`, `psi` are the memberships of all rules.
    Shapes: (n_active, n_features + 1, n_labels), (n_features, n_labels).
    """
    parts = np.empty((len(active), rules.n_features + 1, rules.n_labels))
    slopes = np.zeros((rules.n_features, rules.n_labels))
    for i, rule in enumerate(active):
        slot = int(rule) + 1
        weights = psi[rule] * weights_of(slot)
        parts[i] = rules.regressor(z, slot)[:, None] * weights
        slopes += weights[:-1]
    return parts, slopes
