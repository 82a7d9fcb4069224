"""Microseconds per sample of an unlabelled stream, beside learning every sample in the same run.

    python benchmarks/query_speed.py                      # writes benchmarks/results/query_speed.json

Streams and shapes are those of `update_speed.py`. Queries are not answered: the model does not change, and the learner
only counts samples. Compared with learning all rows in one call: "score only", which is `next_query` with so small a
budget that it never queries, and "next_query" with a budget of 10 %, in blocks. Compared with learning row by row:
`query`, and `query` followed by `update`. The ratios matter: how many samples are scored in the time that learning one
takes. All ways take turns in one process on one thread; the best processor time of each is shown, to reduce the effect
of other processes.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import copy
import time
from typing import Any

import numpy as np
from shared import result_files
from update_speed import INITIAL, SAMPLES, SHAPES, print_table, stream

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner

REPEATS = 3
PASSES = 4  # repetitions of the streamed rows, to measure the speed in a long stream instead of at its start
BLOCK = 64  # rows per call of `next_query`, which checks all of them first
MODES: dict[str, dict[str, Any]] = {
    "ambiguity": {"per": "samples", "criteria": "ambiguity"},
    "labels": {"per": "labels"},
    "samples": {"per": "samples"},
}
"""Ambiguity alone, and the two defaults."""

ONE_CALL, BY_ROW = ("score only", "next_query"), ("query", "query + update")
BUDGET, NOTHING = 0.1, 1e-9  # with the latter budget rows are scored and never queried


class Contest:
    """One shape: a trained model, its stream, and the times of all ways."""

    def __init__(self, name: str, p: int, K: int) -> None:
        self.name, self.p, self.K = name, p, K
        X, Y = stream(p, K, INITIAL + SAMPLES)
        self.X, self.Y = (np.vstack([part[:INITIAL], np.tile(part[INITIAL:], (PASSES, 1))]) for part in (X, Y))
        self.trained = EvolvingFuzzyClassifier().fit(self.X[:INITIAL], self.Y[:INITIAL])
        self.times: dict[str, list[float]] = {}

    def round(self) -> None:
        """Measure every way once."""
        self._note("learn", learned(self.trained, self.X, self.Y, by_row=False))
        self._note("learn by row", learned(self.trained, self.X, self.Y, by_row=True))
        for mode, options in MODES.items():
            for way in (*ONE_CALL, *BY_ROW):
                self._note(f"{mode}: {way}", judged(self.trained, self.X, way, options))

    def _note(self, way: str, seconds: float) -> None:
        self.times.setdefault(way, []).append(seconds)

    def outcome(self) -> dict[str, Any]:
        """Best times in microseconds, and how many times faster than learning each mode is."""
        best = {way: min(times) * 1e6 for way, times in self.times.items()}
        ratios = {}
        for mode in MODES:
            ratios |= {f"{mode}: {way}": best["learn"] / best[f"{mode}: {way}"] for way in ONE_CALL}
            ratios |= {f"{mode}: {way}": best["learn by row"] / best[f"{mode}: {way}"] for way in BY_ROW}
        return {
            "shape": self.name,
            "features": self.p,
            "labels": self.K,
            "microseconds": {way: round(us, 1) for way, us in best.items()},
            "times_faster": {way: round(ratio, 2) for way, ratio in ratios.items()},
        }


def learned(trained: EvolvingFuzzyClassifier, X: np.ndarray, Y: np.ndarray, *, by_row: bool) -> float:
    """Seconds per sample of learning the stream."""
    model = copy.deepcopy(trained)
    model.partial_fit(X[:INITIAL], Y[:INITIAL])  # the copy is not in the cache yet
    start = time.process_time()
    if by_row:
        for i in range(INITIAL, len(X)):
            model.partial_fit(X[i : i + 1], Y[i : i + 1])
    else:
        model.partial_fit(X[INITIAL:], Y[INITIAL:])
    return (time.process_time() - start) / (len(X) - INITIAL)


def judged(trained: EvolvingFuzzyClassifier, X: np.ndarray, way: str, options: dict[str, Any]) -> float:
    """Seconds per sample of walking along the unlabelled stream."""
    learner = ActiveLearner(copy.deepcopy(trained), NOTHING if way == "score only" else BUDGET, **options)
    counted_by_blocks(learner, X[:INITIAL], BLOCK)
    start = time.process_time()
    if way in ONE_CALL:
        counted_by_blocks(learner, X[INITIAL:], len(X) if way == "score only" else BLOCK)
    else:
        for x in X[INITIAL:]:
            query = learner.query(x)
            if way == "query + update":
                learner.update(query, None)
    return (time.process_time() - start) / (len(X) - INITIAL)


def counted_by_blocks(learner: ActiveLearner, X: np.ndarray, block: int) -> None:
    """Score all rows of `X` in blocks of `block`; queries are not answered."""
    done = 0
    while done < len(X):
        query, passed = learner.next_query(X[done : done + block])
        done += passed
        if query is not None:
            learner.update(query, None)
            done += 1


def main() -> None:
    """Measure every shape, print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    contests = [Contest(name, p, K) for name, (p, K, _) in SHAPES.items()]
    for _ in range(options.repeats):
        for contest in contests:
            contest.round()
    rows = [contest.outcome() for contest in contests]
    print_table([{"shape": row["shape"], **row["microseconds"]} for row in rows])
    print_table([{"shape": row["shape"], **row["times_faster"]} for row in rows])
    result_files.write("query_speed", {"shapes": rows})


if __name__ == "__main__":
    main()
