"""A table as a trained model knows it: its features by their names, its labels where they are there, nothing else."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from evolabel.errors import DataError
from evolabel.streams.dataset import Dataset
from evolabel.streams.tabular.cells import is_number
from evolabel.streams.tabular.tables import NUMBER, Column, Texts, Where, finite, first_of, label_values
from evolabel.typing import FloatArray


def known_columns(
    columns: Mapping[str, Column], features: Sequence[str], labels: Sequence[str], name: str, where: Where
) -> Dataset:
    """The features in the order of the model, whatever their order here; labels that are not there are NaN.

    A feature such as `site=north` is 1 where the column `site` says north, and 0 where it says anything else, also a
    text the model has never met.
    """
    if absent := [feature for feature in features if _column_of(feature, columns) is None]:
        raise DataError(
            f"{name} has no column for {first_of(absent)}; the model knows {first_of(features)}, give it data of its "
            "kind"
        )
    X = np.column_stack([_values(feature, columns, where) for feature in features])
    nobody_said = np.full(len(X), np.nan)
    told = [label_values(label, columns[label], where) if label in columns else nobody_said for label in labels]
    return Dataset(X, np.column_stack(told), tuple(features), tuple(labels), name)


def wanted(columns: Collection[str], features: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Those of the columns that `known_columns` will look at; what the others hold does not matter."""
    used = {_column_of(feature, columns) for feature in features}.union(labels)
    return [column for column in columns if column in used]


def _column_of(feature: str, columns: Collection[str]) -> str | None:
    """The column a feature comes from: one of its name, or one of texts whose value it names."""
    return next((name for name in (feature, *_before_equals(feature)) if name in columns), None)


def _before_equals(feature: str) -> Iterable[str]:
    return (feature[:place] for place, mark in enumerate(feature) if mark == "=")


def _values(feature: str, columns: Mapping[str, Column], where: Where) -> FloatArray:
    name = _column_of(feature, columns) or feature
    column = columns[name]
    if name != feature:
        return _says(feature[len(name) + 1 :], column)
    if not isinstance(column, Texts):
        return finite(feature, column, where)
    for row, text in enumerate(column.values):
        if text is not None and not is_number(text, ","):
            raise DataError(f"{where(row)}: {feature!r} is {text!r}; {NUMBER}")
    return np.full(len(column.values), np.nan)


def _says(value: str, column: Column) -> FloatArray:
    """1 where the column holds this value, NaN where it holds nothing."""
    texts = column.values if isinstance(column, Texts) else [None if np.isnan(x) else f"{x:g}" for x in column]
    return np.array([np.nan if text is None else float(text == value) for text in texts])
