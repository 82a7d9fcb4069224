"""Measure what one row in a frame costs more than in an array: `decision_function` of a frame of one row.

    python benchmarks/one_row_frames.py     # writes benchmarks/results/one_row_frames.json

Twelve columns of numbers, and none or four of texts. Frames and arrays take turns in the same run, on the same model,
and the best of many repetitions counts, in processor time, because the machine also does other work.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import readme_tables
from shared import result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.samples import read_encoded

ROWS, NUMBERS, TEXTS = 400, 12, 4
TURNS, CALLS = 300, 50
MOST, MOST_PER_TEXT = 100.0, 10.0  # microseconds more than an array, and per column of texts (pandas)


def columns(texts: int) -> dict[str, Any]:
    """Return columns of numbers, and as many `texts` columns of five texts each."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {f"s{j}": rng.normal(size=ROWS) for j in range(NUMBERS)}
    return found | {f"t{j}": rng.choice(list("abcde"), ROWS).tolist() for j in range(texts)}


def microseconds(answer: Callable[[Any], object], rows: list[Any]) -> float:
    """Return the processor time of `answer` for one of the `rows` in microseconds, mean of all."""
    start = time.process_time()
    for row in rows:
        answer(row)
    return 1e6 * (time.process_time() - start) / len(rows)


def measured(library: Any, texts: int) -> dict[str, float]:
    """Return the best times of a frame of `library` with `texts` columns of texts, and of an array."""
    given = columns(texts)
    Y = (np.column_stack([given["s0"], given["s1"]]) > 0.0).astype(float)
    frame = library.DataFrame(given)
    of_frames = EvolvingFuzzyClassifier().fit(frame, Y)
    rows = read_encoded(of_frames, frame, reset=False).rows
    of_arrays = EvolvingFuzzyClassifier().fit(rows, Y)
    ways = {
        "frame": (of_frames.decision_function, [frame[i : i + 1] for i in range(CALLS)]),
        "array": (of_arrays.decision_function, [rows[i : i + 1] for i in range(CALLS)]),
    }
    best = dict.fromkeys(ways, np.inf)
    for _ in range(TURNS):
        for way, (answer, single) in ways.items():
            best[way] = min(best[way], microseconds(answer, single))
    return {way: round(found, 1) for way, found in best.items()}


def limit(library: str, texts: int) -> float:
    """Return the microseconds that a row of such a frame may cost more than an array."""
    return MOST + (MOST_PER_TEXT * texts if library == "pandas" else 0.0)


def main() -> None:
    """Measure all kinds of frames, write the times, and print them as a table."""
    found = {
        f"{library.__name__}, {texts} columns of texts": measured(library, texts)
        | {"limit": limit(library.__name__, texts)}
        for library in (pd, pl)
        for texts in (0, TEXTS)
    }
    result_files.write("one_row_frames", found)
    print(readme_tables.one_row_frames())


if __name__ == "__main__":
    main()
