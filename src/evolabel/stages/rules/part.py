"""What the features of a sample add to its outputs through the active rules."""

import numpy as np

from evolabel.stages.protocols import Model
from evolabel.typing import FloatArray, IntArray


def rule_part(model: Model, z: FloatArray, psi: FloatArray, active: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return what each feature of the scaled sample `z` adds through each of the `active` rules, and the slopes.

    `psi` are the memberships of all rules. Shapes: (n_active, n_features + 1, n_labels), (n_features, n_labels).
    """
    rules = model.trained()
    parts = np.empty((len(active), model.n_features + 1, model.n_labels))
    slopes = np.zeros((model.n_features, model.n_labels))
    for i, rule in enumerate(active):
        slot = int(rule) + 1
        weights = psi[rule] * model.drift.weights(slot)
        parts[i] = rules.regressor(z, slot)[:, None] * weights
        slopes += weights[:-1]
    return parts, slopes
