"""One prediction in parts that add up: rules, features, labels."""

from dataclasses import dataclass, field

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.kernels.state import FloatArray, IntArray


@dataclass(frozen=True)
class Explanation:
    """Why the model answers what it answers for one sample.

    `contributions[i, j, c]` is what feature j (the last: the intercept) gives label c through active rule i:
    psi_i r_j w_ijc. They sum to the output, eq. (2).
    """

    rules: IntArray
    memberships: FloatArray
    contributions: FloatArray
    distances: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)

    @property
    def total(self) -> FloatArray:
        """The output per label: the sum of all contributions."""
        return np.asarray(self.contributions.sum(axis=(0, 1)))

    def __str__(self) -> str:
        return "\n".join(self._line(c) for c in range(len(self.label_names)))

    def _line(self, c: int) -> str:
        parts = self.contributions[:, :, c].sum(axis=0)
        names = [*self.feature_names, "base rate"]
        strongest = np.argsort(-np.abs(parts), kind="stable")[:4]
        told = ", ".join(f"{names[j]} {parts[j]:+.3f}" for j in strongest)
        rest = ", ..." if len(names) > len(strongest) else ""
        return f"{self.label_names[c]}: {self.total[c]:.3f} ({told}{rest})"


def explain_sample(model: StreamModel, x: FloatArray, feature_names: list[str], label_names: list[str]) -> Explanation:
    """Explanation of one raw sample, x of shape (1, p); a missing feature takes each rule's mean."""
    rules = model.trained()
    z = model.scale(x)
    psi, distance = rules.memberships(z)
    active = np.flatnonzero(psi[0])
    parts = np.empty((len(active), model.n_features + 1, model.n_labels))
    for i, rule in enumerate(active):
        slot = int(rule) + 1
        parts[i] = psi[0, rule] * rules.regressor(z[0], slot)[:, None] * rules.weights(slot)
    identities = rules.arrays.identity[active + 1].copy()
    return Explanation(identities, psi[0, active], parts, distance[0, active], feature_names, label_names)
