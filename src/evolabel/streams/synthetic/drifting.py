"""`DriftingStream`: a synthetic stream with known rules, correlated labels, drift and disturbances."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import ParameterError
from evolabel.streams.dataset import Dataset
from evolabel.streams.synthetic.drifts import DRIFT_KINDS, Concept, concept_per_sample, labels_at_start
from evolabel.typing import FloatArray

OUTLIER_DISTANCE = 20.0  # about nine standard deviations of a feature


class Sample(NamedTuple):
    """One sample without disturbances, with the rules that made it."""

    x: FloatArray
    y: FloatArray  # labels with noise
    truth: FloatArray  # labels without noise
    region: int
    concept: Concept


@dataclass(frozen=True, kw_only=True)
class DriftingStream:
    """Stream of samples from Gaussian regions, each with linear rules for the labels, and with drift.

    Labels are correlated, because they share hidden causes. The same seed gives the same stream. `samples`,
    `concept_at` and `drift_points` return the true rules and where drifts begin. Iterating yields pairs (x, y) without
    end.

    Parameters
    ----------
    n_features, n_labels, n_regions : int
        Numbers of features, labels and Gaussian regions.
    drift : {"abrupt", "gradual", "incremental", "recurring", "new_label", "none"}
        What changes every `drift_every` samples. A region, chosen at random, gets another centre and other rules: at
        once ("abrupt"), after some samples in which the old and the new concept alternate at random ("gradual"), or
        in small steps until the next drift begins ("incremental"). "recurring" is abrupt, but three concepts repeat.
        "new_label": a new label appears; the stream starts with half of them, rounded up. Y has all columns from the
        start, with NaN for labels that have not appeared yet.
    drift_every : int
        Number of samples from the start of one drift to that of the next; 0 for a stationary stream.
    drift_width : int, optional
        Number of samples that a gradual drift takes, at most `drift_every`; by default half of it.
    noise : float
        Share of labels flipped at random.
    outliers : float
        Share of samples of which all features are moved far away; their labels stay.
    missing_features : float
        Share of the values that are NaN; each sample keeps at least one value.
    missing_labels : float
        Share of the labels that are NaN.
    seed : int
        Seed of all random draws.

    Notes
    -----
    The samples before the first drift are the same for all kinds of drift. Noise and disturbances do not change which
    samples are drawn.

    Examples
    --------
    >>> stream = DriftingStream(n_features=2, n_labels=3, drift="recurring", drift_every=50, seed=1)
    >>> X, Y = stream.take(200)
    >>> X[0], Y[0]
    (array([ 0.77, -3.83]), array([1., 0., 0.]))
    >>> stream.drift_points(200)
    [50, 100, 150]
    >>> stream.concept_at(150).centres[0]
    array([0.69, 1.64])
    """

    n_features: int = 8
    n_labels: int = 5
    n_regions: int = 4
    drift: str = "abrupt"
    drift_every: int = 1000
    drift_width: int | None = None
    noise: float = 0.02
    outliers: float = 0.0
    missing_features: float = 0.0
    missing_labels: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low in (("n_features", 1), ("n_labels", 1), ("n_regions", 1), ("drift_every", 0), ("seed", 0)):
            check_number(name, getattr(self, name), low, whole=True)
            object.__setattr__(self, name, int(getattr(self, name)))
        for name in ("noise", "outliers", "missing_features", "missing_labels"):
            check_number(name, getattr(self, name), 0, 1)
        self._check_drift()

    def _check_drift(self) -> None:
        if self.drift not in (*DRIFT_KINDS, "none"):
            raise ParameterError(f"drift={self.drift!r} is unknown; use one of {', '.join(DRIFT_KINDS)}, none")
        if self.drift == "new_label" and self.n_labels == 1:
            raise ParameterError("n_labels=1 leaves no label to appear later; use at least 2 with drift='new_label'")
        if self.drift_width is not None:
            check_number("drift_width", self.drift_width, 1, self.drift_every or inf, whole=True)
            object.__setattr__(self, "drift_width", int(self.drift_width))

    def samples(self) -> Iterator[Sample]:
        """Yield samples without disturbances and without end, each with the rules that made it."""
        rng = np.random.default_rng(self.seed)
        start = Concept.draw(rng, self.n_features, self.n_labels, self.n_regions)
        width = self.drift_width or (self.drift_every + 1) // 2
        for concept in concept_per_sample(self.drift, start, rng, self.drift_every, width):
            region = int(rng.integers(self.n_regions))
            local = rng.normal(size=self.n_features)
            truth = concept.labels(region, local)
            flipped = rng.random(self.n_labels) < self.noise
            yield Sample(concept.centres[region] + local, np.abs(truth - flipped), truth, region, concept)

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Iterate over pairs (x, y) with disturbances, without end."""
        seeds = np.random.SeedSequence(self.seed).spawn(3)  # so that no disturbance changes what the others draw
        outlier_rng, feature_rng, label_rng = map(np.random.default_rng, seeds)
        for sample in self.samples():
            x, y = sample.x, sample.y
            if self.outliers and outlier_rng.random() < self.outliers:
                x = x + outlier_rng.choice([-OUTLIER_DISTANCE, OUTLIER_DISTANCE], size=x.shape)
            if self.missing_features:
                draws = feature_rng.random(x.shape)
                missing = draws < self.missing_features
                missing[draws.argmax()] = False  # has an effect only if all were missing
                x = np.where(missing, np.nan, x)
            if self.missing_labels:
                y = np.where(label_rng.random(y.shape) < self.missing_labels, np.nan, y)
            yield x, y

    def take(self, samples: int) -> tuple[FloatArray, FloatArray]:
        """Return the first `samples` samples as arrays (X, Y)."""
        check_number("samples", samples, 0, whole=True)
        samples = int(samples)
        X, Y = np.empty((samples, self.n_features)), np.empty((samples, self.n_labels))
        for row, (x, y) in enumerate(islice(self, samples)):
            X[row], Y[row] = x, y
        return X, Y

    def dataset(self, samples: int, name: str | None = None) -> Dataset:
        """Return the first `samples` samples as a data set called `name`, by default after the kind of drift."""
        return Dataset(*self.take(samples), name=name or f"drifting-{self.drift}")

    def concept_at(self, sample: int) -> Concept:
        """Return the rules that made the sample of number `sample`, from 0; all samples before it are drawn again."""
        check_number("sample", sample, 0, whole=True)
        return next(islice(self.samples(), int(sample), None)).concept

    def drift_points(self, samples: int) -> list[int]:
        """Return the numbers of those of the first `samples` samples with which a drift begins."""
        check_number("samples", samples, 0, whole=True)
        if self.drift == "none" or not self.drift_every:
            return []
        points = list(range(self.drift_every, int(samples), self.drift_every))
        n_new = self.n_labels - labels_at_start(self.n_labels)
        return points[:n_new] if self.drift == "new_label" else points
