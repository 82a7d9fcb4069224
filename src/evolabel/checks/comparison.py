"""What all checks share: the test stream, and comparisons whose message names what is broken and what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from evolabel.streams import DriftingStream
from evolabel.typing import FloatArray

N_INITIAL, N_ROWS = 60, 120  # rows of the initial batch, and of the whole stream
ROUNDING = 1e-9  # relative difference that another order of sums may cause

_GAPS = 0.1  # share of the values that are missing


def small_stream(n_features: int, n_labels: int) -> tuple[FloatArray, FloatArray]:
    """Return X, (120, `n_features`), and Y, (120, `n_labels`), of a stream without drift."""
    stream = DriftingStream(n_features=n_features, n_labels=n_labels, n_regions=3, drift_every=0, seed=3)
    return stream.take(N_ROWS)


def with_gaps(table: FloatArray, *, empty_rows: bool = False) -> FloatArray:
    """Return a copy of `table` with NaN at random places, in every ninth row everywhere if `empty_rows`."""
    gappy = np.where(np.random.default_rng(0).random(table.shape) < _GAPS, np.nan, table)
    if empty_rows:
        gappy[::9] = np.nan
    else:
        gappy[np.isnan(gappy).all(axis=1)] = 0.0
    return gappy


def require(condition: bool, message: str) -> None:
    """Raise AssertionError with `message` unless `condition` holds, under `python -O` too."""
    if not condition:
        raise AssertionError(message)


def require_methods(thing: object, interface: str, methods: Sequence[str]) -> None:
    """Raise AssertionError unless `thing` is an object with all `methods` of this `interface`."""
    require(not isinstance(thing, type), f"{thing!r} is a class; pass an object, for instance one without arguments")
    missing = [name for name in methods if not callable(getattr(thing, name, None))]
    kind = type(thing).__name__
    require(not missing, f"{kind} has no method {', '.join(missing)}; write it as {interface} describes")


def require_scores(scores: object, shape: tuple[int, ...], call: str) -> None:
    """Raise AssertionError unless `scores`, returned by this `call`, are finite numbers of this `shape`."""
    table = np.asarray(scores)
    advice = f"expected {shape}, a row per sample and a column per label"
    require(table.shape == shape, f"{call} returned shape {table.shape}; {advice}")
    require(table.dtype.kind in "fiub", f"{call} returned values of type {table.dtype}; expected float64")
    bad = np.argwhere(~np.isfinite(table))
    place = tuple(bad[0].tolist()) if len(bad) else ()
    require(not len(bad), f"{call} returned {table[place]} at {place}; expected finite numbers, also from unusual rows")


def require_same(found: object, expected: object, broken: str, todo: str, rtol: float = 0.0) -> None:
    """Raise AssertionError if `found` differs from `expected` by more than `rtol`; `broken` and `todo` explain it."""
    one, other = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    require(one.shape == other.shape, f"{broken}: shape {one.shape}, expected {other.shape}; {todo}")
    differs = np.argwhere(~np.isclose(one, other, rtol=rtol, atol=1e-3 * rtol, equal_nan=True))
    if len(differs):
        place = tuple(differs[0].tolist())
        raise AssertionError(f"{broken}: {one[place]} at {place}, expected {other[place]}; {todo}")


@contextmanager
def expected_to_work(what: str, why: str) -> Iterator[None]:
    """Turn an exception raised inside into an AssertionError: `what` has failed, and `why` it must not."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}; {why}") from error
