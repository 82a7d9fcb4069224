"""What the columns of a table held that are no plain numbers (`ColumnKinds`), and names of features that carry it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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
