"""Shares of the labels in every slot, and the rate at which a new label starts."""

import numpy as np

from evolabel.stages.rules.rule_state import RuleState
from evolabel.typing import FloatArray, IntArray


def label_shares(base: RuleState) -> FloatArray:
    """Return how often each label was on among the samples of every slot of `base`, (1 + C, K), in [0, 1]."""
    used = range(base.n_rules + 1)
    evidence = np.array([base.hessian(slot)[-1, -1] for slot in used])
    shares = base.arrays.G[: len(used), :, -1] / np.maximum(evidence, 1e-300)[:, None]
    return np.asarray(np.clip(shares, 0.0, 1.0))


def set_rate(base: RuleState, extra: int, rate: float) -> None:
    """Set G of the last `extra` labels of `base` so that weights are 0 and intercepts are `rate`.

    All samples so far then count as if they had carried that rate as a soft label: G = rate * (H's last column).
    """
    arrays = base.arrays
    for slot in range(base.n_rules + 1):
        arrays.G[slot, -extra:] = rate * base.hessian(slot)[-1]
    arrays.G[0, -extra:, -1] += rate * base.settings.penalty[0, -1]  # W_0 = P_0 G_0 is then exact


def blend(array: FloatArray, at: IntArray, part: FloatArray, value: FloatArray) -> None:
    """Move the entries `at` of `array` towards `value`: a `part` of each, (len(at),), stays."""
    own = part.reshape(-1, *[1] * (value.ndim - 1))
    array[at] = own * array[at] + (1.0 - own) * value
