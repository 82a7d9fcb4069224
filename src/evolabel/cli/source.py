"""The argument DATA of the commands: a known data set, a synthetic stream, or a file."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from cyclopts import Parameter

from evolabel._utils.text import counted
from evolabel._utils.validation import check_number
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions, print_columns
from evolabel.cli.output import print_message
from evolabel.errors import DataError, DatasetNotFoundError, ParameterError
from evolabel.streams import DRIFT_KINDS, Dataset, DriftingStream, Nominal, dataset_names, load_dataset, read_dataset

Protocol = Literal["benchmark", "paper", "order"]
Labels = Annotated[
    str,
    Parameter(
        help="Columns of a file that are labels of 0 and 1, separated by commas; -n for the last n, as in "
        "`--labels=-2`."
    ),
]
Drop = Annotated[str, Parameter(help="Columns to leave out, separated by commas, such as serial numbers.")]
"""Options of the commands that read data."""

_DRIFT = "drift"
_DRIFT_SAMPLES, _DRIFT_EVERY = 5000, 1000
_INITIAL_SHARE = 0.2
_MIN_ROWS = 10  # fewer are not enough to scale a feature


class _Order(NamedTuple):
    """In which order a `Protocol` has the rows, and which of them are the initial batch."""

    by_seed: bool = False
    """Whether rows are shuffled."""
    as_split: bool = False
    """Whether the initial batch is the official training part, where there is one."""
    share: float = _INITIAL_SHARE
    """Share of the initial batch else."""
    nominal: Nominal = "codes"  # the published numbers of birds are by codes


_ORDERS = {
    "benchmark": _Order(by_seed=True),
    "order": _Order(nominal="one-hot"),
    "paper": _Order(as_split=True, share=1 / 3),
}


@dataclass(frozen=True)
class DataSource:
    """A stream for every seed: `stream` returns the rows for one.

    `initial` is the size of the initial batch: a share, a number of rows, or "split" for the official training part.
    `by_seed`: seeds change the order or the values of the rows.
    """

    name: str
    stream: Callable[[int], Dataset]
    initial: float | str
    by_seed: bool


def default_data() -> str:
    """Return "yeast" where it needs no download (river has it), else the synthetic stream."""
    return "yeast" if find_spec("river") else _DRIFT


def open_source(
    data: str,
    labels: tuple[str, ...] = (),
    *,
    protocol: Protocol | None = None,
    initial: float | None = None,
    samples: int | None = None,
    drop: tuple[str, ...] = (),
    columns: ColumnOptions = NO_OPTIONS,
    skip_empty: bool = True,
) -> DataSource:
    """Return the data source named by `data`, with the order of rows given by `protocol`.

    Parameters
    ----------
    data : str
        Name of a known data set, "drift" or "drift:KIND", or a path.
    labels : tuple of str
        Label columns of a file; ("-2",) for the last two.
    protocol : str, optional
        "benchmark" (default for known sets): rows shuffled by the seed, a fifth as initial batch. "order" (default for
        files): rows in their order, a fifth as initial batch. "paper": the official training part, or the first third.
    initial : float, optional
        Size of the initial batch instead of that of the protocol: a share below 1, or a number of rows.
    samples : int, optional
        Number of rows to use.
    drop : tuple of str
        Columns to leave out.
    columns : ColumnOptions
        Columns of a file that hold names of labels, or timestamps.
    skip_empty : bool
        Whether rows of a file without any feature are left out.
    """
    if samples is not None:
        check_number("samples", samples, 1, whole=True)
    kind, _, drift = data.partition(":")
    known = data.lower() in dataset_names()
    if (labels or columns != NO_OPTIONS) and (known or kind == _DRIFT):
        given = f"--labels {','.join(labels)}" if labels else "--label-list, --class-column and --time"
        raise ParameterError(f"{data} has columns of its own; leave out {given}")
    if kind == _DRIFT:
        return _synthetic(drift or "abrupt", protocol, initial, _DRIFT_SAMPLES if samples is None else samples, drop)
    order = _ORDERS[protocol or ("benchmark" if known else "order")]
    dataset = (
        load_dataset(data, nominal=order.nominal).without(drop) if known else _from_file(data, labels, drop, columns)
    )
    if skip_empty and not known:
        dataset = _usable(dataset)
    official = dataset.split if order.as_split else None
    if samples is not None and not order.by_seed:
        dataset = dataset.take(samples)

    def stream(seed: int) -> Dataset:
        rows = dataset.shuffled(seed) if order.by_seed else dataset
        return rows.take(samples) if samples is not None else rows

    share = "split" if official else order.share
    return DataSource(dataset.name, stream, _initial(initial, share), by_seed=order.by_seed)


def _usable(dataset: Dataset) -> Dataset:
    """Return `dataset` without the rows that have no feature, from which nothing is learned; a message counts them."""
    filled = dataset.with_features()
    if len(filled) == len(dataset):
        return dataset
    where = dataset.describe_row(int(np.argmax(np.isnan(dataset.X).all(axis=1))))
    if not len(filled):
        raise DataError(f"no row of {dataset.name} has a feature (only missing values); fill in some features")
    n_empty = len(dataset) - len(filled)
    print_message(f"no feature at all ({counted(n_empty, 'row')}, the first is {where}): left out")
    return filled


def _synthetic(
    drift: str, protocol: Protocol | None, initial: float | None, samples: int, drop: tuple[str, ...]
) -> DataSource:
    if drift not in ("none", *DRIFT_KINDS):
        raise ParameterError(
            f"there is no drift {drift!r}; use drift:none or {', '.join(f'drift:{d}' for d in DRIFT_KINDS)}"
        )
    if protocol not in (None, "order"):
        raise ParameterError(f"a synthetic stream has its own order; leave out --protocol {protocol}")

    def stream(seed: int) -> Dataset:
        source = DriftingStream(drift=drift, drift_every=_DRIFT_EVERY, seed=seed)
        return source.dataset(samples, f"{_DRIFT}:{drift}").without(drop)

    return DataSource(f"{_DRIFT}:{drift}", stream, _initial(initial, _INITIAL_SHARE), by_seed=True)


def _from_file(data: str, labels: tuple[str, ...], drop: tuple[str, ...], columns: ColumnOptions) -> Dataset:
    path = Path(data)
    if not path.suffix and not path.exists():
        close = get_close_matches(data.lower(), dataset_names(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`evolabel datasets` lists the known ones"
        raise DatasetNotFoundError(f"{data!r} is neither a known data set nor a file; {hint}")
    last = labels[0] if len(labels) == 1 else ""
    count = int(last) if last.startswith("-") and last[1:].isdecimal() else None  # as in MEKA: the last n
    chosen = columns.label_column(labels) or count or labels or None
    dataset = read_dataset(path, chosen, drop=drop, time=split_names(columns.time))
    print_columns(dataset, drop)
    return dataset


def _initial(asked: float | None, usual: float | str) -> float | str:
    if asked is None:
        return usual
    if not 0.0 <= asked < inf or (asked >= 1.0 and asked != int(asked)) or 1.0 <= asked < _MIN_ROWS:
        raise ParameterError(
            f"--initial {asked:g} is not allowed; use a share below 1, at least {_MIN_ROWS} rows, or 0 (none)"
        )
    return asked if 0.0 < asked < 1.0 else int(asked)


def split_names(text: str) -> tuple[str, ...]:
    """Return the parts of `text` between commas, without spaces around them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
