"""`read_arff`: multi-label data sets in the formats of MULAN and MEKA."""

from collections.abc import Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import get_args

import numpy as np

from evolabel._utils.files import as_path
from evolabel._utils.validation import check_number
from evolabel.errors import FileFormatError, ParameterError
from evolabel.streams.arff.columns import ColumnReader, Nominal, feature_reader, label_reader, read_data
from evolabel.streams.arff.header import Attribute, Header, read_header
from evolabel.streams.arff.label_files import Labels, find_label_names
from evolabel.streams.arff.values import ContentLines, LineError
from evolabel.streams.columns import ColumnKinds
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import bare_name, read_lines
from evolabel.typing import FloatArray


def read_arff(
    path: str | PathLike[str],
    labels: Labels | None = None,
    *,
    nominal: Nominal = "one-hot",
    rows: int | None = None,
    drop: Sequence[str] = (),
    counts: bool = False,
) -> Dataset:
    """Return the data set in an ARFF file, dense or sparse, plain or compressed (.gz, .bz2, .zip).

    Features and labels keep the order of the file. Missing values (?) are NaN, in labels too.

    Parameters
    ----------
    path : str or path
        The ARFF file.
    labels : None, int, sequence of str, or path
        Which attributes are labels. None looks for MULAN's XML file beside the data (of the same name, -train and
        -test aside), then for MEKA's option -C in the name of the relation. A number is read like that option: n for
        the first n attributes, -n for the last n. Otherwise the names of the labels, or the path of an XML file.
    nominal : {"one-hot", "codes"}
        "one-hot": a nominal feature becomes one 0/1 column per value, named like `site=3`. "codes": it becomes one
        column with its values if these are numbers, else with their positions in the list. Nominal {0,1} always
        becomes one column.
    rows : int or None
        Number of first rows to read; None for all.
    drop : sequence of str
        Attributes to leave out. Texts and dates must be left out, because they cannot be read.
    counts : bool
        Labels are numbers, such as abundances; a label is 1 where its number is above 0.

    Raises
    ------
    FileFormatError
        If the file cannot be read; the message has the number of the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pond.arff")
    ...     _ = path.write_text('''@relation 'Pond: -C -2'
    ... @attribute depth numeric
    ... @attribute site {north, south}
    ... @attribute frogs {0,1}
    ... @attribute newts {0,1}
    ... @data
    ... 0.5,south,1,0
    ... ?,north,1,1''')
    ...     pond = read_arff(path)
    >>> pond.feature_names, pond.label_names
    (('depth', 'site=north', 'site=south'), ('frogs', 'newts'))
    >>> pond.X
    array([[0.5, 0. , 1. ],
           [nan, 1. , 0. ]])
    >>> pond.Y
    array([[1., 0.],
           [1., 1.]])
    """
    check_nominal(nominal)
    if rows is not None:
        rows = int(check_number("rows", rows, 1, whole=True, also=", or None for all rows"))
    source = as_path(path)
    with closing(read_lines(source, ".arff")) as texts:
        lines = ContentLines(texts)
        try:
            header = read_header(lines)
            targets = find_label_names(labels, source, header)
            columns = _columns(header, targets, _dropped(header, drop, source), nominal, counts)
            table = read_data(lines, columns, rows)
        except LineError as error:
            raise FileFormatError(f"{source}, line {error.line or lines.number}: {error}") from None
    read = list(zip([column for column in columns if column is not None], table.T, strict=True))
    X, feature_names = _joined([column.to_columns(numbers) for column, numbers in read if column.name not in targets])
    Y, label_names = _joined([column.to_columns(numbers) for column, numbers in read if column.name in targets])
    if counts:
        Y = np.where(np.isnan(Y), np.nan, Y > 0.0)
    kinds = ColumnKinds(tuple(name for name in feature_names if name not in header.names))
    return Dataset(X, Y, feature_names, label_names, bare_name(source, ".arff"), kinds=kinds)


def check_nominal(nominal: str) -> None:
    """Raise ParameterError unless `nominal` is a way to read nominal features."""
    if nominal not in get_args(Nominal):
        raise ParameterError(f"nominal={nominal!r} is not allowed; use {' or '.join(map(repr, get_args(Nominal)))}")


def _dropped(header: Header, drop: Sequence[str], path: Path) -> set[str]:
    dropped = {drop} if isinstance(drop, str) else set(drop)
    if unknown := dropped.difference(header.names):
        raise FileFormatError(f"{path} has no attribute {min(unknown)!r} to leave out; check the name")
    return dropped


def _columns(
    header: Header, labels: set[str], dropped: set[str], nominal: Nominal, counts: bool
) -> list[ColumnReader | None]:
    """Return a reader for every attribute of `header`, None for those in `dropped`."""
    read = set(header.names) - dropped
    if not labels & read or not read - labels:
        raise LineError(f"{len(labels & read)} labels and {len(read - labels)} features are left; keep some of both")

    def reader(attribute: Attribute) -> ColumnReader:
        if attribute.name not in labels:
            return feature_reader(attribute, nominal)
        return feature_reader(attribute, "codes") if counts else label_reader(attribute)

    return [None if attribute.name in dropped else reader(attribute) for attribute in header.attributes]


def _joined(parts: Sequence[tuple[list[str], FloatArray]]) -> tuple[FloatArray, tuple[str, ...]]:
    names = tuple(name for names, _ in parts for name in names)
    return np.ascontiguousarray(np.hstack([block for _, block in parts])), names
