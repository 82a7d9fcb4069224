"""Samples as users have them, made into checked float64 rows: arrays, lists, frames; their weights and confidences.

Labels, too, are checked here once they are a table.
"""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import narwhals as nw
import numpy as np
from scipy import sparse

from evolabel._utils.notes import note
from evolabel._utils.text import counted
from evolabel._utils.validation import beyond_float64
from evolabel.classifier.named_columns import first_coding, holds_texts, one_plain_row, read_by_name
from evolabel.engine.compile import direct
from evolabel.engine.values import MAX_VALUE, are_usable, first_bad_label, first_bad_sample
from evolabel.errors import DataError, DataTypeError
from evolabel.streams.tabular.column_coding import ColumnCoding, Encoded
from evolabel.streams.tabular.frames import flag_columns
from evolabel.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FLOAT64 = np.dtype(np.float64)
LARGEST = 1e12  # heavier samples would leave nothing of the others
SMALLEST = 1e-100  # less is nothing: products of weights would leave the range of float64

LABEL = "a label is 0, 1, or NaN (not annotated)"

# Rows and labels are always float64, 2-D and C-contiguous here.
_first_bad_sample, _first_bad_label = direct(first_bad_sample), direct(first_bad_label)
are_usable_rows = direct(are_usable)


def is_checked_shape(X: object, width: int) -> TypeGuard[FloatArray]:
    """Whether `X` is a float64 table of `width` columns as the loops need it; keeps one-row calls cheap."""
    return (
        type(X) is np.ndarray
        and X.dtype == FLOAT64
        and X.ndim == 2
        and X.shape[1] == width
        and len(X) > 0
        and X.flags.carray  # C-contiguous and writeable: numba would compile loops once more for a read-only array
    )


def read_samples(estimator: "BaseEstimator", X: object, *, reset: bool) -> FloatArray:
    """Return the rows of `X`, checked; NaN is a missing feature. `reset`: set the names and width of `estimator`."""
    return checked_values(read_unchecked(estimator, X, reset=reset))


def read_unchecked(estimator: "BaseEstimator", X: object, *, reset: bool) -> FloatArray:
    """Return the rows of `X` as `read_samples` does, values unchecked."""
    width = -1 if reset or hasattr(estimator, "feature_names_in_") else getattr(estimator, "n_features_in_", -1)
    return X if is_checked_shape(X, width) else read_encoded(estimator, X, reset=reset).rows


def read_encoded(estimator: "BaseEstimator", X: object, *, reset: bool) -> Encoded:
    """Return the rows of `X` as `read_samples` does, values unchecked, and the texts that no feature stands for."""
    coding: ColumnCoding | None = None if reset else known_coding(estimator)
    row = None if coding is None else one_plain_row(coding, X)
    return _convert(estimator, X, coding, reset=reset) if row is None else Encoded(row, [])


def known_coding(estimator: "BaseEstimator") -> ColumnCoding | None:
    """Return the coding of the columns of frames of `estimator`; None where its features have no names."""
    coding: ColumnCoding | None = vars(estimator).get("_columns")
    return coding


def keep_coding(estimator: "BaseEstimator", coding: ColumnCoding) -> None:
    """Set the `coding` of the columns of `estimator`, their names and their number."""
    names = np.array(coding.columns, dtype=object)
    vars(estimator).update(_columns=coding, n_features_in_=len(names), feature_names_in_=names)


def as_one_row(x: Any) -> Any:
    """Return `x`, a flat array, a flat list or a row of a pandas frame, as a table of one row; others as they are."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T
    if isinstance(x, list | tuple) and not any(hasattr(value, "__len__") for value in x):
        return [x]
    return x.reshape(1, -1) if isinstance(x, np.ndarray) and x.ndim == 1 else x


def checked_values(rows: FloatArray) -> FloatArray:
    """Return `rows` themselves if every value can be used and every row has one, else raise DataError."""
    row, column = _first_bad_sample(rows)
    if row >= 0:
        if column < 0:
            raise DataError(f"row {row} of X has no feature at all (only NaN); drop it or fill in what is known")
        raise _unusable(rows, row, column)
    return rows


def checked_labels(Y: FloatArray) -> FloatArray:
    """Return `Y` itself if all labels are 0, 1 or NaN, else raise DataError."""
    row, column = _first_bad_label(Y)
    if row >= 0:
        raise DataError(f"Y is {Y[row, column]:g} at row {row}, column {column}; {LABEL}")
    return Y


def usable_values(rows: FloatArray) -> FloatArray:
    """Return `rows` themselves if every value can be used, else raise DataError; a row may have no feature at all."""
    rows_without_features(rows)
    return rows


def rows_without_features(rows: FloatArray) -> BoolArray | None:
    """Return which of the `rows` have no feature at all, None if all have one; DataError for an unusable value."""
    row, column = _first_bad_sample(rows)
    if row < 0:
        return None
    if column < 0:
        bad = np.argwhere(np.abs(rows) > MAX_VALUE)
        if not len(bad):
            return np.asarray(np.isnan(rows).all(axis=1))
        row, column = bad[0].tolist()
    raise _unusable(rows, row, column)


def note_empty(empty: BoolArray | None, outcome: str) -> None:
    """Warn of rows without features, where `empty` is True; `outcome` is what happens to them. None: there are none."""
    if empty is None:
        return
    rows = np.flatnonzero(empty)
    which = "has" if len(rows) == 1 else "have"
    note(f"{counted(len(rows), 'row')} of X {which} no feature at all (the first is row {rows[0]}); {outcome}")


def _unusable(rows: FloatArray, row: int, column: int) -> DataError:
    hint = f"use NaN if it is missing, else at most {MAX_VALUE:g}"
    return DataError(f"X contains {rows[row, column]:g} at row {row}, column {column}; {hint}")


def _convert(estimator: "BaseEstimator", X: object, coding: ColumnCoding | None, *, reset: bool) -> Encoded:
    """Return the rows of `X` by `coding`; `reset`: set the names, the width and the coding of `estimator`."""
    names = column_names(X)
    if coding is not None and names is not None and (coding.is_coded or names != list(coding.columns)):
        return read_by_name(coding, X, names)
    if reset and names and holds_texts(X):
        first, encoded = first_coding(X)
        _check_columns(estimator, X, reset=True)
        keep_coding(estimator, first)
        return encoded
    rows = as_matrix(X, "X")
    if rows.shape[0] == 0:
        raise DataError(f"Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required in X")
    if rows.shape[1] == 0:
        raise DataError(f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required in X")
    if coding is not None and coding.is_coded:
        _check_encoded(rows, coding)
        return Encoded(rows, [])
    _check_columns(estimator, X, reset=reset)
    if reset:
        known = vars(estimator)
        known.pop("_columns", None)
        if "feature_names_in_" in known:
            flags = flag_columns(X)
            known["_columns"] = ColumnCoding(tuple(known["feature_names_in_"]), (None,) * rows.shape[1], flags=flags)
    return Encoded(rows, [])


def _check_columns(estimator: "BaseEstimator", X: object, *, reset: bool) -> None:
    """Compare the names and the number of columns of `X` with those of `estimator`, or set them (`reset`)."""
    from sklearn.utils.validation import validate_data

    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except (TypeError, ValueError) as error:
        raise _kind_of(error)(one_line(error)) from None


def _check_encoded(rows: FloatArray, coding: ColumnCoding) -> None:
    """Refuse an array of another width than the features of `coding`; an array of this width has no names."""
    width = len(coding.feature_names)
    if rows.shape[1] != width:
        raise DataError(
            f"X has {rows.shape[1]} columns, the model has {len(coding.columns)}, some of texts or timestamps, which "
            f"become {width} features; pass a frame with the columns of the model"
        )
    warnings.warn("X does not have valid feature names, but the model was fitted with feature names", stacklevel=2)


def as_matrix(data: object, name: str, advice: str = "encode text and categories first") -> FloatArray:
    """Return `data` as a 2-D array as `ordinary` makes it; errors begin with `name`, `advice` ends those about text."""
    if sparse.issparse(data):
        raise DataTypeError(f"{name} is a sparse matrix, dense data is required; use {name}.toarray()")
    if isinstance(data, Mapping):
        raise DataError(f"{name} is a dictionary; pass a table with one row per sample, such as pd.DataFrame([sample])")
    array = as_array(data, name)
    if np.iscomplexobj(array):
        raise DataError(f"Complex data not supported: {name} is complex; pass its parts as separate columns")
    if array.dtype.kind in "mM":
        raise DataTypeError(f"{name} must hold numbers only (it holds dates); pass them as numbers, such as seconds")
    if array.ndim != 2:
        way = f"{name}.reshape(1, -1) is one sample, {name}.reshape(-1, 1) one column"
        if hasattr(data, "to_frame"):
            way = "pass frame.iloc[[i]] for one row i of a pandas frame, frame[[name]] for one column"
        raise DataError(
            f"{name} has {array.ndim} dimension(s) (shape {array.shape}), 2 are required. Reshape your data: {way}"
        )
    try:
        # pandas' NA, which is no number, comes in columns of mixed kinds
        return ordinary(np.where(are_missing(array), np.nan, array) if array.dtype == object else array)
    except OverflowError:
        raise beyond_float64(name) from None
    except (TypeError, ValueError) as error:
        raise _kind_of(error)(f"{name} must hold numbers only ({one_line(error)}); {advice}") from None


def ordinary(array: AnyArray) -> FloatArray:
    """Return `array` as plain float64, C-contiguous and writeable; the same object if it is.

    Numba would compile loops once more for a read-only array or a subclass such as a memory map.
    """
    return np.require(array, np.float64, ["C", "W", "E"])


def are_missing(array: AnyArray) -> BoolArray:
    """Return where `array` holds None, NaN, NaT or pandas' NA."""
    return _is_missing(array).astype(bool) if array.dtype == object else np.asarray(array != array)


@partial(np.frompyfunc, nin=1, nout=1)
def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA, or a signalling NaN of `decimal`, is not comparable
        return True


def as_array(data: object, name: str) -> AnyArray:
    """Return the values of `data`, a frame, series, list or array; ragged lists are refused, by `name`."""
    if type(data) is np.ndarray:
        return data
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        return np.where(data.mask, np.nan, data.data.astype(object))  # what is masked is missing
    native: Any = data
    if nw.dependencies.is_polars_lazyframe(native):
        raise DataTypeError(f"{name} is a lazy frame; collect() it first")
    try:
        if nw.dependencies.is_into_dataframe(native) or nw.dependencies.is_into_series(native):
            return np.asarray(nw.from_native(native, allow_series=True).to_numpy())
        return np.asarray(data)
    except ValueError as error:
        ragged = "its rows differ in length; pass a table, for labels one column of 0 and 1 each"
        why = ragged if "inhomogeneous" in str(error) else one_line(error)
        raise DataError(f"{name} cannot be read as one table: {why}") from None


def one_line(error: Exception) -> str:
    """Return the message of another library's `error` without line breaks."""
    return " ".join(str(error).split())


def _kind_of(error: Exception) -> type[DataError | DataTypeError]:
    return DataTypeError if isinstance(error, TypeError) else DataError


def column_names(data: object) -> list[str] | None:
    """Return the column names of `data`, None for anything without names."""
    if isinstance(data, np.ndarray):
        return None
    native: Any = data
    if nw.dependencies.is_into_dataframe(native):
        try:
            return [str(name) for name in nw.from_native(native, eager_only=True).columns]
        except nw.exceptions.DuplicateError:
            raise DataError("two columns of the frame have the same name; give each its own") from None
    return None


def read_sample_weight(weight: object, rows: int) -> FloatArray:
    """Return one `weight` >= 0 for each of `rows` samples; empty if None. Weights below `SMALLEST` count as 0."""
    if weight is None:
        return np.empty(0)
    if np.isscalar(weight):
        weight = np.full(rows, weight)
    array = _numbers(weight, "sample_weight")
    if array.shape != (rows,):
        raise DataError(f"sample_weight.shape == {array.shape}, expected ({rows},); give one weight per sample")
    if not ((array >= 0.0) & (array <= LARGEST)).all():
        raise DataError(f"sample_weight has entries that are negative, NaN or beyond {LARGEST:g}; use weights around 1")
    return _without_tiny(array)


def read_confidence(confidence: object, rows: int, labels: int) -> FloatArray:
    """Return the `confidence` in [0, 1] of each of `rows` samples and `labels`; empty if None."""
    if confidence is None:
        return np.empty((0, 0))
    array = _numbers(confidence, "confidence")
    if array.ndim == 1:
        array = array[:, None]
    if array.shape not in ((rows, labels), (rows, 1)):
        raise DataError(f"confidence has shape {array.shape}, expected ({rows}, {labels}) or ({rows},)")
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise DataError("confidence has entries outside [0, 1]; 1 is certain, 0 is as good as not annotated")
    return _without_tiny(ordinary(np.broadcast_to(array, (rows, labels))))


def _without_tiny(array: FloatArray) -> FloatArray:
    """The array with 0 in place of what is smaller than `SMALLEST`; the same object if nothing is."""
    tiny = (array > 0.0) & (array < SMALLEST)
    return np.where(tiny, 0.0, array) if tiny.any() else array


def without_unsure(labels: FloatArray, confidences: FloatArray) -> FloatArray:
    """Return `labels` with NaN (not annotated) where `confidences` are 0."""
    return np.where(confidences == 0.0, np.nan, labels) if len(confidences) else labels


def _numbers(data: object, name: str) -> FloatArray:
    array = as_array(data, name)
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} holds {array.dtype}, real numbers are required")
    try:
        return ordinary(array)
    except OverflowError:
        raise beyond_float64(name) from None
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers only ({one_line(error)})") from None
