"""A synthetic stream with known rules, correlated labels and drift."""

from collections.abc import Iterator

import numpy as np

from evolabel.kernels.state import FloatArray


class DriftingStream:
    """Samples from a few Gaussian regions, each with its own linear labels; the regions move abruptly.

    Labels are correlated, because they share hidden causes. The same seed gives the same stream.

    Parameters
    ----------
    n_features, n_labels, n_regions : int
    drift_every : int
        Samples between two abrupt drifts; 0 for a stationary stream.
    noise : float
        Share of labels flipped at random.
    seed : int

    Examples
    --------
    >>> X, Y = DriftingStream(n_features=4, n_labels=3, seed=1).take(5)
    >>> X.shape, Y.shape
    ((5, 4), (5, 3))
    """

    def __init__(
        self,
        *,
        n_features: int = 8,
        n_labels: int = 5,
        n_regions: int = 4,
        drift_every: int = 1000,
        noise: float = 0.02,
        seed: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_labels = n_labels
        self.n_regions = n_regions
        self.drift_every = drift_every
        self.noise = noise
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Endless pairs (x, y)."""
        rng = np.random.default_rng(self.seed)
        centres = rng.normal(scale=2.0, size=(self.n_regions, self.n_features))
        causes = rng.normal(size=(self.n_regions, self.n_features + 1, 2))
        mixing = rng.normal(size=(2, self.n_labels))
        sample = 0
        while True:
            if self.drift_every and sample and sample % self.drift_every == 0:
                moved = rng.integers(self.n_regions)
                centres[moved] = rng.normal(scale=2.0, size=self.n_features)
                causes[moved] = rng.normal(size=causes.shape[1:])
            region = rng.integers(self.n_regions)
            local = rng.normal(size=self.n_features)
            on = (np.append(local, 1.0) @ causes[region]) @ mixing > 0.0
            flipped = rng.random(self.n_labels) < self.noise
            yield centres[region] + local, (on ^ flipped).astype(np.float64)
            sample += 1

    def take(self, samples: int) -> tuple[FloatArray, FloatArray]:
        """The first samples as arrays (X, Y)."""
        stream = iter(self)
        rows = [next(stream) for _ in range(samples)]
        return np.array([x for x, _ in rows]), np.array([y for _, y in rows])
