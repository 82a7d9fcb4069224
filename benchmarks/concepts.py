"""What threshold rules bring: scores, rules to read, data sets, time, missing labels and questions, with and without.

    python benchmarks/concepts.py                     # all parts; continues an earlier run
    python benchmarks/concepts.py streams --again     # this part anew; the others stay in the file as they are
    python benchmarks/concepts.py --only-tables       # prints the tables of the last run

| part    | what is measured, seeds 13 to 17                                                                     |
|---------|------------------------------------------------------------------------------------------------------|
| streams | accuracy or macro F1 on the streams of `concept_streams.py`, and in their last quarter               |
| reading | conditions that name a true feature, errors of edges, rules (`concept_reading.py`)                   |
| sets    | PA and AP on the five data sets as in `accuracy.py` (EVOLABEL_DATA)                                  |
| time    | processor time per row (best of 3, in turns), and the longest single call that learns one row        |
| drift   | accuracy on drifting streams, their twins without drift and streams whose sensors move (`drift.py`)   |
| flips   | one label becomes its opposite at half: share of right predictions of it before and after             |
| missing | labels that are missing or appear at half, features that appear at half, weights                     |
| asking  | the same scores with 20 % and 10 % of the labels or samples answered, chosen and drawn at random      |

Every run is written to benchmarks/results/concepts.json when it is done, so a run can be stopped and continued. The
first 200 rows of a stream are the initial batch; all others are predicted and then learned. Beside the product stand
the figures of other learners on the same seeds (`concept_peers.py`).
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import concept_tables
import drift_streams
import numpy as np
import pandas as pd
import update_speed
from concept_conjunctions import HALF
from concept_reading import conditions_of, reading
from concept_streams import EDGES_KNOWN, NAMES, ROWS, SCORED_FROM, Stream, make_stream
from joblib import Parallel, delayed
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.evaluate import average_precision, partial_accuracy

SEEDS = range(13, 18)
TIMED_STREAMS = ("agrawal0", "xor", "randomtree", "led", "segments", "plant", "five")
CHANGED_STREAMS = ("plant", "five")
FLIPPED_STREAMS = ("agrawal0", "xor", "xornoise", "five", "plant")
AFTER_A_FLIP = {"0 to 50": (0, 50), "50 to 500": (50, 500)}  # rows
ASKED_STREAMS, BUDGETS = ("plant", "plantmove", "five", "xor", "agrawal0"), (0.2, 0.1)
REPEATS = 3

Case = tuple[str, int]
"""What is measured, and the seed."""


class Part(NamedTuple):
    """A part of the benchmark: its cases, and what measures one of them; times are taken in one process."""

    cases: Iterable[Case]
    measure: Callable[[str, int], dict[str, object]]
    alone: bool = False


def main() -> None:
    """Measure the parts that are named, write every run when it is done, and print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes; time is always measured in one")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in () if options.only_tables else options.parts or PARTS:
        run_part(part, 1 if PARTS[part].alone else options.jobs, again=options.again)
    print(concept_tables.all_tables())


def run_part(name: str, jobs: int, *, again: bool) -> None:
    """Measure the cases of the part `name` that the file does not have, or all of them `again`, and write each."""
    part = PARTS[name]
    stored = known().get(name, {})
    open_cases = [(what, seed) for what, seed in part.cases if again or str(seed) not in stored.get(what, {})]
    calls = (delayed(part.measure)(*case) for case in open_cases)
    runs = Parallel(n_jobs=jobs, return_as="generator")(calls)
    for (what, seed), run in zip(open_cases, runs, strict=True):
        found = known()  # another part may have been written meanwhile
        found.setdefault(name, {}).setdefault(what, {})[str(seed)] = run
        result_files.write("concepts", found)


def known() -> dict[str, Any]:
    """Return what the file has."""
    return dict(result_files.read_if_any("concepts", {"seeds": list(SEEDS)}))


def both(one: Callable[[bool], object]) -> dict[str, object]:
    """Return what `one` returns with and without threshold rules."""
    return {"on": one(True), "off": one(False)}


# ---------------------------------------------------------------- streams, rules


class Rows(NamedTuple):
    """Rows to be learned, their targets and weights; `first` is where each row of the stream appears first."""

    X: np.ndarray | pd.DataFrame
    target: np.ndarray | pd.DataFrame
    weights: np.ndarray | None
    first: np.ndarray


def as_they_are(stream: Stream) -> Rows:
    """Return the rows of `stream`, unchanged."""
    return Rows(stream.X, stream.target, None, np.arange(len(stream.X)))


def with_names(stream: Stream) -> Rows:
    """Return the rows of `stream` as tables, with names of features and labels."""
    X = pd.DataFrame(stream.X, columns=stream.features)
    target = stream.target if stream.one_label else pd.DataFrame(stream.Y, columns=stream.labels)
    return as_they_are(stream)._replace(X=X, target=target)


def learned(rows: Rows, thresholds: bool) -> tuple[EvolvingFuzzyClassifier, np.ndarray]:
    """Return a classifier that has learned `rows`, and its outputs, 0 for the initial batch."""
    batch, rest = slice(0, rows.first[SCORED_FROM]), slice(rows.first[SCORED_FROM], None)
    weights = (None, None) if rows.weights is None else (rows.weights[batch], rows.weights[rest])
    classifier = EvolvingFuzzyClassifier(threshold_rules=thresholds)
    classifier.fit(rows.X[batch], rows.target[batch], sample_weight=weights[0])
    later = classifier.test_then_train(rows.X[rest], rows.target[rest], sample_weight=weights[1])
    return classifier, np.vstack([np.zeros((batch.stop, later.shape[1])), later])


def scores(stream: Stream, rows: Rows, thresholds: bool) -> dict[str, float]:
    """Return the score of a classifier that learns `rows`, over all that count and over the last quarter."""
    classifier, outputs = learned(rows, thresholds)
    outputs = outputs[rows.first]
    if stream.one_label:
        predicted = stream.of_classes(np.asarray(classifier.classes_)[outputs.argmax(axis=1)])
    else:
        predicted = np.asarray(outputs >= 0.5, np.float64)
    return stream_scores(stream, predicted)


def stream_scores(stream: Stream, predicted: np.ndarray) -> dict[str, float]:
    """Return the score of `predicted` on `stream`, over all rows that count and over the last quarter."""
    return {
        "score": round(stream.score(predicted), 4),
        "last quarter": round(stream.score(predicted, stream.last_quarter), 4),
    }


def on_stream(name: str, seed: int) -> dict[str, object]:
    """Return the scores on the stream `name`."""
    stream = make_stream(name, seed)
    return both(lambda thresholds: scores(stream, as_they_are(stream), thresholds))


def rules_on_stream(name: str, seed: int) -> dict[str, object]:
    """Return how the rules read at the end of the stream `name`."""
    stream = make_stream(name, seed)
    classifier, _ = learned(with_names(stream), True)
    return reading(stream, conditions_of(classifier))


# ---------------------------------------------------------------- data sets


def on_set(name: str, seed: int) -> dict[str, object]:
    """Return PA and AP on the set `name`, shuffled by `seed`; its first fifth is the initial batch."""
    X, Y, initial = datasets.load(name, seed)

    def run(thresholds: bool) -> dict[str, float]:
        classifier = EvolvingFuzzyClassifier(threshold_rules=thresholds).fit(X[:initial], Y[:initial])
        outputs = classifier.test_then_train(X[initial:], Y[initial:])
        return {
            "pa": round(partial_accuracy(Y[initial:], outputs), 6),
            "ap": round(average_precision(Y[initial:], outputs), 6),
        }

    return both(run)


# ---------------------------------------------------------------- time


def timed(name: str, seed: int) -> dict[str, object]:
    """Return microseconds per row, and milliseconds of the longest call, on a stream or a shape of a data set."""
    if name in update_speed.SHAPES:
        p, K, _ = update_speed.SHAPES[name]
        X, target = update_speed.stream(p, K, ROWS)
    else:
        stream = make_stream(name, seed)
        X, target = stream.X, stream.target
    for thresholds in (True, False):  # compiles the kernels
        seconds_per_call(X[:400], target[:400], thresholds)
    spent: dict[bool, list[float]] = {True: [], False: []}
    calls: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for _ in range(REPEATS):
        for thresholds in (True, False):
            spent[thresholds].append(seconds_of_stream(X, target, thresholds))
            calls[thresholds].append(seconds_per_call(X, target, thresholds))

    def run(thresholds: bool) -> dict[str, float]:
        longest = np.min(calls[thresholds], axis=0).max()  # a row needs the same work in every run
        us = 1e6 * min(spent[thresholds]) / (len(X) - SCORED_FROM)
        return {"us": round(us, 1), "longest_ms": round(1e3 * float(longest), 2)}

    labels = target.shape[1] if target.ndim == 2 else len(np.unique(target))
    return {"features": X.shape[1], "labels": labels, **both(run)}


def begun(X: np.ndarray, target: np.ndarray, thresholds: bool) -> EvolvingFuzzyClassifier:
    """Return a classifier that has learned the initial batch."""
    return EvolvingFuzzyClassifier(threshold_rules=thresholds).fit(X[:SCORED_FROM], target[:SCORED_FROM])


def seconds_of_stream(X: np.ndarray, target: np.ndarray, thresholds: bool) -> float:
    """Return processor time that a classifier needs to predict and learn all rows after the initial batch."""
    classifier = begun(X, target, thresholds)
    start = time.process_time()
    classifier.test_then_train(X[SCORED_FROM:], target[SCORED_FROM:])
    return time.process_time() - start


def seconds_per_call(X: np.ndarray, target: np.ndarray, thresholds: bool) -> np.ndarray:
    """Return the processor time of every call that learns one row after the initial batch."""
    classifier = begun(X, target, thresholds)
    seconds = np.empty(len(X) - SCORED_FROM)
    for call in range(len(seconds)):
        row = slice(SCORED_FROM + call, SCORED_FROM + call + 1)
        start = time.process_time()
        classifier.partial_fit(X[row], target[row])
        seconds[call] = time.process_time() - start
    return seconds


# ---------------------------------------------------------------- what is missing, weights


def missing_labels(share: float) -> Callable[[Stream, int], Rows]:
    """Return what hides a `share` of the labels of a stream at random."""

    def changed(stream: Stream, seed: int) -> Rows:
        hidden = np.random.default_rng(seed).random(stream.Y.shape) < share
        return as_they_are(stream)._replace(target=np.where(hidden, np.nan, stream.Y))

    return changed


def late_label(stream: Stream, seed: int) -> Rows:
    """Return rows whose first label is missing before half of them."""
    Y = stream.Y.copy()
    Y[: len(Y) // 2, 0] = np.nan
    return as_they_are(stream)._replace(target=Y)


def late_features(stream: Stream, seed: int) -> Rows:
    """Return rows in which the features that decide the first label are missing before half of them."""
    X = stream.X.copy()
    X[: len(X) // 2, [stream.features.index(name) for name in (stream.truths or ({},))[0]]] = np.nan
    return as_they_are(stream)._replace(X=X)


def weights_of(stream: Stream, seed: int) -> np.ndarray:
    """Return a weight of 1 or 2 for every row."""
    return np.random.default_rng(seed).integers(1, 3, len(stream.X))


def repeated(stream: Stream, seed: int) -> Rows:
    """Return every row as often as its weight says; its first prediction counts."""
    times = weights_of(stream, seed)
    order = np.repeat(np.arange(len(times)), times)
    return Rows(stream.X[order], stream.Y[order], None, np.cumsum(times) - times)


CHANGES: dict[str, Callable[[Stream, int], Rows]] = {
    "all": lambda stream, seed: as_they_are(stream),
    "labels missing 0.5": missing_labels(0.5),
    "labels missing 0.8": missing_labels(0.8),
    "label 0 appears at half": late_label,
    "features of label 0 appear at half": late_features,
    "weights 3": lambda stream, seed: as_they_are(stream)._replace(weights=np.full(len(stream.X), 3.0)),
    "weights 1-2": lambda stream, seed: as_they_are(stream)._replace(weights=weights_of(stream, seed).astype(float)),
    "rows repeated": repeated,
}


def with_changes(name: str, seed: int) -> dict[str, object]:
    """Return the scores on the stream `name` by what was changed."""
    stream = make_stream(name, seed)
    changed = {change: make(stream, seed) for change, make in CHANGES.items()}
    return {
        change: both(lambda thresholds, rows=rows: scores(stream, rows, thresholds)) for change, rows in changed.items()
    }


# ---------------------------------------------------------------- questions


def on_asking(name: str, seed: int) -> dict[str, object]:
    """Return the scores on the stream `name` by budget, by what is counted, and by how questions are chosen."""
    stream = make_stream(name, seed)

    def run(learner: BudgetedLearner) -> dict[str, float]:
        learner.fit(stream.X[:SCORED_FROM], stream.Y[:SCORED_FROM])
        later = learner.test_then_train(stream.X[SCORED_FROM:], stream.Y[SCORED_FROM:])
        outputs = np.vstack([np.zeros((SCORED_FROM, later.shape[1])), later])
        return {**stream_scores(stream, np.asarray(outputs >= 0.5, np.float64)), "share": round(learner.share_, 4)}

    return {
        str(budget): {
            per: {
                "chosen": run(BudgetedLearner(None, budget, per)),
                "random": run(RandomSelection(None, budget, per, seed=seed)),
            }
            for per in ("labels", "samples")
        }
        for budget in BUDGETS
    }


# ---------------------------------------------------------------- drift


def on_drift(name: str, seed: int) -> dict[str, object]:
    """Return accuracy from row 500 on, in the 1,000 rows after a drift, and "drift" events on the stream `name`."""
    stream = drift_streams.make_stream(name, seed)

    def run(thresholds: bool) -> dict[str, object]:
        classifier = EvolvingFuzzyClassifier(threshold_rules=thresholds)
        accuracy, after = stream.score(classifier.test_then_train(stream.X, stream.Y))
        drifts = sum(event.kind == "drift" for event in classifier.events_)
        return {"score": round(accuracy, 4), "after": None if np.isnan(after) else round(after, 4), "drift": drifts}

    return both(run)


def on_flip(name: str, seed: int) -> dict[str, object]:
    """Return how often the first label of the stream `name` is right before and after it becomes its opposite at half.

    Rows are counted from there on; "drift" is the row of the first such event of the label, or None.
    """
    stream = make_stream(name, seed)
    Y = stream.Y.copy()
    Y[HALF:, 0] = 1.0 - Y[HALF:, 0]
    stream = stream._replace(Y=Y)

    def run(thresholds: bool) -> dict[str, object]:
        classifier, outputs = learned(as_they_are(stream), thresholds)
        right = (outputs[:, -1 if stream.one_label else 0] >= 0.5) == (Y[:, 0] > 0.5)
        of_label = [event for event in classifier.events_ if event.kind == "drift" and event.sample > HALF]
        if not stream.one_label:
            of_label = [event for event in of_label if event.label == classifier.label_names_[0]]
        drifts = [event.sample - HALF for event in of_label]
        windows = {"before": (-1000, 0), **AFTER_A_FLIP}
        shares = {rows: round(float(right[HALF + a : HALF + b].mean()), 4) for rows, (a, b) in windows.items()}
        return {**shares, "drift": min(drifts, default=None)}

    return both(run)


def all_seeds(names: Iterable[str]) -> list[Case]:
    return [(name, seed) for name in names for seed in SEEDS]


PARTS = {
    "streams": Part(all_seeds(NAMES), on_stream),
    "reading": Part(all_seeds(EDGES_KNOWN), rules_on_stream),
    "sets": Part(all_seeds(datasets.NAMES), on_set),
    "time": Part([(name, SEEDS[0]) for name in (*TIMED_STREAMS, *update_speed.SHAPES)], timed, alone=True),
    "drift": Part(all_seeds((*drift_streams.NINE, *drift_streams.PLAIN, *drift_streams.SENSORS)), on_drift),
    "flips": Part(all_seeds(FLIPPED_STREAMS), on_flip),
    "missing": Part(all_seeds(CHANGED_STREAMS), with_changes),
    "asking": Part(all_seeds(ASKED_STREAMS), on_asking),
}


if __name__ == "__main__":
    main()
