"""Rare faults with few answers: evolabel beside a balanced forest that asks where it is least certain.

    python benchmarks/few_answers.py                                     # adds what the file lacks
    python benchmarks/few_answers.py --who "our labels" --seeds 0 1 --again
    python benchmarks/few_answers.py --only-tables

Plants of `fault_plants.py`: the first `INITIAL` rows have all labels, then a share of the labels may be asked for.
Every row is predicted before anything about it is asked. Settings were chosen on seeds 0 to 9; tables have seeds 10 to
19. Macro F1 at the cut of .5, and PA: the share of labels that are right.

| who            | what is asked, and learned                                                                     |
|----------------|------------------------------------------------------------------------------------------------|
| our labels     | single labels that an `ActiveLearner` chooses                                                  |
| our samples    | whole samples that it chooses                                                                  |
| random labels  | as many labels as `our labels` has asked for, drawn at random, learned by the same classifier  |
| forest labels  | as many, chosen by p(1-p) of a forest per label, fitted anew after every `REFIT` answers       |
| forest samples | as many samples as `our samples` has asked for, by the sum of p(1-p) of this forest            |
| wide forest    | `wide forest labels`, `wide forest samples`: nodes try half of the features, not their root    |
| all labels     | everything                                                                                     |

The forest is scikit-learn's, `TREES` trees with balanced bootstraps, fitted to the last `KEPT` answered rows.
Results are written to benchmarks/results/few_answers.json.
"""

import argparse
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from fault_plants import KINDS, Plant, make_plant
from joblib import Parallel, delayed
from shared import result_files
from shared.random_draws import drawn, learned
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner

RESULTS = "few_answers"
INITIAL = 250
SHARES = (0.02, 0.05, 0.1, 0.2)
CHOSEN_ON, REPORTED_ON = range(10), range(10, 20)
WHO = (
    "our labels",
    "our samples",
    "random labels",
    "forest labels",
    "forest samples",
    "wide forest labels",
    "wide forest samples",
    "all labels",
)
TREES, REFIT, KEPT, AHEAD = 100, 30, 2500, 400
WINDOW, PATIENCE = 100, 5.0  # of the choice of the forest
ROOT, HALF = "sqrt", 0.5  # features that are tried in a node


def main() -> None:
    """Measure what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--who", nargs="+", choices=WHO, default=list(WHO), metavar="NAME")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(REPORTED_ON))
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    results: dict[str, Any] = result_files.read_if_any(RESULTS, {})
    if not options.only_tables:
        tasks = [
            (kind, share, seed, who)
            for who in WHO
            if who in options.who
            for kind in options.kinds
            for share in (options.shares if who != "all labels" else options.shares[:1])
            for seed in options.seeds
            if options.again or str(seed) not in results.get(key_of(kind, share, who), {})
        ]
        run = Parallel(n_jobs=options.jobs, return_as="generator")
        found = run(delayed(measured)(*task, asked_before(results, *task)) for task in tasks)
        for (kind, share, seed, who), outcome in zip(tasks, found, strict=True):
            results.setdefault(key_of(kind, share, who), {})[str(seed)] = outcome
            result_files.write(RESULTS, results)
            print(f"{key_of(kind, share, who):40} {seed:3}", outcome, flush=True)
    print(tables(results, options.seeds))


def key_of(kind: str, share: float, who: str) -> str:
    """Return the key of a plant of this `kind`, the `share` of labels, and `who` asks."""
    return f"{kind}, {who}" if who == "all labels" else f"{kind}, {share:.0%}, {who}"


def asked_before(results: dict[str, Any], kind: str, share: float, seed: int, who: str) -> int:
    """Return how many labels, or samples, evolabel has asked for in the same place; the budget where not measured."""
    per = "samples" if who.endswith("samples") else "labels"
    found = results.get(key_of(kind, share, f"our {per}"), {}).get(str(seed))
    units = (5000 - INITIAL) * (3 if per == "labels" else 1)
    return found["asked"] if found else int(share * units)


def measured(kind: str, share: float, seed: int, who: str, asked: int) -> dict[str, Any]:
    """Return the figures of `who` on one plant; others than evolabel ask for so many labels or samples, `asked`."""
    plant = make_plant(seed, kind)
    with threadpool_limits(1):
        if who.startswith("our"):
            learner = BudgetedLearner(budget=share, per=who.split()[1]).fit(plant.X[:INITIAL], plant.Y[:INITIAL])
            outputs = learner.test_then_train(plant.X[INITIAL:], plant.Y[INITIAL:])
            asked = learner.learner_.bucket.asked
        elif "forest" in who:
            outputs, asked = by_forest(plant, who.split()[-1], asked, seed, HALF if who.startswith("wide") else ROOT)
        else:
            trained = EvolvingFuzzyClassifier().fit(plant.X[:INITIAL], plant.Y[:INITIAL])
            X, Y = plant.X[INITIAL:], plant.Y[INITIAL:]
            if who == "all labels":
                outputs, asked = trained.test_then_train(X, Y), Y.size
            else:
                outputs = learned(trained, X, Y, drawn(Y.shape, "labels", asked, seed))
    return {**scores(plant.Y[INITIAL:], outputs), "asked": int(asked)}


def scores(Y: np.ndarray, outputs: np.ndarray) -> dict[str, float]:
    """Return macro F1 and the share of right labels of `outputs`."""
    found = outputs >= 0.5
    hits, total = (found & (Y > 0.5)).sum(axis=0), found.sum(axis=0) + Y.sum(axis=0)
    f1 = 2.0 * hits / np.maximum(total, 1.0)
    return {"macro_f1": round(float(f1.mean()), 4), "pa": round(float((found == (Y > 0.5)).mean()), 5)}


# ---------------------------------------------------------------------- the balanced forest


def by_forest(plant: Plant, per: str, asked: int, seed: int, tried: float | str) -> tuple[np.ndarray, int]:
    """Return the outputs of a forest per label, and how many labels or samples, `per`, it has asked for.

    Its nodes try a part of the features, `tried`, as scikit-learn's `max_features`.

    It may have asked for the same share of `asked` as of the stream is over at any row, and asks where p(1-p) is among
    the largest of the last `WINDOW` rows, so that what it may ask for is spent within `PATIENCE` times the time.
    """
    X, Y = plant.X, plant.Y
    n, K = Y.shape
    units = n - INITIAL
    known = np.full(Y.shape, np.nan)
    known[:INITIAL] = Y[:INITIAL]
    outputs, spent, since, last = np.empty(Y.shape), 0, REFIT, -1
    recent: deque[np.ndarray] = deque(maxlen=WINDOW)
    for row in range(INITIAL, n):
        if since >= REFIT or row - last >= AHEAD:
            outputs[row : row + AHEAD] = fitted(X, known, X[row : row + AHEAD], row + seed, tried)
            since, last = 0, row
        doubt = outputs[row] * (1.0 - outputs[row])
        doubt = doubt if per == "labels" else doubt.sum(keepdims=True)
        left = asked * (row + 1 - INITIAL) / units - spent
        chosen = np.zeros(len(doubt), bool)
        if left >= 1.0 and recent:
            cut = np.quantile(np.concatenate(recent), max(0.0, 1.0 - left / (len(doubt) * PATIENCE)))
            order = np.argsort(-doubt)[: int(left)]
            chosen[order] = doubt[order] > cut
        recent.append(doubt)
        spent += int(chosen.sum())
        labels = chosen if per == "labels" else np.repeat(chosen, K)
        known[row, labels] = Y[row, labels]
        since += int(labels.sum())
    return outputs[INITIAL:], spent


def fitted(X: np.ndarray, known: np.ndarray, asked: np.ndarray, seed: int, tried: float | str) -> np.ndarray:
    """Return the outputs for the rows `asked` of a forest per label, fitted to what is `known` of the rows X.

    `tried` is as for `by_forest`.
    """
    from sklearn.ensemble import RandomForestClassifier

    found = np.empty((len(asked), known.shape[1]))
    for label, y in enumerate(known.T):
        rows = np.flatnonzero(~np.isnan(y))[-KEPT:]
        if len(np.unique(y[rows])) < 2:
            found[:, label] = y[rows[0]]
            continue
        options: dict[str, Any] = {"class_weight": "balanced_subsample", "max_features": tried}
        forest = RandomForestClassifier(TREES, random_state=seed, **options)
        found[:, label] = forest.fit(X[rows], y[rows]).predict_proba(asked)[:, 1]
    return found


# ---------------------------------------------------------------------- results


def tables(results: dict[str, Any], seeds: list[int]) -> str:
    """Return a table per kind of plant: means over `seeds` of macro F1 and PA, a column per share."""
    return "\n\n".join("\n".join(table(results, kind, seeds)) for kind in KINDS)


def table(results: dict[str, Any], kind: str, seeds: list[int]) -> Iterator[str]:
    """Yield the lines of the table of one `kind` of plant."""
    yield f"{kind:20}" + "".join(f"{share:>20.0%}" for share in SHARES)
    for who in WHO:
        cells = (results.get(key_of(kind, share, who), {}) for share in SHARES)
        yield f"{who:20}" + "".join(f"{cell(runs, seeds):>20}" for runs in cells)


def cell(runs: dict[str, Any], seeds: list[int]) -> str:
    """Return the means of `runs` over those of the `seeds` that were measured, and how many there are."""
    known = [runs[str(seed)] for seed in seeds if str(seed) in runs]
    if not known:
        return "-"
    f1, pa = (np.mean([run[name] for run in known]) for name in ("macro_f1", "pa"))
    return f"{f1:.3f} {pa:.4f} ({len(known)})"


if __name__ == "__main__":
    main()
