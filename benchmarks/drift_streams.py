"""Streams whose labels, inputs or sensors change, and their twins without a change; river makes most of them.

    stream = make_stream("sea", seed=13)        # rows, labels, and what a score needs to know of them
    accuracy, after = stream.score(outputs)

| group   | streams                                                                                          |
|---------|--------------------------------------------------------------------------------------------------|
| NINE    | drift: concepts that replace each other, rotate, or move                                         |
| PLAIN   | the same nine without drift                                                                      |
| MORE    | gradual drift, one label that flips, pairs of labels of a real set that change places            |
| SENSORS | features that are shifted or rescaled at half, creep, or really move                             |
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from shared.datasets import load

from evolabel.streams import DriftingStream

ROWS = 10_000
HALF = ROWS // 2
SCORED_FROM, SCORED_AFTER = 500, 1_000  # first row that is scored; rows after a drift that are scored by themselves
GRADUAL = 1_000  # rows over which one concept replaces the other
REGIONS_CHANGE = 1_000  # rows between two changes of the regions of `ds`

NINE = ("sea", "agrawal", "led", "sine", "mixed", "stagger", "hyperplane", "rbf", "ds-abrupt")
PLAIN = tuple(f"{name.removesuffix('-abrupt')}-plain" for name in NINE)
MORE = ("agrawal35", "ds-gradual", "sea-gradual", "sine-gradual", "mixed-gradual", "flip", "yeast-swap")
SENSORS = ("shift1", "shift4", "rescale", "creep", "travel", "ds-shift4", "ds-rescale")

CONCEPTS = {
    "sea": (0, 2),
    "agrawal": (0, 2),
    "agrawal35": (3, 5),
    "sine": (0, 1),
    "mixed": (0, 1),
    "stagger": (0, 1, 2),
    "led": (0, 5),
    "hyperplane": (5,),
    "rbf": (1,),
}
"""Concepts of river's streams in their order; a single one drifts by itself."""


class Stream(NamedTuple):
    """Rows with labels, rows after which it is scored how a drift is followed, and whether a row has exactly one label.

    A gradual drift has its middle there.
    """

    X: np.ndarray
    Y: np.ndarray
    drifts: tuple[int, ...]
    one_label: bool

    def right(self, outputs: np.ndarray) -> np.ndarray:
        """Return the share of each row's labels that `outputs` predict; for classes, whether the largest is right."""
        if self.one_label:
            return np.asarray(outputs.argmax(axis=1) == self.Y.argmax(axis=1), np.float64)
        return np.asarray(((outputs >= 0.5) == (self.Y > 0.5)).mean(axis=1))

    def score(self, outputs: np.ndarray) -> tuple[float, float]:
        """Return the accuracy of `outputs`, and that in the rows after each drift (NaN without a drift)."""
        right = self.right(outputs)
        after = [right[start : start + SCORED_AFTER].mean() for start in self.drifts]
        return float(right[SCORED_FROM:].mean()), float(np.mean(after)) if after else float("nan")


def make_stream(name: str, seed: int) -> Stream:
    """Return the stream `name` of one of the groups above, drawn by `seed`."""
    if name.startswith("ds-"):
        return regions(name.removeprefix("ds-"), seed)
    if name == "yeast-swap":
        return swapped_labels(seed)
    if name == "flip" or name in SENSORS:
        return linear_labels(name, seed)
    return concepts(name, seed)


# ---------------------------------------------------------------- river's streams


def generator(base: str, concept: int, seed: int) -> Any:
    """Return river's generator of the stream `base` with this `concept`."""
    from river.datasets import synth

    makers: dict[str, Callable[[], Any]] = {
        "sea": lambda: synth.SEA(variant=concept, noise=0.1, seed=seed),
        "agrawal": lambda: synth.Agrawal(classification_function=concept, seed=seed),
        "sine": lambda: synth.Sine(classification_function=concept, seed=seed, has_noise=True),
        "mixed": lambda: synth.Mixed(classification_function=concept, seed=seed),
        "stagger": lambda: synth.STAGGER(classification_function=concept, seed=seed),
        "led": lambda: leds(concept, seed),
        "hyperplane": lambda: synth.Hyperplane(
            seed=seed,
            n_features=10,
            n_drift_features=concept,
            mag_change=0.001 if concept else 0.0,
            noise_percentage=0.05,
        ),
        "rbf": lambda: synth.RandomRBFDrift(
            seed_model=seed,
            seed_sample=seed + 1,
            n_classes=4,
            n_features=10,
            n_centroids=20,
            change_speed=0.001 if concept else 0.0,
            n_drift_centroids=20 if concept else 0,
        ),
    }
    return makers[base]()


def leds(drifting: int, seed: int) -> Any:
    """Return river's digits of seven segments; `drifting` attributes have changed places."""
    from river.datasets import synth

    options: dict[str, Any] = {"seed": seed, "noise_percentage": 0.1, "irrelevant_features": True}
    return synth.LEDDrift(n_drift_features=drifting, **options) if drifting else synth.LED(**options)


def taken(base: str, concept: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and classes of one concept."""
    rows, classes = zip(*generator(base, concept, seed).take(ROWS), strict=True)
    return np.array([[float(value) for value in row.values()] for row in rows]), np.array(classes).astype(int)


def concepts(name: str, seed: int) -> Stream:
    """Return a stream of river: its concepts replace each other at once or gradually, or there is only the first."""
    base, _, kind = name.partition("-")
    known = CONCEPTS[base]
    base = base.rstrip("0123456789")
    if len(known) == 1 or kind == "plain":
        first = 0 if len(known) == 1 and kind == "plain" else known[0]
        X, classes = taken(base, first, seed)
        return of_classes(X, classes, ())
    parts = [taken(base, concept, seed + 100 * number) for number, concept in enumerate(known)]
    drifts = tuple(round(ROWS * number / len(known)) for number in range(1, len(known)))
    present, rows = np.zeros(ROWS, int), np.arange(ROWS)
    rng = np.random.default_rng(seed)
    for start in drifts:
        gradual = (
            rng.random(ROWS) < 1.0 / (1.0 + np.exp(-4.0 * (rows - start) / GRADUAL)) if kind == "gradual" else None
        )
        present += rows >= start if gradual is None else gradual
    X = np.array([parts[part][0][row] for row, part in enumerate(present)])
    classes = np.array([parts[part][1][row] for row, part in enumerate(present)])
    return of_classes(X, classes, drifts)


def of_classes(X: np.ndarray, classes: np.ndarray, drifts: tuple[int, ...]) -> Stream:
    """Return a stream with one label per class."""
    return Stream(X, np.eye(max(classes.max() + 1, 2))[classes], drifts, one_label=True)


# ---------------------------------------------------------------- labels of our own


def regions(kind: str, seed: int) -> Stream:
    """Return a `DriftingStream`, with drift of this `kind` every 1,000 rows, or with sensors that move at half."""
    drift = kind if kind in ("abrupt", "gradual") else "none"
    X, Y = DriftingStream(drift=drift, drift_every=REGIONS_CHANGE, seed=seed).take(ROWS)
    if kind != "plain":
        move_sensors(X, kind, X.std(axis=0))
    return Stream(X, Y, () if kind == "plain" else (HALF,), one_label=False)


def tail_label(share: float, seed: int, *, moves: bool, p: int = 8) -> Stream:
    """Return a label on in the upper tail of a linear function, a `share` of the rows; from half on, the lower tail.

    Without `moves` it stays in the upper tail. The other four labels, half of the rows each, never change.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    T = X / X.std(axis=0) @ rng.normal(size=(p, 5))
    Y = np.asarray(np.median(T, axis=0) < T, np.float64)
    Y[:, 0] = T[:, 0] > np.quantile(T[:, 0], 1.0 - share)
    if moves:
        Y[HALF:, 0] = T[HALF:, 0] < np.quantile(T[:, 0], share)
    return Stream(X, Y, (HALF,) if moves else (), one_label=False)


def with_pairs_swapped(Y: np.ndarray) -> np.ndarray:
    """Return `Y` with two pairs of labels that change places at half of the rows.

    They are the most frequent labels that at most half of the rows have: the first with the second, the third with the
    fourth.
    """
    shares = Y.mean(axis=0)
    one, two, three, four = np.argsort(np.where(shares > 0.5, 0.0, -shares), kind="stable")[:4]
    half, swapped = len(Y) // 2, Y.copy()
    swapped[half:, [one, two, three, four]] = Y[half:, [two, one, four, three]]
    return swapped


def swapped_labels(seed: int) -> Stream:
    """Return yeast, shuffled; classes 1 and 2, and classes 3 and 6, change places at half."""
    X, Y, _ = load("yeast", seed)
    half = len(X) // 2
    Y = Y.copy()
    Y[half:, [0, 1, 2, 5]] = Y[half:, [1, 0, 5, 2]]
    return Stream(X, Y, (half,), one_label=False)


def linear_labels(name: str, seed: int, p: int = 8, K: int = 5) -> Stream:
    """Return labels that are linear but for the first; the first flips, sensors move, or the inputs travel."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    W, offset, sd = rng.normal(size=(p, K)), 2.0 * (0.3 * rng.normal(size=K)), X.std(axis=0)
    S = X / sd
    T = S @ W + offset
    T[:, 0] += 0.8 * (2.0 * np.abs(S[:, 1]) - 1.6)
    Y = with_noise(T > 0.0, rng)
    if name == "travel":
        return travelling(X, sd, seed, K)
    if name == "flip":
        Y[HALF:, 0] = 1.0 - Y[HALF:, 0]
    else:
        move_sensors(X, name, sd)
    return Stream(X, Y, () if name == "creep" else (HALF,), one_label=False)


def with_noise(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return `labels` as numbers, 2 % of them turned over."""
    return np.asarray(labels ^ (rng.random(labels.shape) < 0.02), np.float64)


def move_sensors(X: np.ndarray, kind: str, sd: np.ndarray) -> None:
    """Shift, rescale or creep the first features of `X` in place, by deviations `sd`; other kinds change nothing."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    if kind == "shift1":
        X[HALF:, 0] += 5.0 * sd[0]
    elif kind == "shift4":
        X[HALF:, :4] += 5.0 * sd[:4] * signs
    elif kind == "rescale":
        X[HALF:, :4] *= [10.0, 0.1, 5.0, 0.2]
        X[HALF:, 0] += 3.0
    elif kind == "creep":
        along = np.clip((np.arange(len(X))[:, None] - 2_000) / 6_000, 0.0, 1.0)
        X[:, :4] += along * 5.0 * sd[:4] * signs


def travelling(X: np.ndarray, sd: np.ndarray, seed: int, K: int) -> Stream:
    """Return inputs of which four really move by 3 deviations `sd` at half; the concept stays where it is in `X`."""
    X = X.copy()
    X[HALF:, :4] += 3.0 * sd[:4]
    rng = np.random.default_rng(seed)
    T = X / sd @ rng.normal(size=(X.shape[1], K))
    T -= np.mean([np.median(T[:HALF], axis=0), np.median(T[HALF:], axis=0)], axis=0)
    return Stream(X, with_noise(T > 0.0, rng), (HALF,), one_label=False)
