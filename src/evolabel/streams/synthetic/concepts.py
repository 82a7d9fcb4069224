"""`Concept`: the rules behind a synthetic stream, known to the last number."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from evolabel.typing import FloatArray

HIDDEN_CAUSES = 2
CENTRE_SCALE = 2.0


@dataclass(frozen=True, eq=False)
class Concept:
    """Gaussian regions of unit spread; in each, linear functions of the place inside it switch the labels on.

    All labels share two hidden causes, so they are correlated: of the `2**n_labels` label sets at most `2 * n_labels`
    ever occur. `causes @ mixing` is the linear rule of every label in every region, of shape
    (n_regions, n_features + 1, n_labels).

    Parameters
    ----------
    centres : ndarray of shape (n_regions, n_features)
    causes : ndarray of shape (n_regions, n_features + 1, 2)
        Weights of the hidden causes inside each region; the last row is the intercept.
    mixing : ndarray of shape (2, n_labels)
        How much of each hidden cause is in each label.
    n_known : int
        Labels that exist already: the first ones; the others are still unborn.
    """

    centres: FloatArray
    causes: FloatArray
    mixing: FloatArray
    n_known: int

    @classmethod
    def draw(cls, rng: np.random.Generator, n_features: int, n_labels: int, n_regions: int) -> Self:
        """A random concept in which all labels are known."""
        return cls(
            centres=rng.normal(scale=CENTRE_SCALE, size=(n_regions, n_features)),
            causes=rng.normal(size=(n_regions, n_features + 1, HIDDEN_CAUSES)),
            mixing=rng.normal(size=(HIDDEN_CAUSES, n_labels)),
            n_known=n_labels,
        )

    def moved(self, rng: np.random.Generator) -> Self:
        """The same with one region, chosen at random, somewhere else and with other causes."""
        centres, causes = self.centres.copy(), self.causes.copy()
        region = rng.integers(len(centres))
        centres[region] = rng.normal(scale=CENTRE_SCALE, size=centres.shape[1])
        causes[region] = rng.normal(size=causes.shape[1:])
        return replace(self, centres=centres, causes=causes)

    def towards(self, target: Self, share: float) -> Self:
        """A share of the way to another concept; what both have in common stays exactly as it is."""
        return replace(
            self,
            centres=self.centres + share * (target.centres - self.centres),
            causes=self.causes + share * (target.causes - self.causes),
        )

    def knowing(self, n_known: int) -> Self:
        """The same when only the first labels are born."""
        return replace(self, n_known=n_known)

    def labels(self, region: int, local: FloatArray) -> FloatArray:
        """Labels (0, 1, NaN if unborn) of the sample at `centres[region] + local`."""
        on = (np.append(local, 1.0) @ self.causes[region]) @ self.mixing > 0.0
        labels: FloatArray = on.astype(np.float64)
        labels[self.n_known :] = np.nan
        return labels
