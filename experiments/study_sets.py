"""The streams of the study, by name: the paper's five sets, further sets, five kinds of drift, and ARFF files.

Real sets follow the benchmark protocol: shuffled by the seed, the first fifth is the initial batch. A drifting stream
is drawn by the seed and keeps its order; its first drift comes after the initial batch. A single class per sample
counts as a set of one label.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evolabel.streams import DRIFT_KINDS, Dataset, DriftingStream, dataset_names, load_dataset, read_arff
from evolabel.typing import FloatArray

FIVE = ("emotions", "yeast", "water-quality", "birds", "mediamill-5k")
DRIFTS = tuple(f"drift-{kind}" for kind in DRIFT_KINDS)
INITIAL_SHARE = 0.2
DRIFT_ROWS, DRIFT_INITIAL, DRIFT_EVERY = 6000, 500, 1000


class Split(NamedTuple):
    """Rows in the order of the protocol; the first `initial` are the initial batch."""

    X: FloatArray
    Y: FloatArray
    initial: int


def load(name: str, seed: int, nominal: str = "codes") -> Split:
    """A set by its name, or an ARFF file by its path; nominal features by their codes, as in all published numbers."""
    if name in DRIFTS:
        kind = name.removeprefix("drift-")
        stream = DriftingStream(n_features=16, n_labels=6, n_regions=6, drift=kind, drift_every=DRIFT_EVERY, seed=seed)
        return Split(*stream.take(DRIFT_ROWS), DRIFT_INITIAL)
    rows = read(name, nominal).shuffled(seed)
    return Split(rows.X, rows.Y, round(INITIAL_SHARE * len(rows)))


@cache
def read(name: str, nominal: str) -> Dataset:
    """All rows of a set in the order of its file."""
    if name in FURTHER:
        return FURTHER[name](nominal)
    if name in dataset_names():
        return load_dataset(name, nominal=nominal)  # type: ignore[arg-type]
    return read_arff(name, nominal=nominal)  # type: ignore[arg-type]


def arff_files() -> list[str]:
    """ARFF files in EVOLABEL_DATA that belong to no set known by name."""
    folder = Path(os.environ.get("EVOLABEL_DATA") or "nowhere")
    known = {name.split("-5k")[0] for name in dataset_names()}
    files = sorted(path for end in ("arff", "arff.gz") for path in folder.glob(f"**/*.{end}"))
    return [str(path) for path in files if path.parent.name not in known]


def _bundled_by_sklearn(name: str) -> Callable[[str], Dataset]:
    def read_it(nominal: str) -> Dataset:
        from sklearn import datasets

        found = getattr(datasets, f"load_{name.replace('-', '_')}")()
        return Dataset(found.data, _one_hot(found.target), name=name)

    return read_it


def _bundled_by_river(name: str, kind: str) -> Callable[[str], Dataset]:
    def read_it(nominal: str) -> Dataset:
        from river import datasets

        pairs = list(getattr(datasets, kind)())
        table = [list(x.values()) for x, _ in pairs]
        columns = [_feature(list(column), nominal) for column in zip(*table, strict=True)]
        targets = [y for _, y in pairs]
        if isinstance(targets[0], dict):  # counts per label: 1 where there was any
            labels = np.array([list(y.values()) for y in targets], float) > 0
        else:
            labels = _one_hot(np.array(targets))
        return Dataset(np.hstack(columns), labels.astype(float), name=name)

    return read_it


def _feature(values: list[object], nominal: str) -> FloatArray:
    """One column; texts become codes in the order of the alphabet, or one column per text."""
    if not isinstance(values[0], str):
        return np.array(values, float).reshape(-1, 1)
    texts, codes = np.unique(np.array(values), return_inverse=True)
    return np.eye(len(texts))[codes] if nominal == "one-hot" else codes.astype(float).reshape(-1, 1)


def _one_hot(classes: "np.typing.NDArray[np.generic]") -> FloatArray:
    names, codes = np.unique(classes, return_inverse=True)
    return np.eye(len(names))[codes]


def _synthetic(nominal: str) -> Dataset:
    from sklearn.datasets import make_multilabel_classification

    X, Y = make_multilabel_classification(2000, n_features=40, n_classes=8, n_labels=3, random_state=0)
    return Dataset(X, Y, name="multilabel-2k")


FURTHER: dict[str, Callable[[str], Dataset]] = {
    "solar-flare": _bundled_by_river("solar-flare", "SolarFlare"),
    "segment": _bundled_by_river("segment", "ImageSegments"),
    "phishing": _bundled_by_river("phishing", "Phishing"),
    "banana": _bundled_by_river("banana", "Bananas"),
    "digits": _bundled_by_sklearn("digits"),
    "breast-cancer": _bundled_by_sklearn("breast-cancer"),
    "wine": _bundled_by_sklearn("wine"),
    "multilabel-2k": _synthetic,
}
