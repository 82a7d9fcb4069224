"""What the stored arrays of a first tree must be."""

import numpy as np

from evolabel.core.array_checks import check_arrays, require, size_of
from evolabel.core.schema import stream_sizes
from evolabel.stages.first_tree.arrays import (
    FIRST_TREE_ARRAYS,
    OF_OUTPUTS,
    OF_TREE,
    ROWS_FITTED,
    ROWS_KEPT,
    ROWS_LEARNED,
)
from evolabel.typing import Arrays


def check_first_tree(arrays: Arrays, p: int, K: int) -> None:
    """Check the `arrays` of a first tree of `p` features and `K` labels."""
    check_arrays(arrays, FIRST_TREE_ARRAYS.expected(stream_sizes(p, K, row=size_of(arrays, "X"))))
    learned, fitted = arrays["clock"][ROWS_LEARNED], arrays["clock"][ROWS_FITTED]
    require(len(arrays["X"]) == min(learned, ROWS_KEPT), "X", "the first rows that were learned")
    require(fitted <= len(arrays["X"]), "clock", "a tree of rows that are there")
    require(np.isin(arrays["Y"], (0.0, 1.0)), "Y", "labels of 0 or 1")
    require((arrays["weights"] > 0.0).any(axis=1), "weights", "an annotated label in every row")
    require(arrays["losses"][[OF_OUTPUTS, OF_TREE]] <= 1.0, "losses", "mean losses in [0, 1]")
