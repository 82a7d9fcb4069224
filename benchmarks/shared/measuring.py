"""Common parts of benchmarks on many streams: the command line, and several processes."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from joblib import Parallel, delayed

from shared import result_files
from shared.datasets import Split

Run = TypeVar("Run")


def main(name: str, about: str | None, measure: Callable[[int], object], tables: Callable[[Any], str]) -> None:
    """Command of a benchmark: call `measure` and write the result as `name` (unless --only-tables); print `tables`.

    `about` is the help text.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.only_tables:
        result_files.write(name, measure(options.jobs))
    print(tables(result_files.read(name)))


def by_group(streams: Iterable[tuple[str, Split]], measured: Callable[[Split], Run], jobs: int) -> dict[str, list[Run]]:
    """`measured` called on every stream of `streams` in `jobs` processes; the results by name of the group."""
    named = list(streams)
    results: dict[str, list[Run]] = {}
    runs = Parallel(n_jobs=jobs)(delayed(measured)(split) for _, split in named)
    for (name, _), run in zip(named, runs, strict=True):
        results.setdefault(name, []).append(run)
    return results
