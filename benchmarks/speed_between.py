"""Speed of two commits side by side: microseconds per sample of learning, answering and querying, and their ratios.

    python benchmarks/speed_between.py BEFORE AFTER       # writes benchmarks/results/speed_between.json, or --result

Both commits are checked out into a temporary folder and take turns, a process each, on one thread. The best processor
time of several rounds counts, to reduce the effect of other processes. Streams and shapes are those of
`update_speed.py`. Machine code of the kernels is compiled in the first round, which is not counted.
"""

import argparse
import copy
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.commits import checked_out, run_with

ROUNDS = 3
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


def main() -> None:
    """Measure two commits, print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--result", default="speed_between", help="name of the file in benchmarks/results")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)  # in the process of one commit
    options = parser.parse_args()
    if options.measure:
        sys.stdout.write(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        names = options.before, options.after
        commits = {name: checked_out(name, Path(folder) / str(number)) for number, name in enumerate(names)}
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in commits}
        for _ in range(1 + ROUNDS):
            for name, checkout in commits.items():
                rounds[name].append(times_of(checkout))
    best = {
        name: {what: min(times[what] for times in timed[1:]) for what in timed[0]} for name, timed in rounds.items()
    }
    report(best, options.before, options.after, options.result)


def times_of(checkout: Path) -> dict[str, float]:
    """The result of `measure` with the code in the folder `checkout`, in a separate process."""
    return dict(json.loads(run_with(checkout, "speed_between.py", ["-", "-", "--measure"], **THREADS)))


def measure() -> dict[str, float]:
    """Microseconds per sample of every way and shape, the best of three."""
    from update_speed import INITIAL, PROFILES, SAMPLES, SHAPES, stream

    found = {}
    for profile in ("default", "paper"):
        for shape, (p, K, _) in SHAPES.items():
            if profile == "paper" and shape in TOO_LONG:
                continue
            X, Y = stream(p, K, INITIAL + SAMPLES)
            trained = PROFILES[profile].make().fit(X[:INITIAL], Y[:INITIAL])
            for name, way in WAYS.items():
                seconds = min(way(copy.deepcopy(trained), X[INITIAL:], Y[INITIAL:]) for _ in range(3))
                found[f"{profile}, {shape}: {name}"] = seconds / SAMPLES * 1e6
    return found


def timed(calls: Callable[[], object]) -> float:
    """Processor seconds of some calls."""
    start = time.process_time()
    calls()
    return time.process_time() - start


def learned_at_once(clf: Any, X: Any, Y: Any) -> float:
    """All rows in one call."""
    return timed(lambda: clf.test_then_train(X, Y))


def learned_by_row(clf: Any, X: Any, Y: Any) -> float:
    """Row by row."""
    return timed(lambda: [clf.test_then_train(X[i : i + 1], Y[i : i + 1]) for i in range(len(X))])


def answered_at_once(clf: Any, X: Any, Y: Any) -> float:
    """All rows in one call, without learning."""
    return timed(lambda: clf.decision_function(X))


def answered_by_row(clf: Any, X: Any, Y: Any) -> float:
    """Row by row, without learning."""
    return timed(lambda: [clf.decision_function(X[i : i + 1]) for i in range(len(X))])


def queried_only(per: str) -> Callable[[Any, Any, Any], float]:
    """`query` row by row; the model does not change in between."""

    def walk(clf: Any, X: Any, Y: Any) -> float:
        from evolabel.active import ActiveLearner

        learner = ActiveLearner(clf, 0.1, per)
        query = learner.query(X[0])
        learner.update(query, Y[0] if query.asked else None)
        return timed(lambda: [learner.query(x) for x in X])

    return walk


def queried(per: str) -> Callable[[Any, Any, Any], float]:
    """`query` and `update` row by row, with the true labels as answers."""

    def walk(clf: Any, X: Any, Y: Any) -> float:
        from evolabel.active import ActiveLearner

        learner = ActiveLearner(clf, 0.1, per)

        def calls() -> None:
            for x, y in zip(X, Y, strict=True):
                query = learner.query(x)
                learner.update(query, y if query.asked else None)

        return timed(calls)

    return walk


WAYS = {
    "learn at once": learned_at_once,
    "learn by row": learned_by_row,
    "answer at once": answered_at_once,
    "answer by row": answered_by_row,
    "query only, samples": queried_only("samples"),
    "query only, labels": queried_only("labels"),
    "query and update, samples": queried("samples"),
    "query and update, labels": queried("labels"),
}
TOO_LONG = ("birds", "mediamill")  # of the paper's profile


def report(best: dict[str, dict[str, float]], before: str, after: str, result: str) -> None:
    """Print the times and ratios, and write them."""
    from shared import result_files

    rows = []
    for what, old in best[before].items():
        new = best[after][what]
        rows.append({"what": what, "before_us": round(old, 1), "after_us": round(new, 1), "ratio": round(new / old, 2)})
        print(f"{what:50}{old:10.1f}{new:10.1f}{new / old:8.2f}")
    result_files.write(result, {"before": before, "after": after, "rows": rows})


if __name__ == "__main__":
    main()
