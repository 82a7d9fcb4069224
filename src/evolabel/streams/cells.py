"""Texts of a table as numbers: cells, label values and one-hot columns. Used for ARFF, CSV and data frames."""

import numpy as np

from evolabel.typing import FloatArray

# How a label may be written, in lower case.
TRUTH_VALUES = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


def parse_number(cell: str, decimal: str = ".") -> float:
    """Return the text `cell` as a number; `decimal` is its decimal mark, a point or a comma.

    Raises ValueError if `cell` is not a number.
    """
    if "_" in cell:  # float() reads 1_000 as a number; in data files it is a name
        raise ValueError
    return float(cell.replace(decimal, "."))


def is_number(cell: str, decimal: str) -> bool:
    """Return whether `parse_number` can read `cell` with the decimal mark `decimal`."""
    try:
        parse_number(cell, decimal)
    except ValueError:
        return False
    return True


def one_hot(codes: FloatArray, n_values: int) -> FloatArray:
    """Return one 0/1 column per code from 0 to `n_values` - 1; rows where `codes` is NaN are NaN throughout."""
    columns: FloatArray = (codes[:, np.newaxis] == np.arange(n_values)).astype(np.float64)
    columns[np.isnan(codes)] = np.nan
    return columns
