"""Microseconds per labelled sample (predict + learn), beside the BLAS floor of the same run.

    python benchmarks/update_speed.py                      # writes benchmarks/results/update_speed.json
    python benchmarks/update_speed.py --profile paper      # writes benchmarks/results/update_speed_paper.json

Streams are synthetic, in the shapes of the paper's five data sets. Times are processor time, of each call the best of
all rounds, summed; compare ratios: floor and models take turns in one process on one thread. The floor of the default
profile is the BLAS calls that every active rule needs (`blas_floor.py`); it is compared with the rules alone, without
members that follow drift and without threshold rules. The floor of the paper's profile is the two dense products W H
and B W of one proximal step per active rule. `row_by_row_extra_us` is what `test_then_train` of one row after the other
takes more than calls of many rows, `row_calls_extra_us` the same of `predict_proba` and `partial_fit`, and
`river_extra_us` what `predict_proba_one` and `learn_one` of river's adapter, with dictionaries, take more than these
two in calls of many rows. `flat` compares the first and the last 100,000 of 1,000,000 samples.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import copy
import resource
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from blas_floor import floor_per_rule
from shared import result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.adapters.river import RiverEvolvingFuzzyClassifier

# features, labels, seconds per update in the paper's table
SHAPES = {
    "birds": (260, 19, 0.289),
    "emotions": (72, 6, 0.070),
    "water-quality": (16, 14, 0.033),
    "yeast": (103, 14, 0.063),
    "mediamill": (120, 101, 0.41),
}
INITIAL, SAMPLES, PIECE, REPEATS = 300, 600, 60, 5


def main() -> None:
    """Measure every shape, print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=("default", "paper"), default="default")
    parser.add_argument("--long", type=int, default=1_000_000, help="samples of the flatness run (0 skips it)")
    options = parser.parse_args()
    profile = PROFILES[options.profile]
    contests = [Contest(profile, name, *shape) for name, shape in SHAPES.items()]
    for _ in range(REPEATS):  # all shapes in every round, so that a busy moment of the machine affects all of them
        for contest in contests:
            contest.round()
    rows = [contest.outcome() for contest in contests]
    print_table(rows)
    result = {"shapes": rows}
    if options.long and options.profile == "default":
        result["flat"] = flatness(options.long)
        print("time per sample, water-quality's shape:", result["flat"])
    result_files.write(profile.file, result)


def stream(p: int, K: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features and rare labels: as on the real sets, several rules are active for a sample."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(samples, p // 8 + 6))
    X = hidden @ rng.normal(size=(hidden.shape[1], p)) / np.sqrt(hidden.shape[1]) + 0.5 * rng.normal(size=(samples, p))
    Y = hidden @ rng.normal(size=(hidden.shape[1], K)) / np.sqrt(hidden.shape[1]) + rng.normal(size=(samples, K)) > 1.5
    return X, Y.astype(np.float64)


def dense_products(p: int, K: int, repeats: int = 20) -> float:
    """Seconds of W H and B W, the best of several."""
    rng = np.random.default_rng(0)
    H, W, B = rng.normal(size=(p + 1, p + 1)), rng.normal(size=(K, p + 1)), rng.normal(size=(K, K))
    out = np.empty_like(W)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        np.dot(W, H, out)
        np.dot(B, W, out)
        best = min(best, time.process_time() - start)
    return best


class Profile(NamedTuple):
    """What is measured: the classifier, its rules alone, the floor of an active rule.

    Also how many slots answer beside the active rules, the name of the file, and whether river's adapter is measured.
    """

    make: Callable[[], EvolvingFuzzyClassifier]
    rules_alone: Callable[[], EvolvingFuzzyClassifier]
    floor: Callable[[int, int], float]
    extra_slots: int
    file: str
    with_river: bool


def tuned_paper() -> EvolvingFuzzyClassifier:
    """The paper's profile with the three parameters that make it learn on all sets (see paper_profile.py)."""
    return EvolvingFuzzyClassifier.paper(ridge="press", local_ridge=0.5, vigilance=0.6)


PROFILES = {
    "default": Profile(
        EvolvingFuzzyClassifier,
        lambda: EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False),
        lambda p, K: floor_per_rule(p, K, seconds=0.05, repeats=2),
        1,
        "update_speed",
        True,
    ),
    "paper": Profile(
        tuned_paper,
        tuned_paper,
        dense_products,
        0,
        "update_speed_paper",
        False,
    ),
}


class Contest:
    """One shape: a trained model and its stream, and the times of the model and of the floor, round by round."""

    def __init__(self, profile: Profile, name: str, p: int, K: int, paper: float) -> None:
        self.profile, self.name, self.p, self.K, self.paper = profile, name, p, K, paper
        self.X, self.Y = stream(p, K, INITIAL + SAMPLES)
        self.trained, self.rules = (
            make().fit(self.X[:INITIAL], self.Y[:INITIAL]) for make in (profile.make, profile.rules_alone)
        )
        self.samples = [*zip(dictionaries(self.X), dictionaries(self.Y), strict=True)]
        self.river = RiverEvolvingFuzzyClassifier()
        for sample in self.samples[:INITIAL]:
            self.river.learn_one(*sample)
        self.beside_river = EvolvingFuzzyClassifier().partial_fit(self.X[:INITIAL], self.Y[:INITIAL])
        self.active = float((self.trained.memberships(self.X[INITIAL:]) > 0).sum(axis=1).mean())
        self.times: dict[str, np.ndarray] = {}

    def round(self) -> None:
        """The model in one call and row by row, with one method and with two, rules alone and floor, taking turns."""
        X, Y = self.X, self.Y
        now = {
            "whole": timed(self.trained, X, Y, by_row=False),
            "single": timed(self.trained, X, Y, by_row=True),
            "calls": timed_calls(self.trained, X, Y, by_row=True),
            "calls_at_once": timed_calls(self.trained, X, Y, by_row=False),
            "alone": timed(self.rules, X, Y, by_row=False),
            "floor": np.array([self.profile.floor(self.p, self.K) * SAMPLES]),
        }
        if self.profile.with_river:
            now["river"] = timed_samples(self.river, self.samples)
            now["river_at_once"] = timed_calls(self.beside_river, X, Y, by_row=False)
        self.times = {name: np.minimum(times, self.times.get(name, times)) for name, times in now.items()}

    def outcome(self) -> dict[str, object]:
        """Microseconds and ratios of best times."""
        best = {name: float(times.sum()) / SAMPLES * 1e6 for name, times in self.times.items()}
        us, us_floor = best["whole"], best["floor"] * (self.active + self.profile.extra_slots)
        river = {"river_extra_us": round(best["river"] - best["river_at_once"], 1)} if self.profile.with_river else {}
        return {
            "shape": self.name,
            "features": self.p,
            "labels": self.K,
            "active_rules": round(self.active, 2),
            "us_per_sample": round(us, 1),
            "us_rules_alone": round(best["alone"], 1),
            "ratio_to_rules_alone": round(us / best["alone"], 2),
            "floor_us": round(us_floor, 1),
            "ratio_to_floor": round(best["alone"] / us_floor, 2),
            "row_by_row_extra_us": round(best["single"] - best["whole"], 1),
            "row_calls_extra_us": round(best["calls"] - best["calls_at_once"], 1),
            **river,
            "times_faster_than_paper": round(self.paper * 1e6 / us),
        }


def seconds(calls: Iterable[Callable[[], object]]) -> np.ndarray:
    """Processor time of each of the `calls`."""
    times = []
    for call in calls:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return np.array(times)


def pieces(X: np.ndarray, Y: np.ndarray, *, by_row: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows behind the initial ones, one by one or `PIECE` at a time."""
    size = 1 if by_row else PIECE
    return [(X[i : i + size], Y[i : i + size]) for i in range(INITIAL, len(X), size)]


def timed(trained: EvolvingFuzzyClassifier, X: np.ndarray, Y: np.ndarray, *, by_row: bool) -> np.ndarray:
    """Seconds of each call that answers and then learns rows of the stream."""
    model = copy.deepcopy(trained)
    model.test_then_train(X[:INITIAL], Y[:INITIAL])  # the copy is not in the cache yet
    return seconds(partial(model.test_then_train, *rows) for rows in pieces(X, Y, by_row=by_row))


def timed_calls(trained: EvolvingFuzzyClassifier, X: np.ndarray, Y: np.ndarray, *, by_row: bool) -> np.ndarray:
    """Seconds of each `predict_proba`, of all rows or of one, and of each `partial_fit`."""
    model = copy.deepcopy(trained)
    model.partial_fit(X[:INITIAL], Y[:INITIAL])  # the copy is not in the cache yet
    learning = [partial(model.partial_fit, *rows) for rows in pieces(X, Y, by_row=by_row)]
    if not by_row:
        return seconds([partial(model.predict_proba, X[INITIAL:]), *learning])
    answering = [partial(model.predict_proba, x) for x, _ in pieces(X, Y, by_row=True)]
    return seconds(chain.from_iterable(zip(answering, learning, strict=True)))


def dictionaries(rows: np.ndarray) -> list[dict[str, float]]:
    """Rows as river takes them, by the numbers of their columns."""
    return [{str(j): value for j, value in enumerate(row)} for row in rows.tolist()]


def timed_samples(trained: RiverEvolvingFuzzyClassifier, samples: list[tuple[dict[str, float], ...]]) -> np.ndarray:
    """Seconds of each `predict_proba_one` and `learn_one`."""
    model = copy.deepcopy(trained)
    for sample in samples[:INITIAL]:
        model.learn_one(*sample)
    calls = ((partial(model.predict_proba_one, x), partial(model.learn_one, x, y)) for x, y in samples[INITIAL:])
    return seconds(chain.from_iterable(calls))


def flatness(samples: int) -> dict[str, float]:
    """Time per sample in the first and in the last tenth, and the rules at work then; growth of memory."""
    p, K, _ = SHAPES["water-quality"]
    X, Y = stream(p, K, 10_000)
    model = EvolvingFuzzyClassifier().fit(X[:INITIAL], Y[:INITIAL])
    model.test_then_train(X, Y)
    memory, times, active = resident(), [], []
    for _ in range(samples // len(X)):
        active.append(float((model.memberships(X) > 0).sum(axis=1).mean()))
        start = time.process_time()
        model.test_then_train(X, Y)
        times.append((time.process_time() - start) / len(X) * 1e6)
    tenth = max(1, len(times) // 10)
    return {
        "samples": samples,
        "first_tenth_us": round(float(np.median(times[:tenth])), 2),
        "last_tenth_us": round(float(np.median(times[-tenth:])), 2),
        "first_tenth_active_rules": round(float(np.mean(active[:tenth])), 2),
        "last_tenth_active_rules": round(float(np.mean(active[-tenth:])), 2),
        "memory_growth_mb": round(resident() - memory, 1),
    }


def resident() -> float:
    """Peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_table(rows: list[dict[str, object]]) -> None:
    """Rows as an aligned table."""
    heads = list(rows[0])
    widths = [max(len(h), *(len(str(row[h])) for row in rows)) for h in heads]
    for line in (heads, *([str(row[h]) for h in heads] for row in rows)):
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
