"""Few features: finer rules where rows have four features or fewer, and what limits many classes on two of them.

    python benchmarks/few_features.py                     # seeds 61 to 63; writes results/few_features.json
    python benchmarks/few_features.py --power FILE        # and power supply: label and features of NAME.csv.gz

| part   | measured                                                                                                |
|--------|---------------------------------------------------------------------------------------------------------|
| finer  | streams of `drift_streams.py` with four features or fewer, their twins without drift, and smooth regions |
| power  | the first 10,000 rows of a file in their order, by settings of the classifier and by other classifiers  |

Accuracy, each row predicted before it is learned, from row 500 on. Other classifiers are fitted to all rows before
each piece of 500, or to the last 2,000 of them. Parts that are not measured stay in the file as they are.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from drift_streams import Stream, make_stream
from early_rows import read
from shared import result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

SEEDS = range(61, 64)  # vigilance .1 was chosen on 13 to 17
STREAMS = ("sea", "sine", "mixed", "stagger", "sea-plain", "sine-plain", "mixed-plain", "regions2", "regions4")
DEFAULT, FINER = 0.5, 0.1  # vigilance
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "vigilance .1": {"vigilance": FINER},
    "60 rules": {"max_rules": 60},
    "60 rules, vigilance .1": {"max_rules": 60, "vigilance": FINER},
    "100 rules, vigilance .05, temperature .05p": {"max_rules": 100, "vigilance": 0.05, "temperature": "0.05p"},
    "without threshold rules": {"threshold_rules": False},
    "without following": {"follow_drift": False},
    "without last answers": {"memory": None},
}
SCORED_FROM, PIECE, WINDOW, ROWS = 500, 500, 2_000, 10_000


def main() -> None:
    """Measure the parts that were asked for, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--power", type=Path, help="file of power supply, alone")
    options = parser.parse_args()
    result = result_files.read_if_any("few_features", {})
    if options.power is None:
        result["finer"] = {}
        for name, stream in streams():
            found = {str(value): score(stream, vigilance=value) for value in (DEFAULT, FINER)}
            result["finer"][name] = found
            print(name, found, flush=True)
            result_files.write("few_features", result)
        gains = [found[str(FINER)] - found[str(DEFAULT)] for found in result["finer"].values()]
        print(f"finer: mean {np.mean(gains):+.4f}, from {min(gains):+.4f} to {max(gains):+.4f}")
    else:
        stream = read(options.power)
        stream = stream._replace(X=stream.X[:ROWS], Y=stream.Y[:ROWS])
        result["power"] = {}
        for name, measure in of_power(stream):
            result["power"][name] = measure()
            print(name, result["power"][name], flush=True)
            result_files.write("few_features", result)


def streams() -> Iterator[tuple[str, Stream]]:
    """Yield the streams of the part `finer` by name and seed."""
    for seed in SEEDS:
        for name in STREAMS:
            if name.startswith("regions"):
                made = DriftingStream(n_features=int(name[-1]), n_labels=3, drift_every=0, seed=seed).take(ROWS)
                yield f"{name}, seed {seed}", Stream(*made, (), one_label=False)
            else:
                yield f"{name}, seed {seed}", make_stream(name, seed)


def score(stream: Stream, **parameters: Any) -> float:
    """Return the accuracy of a classifier with these `parameters`."""
    X, learner = np.ascontiguousarray(stream.X), EvolvingFuzzyClassifier(**parameters)
    outputs = np.zeros(stream.Y.shape)
    found = learner.test_then_train(X, stream.Y.argmax(axis=1) if stream.one_label else stream.Y)
    outputs[:, np.asarray(learner.classes_) if stream.one_label else slice(None)] = found
    return round(float(stream.right(outputs)[SCORED_FROM:].mean()), 4)


def of_power(stream: Stream) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield what is measured on power supply by name."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier

    for name, parameters in SETTINGS.items():
        yield name, lambda parameters=parameters: score(stream, **parameters)
    others: dict[str, Callable[[], Any]] = {
        "50 neighbours": lambda: KNeighborsClassifier(50),
        "forest of 100 trees, leaves of 10 rows": lambda: RandomForestClassifier(min_samples_leaf=10, random_state=0),
    }
    for name, make in others.items():
        for memory in (None, WINDOW):
            rows = "all rows" if memory is None else f"the last {WINDOW:,} rows"
            yield f"{name}, {rows}", lambda make=make, memory=memory: refitted(stream, make, memory)


def refitted(stream: Stream, make: Callable[[], Any], memory: int | None) -> float:
    """Return the accuracy of what `make` makes, fitted before each piece to the last rows; None: to all rows."""
    y, right = stream.Y.argmax(axis=1), []
    for start in range(SCORED_FROM, len(y), PIECE):
        rows = slice(0 if memory is None else max(0, start - memory), start)
        said = make().fit(stream.X[rows], y[rows]).predict(stream.X[start : start + PIECE])
        right.append(said == y[start : start + PIECE])
    return round(float(np.concatenate(right).mean()), 4)


if __name__ == "__main__":
    main()
