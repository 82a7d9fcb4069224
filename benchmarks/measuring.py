"""What benchmarks on many streams share: the command, and the work side by side."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import result_files
from datasets import Split
from joblib import Parallel, delayed

Run = TypeVar("Run")


def main(name: str, about: str | None, measure: Callable[[int], object], tables: Callable[[Any], str]) -> None:
    """Measure everything in so many processes and write it under this name, or not; print the tables."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.only_tables:
        result_files.write(name, measure(options.jobs))
    print(tables(result_files.read(name)))


def by_group(streams: Iterable[tuple[str, Split]], measured: Callable[[Split], Run], jobs: int) -> dict[str, list[Run]]:
    """Every stream measured; the runs under the names of their groups."""
    named = list(streams)
    results: dict[str, list[Run]] = {}
    runs = Parallel(n_jobs=jobs)(delayed(measured)(split) for _, split in named)
    for (name, _), run in zip(named, runs, strict=True):
        results.setdefault(name, []).append(run)
    return results
