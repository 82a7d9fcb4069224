"""`RuleShape`: where a rule lies, and how far it reaches."""

import numpy as np

from evolabel.stages.rules.arrays import RuleArrays, Settings
from evolabel.typing import FloatArray, IntArray


class RuleShape:
    """Centre and spread of the rule in `slot` of `arrays` with these `settings`, in its `n_features` features."""

    def __init__(self, slot: int, n_features: int, arrays: RuleArrays, settings: Settings) -> None:
        self.slot = slot
        self.n_features = n_features
        self.arrays = arrays
        self.settings = settings

    @property
    def covariance(self) -> FloatArray:
        """Sigma_i, prior included, (p, p)."""
        p = self.n_features
        return np.diag(np.asarray(self.settings.importance[:p] / self.arrays.inv[self.slot, :p]))

    @property
    def root_of_samples(self) -> FloatArray:
        """A factor of the covariance of the samples that the rule has seen, without prior, (p, p)."""
        p, a, slot = self.n_features, self.arrays, self.slot
        return np.diag(np.sqrt(a.M[slot, :p] / np.maximum(a.n[slot, :p], 1e-300)))

    def squares_in_order(self, Z: FloatArray, order: IntArray) -> FloatArray:
        """Return what each feature of `order` adds to the squared distances of complete rows `Z` to the rule.

        The sums of the first 1, 2, ... of them, (rows, p), are the squared distances over these features alone.
        """
        a, slot = self.arrays, self.slot
        return np.asarray((Z[:, order] - a.c[slot, order]) ** 2 * a.inv[slot, order])
