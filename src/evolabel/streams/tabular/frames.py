"""`from_frame`: data sets from data frames of pandas, polars and pyarrow."""

from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from evolabel._utils.validation import beyond_float64
from evolabel.errors import DataError, DataTypeError
from evolabel.streams.dataset import Dataset
from evolabel.streams.tabular.label_column import LabelColumn
from evolabel.streams.tabular.tables import Column, Texts, build_dataset, columns_without
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    import narwhals as nw


def from_frame(
    frame: object,
    labels: Iterable[str] | int | LabelColumn,
    *,
    drop: Iterable[str] = (),
    time: str | Iterable[str] = (),
    name: str = "frame",
) -> Dataset:
    """Return a data set made from a data frame of any library that narwhals supports: pandas, polars, pyarrow, others.

    Parameters
    ----------
    frame : data frame
        Numbers and booleans become one feature each. Texts and categories become one 0/1 column per value, named like
        `site=north`: the declared values of an enumeration or ordered category, else those that occur, sorted. Missing
        values become NaN.
    labels : sequence of str, int, or LabelColumn
        Names of the label columns, which must hold 0, 1, booleans, true, false, yes, no or missing values. A
        number n stands for the first n columns, -n for the last n. A `LabelColumn` is one column with the labels of
        each row by their names. All other columns are features.
    drop : sequence of str
        Columns to leave out, such as serial numbers.
    time : str or sequence of str
        Columns of timestamps or of their texts; each becomes three features, such as time_hour, time_weekday (Monday
        is 0) and time_days (since the first row).
    name : str
        Name of the data set.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"depth": [0.5, None], "site": ["south", "north"], "frogs": [True, None]})
    >>> pond = from_frame(frame, ["frogs"], name="pond")
    >>> pond.feature_names
    ('depth', 'site=north', 'site=south')
    >>> pond.X
    array([[0.5, 0. , 1. ],
           [nan, 1. , 0. ]])
    >>> pond.Y
    array([[ 1.],
           [nan]])
    """
    table = {series.name: series for series in _series(frame)}
    times = [time] if isinstance(time, str) else list(time)
    columns = {column: _read(column, table[column], times) for column in columns_without(list(table), drop)}
    flags = [column for column, series in table.items() if _holds_flags(series)]
    return build_dataset(columns, labels, name, lambda row: f"row {row}", time=times, flags=flags)


def flag_columns(frame: object) -> tuple[str, ...]:
    """Return the columns of the data frame `frame` that hold true and false."""
    return tuple(series.name for series in _series(frame) if _holds_flags(series))


def _holds_flags(series: "nw.Series[Any]") -> bool:
    """Return whether `series` holds true and false; pandas stores those with missing values as objects."""
    import narwhals as nw

    if series.dtype != nw.Object:
        return bool(series.dtype == nw.Boolean)
    known = series.drop_nulls().to_list()
    return bool(known) and all(isinstance(value, bool | np.bool_) for value in known)


def frame_columns(
    frame: object, names: Collection[str] | None = None, times: Collection[str] = ()
) -> dict[str, Column]:
    """Return the columns of the data frame `frame` with these `names`, or all (None), by name.

    Those among `times` hold timestamps, which become texts.
    """
    return {
        series.name: _read(series.name, series, times)
        for series in _series(frame)
        if names is None or series.name in names
    }


def _series(frame: object) -> "list[nw.Series[Any]]":
    import narwhals as nw

    try:
        table: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        columns = [_without_signals(series).alias(str(series.name)) for series in table.iter_columns()]
    except TypeError as error:
        raise DataTypeError(
            f"{type(frame).__name__} is not a data frame that can be read; expected one of pandas, polars or pyarrow "
            "(collect a lazy frame first)"
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"columns have the same name ({' '.join(str(error).split())}); rename them") from error
    names = [series.name for series in columns]
    if len(set(names)) < len(names):
        raise DataError(f"several columns have the same name as text ({max(names, key=names.count)!r}); rename them")
    if not len(table):
        raise DataError("the data frame has no rows; expected one or more")
    return columns


def _without_signals(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return `series` with each signalling NaN of `decimal`, which pandas cannot compare, as a missing value."""
    import narwhals as nw

    values = series.to_list() if series.dtype == nw.Object else []
    if not any(isinstance(value, Decimal) and value.is_snan() for value in values):
        return series
    kept = [None if isinstance(value, Decimal) and value.is_snan() else value for value in values]
    return nw.new_series(series.name, kept, nw.Object, backend=series.implementation)


def _read(name: str, series: "nw.Series[Any]", times: Collection[str]) -> Column:
    import narwhals as nw

    kind = series.dtype
    if name in times and kind in (nw.Datetime, nw.Date):
        return Texts(_texts(series), [])
    if kind == nw.Boolean or kind.is_numeric():
        return np.array(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    if isinstance(kind, nw.Enum):
        # Equal values may have different texts, such as 1 and True; all get the text of the category.
        names = {category: str(category) for category in kind.categories}
        return Texts(_texts(series, names.__getitem__), list(names.values()), declared=True)
    if kind in (nw.String, nw.Categorical):
        return Texts.of(_texts(series), declared=kind == nw.Categorical)
    if kind == nw.Object:
        return _from_objects(name, series.to_list(), series.is_null().to_list())
    if series.is_null().all():
        return np.full(len(series), np.nan)
    raise DataTypeError(
        f"column {name!r} holds {kind}, which is neither number, boolean, text nor category; convert it or drop it "
        "(timestamps: time= of from_frame makes features of them)"
    )


def _texts(series: "nw.Series[Any]", text: Callable[[Any], str] = str) -> list[str | None]:
    missing = series.is_null().to_list()
    return [None if none else text(value) for value, none in zip(series.to_list(), missing, strict=True)]


def _from_objects(name: str, values: list[Any], missing: list[bool]) -> FloatArray:
    """Return Python objects as numbers; pandas stores booleans with missing values in this way."""
    try:
        return np.array([np.nan if none else float(value) for value, none in zip(values, missing, strict=True)])
    except OverflowError:
        raise beyond_float64(f"column {name!r}") from None
    except (TypeError, ValueError):
        raise DataTypeError(
            f"column {name!r} mixes objects that are not all numbers; make it a column of numbers or of texts"
        ) from None
