"""The paper's data sets as the paper counts their columns, and the order in which a seed streams them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evolabel.errors import DataError
from evolabel.streams import Dataset, load_dataset


class PrintedSize(NamedTuple):
    """A row of the paper's Table 1."""

    features: int
    rows: int
    labels: int


PRINTED_SIZES = {
    "birds": PrintedSize(260, 645, 19),
    "emotions": PrintedSize(72, 593, 6),
    "water-quality": PrintedSize(16, 1060, 14),
    "yeast": PrintedSize(103, 2417, 14),
    "mediamill": PrintedSize(120, 43907, 101),
}


def load_paper_set(name: str) -> Dataset:
    """Return the data set `name` of the paper with the columns of its Table 1; DataError if they differ from it.

    Birds is the trap: two of its columns are nominal. `load_dataset` makes a feature of each of their values, which
    gives 271; the paper's 260 features are one code per column, `nominal="codes"`, and its numbers can only be compared
    with these.
    """
    dataset = load_dataset(name, nominal="codes")
    found, printed = PrintedSize(dataset.n_features, len(dataset), dataset.n_labels), PRINTED_SIZES[name]
    if found != printed:
        raise DataError(
            f"{name} has {tuple(found)} features, rows and labels, and {tuple(printed)} in the paper's Table 1; fetch "
            "the original files again"
        )
    return dataset


def ordered(dataset: Dataset, seed: int) -> Dataset:
    """Return `dataset` in the order of `seed`: the paper's for 0, else shuffled on either side of the split."""
    if seed == 0:
        return dataset
    random, split = np.random.default_rng(seed), dataset.split or 0
    rows = np.concatenate([random.permutation(split), split + random.permutation(len(dataset) - split)])
    return replace(dataset, X=dataset.X[rows], Y=dataset.Y[rows], lines=None)
