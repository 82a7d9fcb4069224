"""How many random answers reach the score of chosen ones, beside the estimate of a learner from its one stream.

    python benchmarks/worth_of_answers.py                  # adds what the file lacks
    python benchmarks/worth_of_answers.py --only-tables

A learner is asked to say what its answers are worth in answers drawn at random (`evolabel.evaluate.ErrorsMet`). It has
only its own questions. What is true is measured: learners that draw their questions at random get more and more
answers, and between the two whose PA lies around that of the chosen answers, the logarithm of their number is read off
a straight line. Its interval is that of 400 bootstraps of blocks of 100 rows, the same blocks for all learners.

`BUDGET` of the labels or samples of plants with rare faults (`fault_plants.py`), seeds 10 to 14, after `INITIAL` rows
with all labels. Results are written to benchmarks/results/worth_of_answers.json after every stream.
"""

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np
from fault_plants import KINDS, make_plant
from shared import result_files
from threadpoolctl import threadpool_limits

from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.words.markup import table

RESULTS = "worth_of_answers"
INITIAL, BUDGET, SEEDS = 250, 0.1, range(10, 15)
PER = ("labels", "samples")
SHARES = (0.1, 0.2, 0.4, 0.8, 1.0)  # that are drawn at random
BLOCK, BOOTSTRAPS, INTERVAL = 100, 400, (2.5, 97.5)  # rows, draws, percent


def main() -> None:
    """Measure what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--only-tables", action="store_true")
    options = parser.parse_args()
    found: dict[str, Any] = result_files.read_if_any(RESULTS, {})
    for seed in () if options.only_tables else options.seeds:
        for kind in KINDS:
            for per in PER:
                runs = found.setdefault(f"{kind}, {per}", {})
                if str(seed) not in runs:
                    runs[str(seed)] = measured(kind, per, seed)
                    result_files.write(RESULTS, found)
                    print(kind, per, seed, runs[str(seed)], flush=True)
    print(worth_table(found))


def measured(kind: str, per: str, seed: int) -> dict[str, Any]:
    """Return what the answers of one stream are worth: by the learner, and as measured."""
    plant = make_plant(seed, kind)
    X, Y = plant.X[INITIAL:], plant.Y[INITIAL:]

    def right(learner: BudgetedLearner) -> np.ndarray:
        outputs = learner.fit(plant.X[:INITIAL], plant.Y[:INITIAL]).test_then_train(X, Y)
        rows = ((outputs >= 0.5) == (Y >= 0.5)).mean(axis=1)
        return np.array([block.mean() for block in np.array_split(rows, len(rows) // BLOCK)])

    with threadpool_limits(1):
        asking = BudgetedLearner(None, BUDGET, per)
        chosen = right(asking)
        drawn = np.array([right(RandomSelection(None, share, per, seed=seed)) for share in SHARES])
    met, answers = asking.learner_.ledger.met, np.array(SHARES) * Y.size
    draws = np.random.default_rng(seed).integers(0, len(chosen), (BOOTSTRAPS, len(chosen)))
    numbers = [reached(chosen[blocks].mean(), drawn[:, blocks].mean(axis=1), answers) for blocks in draws]
    return {
        "answers": met.answered,
        "estimate": met.worth,
        "errors": list(met),
        "measured": round(reached(chosen.mean(), drawn.mean(axis=1), answers)),
        "interval": np.percentile(numbers, INTERVAL).round().tolist(),
        "pa": [round(float(chosen.mean()), 5), *drawn.mean(axis=1).round(5).tolist()],
    }


def reached(score: float, scores: np.ndarray, answers: np.ndarray) -> float:
    """Return with how many random answers `score` is reached, by the `scores` of learners with so many `answers`.

    The first or last number where no learner is below or above it.
    """
    rising = np.maximum.accumulate(scores)
    return float(np.exp(np.interp(score, rising, np.log(answers))))


def worth_table(found: dict[str, Any]) -> str:
    """Return the estimates beside what was measured, a row for each case, and how many intervals meet."""
    rows, known, meet = [], 0, 0
    for case, runs in found.items():
        estimated = [run for run in runs.values() if run["estimate"] is not None]
        known += len(estimated)
        meet += sum(meets(run) for run in estimated)
        lows = spread(run["estimate"][0] for run in estimated)
        measured = spread(run["measured"] for run in runs.values())
        rows.append([case, f"{len(estimated)} of {len(runs)}", lows, measured])
    heads = ["plants", "known on", "lower ends of the estimates", "random answers with the same PA"]
    streams = sum(map(len, found.values()))
    return f"{table(heads, rows)}\n\nKnown on {known} of {streams} streams; the intervals meet on {meet}."


def meets(run: dict[str, Any]) -> bool:
    """Return whether the interval of the estimate of a `run` meets the one that was measured."""
    (low, high), (least, _, most) = run["interval"], run["estimate"]
    return bool(least <= high and (most is None or low <= most))


def spread(numbers: Iterable[int]) -> str:
    """Return the least and the largest of `numbers` as text."""
    found = sorted(numbers)
    return f"{found[0]:,} to {found[-1]:,}" if found else "-"


if __name__ == "__main__":
    main()
