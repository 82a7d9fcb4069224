"""Times of one structure pass for all (alpha, beta) against one run per pair, and of the paper's whole grid.

    EVOLABEL_DATA=folder python benchmarks/grid_search.py      # writes benchmarks/results/grid_search.json

Emotions, the initial batch of the benchmark protocol (119 rows), the paper's profile. First the 80 pairs (alpha, beta)
at one vigilance on one fold, shared and separately, in the same process on one thread. Then the whole grid, 17 x 10 x 8
points with 5 folds, on 2 cores.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import json
import time
from collections.abc import Callable

import numpy as np
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.paper import PAPER_GRID, PaperGridSearch
from evolabel.paper.tuning.folds import folds
from evolabel.paper.tuning.grid import Grid
from evolabel.paper.tuning.shared import separate_answers, shared_answers

REPEATS = 3
VIGILANCE = 0.4  # the default of the paper's profile


def main() -> None:
    """Measure both, print, write JSON."""
    X, Y, initial = datasets.load("emotions", seed=0)
    X, Y = X[:initial], Y[:initial]
    result = {"shared_structure": shared_against_separate(X, Y), "paper_grid": paper_grid(X, Y)}
    print(json.dumps(result, indent=1))
    result_files.write("grid_search", result)


def shared_against_separate(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    held_out = next(folds(len(X), 5, 0))
    estimator, points = EvolvingFuzzyClassifier.paper(vigilance=VIGILANCE), Grid.of(PAPER_GRID).consequents
    arguments = estimator, points, (X[~held_out], Y[~held_out]), X[held_out]
    shared, separate = shared_answers(*arguments), separate_answers(*arguments)  # also compiles
    together, alone = [], []
    for _ in range(REPEATS):  # taking turns
        together.append(seconds(shared_answers, arguments))
        alone.append(seconds(separate_answers, arguments))
    return {
        "pairs": len(points),
        "shared_seconds": round(min(together), 2),
        "separate_seconds": round(min(alone), 2),
        "times_faster": round(min(alone) / min(together), 1),
        "largest_difference": float(np.abs(shared - separate).max()),
    }


def seconds(call: Callable[..., object], arguments: tuple[object, ...]) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def paper_grid(X: np.ndarray, Y: np.ndarray) -> dict[str, object]:
    start = time.perf_counter()
    search = PaperGridSearch(n_jobs=2).fit(X, Y)
    return {
        "points": len(search.surface_),
        "folds": 5,
        "seconds_on_2_cores": round(time.perf_counter() - start, 1),
        "best": search.best_params_,
        "score": search.best_score_,
    }


if __name__ == "__main__":
    main()
