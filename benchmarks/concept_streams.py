"""Streams whose labels are made by thresholds, conjunctions and exceptions, and streams where no threshold is needed.

    stream = make_stream("plant", seed=13)      # rows, labels, names, and what is true of every label
    accuracy, last_quarter = stream.score(predicted), stream.score(predicted, stream.last_quarter)

| streams                                 | what decides                                                               |
|-----------------------------------------|----------------------------------------------------------------------------|
| agrawal0, agrawal2, agrawal4, agrawal6  | thresholds of age, education, salary and loan; agrawal6: a linear function |
| sine, mixed, stagger, sea, randomtree   | a curve, a curve and two switches, categories, a sum, a deep tree          |
| led, waveform, segments, phishing       | several classes (all but phishing); the last two are real                  |
| xor, xornoise                           | 2 of 8 features, none of which says anything by itself; 10 % flipped       |
| five, plant, plantmove                  | several labels: conjunctions on 5 of 100 features, rare faults of machines |
| agrawal0to2, moving (and plantmove)     | the concept or the thresholds change at half                               |
"""

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from concept_conjunctions import HALF, ROWS, Conjunctions, Edges, five, numbered, plant

SCORED_FROM = 200  # first row that is scored

AGE = (39.5, 59.5)  # ages are whole numbers
AGRAWAL: dict[int, Edges] = {
    0: {"age": AGE},
    2: {"age": AGE, "elevel": (0.5, 1.5, 2.5, 3.5)},
    4: {
        "age": AGE,
        "salary": (25e3, 50e3, 75e3, 100e3, 125e3),
        "loan": (50e3, 100e3, 150e3, 200e3, 300e3, 400e3, 500e3),
    },
    6: {"salary": (), "commission": (), "loan": ()},
}
STAGGER = ("size", "color"), ("color", "shape"), ("size",)  # what decides river's three functions


class Stream(NamedTuple):
    """Rows and labels. A binary problem has one column in `Y`, several classes have one each.

    `one_label` says that a row has exactly one class. `truths` has one entry per column of `Y`; None: nothing is known.
    """

    X: np.ndarray
    Y: np.ndarray
    features: tuple[str, ...]
    labels: tuple[str, ...]
    one_label: bool
    truths: tuple[Edges, ...] | None = None

    @property
    def measure(self) -> str:
        """Name of the score."""
        return "accuracy" if self.one_label else "macro F1"

    @property
    def last_quarter(self) -> int:
        """First row of the last quarter."""
        return 3 * len(self.X) // 4

    @property
    def target(self) -> np.ndarray:
        """One class per row (a number), or `Y` itself if a row may have several labels."""
        if not self.one_label:
            return self.Y
        return np.asarray(self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y.argmax(axis=1), np.int64)

    def of_classes(self, classes: np.ndarray) -> np.ndarray:
        """Return `classes`, one per row, in the form of `Y`."""
        known = np.arange(self.Y.shape[1]) if self.Y.shape[1] > 1 else np.array([1])
        return np.asarray(classes[:, None] == known, np.float64)

    def score(self, predicted: np.ndarray, start: int = SCORED_FROM) -> float:
        """Return accuracy or macro F1 of `predicted`, 0 and 1 in the form of `Y`, over the rows from `start` on."""
        said, true = predicted[start:] > 0.5, self.Y[start:] > 0.5
        if self.one_label:
            return float((said == true).all(axis=1).mean())
        both, either = (said & true).sum(axis=0), said.sum(axis=0) + true.sum(axis=0)
        return float(np.mean(2.0 * both / np.maximum(1, either)))


def make_stream(name: str, seed: int) -> Stream:
    """Return the stream `name`, one of `NAMES`, drawn by `seed`."""
    return MAKERS[name](seed)


# -------------------------------------------------------------- river's streams


def taken(rows: Iterable[Any], number: int | None = ROWS) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return values, classes and names of the features of the first `number` rows of a data set of river."""
    samples, classes = zip(*islice(rows, number), strict=True)
    values = np.array([[float(value) for value in sample.values()] for sample in samples])
    return values, np.array(classes), tuple(map(str, samples[0]))


def of_classes(X: np.ndarray, classes: np.ndarray, features: tuple[str, ...], truth: Edges | None = None) -> Stream:
    """Return a stream with one class per row; `truth` holds for every class."""
    known = np.unique(classes)
    columns = known[1:] if len(known) == 2 else known
    Y = np.asarray(classes[:, None] == columns, np.float64)
    labels = tuple(map(str, columns.tolist()))
    return Stream(X, Y, features, labels, True, None if truth is None else (truth,) * len(labels))


def of_labels(made: Conjunctions) -> Stream:
    """Return a stream in which a row may have several labels."""
    return Stream(made.X, made.Y, made.features, made.labels, False, made.truths)


def agrawal(function: int) -> Callable[[int], Stream]:
    """Return the maker of the stream of one of Agrawal's functions."""
    return lambda seed: of_classes(*agrawal_rows(function, seed), AGRAWAL[function])


def agrawal_rows(function: int, seed: int) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    from river.datasets import synth

    return taken(synth.Agrawal(classification_function=function, seed=seed))


def agrawal_changes(seed: int) -> Stream:
    """Return Agrawal's function 0, from half on his function 2; the truth is that of the second half."""
    (X, classes, names), (later, changed, _) = agrawal_rows(0, seed), agrawal_rows(2, seed + 77)
    X[HALF:], classes[HALF:] = later[HALF:], changed[HALF:]
    return of_classes(X, classes, names, AGRAWAL[2])


def of_river(make: Callable[[Any, int], Any], *true: str) -> Callable[[int], Stream]:
    """Return the maker of a stream that `make` generates, given river's module and a seed; `true` features decide."""

    def made(seed: int) -> Stream:
        from river.datasets import synth

        return of_classes(*taken(make(synth, seed)), dict.fromkeys(true, ()) if true else None)

    return made


def stagger(seed: int) -> Stream:
    """Return one of the three functions of STAGGER; each category is a column of its own."""
    from river.datasets import synth

    X, classes, names = taken(synth.STAGGER(classification_function=seed % 3, seed=seed))
    X, columns = one_hot(X, names, names)
    true = [name for name in columns if name.partition("=")[0] in STAGGER[seed % 3]]
    return of_classes(X, classes, columns, dict.fromkeys(true, ()))


def random_tree(seed: int) -> Stream:
    """Return the classes of a random tree over five numbers and five categories of five values, 30 columns."""
    from river.datasets import synth

    generator = synth.RandomTree(
        seed_tree=seed,
        seed_sample=seed + 1,
        n_classes=2,
        n_num_features=5,
        n_cat_features=5,
        n_categories_per_feature=5,
        max_tree_depth=5,
        first_leaf_level=3,
        fraction_leaves_per_level=0.15,
    )
    X, classes, names = taken(generator)
    X, columns = one_hot(X, names, [name for name in names if "cat" in name])
    return of_classes(X, classes, columns)


def one_hot(X: np.ndarray, names: Iterable[str], categories: Collection[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return `X` and its `names` with one column per value, "name=value", in place of each of the `categories`."""
    columns: dict[str, np.ndarray] = {}
    for name, values in zip(names, X.T, strict=True):
        if name in categories:
            columns |= {f"{name}={value:g}": np.asarray(values == value, np.float64) for value in np.unique(values)}
        else:
            columns[name] = values
    return np.column_stack(list(columns.values())), tuple(columns)


def shuffled(name: str) -> Callable[[int], Stream]:
    """Return the maker of the stream of all rows of river's data set `name`, in random order."""

    def made(seed: int) -> Stream:
        from river import datasets

        X, classes, names = taken(getattr(datasets, name)(), None)
        order = np.random.default_rng(seed).permutation(len(X))
        return of_classes(X[order], classes[order], names)

    return made


# -------------------------------------------------------------- streams of our own


def xor(noise: float) -> Callable[[int], Stream]:
    """Return the maker of an exclusive or of two thresholds among eight features; a share `noise` is turned over."""

    def made(seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        X = rng.random((ROWS, 8))
        truth = {"x2": (0.45,), "x5": (0.6,)}
        y = (X[:, 2] > 0.45) ^ (X[:, 5] > 0.6)
        if noise:
            y ^= rng.random(ROWS) < noise
        return of_classes(X, y, numbered(8), truth)

    return made


def moving(seed: int) -> Stream:
    """Return a conjunction of two thresholds that move at half."""
    X = np.random.default_rng(seed).random((ROWS, 6))
    late = np.arange(ROWS) >= HALF
    y = (X[:, 0] > np.where(late, 0.7, 0.4)) & (X[:, 1] < np.where(late, 0.65, 0.8))
    return of_classes(X, y, numbered(6), {"x0": (0.4, 0.7), "x1": (0.8, 0.65)})


MAKERS: dict[str, Callable[[int], Stream]] = {
    **{f"agrawal{function}": agrawal(function) for function in AGRAWAL},
    "sine": of_river(lambda synth, seed: synth.Sine(classification_function=0, seed=seed, has_noise=False), "0", "1"),
    "mixed": of_river(lambda synth, seed: synth.Mixed(classification_function=0, seed=seed), "0", "1", "2", "3"),
    "stagger": stagger,
    "sea": of_river(lambda synth, seed: synth.SEA(variant=seed % 4, seed=seed, noise=0.05), "0", "1"),
    "randomtree": random_tree,
    "led": of_river(
        lambda synth, seed: synth.LED(seed=seed, noise_percentage=0.1, irrelevant_features=True), *map(str, range(7))
    ),
    "waveform": of_river(lambda synth, seed: synth.Waveform(seed=seed, has_noise=False)),
    "segments": shuffled("ImageSegments"),
    "phishing": shuffled("Phishing"),
    "xor": xor(0.0),
    "xornoise": xor(0.1),
    "five": lambda seed: of_labels(five(seed)),
    "plant": lambda seed: of_labels(plant(seed, moves=False)),
    "plantmove": lambda seed: of_labels(plant(seed, moves=True)),
    "agrawal0to2": agrawal_changes,
    "moving": moving,
}
NAMES = tuple(MAKERS)
EDGES_KNOWN = tuple(
    name for name in NAMES if name.startswith(("agrawal", "xor", "five", "plant", "moving")) and name != "agrawal6"
)
"""Streams of which the thresholds are known."""
