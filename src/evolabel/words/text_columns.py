"""Categorical columns: the features `mode=idle` and `mode=wash` are 1 where the column mode has that text.

Where the columns came as texts, `FeatureNames` has their features, and those of columns of true and false (flags).
Features of 0 and 1 that came as such may be texts as well, by their names. A name alone is no proof: `lag=1` may be any
number. They are taken as texts only if several share a column (the part before the first "="), if at least one of them
names a value that is no number, and if all of them were only 0 or 1 in the initial batch, which the scaler records.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from evolabel.streams.columns import FeatureNames, is_number
from evolabel.typing import BoolArray

CLEAR_SHARE = 0.8  # share of a rule's samples from which on a column is described by a value, or by not having it
TRUE, FALSE = "true", "false"  # values of a flag


def text_features(names: Sequence[str], binary: BoolArray) -> frozenset[str]:
    """Return the features that stand for values of categorical columns.

    Parameters
    ----------
    names : sequence of str
        Names of all features; as `FeatureNames` they hold which ones came as texts.
    binary : array of shape (n_features,)
        Which features were only 0 or 1 in the initial batch.

    Examples
    --------
    >>> import numpy as np
    >>> names = ["heat", "mode=idle", "mode=wash", "lag=1", "lag=2"]
    >>> sorted(text_features(names, np.array([False, True, True, True, True])))
    ['mode=idle', 'mode=wash']
    """
    known = names.texts if isinstance(names, FeatureNames) else frozenset()
    columns = defaultdict(list)
    for name, only_0_and_1 in zip(names, binary, strict=True):
        column, _, value = name.partition("=")
        if column and value and name not in known:
            columns[column].append((name, value, bool(only_0_and_1)))
    return known | {name for features in columns.values() if _is_text(features) for name, _, _ in features}


def flag_features(names: Sequence[str]) -> frozenset[str]:
    """Return those of the features `names` that came as true and false."""
    return names.flags if isinstance(names, FeatureNames) else frozenset()


def text_columns(names: Sequence[str], binary: BoolArray) -> dict[str, list[int]]:
    """Return the numbers of the features of each categorical column; `names` and `binary` as for `text_features`.

    A flag is a column of one feature.
    """
    worded, columns = text_features(names, binary) | flag_features(names), dict[str, list[int]]()
    for j, name in enumerate(names):
        if name in worded:
            columns.setdefault(column_and_value(name)[0], []).append(j)
    return columns


def _is_text(features: list[tuple[str, str, bool]]) -> bool:
    several, binary = len(features) > 1, all(only_0_and_1 for _, _, only_0_and_1 in features)
    return several and binary and not all(is_number(value, ".") for _, value, _ in features)


def column_and_value(feature: str) -> tuple[str, str]:
    """Return the parts of the name `feature` before and behind its first "="; without one it is a flag, and "true"."""
    column, text, value = feature.partition("=")
    return column, value if text else TRUE


def value_words(feature: str, *, on: bool, style: Callable[[str], str] = str) -> tuple[str, str]:
    """Return the column of the 0/1 `feature` of a text, or flag, and what it is if the feature is 1 (`on`) or 0.

    Names from users are in this `style`.

    Examples
    --------
    >>> value_words("mode=idle", on=False), value_words("running", on=False)
    (('mode', 'not idle'), ('running', 'false'))
    """
    column, value = column_and_value(feature)
    if "=" not in feature:
        return style(column), style(TRUE if on else FALSE)
    return style(column), f"{'' if on else 'not '}{style(value)}"
