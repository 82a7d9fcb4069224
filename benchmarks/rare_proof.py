"""Rare labels: how much proof a threshold and a gate need, both directions of the trade.

    python benchmarks/rare_proof.py "as it is"                      # a name for the constants of this checkout
    python benchmarks/rare_proof.py "DOUBT 3" --thyroid FILE        # after a change of constants, in another checkout

| streams  | measure                                                                                       |
|----------|-----------------------------------------------------------------------------------------------|
| thyroid  | macro F1 of labels with more than 60 positives, four shuffles of a file of real rows          |
| plant    | macro F1 of the same, seeds 80 to 83 of `concept_streams.py`                                  |
| faults   | macro F1, plants of `rare_faults.py` whose limit stays, falls or rises, seeds 60 to 65        |
| sets     | accuracy, two shuffles of four sets; needs EVOLABEL_DATA                                      |
| noise    | accuracy, three labels of 2 to 5 % that follow from nothing, and one that follows from a sum  |

Each row is predicted, then learned, without the last answers; the first 300 rows are not scored. Other constants were
tried on other seeds and shuffles. Results are written to benchmarks/results/rare_proof.json by name.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from concept_streams import make_stream
from early_rows import read
from rare_faults import f1, make_plant
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier

SCORED_FROM, LEAST_POSITIVES = 300, 60
SETS = ("emotions", "yeast", "water-quality", "birds")


def main() -> None:
    """Measure all streams with the constants of this checkout, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="what the constants are")
    parser.add_argument("--thyroid", type=Path, help="file of real rows")
    options = parser.parse_args()
    found: dict[str, list[float]] = {}
    for name, X, Y in streams(options.thyroid):
        found.setdefault(name, []).append(score(name, X, Y))
    means = {name: round(float(np.mean(values)), 4) for name, values in found.items()}
    print(options.name, means)
    result_files.write("rare_proof", {**result_files.read_if_any("rare_proof", {}), options.name: means})


def streams(thyroid: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield kinds of streams, their rows and labels."""
    if thyroid is not None:
        X, Y = read(thyroid)[:2]
        for seed in range(50, 54):
            order = np.random.default_rng(seed).permutation(len(X))
            yield "thyroid", X[order], Y[order]
    for seed in range(80, 84):
        yield "plant", *make_stream("plant", seed)[:2]
    for kind in ("still", "wider", "narrower"):
        for seed in range(60, 66):
            yield f"faults, {kind}", *make_plant(kind, seed)[:2]
    for name in SETS:
        for seed in (67, 68):
            yield name, *datasets.load(name, seed)[:2]
    for seed in range(60, 63):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(5_000, 25))
        Y = (rng.random((5_000, 4)) < (0.02, 0.03, 0.05, 0.3)).astype(float)
        Y[:, 3] = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=5_000) > 1.0
        yield "noise", X, Y


def score(name: str, X: np.ndarray, Y: np.ndarray) -> float:
    """Return macro F1, or for `SETS` and noise the share of right labels, of the stream X, Y of the kind `name`."""
    outputs = EvolvingFuzzyClassifier(memory=None).test_then_train(X, Y)[SCORED_FROM:]
    truth = Y[SCORED_FROM:]
    if name in SETS or name == "noise":
        return float(((outputs >= 0.5) == (truth > 0.5)).mean())
    counted = np.flatnonzero(Y.sum(axis=0) > LEAST_POSITIVES)
    return float(np.mean([f1(truth[:, k], outputs[:, k]) for k in counted]))


if __name__ == "__main__":
    main()
