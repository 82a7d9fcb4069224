"""Data sets that come with an installed package, so that they need no download."""

from importlib.util import find_spec

import numpy as np

from evolabel._utils import optional
from evolabel.streams.dataset import Dataset
from evolabel.streams.named.catalogue import Entry


def has_bundled(entry: Entry) -> bool:
    """Is there such a package?"""
    return entry.name == "yeast" and find_spec("river") is not None


def find_bundled(entry: Entry) -> Dataset | None:
    """River's wheel holds MULAN's yeast.arff row for row."""
    return _yeast(entry) if has_bundled(entry) else None


def _yeast(entry: Entry) -> Dataset:
    """The whole file has the test part first; here the training part comes first, as in every `Dataset`."""
    samples = list(optional.load("river.datasets", "river", "the bundled yeast").Yeast())
    n_test = len(samples) - (entry.split or 0)
    ordered = samples[n_test:] + samples[:n_test]
    X = np.array([list(x.values()) for x, _ in ordered], dtype=np.float64)
    Y = np.array([list(y.values()) for _, y in ordered], dtype=np.float64)
    features, labels = samples[0]
    return Dataset(X, Y, tuple(features), tuple(labels), entry.name, split=entry.split, starts_at=entry.starts_at)
