"""`Concept`: the rules that generate the labels of a synthetic stream."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from evolabel.typing import FloatArray

_N_CAUSES = 2
_CENTRE_SCALE = 2.0  # standard deviation of the centres, in units of that of the samples around one


@dataclass(frozen=True, eq=False)
class Concept:
    """Gaussian regions of unit variance; in each, labels are linear threshold functions of the offset from its centre.

    All labels depend on two hidden causes, so they are correlated: of the `2**n_labels` label sets at most
    `2 * n_labels` ever occur. `causes @ mixing`, of shape (n_regions, n_features + 1, n_labels), are the weights
    of every label in every region.

    Parameters
    ----------
    centres : ndarray of shape (n_regions, n_features)
        Means of the regions.
    causes : ndarray of shape (n_regions, n_features + 1, 2)
        Weights of the hidden causes inside each region; the last row is the intercept.
    mixing : ndarray of shape (2, n_labels)
        Weight of each hidden cause in each label.
    n_known : int
        Number of labels that exist already, the first ones; the others are NaN.
    """

    centres: FloatArray
    causes: FloatArray
    mixing: FloatArray
    n_known: int

    @classmethod
    def draw(cls, rng: np.random.Generator, n_features: int, n_labels: int, n_regions: int) -> Self:
        """Return a random concept of these sizes in which all labels exist.

        `rng` draws the centres, then the causes, then the mixing. `n_features`, `n_labels` and `n_regions` are sizes.
        """
        return cls(
            centres=rng.normal(scale=_CENTRE_SCALE, size=(n_regions, n_features)),
            causes=rng.normal(size=(n_regions, n_features + 1, _N_CAUSES)),
            mixing=rng.normal(size=(_N_CAUSES, n_labels)),
            n_known=n_labels,
        )

    def moved(self, rng: np.random.Generator) -> Self:
        """Return a concept in which one region, chosen by `rng`, has another centre and other causes."""
        centres, causes = self.centres.copy(), self.causes.copy()
        region = rng.integers(len(centres))
        centres[region] = rng.normal(scale=_CENTRE_SCALE, size=centres.shape[1])
        causes[region] = rng.normal(size=causes.shape[1:])
        return replace(self, centres=centres, causes=causes)

    def towards(self, target: Self, share: float) -> Self:
        """Return the concept between this one (`share` 0) and `target` (`share` 1); equal numbers stay equal."""
        return replace(
            self,
            centres=self.centres + share * (target.centres - self.centres),
            causes=self.causes + share * (target.causes - self.causes),
        )

    def with_labels(self, n_known: int) -> Self:
        """Return a concept in which only the first `n_known` labels exist."""
        return replace(self, n_known=n_known)

    def labels(self, region: int, local: FloatArray) -> FloatArray:
        """Return the labels of the sample at `centres[region] + local`: 0, 1, NaN if they do not exist yet."""
        on = (np.append(local, 1.0) @ self.causes[region]) @ self.mixing > 0.0
        labels: FloatArray = on.astype(np.float64)
        labels[self.n_known :] = np.nan
        return labels
