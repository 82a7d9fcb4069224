"""One change from the defaults at a time: where the defaults come from.

    EVOLABEL_DATA=folder python benchmarks/ablation.py [--seeds 3]      # writes benchmarks/results/ablation.json

Benchmark protocol on the five data sets; mean over sets and seeds of PA and AP, as differences to the defaults.
"""

import argparse
import json
from pathlib import Path

import datasets
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import average_precision, partial_accuracy

RESULTS = Path(__file__).parent / "results"

CHANGES: list[dict[str, object]] = [
    {"scaling": "standard"},
    {"scaling": "minmax"},
    {"n_knots": 8},
    {"n_knots": 64},
    {"max_rules": 1},
    {"max_rules": 10},
    {"max_rules": 20},
    {"max_rules": 40},
    {"novel_z": 3.0},
    {"prior_count": 10.0},
    {"prior_count": 50.0},
    {"temperature": 1.0},
    {"temperature": "sqrt"},
    {"temperature": "0.3p"},
    {"min_activation": 0.001},
    {"ridge": 100.0},
    {"ridge": 1.0},
    {"global_ridge": 1.0},
    {"global_ridge": 2.0},
    {"local_ridge": 0.04},
    {"local_ridge": 0.1},
    {"local_ridge": 0.5},
    {"local_ridge": 1.0},
    {"intercept_ridge": 0.1},
    {"parent": "none"},
    {"parent": "nearest"},
    {"covariance": "full", "prior_count": "1p"},
    {"space": "product"},
    {"novelty": "chi2"},
    {"novelty": "paper"},
    {"forgetting": 0.999},
]


def score(split: datasets.Split, change: dict[str, object]) -> tuple[float, float]:
    """PA and AP of the defaults with one change."""
    X, Y, initial = split
    classifier = EvolvingFuzzyClassifier(**change).fit(X[:initial], Y[:initial])
    scores = classifier.test_then_train(X[initial:], Y[initial:])
    return partial_accuracy(Y[initial:], scores), average_precision(Y[initial:], scores)


def main() -> None:
    """Score every change, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="shuffles 0 .. SEEDS-1 (default 3)")
    options = parser.parse_args()
    splits = {name: [datasets.load(name, seed) for seed in range(options.seeds)] for name in datasets.NAMES}
    base = {name: np.array([score(split, {}) for split in runs]) for name, runs in splits.items()}
    result = {"seeds": options.seeds, "defaults": {name: runs.mean(axis=0).tolist() for name, runs in base.items()}}
    rows = []
    print(f"{'change':<44} {'PA':>8} {'AP':>8}   mean difference over {len(splits)} sets, {options.seeds} seeds")
    for change in CHANGES:
        gaps = {name: np.array([score(s, change) for s in runs]) - base[name] for name, runs in splits.items()}
        by_set = {name: gap.mean(axis=0).tolist() for name, gap in gaps.items()}
        mean = np.mean(list(by_set.values()), axis=0)
        rows.append({"change": change, "mean": mean.tolist(), "by_set": by_set})
        told = ", ".join(f"{name}={value!r}" for name, value in change.items())
        print(f"{told:<44} {mean[0]:+8.4f} {mean[1]:+8.4f}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ablation.json").write_text(json.dumps({**result, "changes": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
