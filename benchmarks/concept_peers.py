"""Trees and forests of river and scikit-learn on the streams of `concept_streams.py`, seeds 13 to 17.

    python benchmarks/concept_peers.py                                 # all streams; continues an earlier run
    python benchmarks/concept_peers.py --streams xor plant --seeds 14 --learners "adaptive forest" --again

Results are written to benchmarks/results/concepts_peers.json after every stream, seed and learner, so a run can be
stopped and continued; `concepts.py` shows them beside the product. River's learners predict and then learn every row.
Those of scikit-learn are refitted ten times on all rows so far, first after the rows that are not scored. Streams with
one class per row have one learner, all others one per label. River gets no value of a silent sensor, scikit-learn NaN.
The seed is that of the stream and of the learner.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import time
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import river
import sklearn
from concept_streams import NAMES, SCORED_FROM, Stream, make_stream
from river import forest, tree
from shared import result_files
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

SEEDS = range(13, 18)
REFITS = 10

Predicting = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Predicts one class per row, given rows, classes and a seed; a class is used for later rows only."""


def online(make: Callable[[int], Any]) -> Predicting:
    """Return how the learner that `make` returns for a seed predicts every row and then learns it."""

    def predict(X: np.ndarray, classes: np.ndarray, seed: int) -> np.ndarray:
        learner = make(seed)
        predicted = np.zeros_like(classes)
        known = ~np.isnan(X)
        for row, label in enumerate(classes.tolist()):
            columns = np.flatnonzero(known[row])
            sample = dict(zip(columns.tolist(), X[row, columns].tolist(), strict=True))
            predicted[row] = learner.predict_one(sample) or 0  # None: nothing was learned yet
            learner.learn_one(sample, label)
        return predicted

    return predict


def refitted(make: Callable[[int], Any]) -> Predicting:
    """Return how the learner that `make` returns for a seed predicts all rows until its next fit on all rows so far."""

    def predict(X: np.ndarray, classes: np.ndarray, seed: int) -> np.ndarray:
        predicted = np.zeros_like(classes)
        fits = np.linspace(SCORED_FROM, len(X), REFITS + 1).astype(int).tolist()
        for start, end in pairwise(fits):
            only = classes[0] if len(np.unique(classes[:start])) == 1 else None
            predicted[start:end] = (
                only if only is not None else make(seed).fit(X[:start], classes[:start]).predict(X[start:end])
            )
        return predicted

    return predict


def majority(_: np.ndarray, classes: np.ndarray, __: int) -> np.ndarray:
    """Return for each row the most frequent of the classes before it."""
    before = np.cumsum(classes[:, None] == np.unique(classes), axis=0)
    return np.concatenate([classes[:1], np.unique(classes)[before.argmax(axis=1)][:-1]])


def no_change(_: np.ndarray, classes: np.ndarray, __: int) -> np.ndarray:
    """Return for each row the class of the row before it."""
    return np.concatenate([classes[:1], classes[:-1]])


LEARNERS: dict[str, Predicting] = {
    "majority": majority,
    "no change": no_change,
    "boosted trees, refitted": refitted(lambda seed: HistGradientBoostingClassifier(max_iter=60, random_state=seed)),
    "Hoeffding tree": online(lambda _: tree.HoeffdingTreeClassifier()),
    "adaptive tree": online(lambda seed: tree.HoeffdingAdaptiveTreeClassifier(seed=seed)),
    "forest, refitted": refitted(lambda seed: RandomForestClassifier(50, random_state=seed)),
    "adaptive forest": online(lambda seed: forest.ARFClassifier(n_models=10, seed=seed)),
}
"""The cheapest first; boosting has 60 rounds, the forest 50 trees, the adaptive forest 10."""


def main() -> None:
    """Measure what the file does not have yet, and write it after every stream, seed and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, metavar="SEED")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS), metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    options = parser.parse_args()
    for seed, learner, name in product(options.seeds, options.learners, options.streams):
        if options.again or learner not in known()["streams"].get(name, {}).get(str(seed), {}):
            keep(name, seed, learner, measured(make_stream(name, seed), LEARNERS[learner], seed))


def known() -> dict[str, Any]:
    """Return what the file has."""
    empty = {"river": river.__version__, "scikit-learn": sklearn.__version__, "streams": {}}
    return dict(result_files.read_if_any("concepts_peers", empty))


def keep(name: str, seed: int, learner: str, run: dict[str, float]) -> None:
    """Add the `run` of `learner` on the stream `name` of `seed` to the file as it is now, and print it."""
    found = known()
    found["streams"].setdefault(name, {}).setdefault(str(seed), {})[learner] = run
    result_files.write("concepts_peers", found)
    print(f"{name:12} {seed} {learner:24}", run, flush=True)


def measured(stream: Stream, predict: Predicting, seed: int) -> dict[str, float]:
    """Return the score of `predict` with `seed`, that of the last quarter, and milliseconds per row."""
    start = time.process_time()
    if stream.one_label:
        predicted = stream.of_classes(predict(stream.X, stream.target, seed))
    else:
        columns = stream.Y.astype(int).T
        predicted = np.column_stack([predict(stream.X, column, seed) for column in columns])
    ms = 1e3 * (time.process_time() - start) / len(stream.X)
    return {
        "score": round(stream.score(predicted), 4),
        "last quarter": round(stream.score(predicted, stream.last_quarter), 4),
        "ms_per_row": round(ms, 3),
    }


if __name__ == "__main__":
    main()
