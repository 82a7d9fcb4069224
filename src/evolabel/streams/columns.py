"""Columns of a table: what they held that is no plain number (`ColumnKinds`), and their texts as numbers.

Used for ARFF, CSV and data frames.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from evolabel.typing import FloatArray

_NO_TIMES: Mapping[str, str] = {}


class ColumnKinds(NamedTuple):
    """Which features were made of texts, of true and false, and of timestamps.

    Attributes
    ----------
    texts : tuple of str
        Features of 0 and 1 that each stand for one text of a column, such as `site=north`.
    flags : tuple of str
        Columns of true and false, which are one feature each.
    origins : dict of str to str
        Columns of timestamps that features such as time_hour, time_weekday and time_days were made of, with the
        timestamp from which on the days are counted.
    """

    texts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    origins: Mapping[str, str] = _NO_TIMES


ONLY_NUMBERS = ColumnKinds()


class FeatureNames(list[str]):
    """Names of features, in their order, and which of them stand for `texts` and for true and false (`flags`).

    A flag has no "=" in its name, which would be read as that of a text.
    """

    def __init__(self, names: Iterable[str] = (), texts: Iterable[str] = (), flags: Iterable[str] = ()) -> None:
        super().__init__(names)
        self.texts, self.flags = frozenset(texts), frozenset(flag for flag in flags if "=" not in flag)


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
