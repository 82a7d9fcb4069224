"""Probabilities, prediction sets and decisions before and after, beside logistic regression; seeds 20 to 24.

    EVOLABEL_DATA=folder python benchmarks/trust.py              # all parts; continues an earlier run
    EVOLABEL_DATA=folder python benchmarks/trust.py sets --again # this part anew; the others stay as they are
    python benchmarks/trust.py --only-tables                     # prints the tables of the last run

| part   | what is measured                                                                                         |
|--------|----------------------------------------------------------------------------------------------------------|
| decide | four data sets as in `sets`: decisions by `optimise` and `class_weight`                                   |
| sets   | six data sets: rows shuffled, `fit` on the first fifth, all others predicted and then learned             |
| fitted | `fit` on 70 % of the rows, probabilities and sets of the others, which are not learned                    |
| drift  | streams of `drift_streams.py`, initial batch of 500 rows: the worst 250 rows of any label                 |
| asking | a tenth of the labels is asked for (`ActiveLearner`, per label)                                           |
| hidden | yeast, half of the labels are not known to the learner                                                    |
| novel  | four data sets as in `sets`: rows with a value outside the range seen, and wild values put into rows       |
| time   | processor time of calibration per learned row                                                             |

"Before" are the outputs cut to [0, 1], for classes divided by their sum, as `predict_proba` returned them before it was
calibrated; log loss cuts them at 1e-15. Settings were chosen on seeds 0 to 2. ECE: 15 bins of equal width over all
annotated (row, label) pairs; for classes over rows, of the largest probability. The floor is the ECE of labels that are
drawn from the probabilities themselves. Logistic regression: standardised, C = 1, one per label, refitted ten times on
all rows so far. Every run is written to benchmarks/results/trust.json when it is done.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import copy
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import trust_tables
from drift_streams import make_stream
from joblib import Parallel, delayed
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.core.rows import Batch
from evolabel.evaluate import average_precision, partial_accuracy, set_coverage, set_size
from evolabel.evaluate.metrics.prediction_sets import covered
from evolabel.explain.unfamiliar import describe_unfamiliar
from evolabel.stages.calibration.stage import Calibration

SEEDS = range(20, 25)
LABELS, CLASSES = ("emotions", "yeast", "water-quality"), ("digits", "breast_cancer", "ImageSegments")
DRIFTING = ("flip", "ds-abrupt", "led", "ds-plain")
LEVELS = (0.8, 0.9, 0.95, 0.99)
FITTED_SHARE, REFITS, INITIAL, WINDOW, BINS = 0.7, 10, 500, 250, 15

DECIDED = ("yeast", "emotions", "birds", "water-quality")
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "subset": {"optimise": "subset_accuracy"},
    "macro_f1": {"optimise": "macro_f1"},
    "balanced": {"optimise": "balanced"},
    "costs": {},  # `MISS_COST` for every label
}
WILD, ALSO_WILD, MOST_WILD = 1e9, 1e8, 16  # values put into rows, and in how many features at most
MISS_COST, RARE_BELOW = 10.0, 0.1  # in false alarms; share of a label that counts as rare

Case = tuple[str, int]


class Part(NamedTuple):
    """A part of the benchmark: its cases, and what measures one of them."""

    cases: Iterable[Case]
    measure: Callable[[str, int], dict[str, Any]]


class Rows(NamedTuple):
    """Rows, the target as a learner takes it, the same as 0/1, and whether these are classes."""

    X: np.ndarray
    target: np.ndarray
    Y: np.ndarray
    classes: bool


def load(name: str, seed: int) -> Rows:
    """Return the rows of the data set `name`, shuffled by `seed`."""
    if name in LABELS:
        split = datasets.load(name, seed)
        return Rows(split.X, split.Y, split.Y, False)
    X, y = _classes(name)
    order = np.random.default_rng(seed).permutation(len(X))
    names, codes = np.unique(y[order], return_inverse=True)
    return Rows(np.ascontiguousarray(X[order], np.float64), codes, np.eye(len(names))[codes], True)


def _classes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the classes of a set of scikit-learn or river."""
    if name == "ImageSegments":
        from river import datasets as of_river

        rows = list(of_river.ImageSegments())
        return np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return X, y


# ---------------------------------------------------------------- measures


def ece(P: np.ndarray, Y: np.ndarray, classes: bool) -> float:
    """Return the expected calibration error of the probabilities `P`; of `classes`, of the largest one."""
    if classes:
        rows, top = np.arange(len(P)), P.argmax(axis=1)
        P, Y = P[rows, top], Y[rows, top]
    known = ~np.isnan(Y)
    p, y = P[known], Y[known]
    b = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(b, p, BINS) - np.bincount(b, y, BINS)).sum() / len(p))


def floor_of_ece(P: np.ndarray, classes: bool, seed: int) -> float:
    """Return the mean ECE of 20 draws of labels from the probabilities `P` themselves."""
    rng = np.random.default_rng(seed)

    def drawn() -> np.ndarray:
        if not classes:
            return (rng.random(P.shape) < P).astype(np.float64)
        at = np.minimum((P.cumsum(axis=1) < rng.random((len(P), 1))).sum(axis=1), P.shape[1] - 1)
        return np.eye(P.shape[1])[at]

    return float(np.mean([ece(P, drawn(), classes) for _ in range(20)]))


def quality(P: np.ndarray, Y: np.ndarray, classes: bool) -> dict[str, float]:
    """Return ECE, log loss and Brier score of the probabilities `P`."""
    cut = np.clip(P, 1e-15, 1.0 - 1e-15)
    if classes:
        loss, brier = -np.log((cut * Y).sum(axis=1)), ((P - Y) ** 2).sum(axis=1)
    else:
        loss, brier = -(Y * np.log(cut) + (1.0 - Y) * np.log1p(-cut)), (P - Y) ** 2
    return {"ece": ece(P, Y, classes), "log_loss": float(np.nanmean(loss)), "brier": float(np.nanmean(brier))}


def before(outputs: np.ndarray, classes: bool) -> np.ndarray:
    """Return what `predict_proba` returned for `outputs` before it was calibrated."""
    shares = np.clip(outputs, 0.0, 1.0)
    if not classes:
        return shares
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), 1.0 / shares.shape[1])


def of_sets(sets: np.ndarray, Y: np.ndarray) -> dict[str, Any]:
    """Return coverage and size of `sets`, and the least and the largest coverage of a label."""
    found = covered(Y, sets).reshape(len(Y), -1)
    each = np.nanmean(found, axis=0)
    labels = {"least_label": float(each.min()), "largest_label": float(each.max())}
    return {"coverage": set_coverage(Y, sets), "size": set_size(sets), **labels}


def worst_window(sets: np.ndarray, Y: np.ndarray) -> float:
    """Return the least coverage of any label over any `WINDOW` rows that follow each other."""
    found = covered(Y, sets).reshape(len(Y), -1)
    total = np.vstack([np.zeros(found.shape[1]), found.cumsum(axis=0)])
    return float(((total[WINDOW:] - total[:-WINDOW]) / WINDOW).min())


class Logistic:
    """One logistic regression per label, or one of all classes, on standardised features."""

    def __init__(self, rows: Rows, n: int) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        targets = [rows.target[:n]] if rows.classes else list(rows.Y[:n].T)
        self.rows = rows
        self.models = [
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows.X[:n], y)
            if len(np.unique(y)) > 1
            else float(y[0])
            for y in targets
        ]

    def probabilities(self, part: slice) -> np.ndarray:
        """Return the probabilities of the rows in `part`."""
        X = self.rows.X[part]
        if self.rows.classes:
            P = np.full((len(X), self.rows.Y.shape[1]), 1e-15)
            P[:, self.models[0].classes_] = self.models[0].predict_proba(X)
            return P
        columns = [np.full(len(X), m) if isinstance(m, float) else m.predict_proba(X)[:, 1] for m in self.models]
        return np.column_stack(columns)


def logistic_stream(rows: Rows, initial: int) -> np.ndarray:
    """Return the probabilities of logistic regression for all rows behind the first `initial`, refitted ten times."""
    edges = np.linspace(initial, len(rows.X), REFITS + 1).astype(int)
    parts = [Logistic(rows, start).probabilities(slice(start, end)) for start, end in pairwise(edges)]
    return np.vstack(parts)


# ---------------------------------------------------------------- parts


def sets(name: str, seed: int) -> dict[str, Any]:
    """Measure a data set along the stream."""
    rows = load(name, seed)
    n, Y = round(0.2 * len(rows.X)), rows.Y[round(0.2 * len(rows.X)) :]
    runs = {}
    for level in LEVELS:
        classifier = EvolvingFuzzyClassifier().fit(rows.X[:n], rows.target[:n])
        runs[level] = classifier.answer_then_train(rows.X[n:], rows.target[n:], coverage=level)
    outputs, P, *_ = runs[0.9]
    plain = EvolvingFuzzyClassifier().fit(rows.X[:n], rows.target[:n]).test_then_train(rows.X[n:], rows.target[n:])
    right = (outputs.argmax(axis=1) == Y.argmax(axis=1)).mean() if rows.classes else partial_accuracy(Y, outputs)
    return {
        "before": quality(before(outputs, rows.classes), Y, rows.classes),
        "after": quality(P, Y, rows.classes) | {"floor": floor_of_ece(P, rows.classes, seed)},
        "logistic": quality(logistic_stream(rows, n), Y, rows.classes),
        "levels": {str(level): of_sets(run.sets, Y) for level, run in runs.items()},
        "accuracy": float(right),
        "ap": None if rows.classes else average_precision(Y, outputs),
        "zero_or_one": int(((P <= 0.0) | (P >= 1.0)).sum()),
        "same_outputs": bool(np.array_equal(outputs, plain)),
    }


def fitted(name: str, seed: int) -> dict[str, Any]:
    """Measure a model that was fitted once."""
    rows = load(name, seed)
    n = round(FITTED_SHARE * len(rows.X))
    classifier, Y = EvolvingFuzzyClassifier().fit(rows.X[:n], rows.target[:n]), rows.Y[n:]
    outputs = classifier.inner.any_model.outputs(rows.X[n:])
    return {
        "before": quality(before(outputs, rows.classes), Y, rows.classes),
        "after": quality(classifier.predict_proba(rows.X[n:]), Y, rows.classes),
        "logistic": quality(Logistic(rows, n).probabilities(slice(n, None)), Y, rows.classes),
        "sets": of_sets(classifier.predict_set(rows.X[n:]), Y),
    }


def drift(name: str, seed: int) -> dict[str, Any]:
    """Measure a stream that drifts at half."""
    stream = make_stream(name, seed)
    target = stream.Y.argmax(axis=1) if stream.one_label else stream.Y
    classifier = EvolvingFuzzyClassifier().fit(stream.X[:INITIAL], target[:INITIAL])
    outputs, P, found, _ = classifier.answer_then_train(stream.X[INITIAL:], target[INITIAL:])
    Y = stream.Y[INITIAL:][:, classifier.classes_] if stream.one_label else stream.Y[INITIAL:]
    return {
        "before": quality(before(outputs, stream.one_label), Y, stream.one_label),
        "after": quality(P, Y, stream.one_label),
        "sets": of_sets(found, Y) | {"worst_window": worst_window(found, Y)},
    }


def asking(name: str, seed: int) -> dict[str, Any]:
    """Measure the classifier of an active learner that asks for a tenth of the labels."""
    rows = load(name, seed)
    n = round(0.2 * len(rows.X))
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(rows.X[:n], rows.Y[:n]), 0.1, per="labels")
    outputs, P, found, classifier = [], [], [], learner.classifier
    first, hearing = (copy.deepcopy(classifier.inner.any_model.calibration) for _ in range(2))
    by_batch, heard = [], []
    for x, y in zip(rows.X[n:], rows.Y[n:], strict=True):
        outputs.append(classifier.decision_function(x[None])[0])
        P.append(classifier.predict_proba(x[None])[0])
        found.append(classifier.predict_set(x[None])[0])
        f = outputs[-1][None]
        by_batch.append(first.sets(P[-1][None], first.limits(0.9))[0])
        heard.append(hearing.sets(hearing.probabilities(f), hearing.limits(0.9))[0])
        query = learner.query(x)
        answer = np.where(query.labels, y, np.nan) if query.asked else None
        if answer is not None:
            hearing.learn(Batch(x[None], answer[None], outputs=f))
        learner.update(query, answer)
    Y = rows.Y[n:]
    return {
        "before": quality(before(np.array(outputs), False), Y, False),
        "batch_maps": quality(first.probabilities(np.array(outputs)), Y, False),
        "after": quality(np.array(P), Y, False),
        "sets": of_sets(np.array(found), Y),
        "batch_sets": of_sets(np.array(by_batch), Y),
        "asked_sets": of_sets(np.array(heard), Y),
    }


def hidden(name: str, seed: int) -> dict[str, Any]:
    """Measure a stream of which half of the labels are not known to the learner."""
    rows = load(name, seed)
    n = round(0.2 * len(rows.X))
    seen = np.where(np.random.default_rng(seed).random(rows.Y.shape) < 0.5, rows.Y, np.nan)
    classifier = EvolvingFuzzyClassifier().fit(rows.X[:n], seen[:n])
    outputs, P, found, _ = classifier.answer_then_train(rows.X[n:], seen[n:])
    Y = rows.Y[n:]
    return {
        "before": quality(before(outputs, False), Y, False),
        "after": quality(P, Y, False),
        "sets": of_sets(found, Y),
    }


def decide(name: str, seed: int) -> dict[str, Any]:
    """Measure the decisions of every way in `WAYS` along the stream."""
    X, Y, n = datasets.load(name, seed)
    rare, found = Y.mean(axis=0) < RARE_BELOW, {}
    for way, parameters in WAYS.items():
        names = [f"label{k}" for k in range(Y.shape[1])]
        if way == "costs":
            parameters = {"class_weight": dict.fromkeys(names, MISS_COST)}
        classifier = EvolvingFuzzyClassifier(**parameters).fit(X[:n], Y[:n])
        outputs, _, _, decided = classifier.answer_then_train(X[n:], Y[n:])
        found[way] = of_decisions(decided, Y[n:], rare) | {"ap": average_precision(Y[n:], outputs)}
    return found


def of_decisions(decided: np.ndarray, Y: np.ndarray, rare: np.ndarray) -> dict[str, Any]:
    """Return measures of decisions (n, K); recall of `rare` labels, and cost per row if a miss costs `MISS_COST`."""
    on, hits, alarms = Y.sum(axis=0), (decided & (Y > 0.5)).sum(axis=0), (decided & (Y < 0.5)).sum(axis=0)
    occurs = (on > 0) & (on < len(Y))
    recall, specificity = hits[occurs] / on[occurs], 1.0 - alarms[occurs] / (len(Y) - on[occurs])
    f1 = 2.0 * hits / np.maximum(on + decided.sum(axis=0), 1)
    missed, few = (on - hits).sum(), occurs & rare
    return {
        "subset_accuracy": float((decided == (Y > 0.5)).all(axis=1).mean()),
        "pa": partial_accuracy(Y, decided.astype(np.float64)),
        "macro_f1": float(f1.mean()),
        "balanced_accuracy": float((0.5 * (recall + specificity)).mean()),
        "rare_recall": float((hits[few] / on[few]).mean()) if few.any() else None,
        "cost": float((MISS_COST * missed + alarms.sum()) / len(Y)),
    }


def novel(name: str, seed: int) -> dict[str, Any]:
    """Measure how many ordinary rows have a value outside the range seen, and whether wild values are flagged.

    One row after the other gets the value `WILD` in another feature and is learned; then `ALSO_WILD` in the same
    feature should still be flagged.
    """
    rows = load(name, seed)
    n, outside, flagged = round(0.2 * len(rows.X)), [], []
    classifier = EvolvingFuzzyClassifier().fit(rows.X[:n], rows.target[:n])
    model = classifier.inner.any_model
    wild, still = wild_values_flagged(copy.deepcopy(classifier), rows, n, seed)
    for i in range(n, len(rows.X)):
        x, (low, high) = rows.X[i], (-model.ranges[0, 0], model.ranges[1, 0])
        outside.append(bool(((x < low) | (x > high)).any()))
        flagged.append(bool(describe_unfamiliar(x, model.ranges, None)))
        classifier.partial_fit(rows.X[i : i + 1], rows.target[i : i + 1])
    return {"outside": float(np.mean(outside)), "flagged": float(np.mean(flagged)), "wild": wild, "still": still}


def wild_values_flagged(classifier: EvolvingFuzzyClassifier, rows: Rows, n: int, seed: int) -> tuple[float, float]:
    """Return the shares of values `WILD` that are flagged, and of `ALSO_WILD` after a row with the first was learned.

    The rows behind the first `n` are used; their features are drawn by `seed`.
    """
    model, found = classifier.inner.any_model, []
    features = np.random.default_rng(seed).permutation(rows.X.shape[1])[:MOST_WILD]
    for i, j in enumerate(features, start=n):
        x = rows.X[i : i + 1].copy()
        x[0, j] = WILD
        first = _is_flagged(model, x[0], int(j))
        classifier.partial_fit(x, rows.target[i : i + 1])
        x[0, j] = ALSO_WILD
        found.append((first, _is_flagged(model, x[0], int(j))))
    first, second = np.mean(found, axis=0).tolist()
    return first, second


def _is_flagged(model: Any, x: np.ndarray, feature: int) -> bool:
    """Return whether the value of `feature` in the row `x` is reported as outside the range that `model` has seen."""
    return any(f"(x{feature} = " in text for text in describe_unfamiliar(x, model.ranges, None))


def timed(name: str, seed: int) -> dict[str, Any]:
    """Measure processor time per learned row in microseconds, best of seven; `name` is the number of labels."""
    K, n, rng, seconds = int(name), 2000, np.random.default_rng(seed), []
    F = rng.uniform(-0.2, 1.2, (n, K))
    batch = Batch(F, (rng.random((n, K)) < F).astype(np.float64), outputs=F)
    calibration = Calibration(K)
    calibration.learn(batch)
    for _ in range(7):
        start = time.process_time()
        calibration.learn(batch)
        seconds.append(time.process_time() - start)
    return {"microseconds": 1e6 * min(seconds) / n}


PARTS = {
    "sets": Part([(name, seed) for name in LABELS + CLASSES for seed in SEEDS], sets),
    "fitted": Part([(name, seed) for name in LABELS + CLASSES for seed in SEEDS], fitted),
    "drift": Part([(name, seed) for name in DRIFTING for seed in SEEDS], drift),
    "asking": Part([(name, seed) for name in ("yeast", "water-quality") for seed in SEEDS], asking),
    "hidden": Part([("yeast", seed) for seed in SEEDS], hidden),
    "decide": Part([(name, seed) for name in DECIDED for seed in SEEDS], decide),
    "novel": Part([(name, seed) for name in (*LABELS, "digits") for seed in SEEDS], novel),
    "time": Part([(K, 20) for K in ("6", "14", "100")], timed),
}


def measured(part: str, name: str, seed: int) -> dict[str, Any]:
    """Return what `part` measures of a case; scikit-learn's warnings about rare labels are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PARTS[part].measure(name, seed)


def main() -> None:
    """Measure the parts that are named, write every run when it is done, and print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for part in () if options.only_tables else options.parts or PARTS:
        stored = {} if options.again else known().get(part, {})
        cases = [(what, seed) for what, seed in PARTS[part].cases if str(seed) not in stored.get(what, {})]
        jobs = 1 if part == "time" else options.jobs
        runs = Parallel(n_jobs=jobs, return_as="generator")(delayed(measured)(part, *case) for case in cases)
        for (what, seed), run in zip(cases, runs, strict=True):
            found = known()
            found.setdefault(part, {}).setdefault(what, {})[str(seed)] = run
            result_files.write("trust", found)
    print(trust_tables.all_tables(known()))


def known() -> dict[str, Any]:
    """Return what the file has."""
    return dict(result_files.read_if_any("trust", {"seeds": list(SEEDS)}))


if __name__ == "__main__":
    main()
