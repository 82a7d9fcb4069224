"""What DATA on the command line means: a known data set, a synthetic stream, or a file."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Literal

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import DataError, DatasetNotFoundError, ParameterError
from evolabel.streams import DRIFT_KINDS, Dataset, DriftingStream, Nominal, dataset_names, load_dataset, read_dataset

Protocol = Literal["benchmark", "paper", "order"]

DRIFT = "drift"
DRIFT_SAMPLES, DRIFT_EVERY = 5000, 1000
INITIAL_SHARE = 0.2
FEWEST_ROWS = 10  # fewer say nothing about the scale of a feature
FIRST_THIRD = 1 / 3


@dataclass(frozen=True)
class DataSource:
    """A stream for every seed, and how much of it is the initial batch; `by_seed`: do seeds make a difference?"""

    name: str
    stream: Callable[[int], Dataset]
    initial: float | str
    by_seed: bool


def default_data() -> str:
    """Yeast where it needs no download, else the synthetic stream."""
    return "yeast" if find_spec("river") else DRIFT


def open_source(
    data: str,
    labels: tuple[str, ...],
    protocol: Protocol | None,
    initial: float | None,
    samples: int | None,
    drop: tuple[str, ...] = (),
) -> DataSource:
    """Find the data and decide on the order of its rows.

    Known sets are shuffled by the seed and start with a fifth ("benchmark"); files and synthetic streams keep their
    order. The paper's protocol starts with the official training part, or with the first third.
    """
    if samples is not None:
        check_number("samples", samples, 1, whole=True)
    kind, _, drift = data.partition(":")
    known = data.lower() in dataset_names()
    if labels and (known or kind == DRIFT):
        raise ParameterError(f"{data} says itself what its labels are; leave --labels {','.join(labels)} away")
    if kind == DRIFT:
        return _synthetic(drift or "abrupt", protocol, initial, DRIFT_SAMPLES if samples is None else samples, drop)
    protocol = protocol or ("benchmark" if known else "order")
    nominal: Nominal = "one-hot" if protocol == "order" else "codes"  # the published numbers of birds are by codes
    dataset = load_dataset(data, nominal=nominal).without(drop) if known else _from_file(data, labels, drop)
    official = dataset.split if protocol == "paper" else None
    if samples is not None and protocol != "benchmark":
        dataset = dataset.take(samples)

    def stream(seed: int) -> Dataset:
        rows = dataset.shuffled(seed) if protocol == "benchmark" else dataset
        return rows.take(samples) if samples is not None else rows

    share = "split" if official else (FIRST_THIRD if protocol == "paper" else INITIAL_SHARE)
    return DataSource(dataset.name, stream, _initial(initial, share), by_seed=protocol == "benchmark")


def usable(dataset: Dataset) -> Dataset:
    """The data set, if every row has a feature; the reader still knows where the others are in the file."""
    empty = np.flatnonzero(np.isnan(dataset.X).all(axis=1))
    if empty.size:
        where = dataset.describe_row(int(empty[0]))
        raise DataError(f"{where} of X has no feature at all (only NaN); drop it or fill in what is known")
    return dataset


def _synthetic(
    drift: str, protocol: Protocol | None, initial: float | None, samples: int, drop: tuple[str, ...]
) -> DataSource:
    if drift not in ("none", *DRIFT_KINDS):
        raise ParameterError(
            f"there is no drift {drift!r}; use drift:none or {', '.join(f'drift:{d}' for d in DRIFT_KINDS)}"
        )
    if protocol not in (None, "order"):
        raise ParameterError(f"a synthetic stream comes in its own order; leave --protocol {protocol} away")

    def stream(seed: int) -> Dataset:
        source = DriftingStream(drift=drift, drift_every=DRIFT_EVERY, seed=seed)
        return source.dataset(samples, f"{DRIFT}:{drift}").without(drop)

    return DataSource(f"{DRIFT}:{drift}", stream, _initial(initial, INITIAL_SHARE), by_seed=True)


def _from_file(data: str, labels: tuple[str, ...], drop: tuple[str, ...]) -> Dataset:
    path = Path(data)
    if not path.suffix and not path.exists():
        close = get_close_matches(data.lower(), dataset_names(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`evolabel datasets` lists those that are known"
        raise DatasetNotFoundError(f"{data!r} is neither a known data set nor a file; {hint}")
    last = labels[0] if len(labels) == 1 else ""
    count = int(last) if last.startswith("-") and last[1:].isdecimal() else None  # as in MEKA: the last n
    return read_dataset(path, count or labels or None, drop=drop)


def _initial(asked: float | None, usual: float | str) -> float | str:
    if asked is None:
        return usual
    if not 0.0 <= asked < inf or (asked >= 1.0 and asked != int(asked)) or 1.0 <= asked < FEWEST_ROWS:
        raise ParameterError(
            f"--initial {asked:g} is not allowed; use a share below 1, at least {FEWEST_ROWS} rows, or 0: a cold start"
        )
    return asked if 0.0 < asked < 1.0 else int(asked)


def split_names(text: str) -> tuple[str, ...]:
    """The parts of "a,b,c"."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
